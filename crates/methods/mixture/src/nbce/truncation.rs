//! Truncation of the Dirichlet process: how many clusters a fit may have, begins with, and in which order.

use partita_core::{ProblemSize, Seed};

use crate::shared::held_rows::{GivenMemberships, HeldRows};
use crate::shared::initialization::{self, MERGED_OF, Merges};
use crate::shared::sufficient_statistics::SufficientStatistics;

/// The size of a problem that is truncated at K, or at twice the clusters of its largest base clustering.
pub(crate) fn truncated(size: &ProblemSize) -> ProblemSize {
    let most = if size.auto {
        (2 * size.largest_base_clustering).max(2)
    } else {
        size.clusters
    };
    ProblemSize {
        clusters: most,
        ..*size
    }
}

/// Clusters that a start begins with: every other begins with all K, those between with K/2, K/4, K/8 in turn (at
/// least 2), since clusters that begin apart seldom meet.
pub(crate) fn initial_clusters(clusters: usize, restart: u32) -> usize {
    let halvings = if restart.is_multiple_of(2) {
        0
    } else {
        restart / 2 % 3 + 1
    };
    (clusters >> halvings).max(2).min(clusters)
}

/// Sufficient statistics of the rows of one start, with empty clusters up to K: of every four one is made by merges, to K, K/2, K, K/4, …
/// clusters, the others of memberships drawn at random.
pub(crate) fn varied_statistics(
    rows: HeldRows<'_>,
    clusters: usize,
    restart: u32,
    seed: Seed,
) -> SufficientStatistics {
    if restart.is_multiple_of(MERGED_OF) {
        let number = restart / MERGED_OF;
        let begun = initial_clusters(clusters, number);
        let seed = seed.child(u64::from(number));
        initialization::merged_statistics(rows, begun, Merges::of(restart), seed).widened(clusters)
    } else {
        let seed = seed.child(u64::from(restart));
        rows.given(GivenMemberships::Drawn(seed.number()), clusters)
    }
}

/// Clusters by size, the largest first: under stick-breaking, order matters.
pub(crate) fn order_by_size(sizes: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    order
}

/// The same labels where the clusters of rows with these weights are numbered by size.
pub(crate) fn number_by_size(labels: &mut [u32], weights: &[f64], clusters: usize) {
    let mut sizes = vec![0.0; clusters];
    for (&k, weight) in labels.iter().zip(weights) {
        sizes[k as usize] += weight;
    }
    let mut place = vec![0u32; clusters];
    for (&k, at) in order_by_size(&sizes).iter().zip(0..) {
        place[k] = at;
    }
    labels.iter_mut().for_each(|k| *k = place[*k as usize]);
}
