//! What the monitor is told, and what it answered.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use partita_core::{Flow, Monitor};

/// Counts finished base clusterings for a monitor. Its first answer to stop stands: work that has been left half
/// done is never taken up again.
pub(crate) struct Progress<'a> {
    done: AtomicUsize,
    total: usize,
    stop: AtomicBool,
    monitor: &'a dyn Monitor,
}

impl<'a> Progress<'a> {
    pub(crate) fn new(total: usize, monitor: &'a dyn Monitor) -> Self {
        Self { done: AtomicUsize::new(0), total, stop: AtomicBool::new(false), monitor }
    }

    /// One more base clustering is finished.
    pub(crate) fn finished(&self) {
        self.done.fetch_add(1, Ordering::Relaxed);
    }

    /// What the monitor answered so far, without asking again.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Asks the monitor.
    pub(crate) fn stopped(&self) -> bool {
        if self.stop.load(Ordering::Relaxed) {
            return true;
        }
        let done = self.done.load(Ordering::Relaxed);
        if self.monitor.tick(done as u64, self.total as u64) == Flow::Stop {
            self.stop.store(true, Ordering::Relaxed);
        }
        self.stop.load(Ordering::Relaxed)
    }
}
