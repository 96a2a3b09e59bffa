//! Truncation of the Dirichlet process: how many clusters a fit may have, begins with, and in which order.

use partita_core::{ProblemSize, Seed};

use crate::shared::initialization::{self, MERGED_OF, Merges};
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// The size of a problem that is truncated at K, or at twice the clusters of its largest base clustering, and never at
/// more than objects.
pub(crate) fn truncated(size: &ProblemSize) -> ProblemSize {
    size.at_most((2 * size.largest_base_clustering).max(2))
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
    rows: &WeightedRows<'_>,
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
        initialization::random_statistics(rows, clusters, seed.child(u64::from(restart)))
    }
}

/// The largest clusters first: under stick-breaking, order matters.
pub(crate) fn order_by_size(rows: &WeightedRows<'_>, labels: &mut [u32], clusters: usize) {
    let mut sizes = vec![0.0; clusters];
    labels
        .iter()
        .zip(rows.weights())
        .for_each(|(&k, w)| sizes[k as usize] += w);
    let mut order: Vec<usize> = (0..clusters).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    let mut place = vec![0u32; clusters];
    order
        .iter()
        .enumerate()
        .for_each(|(at, &k)| place[k] = at as u32);
    labels.iter_mut().for_each(|k| *k = place[*k as usize]);
}
