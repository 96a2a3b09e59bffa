//! One monitor over work that many threads finish: a count of what is done, and an answer to stop that stands.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::monitor::{Flow, Monitor};

/// Counts finished work for a [`Monitor`]. The first answer to stop stands: work that has been left half done is never taken
/// up again.
///
/// It is a monitor itself, for computations inside one that is counted: what they say of their own progress is not passed on. A
/// [`part`](Self::part) passes it on.
pub struct ProgressCounter<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicU64,
    total: u64,
    stop: AtomicBool,
}

impl<'a> ProgressCounter<'a> {
    /// Nothing is done yet of `total` units of the caller's choice, an upper bound.
    pub fn new(monitor: &'a dyn Monitor, total: u64) -> Self {
        Self {
            monitor,
            done: AtomicU64::new(0),
            total,
            stop: AtomicBool::new(false),
        }
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

impl<'a> ProgressCounter<'a> {
    /// One piece of this work that is worth so many units: what it says of its own progress is passed on as a share of them. What
    /// is left of them when it ends counts as done.
    pub fn part(&self, units: u64) -> ProgressPart<'_, 'a> {
        ProgressPart {
            counter: self,
            units,
            told: AtomicU64::new(0),
        }
    }
}

/// A piece of the work that a [`ProgressCounter`] counts, and the [`Monitor`] of whoever does it. Progress never falls: a piece
/// that begins anew inside does not take back what it said before.
#[derive(Debug)]
pub struct ProgressPart<'c, 'a> {
    counter: &'c ProgressCounter<'a>,
    units: u64,
    told: AtomicU64,
}

impl ProgressPart<'_, '_> {
    /// So many of the units are done.
    fn reach(&self, units: u64) {
        let before = self.told.fetch_max(units, Ordering::Relaxed);
        self.counter.add(units.saturating_sub(before));
    }
}

impl Monitor for ProgressPart<'_, '_> {
    fn tick(&self, done: u64, total: u64) -> Flow {
        let share = done.min(total) as f64 / total.max(1) as f64;
        self.reach((share * self.units as f64) as u64);
        if self.counter.stopped() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn flow(&self) -> Flow {
        self.counter.flow()
    }
}

impl Drop for ProgressPart<'_, '_> {
    fn drop(&mut self) {
        self.reach(self.units);
    }
}

impl std::fmt::Debug for ProgressCounter<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            done, total, stop, ..
        } = self;
        f.debug_struct("ProgressCounter")
            .field("done", done)
            .field("total", total)
            .field("stop", stop)
            .finish()
    }
}

impl Monitor for ProgressCounter<'_> {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        if self.stopped() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }

    fn flow(&self) -> Flow {
        if self.was_stopped() {
            Flow::Stop
        } else {
            self.monitor.flow()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::monitor::tick_open_ended;

    struct StopsAt(u64);

    impl Monitor for StopsAt {
        fn tick(&self, done: u64, total: u64) -> Flow {
            assert!(done <= total);
            if done == self.0 {
                Flow::Stop
            } else {
                Flow::Continue
            }
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

    #[test]
    fn parts_pass_their_progress_on_and_never_take_it_back() {
        struct Told(std::sync::Mutex<Vec<u64>>);

        impl Monitor for Told {
            fn tick(&self, done: u64, total: u64) -> Flow {
                assert_eq!(total, 100);
                self.0.lock().unwrap().push(done);
                Flow::Continue
            }
        }

        let told = Told(std::sync::Mutex::default());
        let counter = ProgressCounter::new(&told, 100);
        let first = counter.part(20);
        let _ = (first.tick(1, 2), first.tick(0, 7), first.tick(9, 8));
        drop(first);
        {
            let second = counter.part(80);
            let nested = ProgressCounter::new(&second, 1000);
            let _ = nested.part(500).tick(1, 1);
        }
        assert!(!counter.stopped());
        assert_eq!(*told.0.lock().unwrap(), [10, 10, 20, 60, 100]);
    }

    struct Shares(std::sync::Mutex<Vec<f64>>);

    impl Monitor for Shares {
        fn tick(&self, done: u64, total: u64) -> Flow {
            self.0.lock().unwrap().push(done as f64 / total as f64);
            Flow::Continue
        }
    }

    #[test]
    fn rounds_without_an_end_move_and_do_not_arrive() {
        let told = Shares(std::sync::Mutex::default());
        (0..50).for_each(|iteration| {
            assert_eq!(
                tick_open_ended(&told, f64::from(iteration), 5.0),
                Flow::Continue
            );
        });
        let told = told.0.into_inner().unwrap();
        assert!(
            told.is_sorted() && told[0] == 0.0 && (told[5] - 0.5).abs() < 1e-6 && told[49] < 1.0
        );
    }

    /// Many threads, many times: what is done is never more than there is, nothing that was done is forgotten, and whoever has heard
    /// that it shall stop hears nothing else later.
    #[test]
    fn threads_that_share_a_counter_forget_nothing_and_agree_on_a_stop() {
        const THREADS: u64 = 8;
        const PARTS: u64 = 25;

        struct From(u64);

        impl Monitor for From {
            fn tick(&self, done: u64, total: u64) -> Flow {
                assert!(done <= total && total == THREADS * PARTS * 10);
                if done >= self.0 {
                    Flow::Stop
                } else {
                    Flow::Continue
                }
            }
        }

        let work = |counter: &ProgressCounter<'_>| {
            let mut heard = false;
            for _ in 0..PARTS {
                let part = counter.part(10);
                for done in [3, 1, 7, 12] {
                    let stop = part.tick(done, 10) == Flow::Stop;
                    assert!(stop || !heard);
                    heard = stop;
                }
            }
            heard
        };
        for iteration in 0..300 {
            let end = THREADS * PARTS * 10;
            let stops_at = if iteration % 3 == 0 {
                u64::MAX
            } else {
                (iteration * 37) % end + 1
            };
            let monitor = From(stops_at);
            let counter = ProgressCounter::new(&monitor, end);
            let heard: Vec<bool> = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..THREADS)
                    .map(|_| scope.spawn(|| work(&counter)))
                    .collect();
                threads
                    .into_iter()
                    .map(|thread| thread.join().unwrap())
                    .collect()
            });
            assert_eq!(counter.done.load(Ordering::Relaxed), end);
            assert_eq!(counter.stopped(), stops_at <= end);
            assert!(stops_at <= end || heard.iter().all(|heard| !heard));
        }
    }
}
