//! A monitor that several tests need.

use std::sync::atomic::{AtomicU64, Ordering};

use partita_core::{Flow, Monitor};

/// Asks to stop after a number of ticks, and remembers how far the work was.
pub(crate) struct Patience {
    pub(crate) left: AtomicU64,
    pub(crate) most: AtomicU64,
    pub(crate) total: AtomicU64,
    /// Whether one thread alone tells, so that progress never falls.
    pub(crate) rising: bool,
}

impl Patience {
    pub(crate) fn new(left: u64) -> Self {
        Self {
            left: left.into(),
            most: 0.into(),
            total: 0.into(),
            rising: false,
        }
    }
}

impl Monitor for Patience {
    fn tick(&self, done: u64, total: u64) -> Flow {
        assert!(done <= total);
        self.total.store(total, Ordering::Relaxed);
        let before = self.most.fetch_max(done, Ordering::Relaxed);
        assert!(!self.rising || before <= done, "progress goes back");
        let fewer = |left: u64| left.checked_sub(1);
        let left = self
            .left
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, fewer);
        left.map_or(Flow::Stop, |_| Flow::Continue)
    }
}
