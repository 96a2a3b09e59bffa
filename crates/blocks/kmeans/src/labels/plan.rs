//! What k-means on label rows optimises, and for how long.

use std::num::NonZeroU32;

use partita_core::{BaseClustering, BaseWeights, Monitor};

use super::assignment::Assignment;

/// Random swaps for each initialization where the result is to be as good as it can be ([`Plan::swaps`]).
pub const SWAPS: u32 = 8;

/// What to optimise and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Clusters, K.
    pub clusters: usize,
    /// How much a label of each base clustering counts, M numbers.
    pub base_weights: &'a [f64],
    /// How a row chooses its cluster.
    pub assignment: Assignment<'a>,
    /// Initializations; the best is kept.
    #[doc(alias = "n_init")]
    pub restarts: NonZeroU32,
    /// Random swaps that are tried for each initialization, at most.
    pub swaps: u32,
    /// Most iterations of one run.
    #[doc(alias = "max_iter")]
    pub iterations: NonZeroU32,
    /// Stop when an iteration gains at most this share of the sum of squares.
    #[doc(alias = "tol")]
    pub tolerance: f64,
}

impl Plan<'_> {
    /// Iterations of all runs on the sample and of the one on all rows, at most.
    pub(super) fn all_iterations(&self) -> u64 {
        u64::from(self.iterations.get()) * (u64::from(self.restarts.get()) + 1)
    }
}

/// Where a run reports: to whom, iterations done before it, and those of all runs.
#[derive(Clone, Copy)]
pub(super) struct Progress<'a> {
    pub(super) monitor: &'a dyn Monitor,
    pub(super) done: u64,
    pub(super) total: u64,
}

/// One weight a base clustering, 1 where none are given.
pub fn base_weights(bases: &[BaseClustering], weights: Option<&BaseWeights>) -> Vec<f64> {
    weights.map_or_else(
        || vec![1.0; bases.len()],
        |weights| weights.as_slice().to_vec(),
    )
}
