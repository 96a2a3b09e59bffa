//! A consensus that is cheap at any size, for other methods to start from.

use std::num::NonZeroU32;

use partita_core::{AnyBlock, EnsembleRows, Partition, PassRunner, Seed, Silent, WeightedEnsemble};

use super::assignment::Assignment;
use super::lloyd::kmeans;
use super::plan::Plan;

/// K-means on label rows from three initializations, for at most 20 iterations. Objects count by weight, base clusterings all the same.
///
/// # Cost
/// O(n M K) an iteration, in parallel over rows.
pub fn quick_partition<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
) -> Partition {
    let source = source.into();
    let rows = match source.multiplicities() {
        None => EnsembleRows::new(source.ensemble),
        Some(weights) => EnsembleRows::weighted(source.ensemble, weights),
    };
    let number = |number| NonZeroU32::new(number).expect("not 0");
    let plan = Plan {
        clusters,
        base_weights: &vec![1.0; source.ensemble.bases().len()],
        assignment: Assignment::Nearest,
        restarts: number(3),
        swaps: 0,
        iterations: number(20),
        tolerance: 1e-3,
    };
    let fit = kmeans(&PassRunner::new(&rows, &Silent), &plan, seed, &Silent)
        .expect("rows in memory are read, and nobody stops");
    let labels = rows.with_all(|block| match block {
        AnyBlock::Bytes(block) => fit.choice.labels(&block),
        AnyBlock::Words(block) => fit.choice.labels(&block),
        AnyBlock::Shares(block) => fit.choice.labels(&block),
    });
    Partition::new(labels, clusters).expect("labels are below K")
}
