//! Stored counts of one, two or four bytes as numbers.

use std::ops::Range;

use partita_coassoc::Counts;
use partita_kernels::dispatch;

use crate::kernels::Widen;

/// Some of the stored counts as numbers.
pub(super) fn widen(counts: Counts<'_>, range: Range<usize>, to: &mut [f64]) {
    match counts {
        Counts::Bytes(counts) => dispatch(Widen(&counts[range], to)),
        Counts::Words(counts) => dispatch(Widen(&counts[range], to)),
        Counts::Wide(counts) => dispatch(Widen(&counts[range], to)),
    }
}
