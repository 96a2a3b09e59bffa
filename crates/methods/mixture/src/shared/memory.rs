//! Memory of fits: bytes that they hold at once, at most.

use std::num::{NonZeroU32, Saturating};

use partita_core::{BLOCK_ROWS, ProblemSize, RowSample};

use crate::shared::initialization::initial_bytes;
use crate::shared::multi_start::SAMPLE_ROWS;

/// Starts that run at the same time, at most, for all that is known of the threads.
const AT_ONCE: u64 = 64;

/// Bytes that a fit holds at once besides the rows: the sample with all its initializations, and sums of the groups that are under way and
/// of the levels of their total.
pub(crate) fn row_fit_bytes(size: &ProblemSize, restarts: NonZeroU32) -> u64 {
    let sample = ProblemSize {
        objects: size.objects.min(SAMPLE_ROWS + size.base_clusterings),
        ..*size
    };
    let [n, m, side, k] = size.saturating();
    let table = (side + m + Saturating(1)) * k * Saturating(8);
    let levels = u64::from((n.0 / BLOCK_ROWS + 1).ilog2());
    let sums = table * Saturating(levels + 4 * rayon::current_num_threads() as u64 + 8);
    let restarts = u64::from(restarts.get());
    let at_once = restarts.min(AT_ONCE);
    // What starts sum and what they are made of at the same time, and what those keep that wait.
    let parts = sample.objects as u64 / BLOCK_ROWS + 6;
    let tables = Saturating(at_once * parts + 4 * restarts.saturating_sub(AT_ONCE)) * table;
    let [rows, m, ..] = sample.saturating();
    let labels = rows * (m * Saturating(2) + Saturating(40 + 40 * at_once));
    let starts = tables + labels + Saturating(at_once) * initial_bytes(&sample);
    let drawing = RowSample::bytes(size, SAMPLE_ROWS as u64);
    (starts + sums).0.saturating_add(drawing)
}
