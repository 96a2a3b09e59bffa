//! Progress of many computations as one: a monitor over monitors.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partita_core::{Flow, Monitor};

/// Counts finished work for a monitor, and remembers its wish to stop.
pub(crate) struct Steps<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicU64,
    total: u64,
    stopped: AtomicBool,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(total: u64, monitor: &'a dyn Monitor) -> Self {
        Self { monitor, done: AtomicU64::new(0), total, stopped: AtomicBool::new(false) }
    }

    /// So much more is finished.
    pub(crate) fn finished(&self, work: u64) {
        self.done.fetch_add(work, Ordering::Relaxed);
    }

    /// Asks the monitor, unless it has asked to stop before.
    pub(crate) fn stopped(&self) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        if self.monitor.tick(self.done.load(Ordering::Relaxed), self.total) == Flow::Stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed)
    }
}

/// For the computations inside: what they say of their own progress is not passed on.
impl Monitor for Steps<'_> {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        if self.stopped() { Flow::Stop } else { Flow::Continue }
    }
}
