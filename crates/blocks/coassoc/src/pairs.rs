//! Counts of chosen pairs, in one pass over label rows.

use std::ops::Range;

use partita_core::ndarray::ArrayView2;
use partita_core::{Label, LabelRows, WeightedEnsemble};
use partita_kernels::{WIDTH, pair_agreements, pair_common_bits};
use rayon::prelude::*;

use crate::soft_pairs::SoftPairs;
use crate::whole_weights::{MOST, unit, whole_weights};
use crate::{CoassocError, Counts};

/// Pairs counted in one go by one thread.
const BATCH: usize = 1 << 14;

/// Label rows, object by object, filled up to whole chunks with missing labels.
pub(crate) struct Rows {
    bases: usize,
    chunks: usize,
    labels: Labels,
    absent: Option<Absent>,
    /// What every base clustering counts, where they differ.
    weights: Option<Vec<u32>>,
    /// The memberships, where base clusterings are soft.
    soft: Option<SoftPairs>,
}

/// Counts of pairs: in two bytes, or in four where base clusterings have weights that need them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Numbers {
    Words(Vec<u16>),
    Wide(Vec<u32>),
}

impl Numbers {
    pub(crate) fn at(&self, place: usize) -> u32 {
        match self {
            Self::Words(counts) => u32::from(counts[place]),
            Self::Wide(counts) => counts[place],
        }
    }

    pub(crate) fn part(&self, range: Range<usize>) -> Counts<'_> {
        match self {
            Self::Words(counts) => Counts::Words(&counts[range]),
            Self::Wide(counts) => Counts::Wide(&counts[range]),
        }
    }

    /// [`both_ways`] with these counts and another value of every pair.
    pub(crate) fn both_ways<V: Copy + Default>(
        &self,
        pairs: &[(u32, u32)],
        starts: &[usize],
        values: &[V],
    ) -> (Vec<u32>, Self, Vec<V>) {
        match self {
            Self::Words(counts) => {
                let (neighbours, counts, values) = both_ways(pairs, starts, counts, values);
                (neighbours, Self::Words(counts), values)
            }
            Self::Wide(counts) => {
                let (neighbours, counts, values) = both_ways(pairs, starts, counts, values);
                (neighbours, Self::Wide(counts), values)
            }
        }
    }
}

