//! Progress of many computations as one: a monitor over monitors.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use partita_core::{Flow, Monitor};

/// Counts finished work for a monitor, and remembers its wish to stop.
pub(crate) struct Steps<'a> {
    monitor: &'a dyn Monitor,
    /// Units of the work that is under way, where one is done after the other.
    under_way: u64,
    done: AtomicU64,
    total: u64,
    stopped: AtomicBool,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(total: u64, monitor: &'a dyn Monitor) -> Self {
        Self { monitor, under_way: 0, done: AtomicU64::new(0), total, stopped: AtomicBool::new(false) }
    }

    /// So many computations, one after the other, whose own progress is passed on.
    pub(crate) fn in_turn(computations: usize, monitor: &'a dyn Monitor) -> Self {
        Self { under_way: UNITS, ..Self::new(computations as u64 * UNITS, monitor) }
    }

    /// One more of the computations that are done in turn is finished.
    pub(crate) fn finished_one(&self) {
        self.finished(self.under_way);
    }

    /// So much more is finished.
    pub(crate) fn finished(&self, work: u64) {
        self.done.fetch_add(work, Ordering::Relaxed);
    }

    /// Asks the monitor, unless it has asked to stop before.
    pub(crate) fn stopped(&self) -> bool {
        self.stopped_at(0)
    }

    fn stopped_at(&self, ahead: u64) -> bool {
        if self.stopped.load(Ordering::Relaxed) {
            return true;
        }
        if self.monitor.tick(self.done.load(Ordering::Relaxed) + ahead, self.total) == Flow::Stop {
            self.stopped.store(true, Ordering::Relaxed);
        }
        self.stopped.load(Ordering::Relaxed)
    }
}

/// Units of one computation of those that are done in turn.
const UNITS: u64 = 1000;

/// For the computations inside: what they say of their own progress is passed on where there is one at a time.
impl Monitor for Steps<'_> {
    fn tick(&self, done: u64, total: u64) -> Flow {
        let ahead = (self.under_way as f64 * done as f64 / total.max(1) as f64) as u64;
        if self.stopped_at(ahead.min(self.under_way)) { Flow::Stop } else { Flow::Continue }
    }
}
