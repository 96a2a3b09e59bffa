//! Counts of chosen pairs, in one pass over label rows.

use partita_core::ndarray::ArrayView2;
use partita_core::{Ensemble, Label, LabelRows};
use partita_kernels::{WIDTH, pair_agreements, pair_common_bits};
use rayon::prelude::*;

/// Pairs counted in one go by one thread.
const BATCH: usize = 1 << 14;

/// Label rows, object by object, filled up to whole chunks with missing labels.
pub(crate) struct Rows {
    bases: usize,
    chunks: usize,
    labels: Labels,
    absent: Option<Absent>,
}

enum Labels {
    Bytes(Vec<[u8; WIDTH]>),
    Words(Vec<[u16; WIDTH]>),
}

/// Which labels are missing, a bit each; and how many of every object.
struct Absent {
    words: usize,
    bits: Vec<u64>,
    counts: Vec<u16>,
}

impl Rows {
    pub(crate) fn new(ensemble: &Ensemble) -> Self {
        fn padded<L: Label>(rows: ArrayView2<'_, L>, chunks: usize) -> Vec<[L; WIDTH]> {
            let mut padded = vec![[L::MISSING; WIDTH]; rows.nrows() * chunks];
            for (row, padded) in rows.outer_iter().zip(padded.chunks_mut(chunks)) {
                row.iter().zip(padded.as_flattened_mut()).for_each(|(&label, place)| *place = label);
            }
            padded
        }
        let bases = ensemble.bases().len();
        let chunks = bases.div_ceil(WIDTH);
        let labels = match ensemble.rows() {
            LabelRows::Bytes(rows) => Labels::Bytes(padded(rows, chunks)),
            LabelRows::Words(rows) => Labels::Words(padded(rows, chunks)),
        };
        let absent = (ensemble.missing() > 0).then(|| match ensemble.rows() {
            LabelRows::Bytes(rows) => Absent::new(rows),
            LabelRows::Words(rows) => Absent::new(rows),
        });
        Self { bases, chunks, labels, absent }
    }

    /// c of every pair, and N of every pair if labels are missing.
    pub(crate) fn count(&self, pairs: &[(u32, u32)]) -> (Vec<u16>, Option<Vec<u16>>) {
        let mut together = vec![0; pairs.len()];
        let mut seen = vec![0; if self.absent.is_some() { pairs.len() } else { 0 }];
        let filling = (self.chunks * WIDTH - self.bases) as u16;
        let batches = pairs.par_chunks(BATCH).zip(together.par_chunks_mut(BATCH));
        batches.for_each(|(pairs, counts)| {
            match &self.labels {
                Labels::Bytes(rows) => pair_agreements(rows, self.chunks, pairs, counts),
                Labels::Words(rows) => pair_agreements(rows, self.chunks, pairs, counts),
            }
            counts.iter_mut().for_each(|count| *count -= filling);
        });
        if let Some(absent) = &self.absent {
            let batches = pairs.par_chunks(BATCH).zip(together.par_chunks_mut(BATCH)).zip(seen.par_chunks_mut(BATCH));
            batches.for_each(|((pairs, c), seen)| {
                pair_common_bits(&absent.bits, absent.words, pairs, seen);
                for ((&(i, j), c), seen) in pairs.iter().zip(c).zip(seen) {
                    let both = *seen;
                    *c -= both;
                    *seen = (self.bases as u16 - absent.counts[i as usize]) + both - absent.counts[j as usize];
                }
            });
        }
        (together, self.absent.as_ref().map(|_| seen))
    }
}

impl Absent {
    fn new<L: Label>(rows: ArrayView2<'_, L>) -> Self {
        let words = rows.ncols().div_ceil(64);
        let mut made = Self { words, bits: vec![0; rows.nrows() * words], counts: vec![0; rows.nrows()] };
        for (i, row) in rows.outer_iter().enumerate() {
            for (u, _) in row.iter().enumerate().filter(|(_, label)| **label == L::MISSING) {
                made.bits[i * words + u / 64] |= 1 << (u % 64);
                made.counts[i] += 1;
            }
        }
        made
    }
}
