//! Row passes after a mixture is fitted: which clusters are in use, and the label of every row.

use partita_core::{Assigned, Mergeable, Row, RowBlock, RowLabeller, RowMap, RowPass};
use serde::{Deserialize, Serialize};

use crate::shared::log_probabilities::{LogProbabilities, largest, lines_of, normalise};

/// Which clusters are in use under a table of log probabilities.
#[derive(Serialize, Deserialize)]
pub(crate) struct Usage {
    pub(crate) offsets: Vec<usize>,
    pub(crate) logs: LogProbabilities,
    /// What a label of every base clustering counts, where that is not one; in `logs` too.
    pub(crate) base_weights: Option<Vec<f64>>,
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
        self.sizes
            .iter_mut()
            .zip(&other.sizes)
            .for_each(|(a, b)| *a += b);
        self.chosen
            .iter_mut()
            .zip(&other.chosen)
            .for_each(|(a, b)| *a |= b);
        self.labels += other.labels;
        self.log_sum += other.log_sum;
    }
}

impl Usage {
    fn weight_of<'a, R: Row<'a>>(&self, row: R) -> f64 {
        let Some(weights) = &self.base_weights else {
            return row.entries(&self.offsets).count() as f64;
        };
        row.entries(&self.offsets)
            .map(|entry| weights[entry.base])
            .sum()
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
            self.logs.score(lines_of(row, &self.offsets), &mut soft);
            sum.log_sum += weight * normalise(&mut soft);
            sum.chosen[largest(&soft)] = true;
            sum.sizes
                .iter_mut()
                .zip(&soft)
                .for_each(|(size, p)| *size += weight * p);
            sum.labels += weight * self.weight_of(row);
        }
    }
}

/// The most probable cluster of every row, when the probabilities under `logs` are summed into the places of its
/// clusters.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct MostProbable {
    pub(crate) offsets: Vec<usize>,
    pub(crate) logs: LogProbabilities,
    /// For every cluster of `logs`, its place in the result.
    pub(crate) place: Vec<usize>,
}

impl RowLabeller for MostProbable {
    const KIND: &'static str = "mixture/most-probable";
}

impl RowMap for MostProbable {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let places = self.place.iter().max().map_or(1, |most| most + 1);
        let (mut scores, mut all) = (
            vec![0.0; self.logs.clusters()],
            Vec::with_capacity(block.len() * places),
        );
        let mut assigned = Assigned::default();
        for (row, _) in block.rows() {
            self.logs.score(lines_of(row, &self.offsets), &mut scores);
            if normalise(&mut scores) == f64::NEG_INFINITY {
                scores.copy_from_slice(&self.logs.prior);
                normalise(&mut scores);
            }
            let start = all.len();
            all.resize(start + places, 0.0);
            let soft: &mut [f64] = &mut all[start..];
            scores
                .iter()
                .zip(&self.place)
                .for_each(|(p, &place)| soft[place] += p);
            let best = largest(soft);
            assigned.labels.push(best as u32);
            assigned.certainty.push(soft[best].min(1.0));
        }
        assigned.soft = Some(all);
        assigned
    }
}
