//! A consensus that is cheap at any size, for other methods to start from.

use std::num::NonZeroU32;

use partita_core::{Label, Partition, Seed, Silent, WeightedEnsemble};

use super::assignment::Assignment;
use super::lloyd::kmeans;
use super::rounds::Plan;
use super::rows::{RowVisitor, WeightedLabelRows, with_rows, with_weighted_rows};

/// K-means on label rows from three initializations, for at most 20 rounds. Objects count by weight, base clusterings all the same.
///
/// # Cost
/// O(n M K) a round, in parallel over rows.
pub fn quick_partition<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
) -> Partition {
    let source = source.into();
    match source.multiplicities() {
        None => with_rows(source.ensemble, Quick { clusters, seed }),
        Some(weights) => with_weighted_rows(source.ensemble, weights, Quick { clusters, seed }),
    }
}

struct Quick {
    clusters: usize,
    seed: Seed,
}

impl RowVisitor for Quick {
    type Out = Partition;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Partition {
        let number = |number| NonZeroU32::new(number).expect("not 0");
        let plan = Plan {
            clusters: self.clusters,
            base_weights: &vec![1.0; rows.bases()],
            assignment: Assignment::Nearest,
            restarts: number(3),
            swaps: 0,
            rounds: number(20),
            tolerance: 1e-3,
        };
        let labels = rows.expand(&kmeans(rows, &plan, self.seed, &Silent).labels);
        Partition::new(labels, self.clusters).expect("labels are below K")
    }
}
