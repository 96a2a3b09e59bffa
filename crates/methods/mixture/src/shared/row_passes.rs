//! Row passes after a mixture is fitted: which clusters are in use, and the label of every row.

use partita_core::{Assigned, Mergeable, Row, RowBlock, RowLabeller, RowMap, RowPass};
use serde::{Deserialize, Serialize};

use crate::shared::layout::BaseLayout;
use crate::shared::log_probabilities::{LogProbabilities, largest, normalise};
use crate::shared::sufficient_statistics::add;

/// Which clusters are in use under a table of log probabilities.
#[derive(Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) layout: BaseLayout,
    /// Copies of base clusterings are in them.
    pub(crate) logs: LogProbabilities,
}

/// What [`Usage`] finds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Used {
    /// The expected weight of every cluster.
    pub(crate) sizes: Vec<f64>,
    /// Whether a cluster is some row's most probable one.
    pub(crate) chosen: Vec<bool>,
    /// Labels that are there, by weight.
    pub(crate) labels: f64,
    /// The log likelihood.
    pub(crate) log_sum: f64,
}

impl Mergeable for Used {
    fn merge(&mut self, other: Self) {
        add(&mut self.sizes, &other.sizes);
        self.chosen
            .iter_mut()
            .zip(&other.chosen)
            .for_each(|(a, b)| *a |= b);
        self.labels += other.labels;
        self.log_sum += other.log_sum;
    }
}

impl RowPass for Usage {
    type Sum = Used;
    const KIND: &'static str = "mixture/usage";

    fn zero(&self) -> Used {
        let clusters = self.logs.clusters();
        Used {
            sizes: vec![0.0; clusters],
            chosen: vec![false; clusters],
            labels: 0.0,
            log_sum: 0.0,
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Used) {
        let mut soft = vec![0.0; self.logs.clusters()];
        for (row, weight) in block.rows() {
            self.logs
                .score(row.entries(&self.layout.offsets), &mut soft);
            sum.log_sum += weight * normalise(&mut soft);
            sum.chosen[largest(&soft)] = true;
            sum.sizes
                .iter_mut()
                .zip(&soft)
                .for_each(|(size, p)| *size += weight * p);
            sum.labels += weight * self.layout.labels_of(row);
        }
    }
}

/// For every cluster of a fit its place in the result: clusters that are not in use may share one.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Places(pub(crate) Vec<usize>);

impl Places {
    /// Number of places.
    pub(crate) fn count(&self) -> usize {
        self.0.iter().max().map_or(1, |most| most + 1)
    }

    /// Every row in its most probable place, where `write` writes its probabilities of the clusters.
    pub(crate) fn assigned<'a, R: Row<'a>>(
        &self,
        block: &RowBlock<'a, R>,
        mut write: impl FnMut(R, f64, &mut [f64]),
    ) -> Assigned {
        let places = self.count();
        let mut own = vec![0.0; self.0.len()];
        let mut all = vec![0.0; block.len() * places];
        for ((row, weight), soft) in block.rows().zip(all.chunks_exact_mut(places)) {
            write(row, weight, &mut own);
            own.iter()
                .zip(&self.0)
                .for_each(|(p, &place)| soft[place] += p);
        }
        Assigned::of_soft(all, places)
    }
}

/// The most probable cluster of every row, when the probabilities under `logs` are summed into the places of its
/// clusters.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct MostProbable {
    pub(crate) offsets: Vec<usize>,
    pub(crate) logs: LogProbabilities,
    pub(crate) places: Places,
}

impl RowLabeller for MostProbable {
    const KIND: &'static str = "mixture/most-probable";
}

impl RowMap for MostProbable {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        self.places.assigned(block, |row, _, soft| {
            self.logs.memberships(row.entries(&self.offsets), soft);
        })
    }
}
