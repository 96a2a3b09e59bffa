//! CVB0 as a row pass: memberships that follow from expected counts alone, and what they add up to.

use partita_core::{Assigned, Mergeable, Row, RowBlock, RowLabeller, RowMap, RowPass};
use serde::{Deserialize, Serialize};

use super::counts::{Counts, SettleScratch};
use super::second_order::Spread;
use crate::shared::log_probabilities::{farthest, largest};
use crate::shared::row_passes::Places;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// The update of all rows under expected counts.
#[derive(Serialize, Deserialize)]
pub(crate) struct Update {
    pub(crate) offsets: Vec<usize>,
    /// The counts of the iteration before, from which the change of memberships is known.
    pub(crate) before: Option<Counts>,
    pub(crate) now: Counts,
}

/// What an [`Update`] adds up to.
#[derive(Serialize, Deserialize)]
pub(crate) struct Updated {
    /// Expected counts, and the entropy of memberships as `log_sum`.
    pub(crate) sums: SufficientStatistics,
    /// The variances of the counts, where they are asked for.
    pub(crate) spread: Option<Spread>,
    /// How far the row that moved farthest moved.
    pub(crate) change: f64,
    /// Whether a cluster is some row's most probable one.
    pub(crate) chosen: Vec<bool>,
}

impl Mergeable for Updated {
    fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        if let (Some(spread), Some(other)) = (&mut self.spread, other.spread) {
            spread.merge(other);
        }
        self.change = self.change.max(other.change);
        self.chosen
            .iter_mut()
            .zip(&other.chosen)
            .for_each(|(a, b)| *a |= b);
    }
}

impl RowPass for Update {
    type Sum = Updated;
    const KIND: &'static str = "mixture/collapsed";

    fn zero(&self) -> Updated {
        let clusters = self.now.clusters();
        let sums = SufficientStatistics::zero(self.offsets[self.offsets.len() - 1], clusters);
        Updated {
            spread: self.now.is_of_second_order().then(|| Spread::zero(&sums)),
            sums,
            change: 0.0,
            chosen: vec![false; clusters],
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, updated: &mut Updated) {
        let clusters = self.now.clusters();
        let (mut old, mut own, mut scratch) = (
            vec![0.0; clusters],
            vec![0.0; clusters],
            SettleScratch::new(clusters),
        );
        for (row, weight) in block.rows() {
            let one = weight.min(1.0);
            own.fill(0.0);
            if let Some(before) = &self.before {
                before.settle(row, one, &mut own, &mut scratch);
                old.copy_from_slice(&own);
            }
            self.now.settle(row, one, &mut own, &mut scratch);
            if self.before.is_some() {
                updated.change = updated.change.max(farthest(&old, &own));
            }
            updated.chosen[largest(&own)] = true;
            let entropy: f64 = own
                .iter()
                .filter(|p| **p > 1e-12)
                .map(|p| -p * p.ln())
                .sum();
            updated.sums.log_sum += weight * entropy;
            if let Some(spread) = &mut updated.spread {
                spread.add(row.entries(&self.offsets), &own, weight);
            }
            own.iter_mut().for_each(|p| *p *= weight);
            updated.sums.add(row.entries(&self.offsets), &own);
        }
    }
}

/// The most probable cluster of every row under expected counts, when memberships are summed into the places of their clusters.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Collapsed {
    pub(crate) counts: Counts,
    pub(crate) places: Places,
}

impl RowLabeller for Collapsed {
    const KIND: &'static str = "mixture/collapsed-labels";
}

impl RowMap for Collapsed {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let mut scratch = SettleScratch::new(self.counts.clusters());
        self.places.assigned(block, |row, weight, own| {
            own.fill(0.0);
            self.counts.settle(row, weight.min(1.0), own, &mut scratch);
        })
    }
}
