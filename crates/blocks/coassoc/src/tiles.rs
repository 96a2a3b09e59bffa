//! Label rows in the layout that the kernels read: blocks of 64 objects, a column of 64 labels a base clustering.

use partita_core::ndarray::ArrayView2;
use partita_core::{Ensemble, Label, LabelRows};
use partita_kernels::{BLOCK, Tally, agreements, common_bits, weighted_agreements};

/// Objects whose counts are taken together.
pub(crate) const GROUP: usize = 4;

/// The labels of an ensemble in blocks. The last block is filled up with missing labels.
#[derive(Clone, Debug)]
pub(crate) struct Tiles {
    objects: usize,
    bases: usize,
    columns: Columns,
    absent: Option<Absent>,
}

#[derive(Clone, Debug)]
enum Columns {
    Bytes(Vec<[u8; BLOCK]>),
    Words(Vec<[u16; BLOCK]>),
}

/// The labels of an object and what each weighs.
#[derive(Debug)]
pub(crate) enum WeighedRow {
    Bytes(Vec<(u8, u32)>),
    Words(Vec<(u16, u32)>),
}

/// Which labels are missing: a bit each, eight base clusterings a column; and how many of every object.
#[derive(Clone, Debug)]
struct Absent {
    bits: Vec<[u8; BLOCK]>,
    counts: Vec<u16>,
}

impl Tiles {
    pub(crate) fn new(ensemble: &Ensemble) -> Self {
        fn columns<L: Label>(rows: ArrayView2<'_, L>) -> Vec<[L; BLOCK]> {
            let bases = rows.ncols();
            let mut columns = vec![[L::MISSING; BLOCK]; rows.nrows().div_ceil(BLOCK) * bases];
            for (i, row) in rows.outer_iter().enumerate() {
                for (u, &label) in row.iter().enumerate() {
                    columns[i / BLOCK * bases + u][i % BLOCK] = label;
                }
            }
            columns
        }
        let (objects, bases) = (ensemble.objects(), ensemble.bases().len());
        let columns = match ensemble.rows() {
            LabelRows::Bytes(rows) => Columns::Bytes(columns(rows)),
            LabelRows::Words(rows) => Columns::Words(columns(rows)),
        };
        let absent = (ensemble.missing() > 0).then(|| Absent::new(ensemble));
        Self {
            objects,
            bases,
            columns,
            absent,
        }
    }

    /// Tiles in which every label that is there is the same: what two objects share in them is what labels both.
    pub(crate) fn present(&self) -> Self {
        fn columns<L: Label>(all: &[[L; BLOCK]]) -> Vec<[u8; BLOCK]> {
            let there = |label: L| if label == L::MISSING { u8::MISSING } else { 0 };
            all.iter().map(|column| column.map(there)).collect()
        }
        let columns = match &self.columns {
            Columns::Bytes(all) => columns(all),
            Columns::Words(all) => columns(all),
        };
        Self {
            objects: self.objects,
            bases: self.bases,
            columns: Columns::Bytes(columns),
            absent: None,
        }
    }

    pub(crate) fn objects(&self) -> usize {
        self.objects
    }

    pub(crate) fn bases(&self) -> usize {
        self.bases
    }

    pub(crate) fn blocks(&self) -> usize {
        self.objects.div_ceil(BLOCK)
    }

    pub(crate) fn missing(&self) -> bool {
        self.absent.is_some()
    }

    /// c and N of R objects from `first` on (all in one block) with the objects of a block. N is left alone when
    /// nothing is missing. What stands in the lanes past the last object means nothing.
    pub(crate) fn count<const R: usize>(
        &self,
        first: usize,
        block: usize,
        c: &mut Tally<R>,
        seen: &mut Tally<R>,
    ) {
        let (home, offset) = (first / BLOCK, first % BLOCK);
        let of = |block: usize, columns: usize| block * columns..(block + 1) * columns;
        *c = [[0; BLOCK]; R];
        let (here, there) = (of(block, self.bases), of(home, self.bases));
        match &self.columns {
            Columns::Bytes(all) => agreements(&all[here], &all[there], offset, c),
            Columns::Words(all) => agreements(&all[here], &all[there], offset, c),
        }
        let Some(absent) = &self.absent else { return };
        *seen = [[0; BLOCK]; R];
        let columns = self.bases.div_ceil(8);
        common_bits(
            &absent.bits[of(block, columns)],
            &absent.bits[of(home, columns)],
            offset,
            seen,
        );
        let others = &absent.counts[block * BLOCK..][..BLOCK];
        for r in 0..R {
            let labelled = (self.bases as u16).wrapping_sub(absent.counts[first + r]);
            for lane in 0..BLOCK {
                let both = seen[r][lane];
                c[r][lane] = c[r][lane].wrapping_sub(both);
                seen[r][lane] = labelled.wrapping_sub(others[lane]).wrapping_add(both);
            }
        }
    }

    /// What an object's labels weigh: `weights` has one weight a base clustering, that of the cluster the object is in.
    pub(crate) fn weighed(&self, object: usize, weights: &[u32]) -> WeighedRow {
        fn row<L: Label>(columns: &[[L; BLOCK]], lane: usize, weights: &[u32]) -> Vec<(L, u32)> {
            let weight = |label: L, weight: u32| if label == L::MISSING { 0 } else { weight };
            columns
                .iter()
                .zip(weights)
                .map(|(column, &w)| (column[lane], weight(column[lane], w)))
                .collect()
        }
        let (home, lane) = (object / BLOCK, object % BLOCK);
        let columns = home * self.bases..(home + 1) * self.bases;
        match &self.columns {
            Columns::Bytes(all) => WeighedRow::Bytes(row(&all[columns], lane, weights)),
            Columns::Words(all) => WeighedRow::Words(row(&all[columns], lane, weights)),
        }
    }

    /// The summed weight of what a [`weighed`](Self::weighed) object shares with each object of a block.
    pub(crate) fn weigh(&self, row: &WeighedRow, block: usize, sum: &mut [u32; BLOCK]) {
        let columns = block * self.bases..(block + 1) * self.bases;
        *sum = [0; BLOCK];
        match (&self.columns, row) {
            (Columns::Bytes(all), WeighedRow::Bytes(row)) => {
                weighted_agreements(&all[columns], row, sum);
            }
            (Columns::Words(all), WeighedRow::Words(row)) => {
                weighted_agreements(&all[columns], row, sum);
            }
            _ => unreachable!("the row is one of these tiles"),
        }
    }
}

impl Absent {
    fn new(ensemble: &Ensemble) -> Self {
        fn fill<L: Label>(rows: ArrayView2<'_, L>, absent: &mut Absent) {
            let columns = rows.ncols().div_ceil(8);
            for (i, row) in rows.outer_iter().enumerate() {
                for (u, _) in row
                    .iter()
                    .enumerate()
                    .filter(|(_, label)| **label == L::MISSING)
                {
                    absent.bits[i / BLOCK * columns + u / 8][i % BLOCK] |= 1 << (u % 8);
                    absent.counts[i] += 1;
                }
            }
        }
        let blocks = ensemble.objects().div_ceil(BLOCK);
        let columns = blocks * ensemble.bases().len().div_ceil(8);
        let mut absent = Self {
            bits: vec![[0; BLOCK]; columns],
            counts: vec![0; blocks * BLOCK],
        };
        match ensemble.rows() {
            LabelRows::Bytes(rows) => fill(rows, &mut absent),
            LabelRows::Words(rows) => fill(rows, &mut absent),
        }
        absent
    }
}
