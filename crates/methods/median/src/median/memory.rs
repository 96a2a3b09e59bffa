//! Memory that the medians hold at once.

use std::num::Saturating;

use partita_core::{ProblemSize, RowSample, sums_under_way};
use partita_kmeans::labels::START_ROWS;

use super::most_clusters;
use super::settings::MedianSearch;
use super::starts::TREE_ROWS;

/// Bytes that a search on a sample holds at once, at most.
fn bytes(size: &ProblemSize, search: &MedianSearch) -> u64 {
    let most = Saturating(most_clusters(size) as u64);
    let [n, m, side, _] = size.saturating();
    let tried = n.min(Saturating(START_ROWS as u64));
    let starts = Saturating(u64::from(search.restarts.get()) + 5);
    let clustering = (side + m + Saturating(4)) * most * Saturating(24) + tried * Saturating(24);
    let tree = n.min(Saturating(TREE_ROWS as u64));
    let tree = tree * (tree * Saturating(8) + m * Saturating(3)) + Saturating(1 << 20);
    let last = (side + m) * most * Saturating(12)
        + n * Saturating(60)
        + Saturating(16) * n.min(Saturating(1 << 20));
    (last + starts * clustering + tree).0
}

/// Bytes that a fit holds at once, at most.
pub(super) fn row_bytes(size: &ProblemSize, search: &MedianSearch) -> u64 {
    let sample = ProblemSize {
        objects: size.objects.min(START_ROWS + size.base_clusterings),
        ..*size
    };
    let [_, m, side, _] = size.saturating();
    // Those of the search, which are freed before rows are passed over.
    let most = Saturating(most_clusters(&sample) as u64);
    let table = (side + m + Saturating(2)) * (most + Saturating(8)) * Saturating(8);
    let tables = table * Saturating(sums_under_way(size.objects) + 8);
    (tables
        + Saturating(RowSample::bytes(size, START_ROWS as u64))
        + Saturating(bytes(&sample, search)))
    .0
}
