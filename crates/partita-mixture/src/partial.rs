//! Sufficient statistics of a mixture: expected cluster sizes, label counts by cluster, and the log likelihood.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{Label, LabelRows, Mergeable, RowBlock, RowPass, chunks};
use rayon::prelude::*;

use crate::Rows;
use crate::passes::Expectation;
use crate::table::{LogTable, lines, normalise};

/// What some label rows add up to. The sums of all rows are those of any division of the rows, merged.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Partial {
    /// The weight in every cluster, K values.
    pub(crate) sizes: Vec<f64>,
    /// The weight of every label in every cluster, ΣJ lines of K values.
    pub(crate) labels: Vec<f64>,
    /// The weighted sum of log normalisers.
    pub(crate) log_sum: f64,
}

impl Partial {
    pub(crate) fn zero(label_values: usize, clusters: usize) -> Self {
        Self { sizes: vec![0.0; clusters], labels: vec![0.0; label_values * clusters], log_sum: 0.0 }
    }

    /// Adds a row that belongs to the clusters by these weights.
    pub(crate) fn add(&mut self, lines: impl Iterator<Item = usize>, soft: &[f64]) {
        let clusters = soft.len();
        let plus = |sums: &mut [f64]| sums.iter_mut().zip(soft).for_each(|(sum, p)| *sum += p);
        plus(&mut self.sizes);
        for line in lines {
            plus(&mut self.labels[line * clusters..][..clusters]);
        }
    }

    /// The same with empty clusters up to so many.
    pub(crate) fn widened(self, clusters: usize) -> Self {
        let had = self.sizes.len();
        if had >= clusters {
            return self;
        }
        let mut wide = Self::zero(self.labels.len() / had, clusters);
        wide.sizes[..had].copy_from_slice(&self.sizes);
        for (to, from) in wide.labels.chunks_exact_mut(clusters).zip(self.labels.chunks_exact(had)) {
            to[..had].copy_from_slice(from);
        }
        Self { log_sum: self.log_sum, ..wide }
    }
}

impl Partial {
    pub(crate) fn merged(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }
}

impl Rows<'_> {
    /// One round's expectation under `table`.
    ///
    /// # Cost
    /// O(rows · M · K) time; at most 64 sums of ΣJ · K numbers.
    pub(crate) fn expect(&self, table: &LogTable) -> Partial {
        let pass = Expectation { offsets: self.offsets().to_vec(), table: table.clone() };
        match self.ensemble().rows() {
            LabelRows::Bytes(rows) => self.expect_in(rows, &pass),
            LabelRows::Words(rows) => self.expect_in(rows, &pass),
        }
    }

    /// The pass over parts whose number depends on that of the rows, as results on record were summed.
    fn expect_in<L: Label>(&self, rows: ArrayView2<'_, L>, pass: &Expectation) -> Partial {
        let (held, bases) = (rows.as_standard_layout(), rows.ncols());
        let labels = held.as_slice().expect("standard layout is one slice");
        let part = |range: std::ops::Range<usize>| {
            let (first, weights) = (range.start as u64, Some(&self.weights()[range.clone()]));
            let labels = &labels[range.start * bases..range.end * bases];
            let mut part = pass.zero();
            pass.add(&RowBlock { first, labels, bases, weights }, &mut part);
            part
        };
        self.sum(part, Partial::merged)
    }

    /// The probabilities of the clusters for every row under `table`.
    pub(crate) fn memberships(&self, table: &LogTable) -> Array2<f64> {
        match self.ensemble().rows() {
            LabelRows::Bytes(rows) => self.memberships_in(rows, table),
            LabelRows::Words(rows) => self.memberships_in(rows, table),
        }
    }

    /// The most probable cluster of every row under `table`; ties go to the smaller number.
    pub(crate) fn nearest(&self, table: &LogTable) -> Vec<u32> {
        match self.ensemble().rows() {
            LabelRows::Bytes(rows) => self.nearest_in(rows, table),
            LabelRows::Words(rows) => self.nearest_in(rows, table),
        }
    }

    fn nearest_in<L: Label>(&self, rows: ArrayView2<'_, L>, table: &LogTable) -> Vec<u32> {
        let part = |range: std::ops::Range<usize>| {
            let mut scores = vec![0.0; table.clusters()];
            let best = |i| {
                table.score(lines(rows.row(i), self.offsets()), &mut scores);
                (0..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best }) as u32
            };
            range.map(best).collect::<Vec<u32>>()
        };
        let ranges: Vec<_> = chunks(rows.nrows(), self.part_size()).collect();
        ranges.into_par_iter().flat_map_iter(part).collect()
    }

    fn memberships_in<L: Label>(&self, rows: ArrayView2<'_, L>, table: &LogTable) -> Array2<f64> {
        let clusters = table.clusters();
        let mut soft = vec![0.0; rows.nrows() * clusters];
        soft.par_chunks_mut(clusters).enumerate().for_each(|(i, soft)| {
            table.score(lines(rows.row(i), self.offsets()), soft);
            if normalise(soft) == f64::NEG_INFINITY {
                soft.copy_from_slice(&table.prior);
                normalise(soft);
            }
        });
        Array2::from_shape_vec((rows.nrows(), clusters), soft).expect("K values a row")
    }

    /// The sums when row i belongs to the clusters as `member(i, line)` writes into a line of K zeros.
    pub(crate) fn given(&self, clusters: usize, member: impl Fn(usize, &mut [f64]) + Sync) -> Partial {
        match self.ensemble().rows() {
            LabelRows::Bytes(rows) => self.given_in(rows, clusters, member),
            LabelRows::Words(rows) => self.given_in(rows, clusters, member),
        }
    }

    fn given_in<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        clusters: usize,
        member: impl Fn(usize, &mut [f64]) + Sync,
    ) -> Partial {
        let part = |range: std::ops::Range<usize>| {
            let mut part = Partial::zero(self.label_values(), clusters);
            let mut soft = vec![0.0; clusters];
            for i in range {
                soft.fill(0.0);
                member(i, &mut soft);
                soft.iter_mut().for_each(|p| *p *= self.weights()[i]);
                part.add(lines(rows.row(i), self.offsets()), &soft);
            }
            part
        };
        self.sum(part, Partial::merged)
    }

    /// The sums of given memberships, one line a row.
    pub(crate) fn given_soft(&self, soft: ArrayView2<'_, f64>) -> Partial {
        assert_eq!(self.weights().len(), soft.nrows(), "one line of memberships a row");
        self.given(soft.ncols(), |i, line| line.iter_mut().zip(soft.row(i)).for_each(|(p, q)| *p = *q))
    }

    /// The sums when row i belongs to cluster `labels[i]`.
    pub(crate) fn given_hard(&self, labels: &[u32], clusters: usize) -> Partial {
        self.given(clusters, |i, line| line[labels[i] as usize] = 1.0)
    }
}
