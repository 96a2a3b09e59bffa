//! One monitor over work that many threads finish: a count of what is done, and an answer to stop that stands.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::monitor::{Flow, Monitor};

/// Counts finished work for a [`Monitor`]. The first answer to stop stands: work that has been left half done is never taken
/// up again.
///
/// It is a monitor itself, for computations inside one that is counted: what they say of their own progress is not passed on.
pub struct ProgressCounter<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicU64,
    total: u64,
    stop: AtomicBool,
}

impl<'a> ProgressCounter<'a> {
    /// Nothing is done yet of `total` units of the caller's choice, an upper bound.
    pub fn new(monitor: &'a dyn Monitor, total: u64) -> Self {
        Self { monitor, done: AtomicU64::new(0), total, stop: AtomicBool::new(false) }
    }

    /// So many more units are finished, or will not be needed.
    pub fn add(&self, units: u64) {
        self.done.fetch_add(units, Ordering::Relaxed);
    }

    /// Tells the monitor how much is done and says whether it wants to stop, now or earlier.
    pub fn stopped(&self) -> bool {
        if self.was_stopped() {
            return true;
        }
        let done = self.done.load(Ordering::Relaxed).min(self.total);
        if self.monitor.tick(done, self.total) == Flow::Stop {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.was_stopped()
    }

    /// Whether the monitor has wanted to stop so far, without asking again.
    pub fn was_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

impl std::fmt::Debug for ProgressCounter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { done, total, stop, .. } = self;
        f.debug_struct("ProgressCounter").field("done", done).field("total", total).field("stop", stop).finish()
    }
}

impl Monitor for ProgressCounter<'_> {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        if self.stopped() { Flow::Stop } else { Flow::Continue }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct StopsAt(u64);

    impl Monitor for StopsAt {
        fn tick(&self, done: u64, total: u64) -> Flow {
            assert!(done <= total);
            if done == self.0 { Flow::Stop } else { Flow::Continue }
        }
    }

    #[test]
    fn the_first_answer_to_stop_stands() {
        let counter = ProgressCounter::new(&StopsAt(3), 4);
        counter.add(2);
        assert!(!counter.stopped() && counter.tick(0, 1) == Flow::Continue);
        counter.add(1);
        assert!(!counter.was_stopped() && counter.stopped());
        counter.add(7);
        assert!(counter.was_stopped() && counter.tick(0, 1) == Flow::Stop);
    }
}
