//! The rows of a corridor: which half of it they are in, counts by bins, quantiles.

use partita_core::ndarray::{Array1, ArrayView1};

use crate::windows::BinCounts;

/// The rows on one side of a plane that is parallel to the line.
pub(crate) struct HalfSpace {
    pub(crate) normal: Array1<f64>,
    /// Its product with the direction of the line, which is taken from that with a row.
    pub(crate) lean: f64,
    pub(crate) from: f64,
}

impl HalfSpace {
    /// The product of the normal with what of a row is not along the line.
    pub(crate) fn across(&self, centred: &[f64], along: f64) -> f64 {
        self.normal.dot(&ArrayView1::from(centred)) - along * self.lean
    }
}

/// A row of a corridor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Walker {
    pub(crate) row: u32,
    pub(crate) bin: u8,
    /// Whether it is of one of the two groups.
    pub(crate) in_pair: bool,
}

/// The quantile of sorted numbers, between two of them by a straight line; 0 of none.
pub(crate) fn quantile(sorted: &[f64], share: f64) -> f64 {
    let Some(last) = sorted.len().checked_sub(1) else {
        return 0.0;
    };
    let at = share * last as f64;
    // A place among the numbers that rounding has moved a little.
    let at = if (at - at.round()).abs() < 1e-9 {
        at.round()
    } else {
        at
    };
    let below = (at as usize).min(last);
    let above = (below + 1).min(last);
    sorted[below] + (at - below as f64) * (sorted[above] - sorted[below])
}

/// Rows by bins.
pub(crate) fn counted<'a>(walkers: impl IntoIterator<Item = &'a Walker>) -> BinCounts {
    let mut counts = BinCounts::default();
    for walker in walkers {
        counts.add(walker.bin.into(), walker.in_pair);
    }
    counts
}