/// Both directions of sorted pairs, row by row from these starts: the neighbours, and two values of the pair beside each. Rows ascend:
/// what is smaller than i comes before the pairs (i, ·).
fn both_ways<C: Copy + Default, V: Copy + Default>(
    pairs: &[(u32, u32)],
    starts: &[usize],
    counts: &[C],
    values: &[V],
) -> (Vec<u32>, Vec<C>, Vec<V>) {
    let (stored, mut free) = (2 * pairs.len(), starts.to_vec());
    let (mut neighbours, mut to_counts, mut to_values) = (
        vec![0; stored],
        vec![C::default(); stored],
        vec![V::default(); stored],
    );
    for ((&(i, j), &count), &value) in pairs.iter().zip(counts).zip(values) {
        for (one, other) in [(i, j), (j, i)] {
            let place = &mut free[one as usize];
            (neighbours[*place], to_counts[*place], to_values[*place]) = (other, count, value);
            *place += 1;
        }
    }
    (neighbours, to_counts, to_values)
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
    pub(crate) fn new(source: WeightedEnsemble<'_>) -> Result<Self, CoassocError> {
        fn padded<L: Label>(rows: ArrayView2<'_, L>, chunks: usize) -> Vec<[L; WIDTH]> {
            let mut padded = vec![[L::MISSING; WIDTH]; rows.nrows() * chunks];
            for (row, padded) in rows.outer_iter().zip(padded.chunks_mut(chunks)) {
                row.iter()
                    .zip(padded.as_flattened_mut())
                    .for_each(|(&label, place)| *place = label);
            }
            padded
        }
        let ensemble = source.ensemble;
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
        Ok(Self {
            bases,
            chunks,
            labels,
            absent,
            weights: whole_weights(source)?,
            soft: SoftPairs::new(source)?,
        })
    }

    /// N of a pair that all base clusterings label.
    pub(crate) fn unit(&self) -> u32 {
        if self.soft.is_some() {
            MOST
        } else {
            unit(self.weights.as_deref(), self.bases)
        }
    }

    /// c of every pair, and N of every pair if labels are missing.
    pub(crate) fn count(&self, pairs: &[(u32, u32)]) -> (Numbers, Option<Numbers>) {
        if let Some(soft) = &self.soft {
            let pair = |&(i, j): &(u32, u32)| soft.pair(i as usize, j as usize);
            let (together, seen) = pairs.par_iter().with_min_len(BATCH).map(pair).unzip();
            return (
                Numbers::Wide(together),
                soft.missing().then_some(Numbers::Wide(seen)),
            );
        }
        match &self.weights {
            None => {
                let (together, seen) = self.count_labels(pairs);
                (Numbers::Words(together), seen.map(Numbers::Words))
            }
            Some(weights) => {
                let (together, seen) = match &self.labels {
                    Labels::Bytes(rows) => self.weigh(rows, weights, pairs),
                    Labels::Words(rows) => self.weigh(rows, weights, pairs),
                };
                (
                    Numbers::Wide(together),
                    self.absent.as_ref().map(|_| Numbers::Wide(seen)),
                )
            }
        }
    }

    /// Weights of the labels that pairs share, and of those that both have.
    fn weigh<L: Label>(
        &self,
        rows: &[[L; WIDTH]],
        weights: &[u32],
        pairs: &[(u32, u32)],
    ) -> (Vec<u32>, Vec<u32>) {
        let row =
            |i: u32| rows[i as usize * self.chunks..(i as usize + 1) * self.chunks].as_flattened();
        let weigh = |&(i, j): &(u32, u32)| {
            let (mut together, mut seen) = (0, 0);
            for ((a, b), weight) in row(i).iter().zip(row(j)).zip(weights) {
                let both = *a != L::MISSING && *b != L::MISSING;
                together += if both && a == b { *weight } else { 0 };
                seen += if both { *weight } else { 0 };
            }
            (together, seen)
        };
        pairs.par_iter().with_min_len(BATCH).map(weigh).unzip()
    }

    fn count_labels(&self, pairs: &[(u32, u32)]) -> (Vec<u16>, Option<Vec<u16>>) {
        let mut together = vec![0; pairs.len()];
        let mut seen = vec![
            0;
            if self.absent.is_some() {
                pairs.len()
            } else {
                0
            }
        ];
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
            let batches = pairs
                .par_chunks(BATCH)
                .zip(together.par_chunks_mut(BATCH))
                .zip(seen.par_chunks_mut(BATCH));
            batches.for_each(|((pairs, c), seen)| {
                pair_common_bits(&absent.bits, absent.words, pairs, seen);
                for ((&(i, j), c), seen) in pairs.iter().zip(c).zip(seen) {
                    let both = *seen;
                    *c -= both;
                    *seen = (self.bases as u16 - absent.counts[i as usize]) + both
                        - absent.counts[j as usize];
                }
            });
        }
        (together, self.absent.as_ref().map(|_| seen))
    }
}

impl Absent {
    fn new<L: Label>(rows: ArrayView2<'_, L>) -> Self {
        let words = rows.ncols().div_ceil(64);
        let mut made = Self {
            words,
            bits: vec![0; rows.nrows() * words],
            counts: vec![0; rows.nrows()],
        };
        for (i, row) in rows.outer_iter().enumerate() {
            for (u, _) in row
                .iter()
                .enumerate()
                .filter(|(_, label)| **label == L::MISSING)
            {
                made.bits[i * words + u / 64] |= 1 << (u % 64);
                made.counts[i] += 1;
            }
        }
        made
    }
}
