//! A consensus that is cheap at any size, for other methods to start from.

use std::num::NonZeroU32;

use partita_core::{Ensemble, Label, Partition, Seed, Silent};

use super::assignment::Assignment;
use super::lloyd::kmeans;
use super::rounds::Plan;
use super::rows::{RowVisitor, WeightedLabelRows, with_rows};

/// K-means on label rows from three initializations, for at most 20 rounds.
///
/// # Cost
/// O(n M K) a round, in parallel over rows.
pub fn quick_partition(ensemble: &Ensemble, clusters: usize, seed: Seed) -> Partition {
    with_rows(ensemble, Quick { clusters, seed })
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
            rounds: number(20),
            tolerance: 1e-3,
        };
        let labels = rows.expand(&kmeans(rows, &plan, self.seed, &Silent).labels);
        Partition::new(labels, self.clusters).expect("labels are below K")
    }
}
