//! Rows in memory whose memberships are known by their numbers: what initializations are made of.

use partita_core::{
    AnyBlock, EnsembleRows, PassRunner, Row, RowBlock, RowBlocks, RowMap, RowPass, Seed, Silent,
};
use rand_distr::{Distribution, Exp1};
use serde::{Deserialize, Serialize};

use crate::shared::layout::BaseLayout;
use crate::shared::log_probabilities::{LogProbabilities, largest};
use crate::shared::sufficient_statistics::SufficientStatistics;

/// Rows in memory: a sample, or all rows of an ensemble.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldRows<'a> {
    pub(crate) rows: EnsembleRows<'a>,
    pub(crate) layout: &'a BaseLayout,
}

impl HeldRows<'_> {
    /// Passes over the rows: they end, since rows in memory are read and nobody stops them.
    pub(crate) fn passes(&self) -> PassRunner<'_> {
        PassRunner::new(&self.rows, &Silent)
    }

    pub(crate) fn len(&self) -> usize {
        self.rows.rows() as usize
    }

    /// How many objects every row stands for.
    pub(crate) fn weights(&self) -> Vec<f64> {
        self.rows.with_all(|block| match block {
            AnyBlock::Bytes(block) => block.rows().map(|(_, weight)| weight).collect(),
            AnyBlock::Words(block) => block.rows().map(|(_, weight)| weight).collect(),
            AnyBlock::Shares(block) => block.rows().map(|(_, weight)| weight).collect(),
        })
    }

    /// The sums when rows belong to the clusters as `memberships` says.
    pub(crate) fn given(
        &self,
        memberships: GivenMemberships,
        clusters: usize,
    ) -> SufficientStatistics {
        let pass = SumGiven {
            offsets: self.layout.offsets.clone(),
            memberships,
            clusters,
        };
        self.passes().run(&pass).expect("rows in memory are read")
    }

    /// The sums when row i belongs to cluster `labels[i]`.
    pub(crate) fn given_hard(&self, labels: &[u32], clusters: usize) -> SufficientStatistics {
        self.given(GivenMemberships::Labels(labels.to_vec()), clusters)
    }

    /// The most probable cluster of every row under `logs`; ties go to the smaller number.
    pub(crate) fn nearest(&self, logs: &LogProbabilities) -> Vec<u32> {
        let pass = Nearest {
            offsets: &self.layout.offsets,
            logs,
        };
        let mut labels = Vec::with_capacity(self.len());
        let taken = self.passes().each(&pass, &mut |_, own| {
            labels.extend(own);
            Ok(())
        });
        taken.expect("rows in memory are read");
        labels
    }
}

/// Memberships by the number of a row.
#[derive(Serialize, Deserialize)]
pub(crate) enum GivenMemberships {
    /// The cluster of every row.
    Labels(Vec<u32>),
    /// A line of K values for every row.
    Lines(Vec<f64>),
    /// Drawn from Dirichlet(1), with the seed of this number.
    Drawn(u64),
}

impl GivenMemberships {
    fn write(&self, row: u64, line: &mut [f64]) {
        match self {
            Self::Labels(labels) => {
                line.fill(0.0);
                line[labels[row as usize] as usize] = 1.0;
            }
            Self::Lines(lines) => {
                line.copy_from_slice(&lines[row as usize * line.len()..][..line.len()]);
            }
            Self::Drawn(seed) => {
                let mut rng = Seed::new(*seed).child(row).rng();
                line.iter_mut().for_each(|p| *p = Exp1.sample(&mut rng));
                let sum: f64 = line.iter().sum();
                line.iter_mut().for_each(|p| *p /= sum);
            }
        }
    }
}

/// What rows of known memberships add up to.
#[derive(Serialize, Deserialize)]
struct SumGiven {
    offsets: Vec<usize>,
    memberships: GivenMemberships,
    clusters: usize,
}

impl RowPass for SumGiven {
    type Sum = SufficientStatistics;
    const KIND: &'static str = "mixture/given";

    fn zero(&self) -> SufficientStatistics {
        SufficientStatistics::zero(self.offsets[self.offsets.len() - 1], self.clusters)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut SufficientStatistics) {
        let mut line = vec![0.0; self.clusters];
        for ((row, weight), number) in block.rows().zip(block.first..) {
            self.memberships.write(number, &mut line);
            line.iter_mut().for_each(|p| *p *= weight);
            sum.add(row.entries(&self.offsets), &line);
        }
    }
}

/// The most probable cluster of every row.
struct Nearest<'a> {
    offsets: &'a [usize],
    logs: &'a LogProbabilities,
}

impl RowMap for Nearest<'_> {
    type Out = Vec<u32>;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Vec<u32> {
        let mut scores = vec![0.0; self.logs.clusters()];
        let best = |(row, _): (R, f64)| {
            self.logs.score(row.entries(self.offsets), &mut scores);
            largest(&scores) as u32
        };
        block.rows().map(best).collect()
    }
}
