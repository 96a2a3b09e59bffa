//! BCE as a pass: the memberships of every row, and what they add up to.

use std::collections::BTreeMap;

use partita_core::{Assigned, Mergeable, Row, RowBlock, RowKey, RowLabeller, RowMap, RowPass};
use serde::{Deserialize, Serialize};

use super::inference::{BceParameters, RowLabels, RowLimits, RowScratch};
use crate::shared::layout::BaseLayout;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// No γ is kept from one pass to the next, so that every row begins anew.
const ROW: RowLimits = RowLimits {
    iterations: 100,
    tolerance: 1e-4,
};

/// The inference of memberships: summed, the E-step; by row, the labels.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct RowInference {
    pub(super) layout: BaseLayout,
    pub(super) parameters: BceParameters,
}

/// What is inferred of a row.
struct Inferred {
    gamma: Vec<f64>,
    bound: f64,
}

/// A row with what was inferred of it.
struct InferredRow<'a> {
    labels: &'a RowLabels,
    found: &'a Inferred,
    scratch: &'a RowScratch,
    weight: f64,
}

impl RowInference {
    /// Hands every row to `take`; rows that occur again are inferred once.
    fn each<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, mut take: impl FnMut(InferredRow<'_>)) {
        let mut known: BTreeMap<RowKey, Inferred> = BTreeMap::new();
        let mut labels = RowLabels::default();
        let mut scratch = RowScratch::new(self.parameters.clusters());
        for (row, weight) in block.rows() {
            let entries = row.entries(&self.layout.offsets);
            labels.read(entries, &self.layout, &self.parameters);
            let found = known.entry(row.key()).or_insert_with(|| {
                let (gamma, bound) = self.parameters.infer(&labels, ROW, &mut scratch);
                Inferred { gamma, bound }
            });
            scratch.expect(&found.gamma);
            take(InferredRow {
                labels: &labels,
                found,
                scratch: &scratch,
                weight,
            });
        }
    }
}

/// What the E-step finds.
#[derive(Serialize, Deserialize)]
pub(crate) struct Expected {
    /// As [`BceParameters::add_row`] adds them.
    pub(super) sums: SufficientStatistics,
    /// Weight of all rows.
    pub(super) weight: f64,
    /// Labels that are there, by weight.
    pub(super) labels: f64,
}

impl Mergeable for Expected {
    fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        self.weight += other.weight;
        self.labels += other.labels;
    }
}

impl RowPass for RowInference {
    type Sum = Expected;
    const KIND: &'static str = "mixture/bce-expectation";

    fn zero(&self) -> Expected {
        let clusters = self.parameters.clusters();
        Expected {
            sums: SufficientStatistics::zero(self.layout.label_values(), clusters),
            weight: 0.0,
            labels: 0.0,
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Expected) {
        self.each(block, |row| {
            let InferredRow {
                labels,
                found,
                scratch,
                weight,
            } = row;
            self.parameters
                .add_row(labels, weight, found.bound, scratch, &mut sum.sums);
            sum.weight += weight;
            sum.labels += weight * labels.total();
        });
    }
}

impl RowLabeller for RowInference {
    const KIND: &'static str = "mixture/bce-memberships";
}

impl RowMap for RowInference {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let clusters = self.parameters.clusters();
        let mut soft = Vec::with_capacity(block.len() * clusters);
        self.each(block, |row| {
            let gamma = &row.found.gamma;
            let total: f64 = gamma.iter().sum();
            soft.extend(gamma.iter().map(|g| g / total));
        });
        Assigned::of_soft(soft, clusters)
    }
}
