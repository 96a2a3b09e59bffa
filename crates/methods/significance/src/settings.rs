//! What can be chosen of the test.

use partita_core::option;
use serde::{Deserialize, Serialize};

use crate::error::SignificanceError;

/// Most halvings: a row's halves are the bits of one word.
const MOST_HALVINGS: u32 = 32;

/// Settings of [`gap_test`](crate::gap_test). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct GapTestSettings {
    /// Neighbouring clusters are merged while a p-value is above it.
    pub alpha: f64,
    /// How often the rows are divided into halves; the p-value of a pair is the median over them.
    pub halvings: u32,
    /// How much of √(d / rows of the pair) the valley must be emptier than the ends: labels were made from all rows, and a tool that
    /// follows noise flattens the projection of both halves by that order.
    pub margin: f64,
    /// Clusters with the nearest centres that a cluster is tested against; a pair is tested where one of the two has the other.
    pub neighbours: usize,
    /// Clusters of fewer rows are listed and not tested.
    pub least_rows: usize,
    /// Merge clusters that cannot be tested with the neighbour that they are least separate from.
    pub merge_small: bool,
}

impl Default for GapTestSettings {
    fn default() -> Self {
        Self {
            alpha: 0.05,
            halvings: 4,
            margin: 0.5,
            neighbours: 4,
            least_rows: 30,
            merge_small: false,
        }
    }
}

impl GapTestSettings {
    /// Refuses what is out of range.
    pub(crate) fn check(&self) -> Result<(), SignificanceError> {
        let refused = |setting, value, range| {
            Err(SignificanceError::Setting {
                setting,
                value,
                range,
            })
        };
        if !(self.alpha > 0.0 && self.alpha < 1.0) {
            return refused("alpha", self.alpha, "above 0 and below 1");
        }
        if !(1..=MOST_HALVINGS).contains(&self.halvings) {
            return refused("halvings", self.halvings.into(), "from 1 to 32");
        }
        if !(0.0..=10.0).contains(&self.margin) {
            return refused("margin", self.margin, "from 0 to 10");
        }
        if self.neighbours == 0 {
            return refused("neighbours", 0.0, "at least 1");
        }
        Ok(())
    }

    /// What to do where clusters are too small, in the words of the door.
    pub(crate) fn merge_small_option() -> String {
        option("merge-small").on().to_string()
    }
}
