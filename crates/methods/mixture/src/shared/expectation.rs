//! The E-step of a mixture: sums of expected memberships over label rows, in memory and by row passes.

use std::ops::Range;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Label, LabelRows, PassError, PassRunner, Row, RowBlock, RowPass, chunks, map_parallel,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::shared::log_probabilities::{LogProbabilities, largest, lines, lines_of, normalise};
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// The E-step under a table of log probabilities: expected sizes, label counts, and the log likelihood.
#[derive(Serialize, Deserialize)]
pub(crate) struct Expectation {
    pub(crate) offsets: Vec<usize>,
    pub(crate) logs: LogProbabilities,
}

impl RowPass for Expectation {
    type Sum = SufficientStatistics;
    const KIND: &'static str = "mixture/expectation";

    fn zero(&self) -> SufficientStatistics {
        SufficientStatistics::zero(self.offsets[self.offsets.len() - 1], self.logs.clusters())
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut SufficientStatistics) {
        let mut soft = vec![0.0; self.logs.clusters()];
        for (row, weight) in block.rows() {
            self.logs.score(lines_of(row, &self.offsets), &mut soft);
            let log = normalise(&mut soft);
            sum.log_sum += weight * log;
            if log > f64::NEG_INFINITY {
                soft.iter_mut().for_each(|p| *p *= weight);
                sum.add(lines_of(row, &self.offsets), &soft);
            }
        }
    }
}

/// One E-step over all rows.
pub(crate) fn expect(
    rows: &PassRunner<'_>,
    offsets: &[usize],
    logs: &LogProbabilities,
) -> Result<SufficientStatistics, PassError> {
    rows.run(&Expectation {
        offsets: offsets.to_vec(),
        logs: logs.clone(),
    })
}

impl WeightedRows<'_> {
    /// One round's expectation under `logs`.
    ///
    /// # Cost
    /// O(rows · M · K) time; at most 64 sums of ΣJ · K numbers.
    pub(crate) fn expect(&self, logs: &LogProbabilities) -> SufficientStatistics {
        let pass = Expectation {
            offsets: self.offsets().to_vec(),
            logs: logs.clone(),
        };
        match (self.shares(), self.ensemble().rows()) {
            (Some(shares), _) => self.expect_shares(shares, logs),
            (None, LabelRows::Bytes(rows)) => self.expect_in(rows, &pass),
            (None, LabelRows::Words(rows)) => self.expect_in(rows, &pass),
        }
    }

    /// The pass over parts whose number depends on that of the rows, as results on record were summed.
    fn expect_in<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        pass: &Expectation,
    ) -> SufficientStatistics {
        let (held, bases) = (rows.as_standard_layout(), rows.ncols());
        let labels = held.as_slice().expect("standard layout is one slice");
        let part = |range: Range<usize>| {
            let (first, weights) = (range.start as u64, Some(&self.weights()[range.clone()]));
            let labels = &labels[range.start * bases..range.end * bases];
            let mut part = pass.zero();
            pass.add(
                &RowBlock::<&[L]>::new(first, labels, bases, weights),
                &mut part,
            );
            part
        };
        self.sum(part, SufficientStatistics::merged)
    }

    /// The probabilities of the clusters for every row under `logs`.
    pub(crate) fn memberships(&self, logs: &LogProbabilities) -> Array2<f64> {
        match (self.shares(), self.ensemble().rows()) {
            (Some(shares), _) => Self::memberships_of_shares(shares, logs),
            (None, LabelRows::Bytes(rows)) => self.memberships_in(rows, logs),
            (None, LabelRows::Words(rows)) => self.memberships_in(rows, logs),
        }
    }

    /// The most probable cluster of every row under `logs`; ties go to the smaller number.
    pub(crate) fn nearest(&self, logs: &LogProbabilities) -> Vec<u32> {
        match (self.shares(), self.ensemble().rows()) {
            (Some(shares), _) => self.nearest_of_shares(shares, logs),
            (None, LabelRows::Bytes(rows)) => self.nearest_in(rows, logs),
            (None, LabelRows::Words(rows)) => self.nearest_in(rows, logs),
        }
    }

    fn nearest_in<L: Label>(&self, rows: ArrayView2<'_, L>, logs: &LogProbabilities) -> Vec<u32> {
        let part = |range: Range<usize>| {
            let mut scores = vec![0.0; logs.clusters()];
            let best = |i| {
                logs.score(lines(rows.row(i), self.offsets()), &mut scores);
                largest(&scores) as u32
            };
            range.map(best).collect::<Vec<u32>>()
        };
        map_parallel(chunks(rows.nrows(), self.part_size()), part).concat()
    }

    fn memberships_in<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        logs: &LogProbabilities,
    ) -> Array2<f64> {
        let clusters = logs.clusters();
        let mut soft = vec![0.0; rows.nrows() * clusters];
        soft.par_chunks_mut(clusters)
            .enumerate()
            .for_each(|(i, soft)| {
                logs.score(lines(rows.row(i), self.offsets()), soft);
                if normalise(soft) == f64::NEG_INFINITY {
                    soft.copy_from_slice(&logs.prior);
                    normalise(soft);
                }
            });
        Array2::from_shape_vec((rows.nrows(), clusters), soft).expect("K values a row")
    }

    /// The sums when row i belongs to the clusters as `member(i, line)` writes into a line of K zeros.
    pub(crate) fn given(
        &self,
        clusters: usize,
        member: impl Fn(usize, &mut [f64]) + Sync,
    ) -> SufficientStatistics {
        match (self.shares(), self.ensemble().rows()) {
            (Some(shares), _) => self.given_shares(shares, clusters, member),
            (None, LabelRows::Bytes(rows)) => self.given_in(rows, clusters, member),
            (None, LabelRows::Words(rows)) => self.given_in(rows, clusters, member),
        }
    }

    fn given_in<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        clusters: usize,
        member: impl Fn(usize, &mut [f64]) + Sync,
    ) -> SufficientStatistics {
        self.given_by(clusters, member, |sums, i, soft| {
            sums.add(lines(rows.row(i), self.offsets()), soft);
        })
    }

    /// The sums of given memberships, where `add` adds a row by its weighted memberships.
    pub(crate) fn given_by(
        &self,
        clusters: usize,
        member: impl Fn(usize, &mut [f64]) + Sync,
        add: impl Fn(&mut SufficientStatistics, usize, &[f64]) + Sync,
    ) -> SufficientStatistics {
        let part = |range: Range<usize>| {
            let mut part = SufficientStatistics::zero(self.label_values(), clusters);
            let mut soft = vec![0.0; clusters];
            for i in range {
                soft.fill(0.0);
                member(i, &mut soft);
                soft.iter_mut().for_each(|p| *p *= self.weights()[i]);
                add(&mut part, i, &soft);
            }
            part
        };
        self.sum(part, SufficientStatistics::merged)
    }

    /// The sums of given memberships, one line a row.
    pub(crate) fn given_soft(&self, soft: ArrayView2<'_, f64>) -> SufficientStatistics {
        assert_eq!(
            self.weights().len(),
            soft.nrows(),
            "one line of memberships a row"
        );
        self.given(soft.ncols(), |i, line| {
            line.iter_mut().zip(soft.row(i)).for_each(|(p, q)| *p = *q);
        })
    }

    /// The sums when row i belongs to cluster `labels[i]`.
    pub(crate) fn given_hard(&self, labels: &[u32], clusters: usize) -> SufficientStatistics {
        self.given(clusters, |i, line| line[labels[i] as usize] = 1.0)
    }
}
