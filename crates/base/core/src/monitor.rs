//! Progress, the wish to stop, and the fixed cuts of work that make sums repeat.

use std::ops::Range;

/// What a [`Monitor`] answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flow {
    /// Go on.
    Continue,
    /// Stop as soon as what has been done can be handed back.
    Stop,
}

/// Somebody who looks on while a computation runs. It is told `(done, total)` in units of the
/// computation's own choice and may ask it to stop; `tracing` spans say what is running.
pub trait Monitor: Sync {
    /// `done` of `total` units are finished. `total` is an upper bound where the number is not known.
    fn tick(&self, done: u64, total: u64) -> Flow;

    /// Whether to go on, asked where there is no progress to tell.
    fn flow(&self) -> Flow {
        Flow::Continue
    }
}

/// A [`Monitor`] that neither shows nor stops anything.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Monitor for Silent {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        Flow::Continue
    }
}

/// Tells the progress of iterations whose number is not known: half of what is left is done every `half` iterations.
pub fn tick_open_ended(monitor: &dyn Monitor, iterations: f64, half: f64) -> Flow {
    const UNITS: f64 = 1e6;
    monitor.tick(
        (UNITS * (1.0 - (-iterations / half).exp2())) as u64,
        UNITS as u64,
    )
}

/// Cuts `0..items` into ranges of `size` items (the last may be shorter). The cuts do not depend on the
/// number of threads: compute one partial sum a range, in parallel if you like, and add them in order;
/// the same bits come out every time.
///
/// # Panics
/// If `size` is 0.
pub fn chunks(items: usize, size: usize) -> impl ExactSizeIterator<Item = Range<usize>> + Clone {
    assert!(size > 0, "a chunk holds at least one item");
    (0..items.div_ceil(size)).map(move |chunk| chunk * size..((chunk + 1) * size).min(items))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_cover_everything_once() {
        assert_eq!(chunks(10, 4).collect::<Vec<_>>(), [0..4, 4..8, 8..10]);
        assert_eq!(chunks(0, 4).len(), 0);
    }
}
