//! Split-half stability: how far consensus clusterings of two halves of the base clusterings agree.

use partita::graph::{LwgpSettings, lwgp_each};
use partita_core::{Ensemble, MemoryBudget, Monitor, Partition, ProgressCounter, Seed};
use partita_metrics::Contingency;
use rand::seq::SliceRandom;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::SelectError;

/// What two halves of an ensemble say of one number of clusters.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Stability {
    /// The number of clusters, K.
    pub clusters: usize,
    /// Mean adjusted Rand index between the consensus of one half and that of the other, over the splits.
    pub ari: f64,
    /// Objects of the smallest cluster of all these consensus clusterings; 0 where one has fewer than K clusters.
    pub smallest: usize,
}

impl Stability {
    /// The agreement, 0 where it is less or a cluster of one object or none was found.
    pub(crate) fn of_clusters(&self) -> f64 {
        if self.smallest >= 2 {
            self.ari.max(0.0)
        } else {
            0.0
        }
    }
}

/// Split-half stability of an ensemble at several numbers of clusters: the base clusterings are split at random into two halves,
/// `splits` times, and the consensus of each half (`lwgp`) is compared with that of the other.
///
/// ```text
/// ari(K) = mean over splits of ARI(consensus of one half at K, consensus of the other at K)
/// ```
/// An ensemble that sees clusters gives the same from half of its members; one that sees none gives something else each time. No
/// truth is needed, and ensembles of different base clusterers compare.
///
/// # Errors
/// [`SelectError`] when a consensus cannot be found or does not fit into the budget, or the monitor asks to stop.
///
/// # Cost
/// 2 · `splits` times the eigenvectors of `lwgp` for the largest K, and k-means for every K.
///
/// # References
/// After T. Lange, V. Roth, M. Braun, J. Buhmann: Stability-based validation of clustering solutions, Neural Computation 16, 2004,
/// who split the objects.
pub fn split_half(
    ensemble: &Ensemble,
    clusters: &[usize],
    splits: u32,
    seed: Seed,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Vec<Stability>, SelectError> {
    let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
    let halves = (0..u64::from(splits)).flat_map(|split| {
        let mut bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        bases.shuffle(&mut seed.child(split).rng());
        let right = bases.split_off(bases.len() / 2);
        [bases, right]
    });
    let halves: Vec<Vec<u32>> = halves.collect();
    let progress = ProgressCounter::new(monitor, halves.len() as u64 * HALF);
    let budget = MemoryBudget::new(budget.bytes() / halves_at_once(splits));
    let one = |mut bases: Vec<u32>| -> Result<Vec<Partition>, SelectError> {
        bases.sort_unstable();
        partitions(
            &ensemble.select(&objects, &bases),
            clusters,
            seed.child(u64::MAX),
            budget,
            &progress.part(HALF),
        )
    };
    let found: Vec<Vec<Partition>> = halves.into_par_iter().map(one).collect::<Result<_, _>>()?;
    clusters
        .iter()
        .enumerate()
        .map(|(at, &clusters)| stability(&found, at, clusters))
        .collect()
}

/// Halves that are cut side by side.
pub(crate) fn halves_at_once(splits: u32) -> u64 {
    (2 * u64::from(splits)).clamp(1, rayon::current_num_threads() as u64)
}

/// Units of progress of one half.
const HALF: u64 = 1000;

/// The agreement of each two halves at one place.
fn stability(
    found: &[Vec<Partition>],
    at: usize,
    clusters: usize,
) -> Result<Stability, SelectError> {
    let mut sum = 0.0;
    for pair in found.chunks_exact(2) {
        sum += Contingency::new(&pair[0][at], &pair[1][at])?.ari();
    }
    let smallest = found
        .iter()
        .flat_map(|half| half[at].sizes())
        .min()
        .unwrap_or(0);
    Ok(Stability {
        clusters,
        ari: sum / (found.len() / 2).max(1) as f64,
        smallest,
    })
}

/// The consensus at every number of clusters.
fn partitions(
    ensemble: &Ensemble,
    clusters: &[usize],
    seed: Seed,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Vec<Partition>, SelectError> {
    let mut settings = LwgpSettings::default();
    settings.restarts = 5;
    let found = lwgp_each(ensemble, clusters, seed, &settings, budget, monitor)?;
    Ok(found.into_iter().map(|outcome| outcome.partition).collect())
}
