//! Memory of fits: bytes that they hold at once, at most.

use std::num::{NonZeroU32, Saturating};

use partita_core::{BLOCK_ROWS, ProblemSize, RowSample};

use crate::shared::multi_start::SAMPLE_ROWS;

/// Starts that run at the same time, at most, for all that is known of the threads.
const AT_ONCE: u64 = 64;

/// Bytes of a fit: distinct rows, memberships of the result three times over, the partial sums of starts that run at
/// the same time, and the models of all starts.
pub(crate) fn fit_bytes(size: &ProblemSize, restarts: NonZeroU32) -> u64 {
    let [n, m, side, k] = size.saturating();
    let restarts = u64::from(restarts.get());
    let parts = n.0.div_ceil(1024).min(64) + 5;
    let tables = Saturating(restarts.min(AT_ONCE) * parts + 4 * restarts.saturating_sub(AT_ONCE));
    let rows = n * (m * Saturating(2) + k * Saturating(24) + Saturating(40));
    (rows + tables * Saturating(8) * (side + m + Saturating(1)) * k).0
}

/// Rows that one start holds, at most.
pub(crate) fn rows_of_start(size: &ProblemSize) -> Saturating<u64> {
    Saturating((size.objects as u64).min(2 * SAMPLE_ROWS as u64))
}

/// The size of the sample on which initializations compete where rows are not held.
pub(crate) fn sample_size(size: &ProblemSize) -> ProblemSize {
    ProblemSize {
        objects: size.objects.min(SAMPLE_ROWS + size.base_clusterings),
        ..*size
    }
}

/// Bytes that a fit over rows that are not held holds at once, at most: the sample with all its initializations, and sums
/// of the groups that are under way and of the levels of their total.
pub(crate) fn row_fit_bytes(size: &ProblemSize, restarts: NonZeroU32) -> u64 {
    let sample = sample_size(size);
    let [n, m, side, k] = size.saturating();
    let levels = u64::from((n.0 / BLOCK_ROWS + 1).ilog2());
    let sums = (side + m + Saturating(1))
        * k
        * Saturating(8 * (levels + 4 * rayon::current_num_threads() as u64 + 8));
    let drawing = RowSample::bytes(size, SAMPLE_ROWS as u64);
    fit_bytes(&sample, restarts)
        .saturating_add(sums.0)
        .saturating_add(drawing)
}
