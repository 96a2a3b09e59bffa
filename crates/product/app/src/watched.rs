//! Computations on threads of their own, while the thread that asked looks after signals, progress and notes: for doors into a language
//! whose interpreter is called from one thread alone.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use partita::Monitor;
use partita::extend::Flow;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::error::AppError;
use crate::observer::Observer;

/// How often the thread that asked looks.
const EVERY: Duration = Duration::from_millis(40);

/// The stack of a thread: as large as that of a program's first one.
const STACK: usize = 8 << 20;

/// What a computation told since the last look.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct News {
    /// What is done, how much of it is finished, and of how much.
    pub progress: Option<(String, u64, u64)>,
    /// Texts, each with whether it is a warning.
    pub notes: Vec<(bool, String)>,
}

/// A computation that ended, and what asked it to stop, if something did.
#[derive(Clone, Copy, Debug)]
pub struct Watched<T, E> {
    /// What was computed: the best so far where it was stopped.
    pub value: T,
    /// Why it was stopped.
    pub stopped_by: Option<E>,
}

impl<T, E> Watched<T, E> {
    /// The value of a computation that nobody stopped.
    ///
    /// # Errors
    /// What asked it to stop.
    pub fn whole(self) -> Result<T, E> {
        self.stopped_by.map_or(Ok(self.value), Err)
    }
}

/// Why a computation has no value.
#[derive(Debug)]
pub enum NoValue<E> {
    /// It failed.
    App(AppError),
    /// It was stopped before it had one.
    Stopped(E),
    /// It panicked, with this message: a defect.
    Defect(String),
}

/// Does `work` on a pool of its own threads (0 is all cores), which end with it: a process may fork afterwards. Meanwhile `look` is called
/// on this thread every 40 ms with what the work told; its error asks the work to stop.
///
/// # Errors
/// [`NoValue`]; a panic of the work is one, and does not go on.
pub fn run_watched<T: Send, E>(
    threads: usize,
    work: impl FnOnce(&dyn Observer) -> Result<T, AppError> + Send,
    mut look: impl FnMut(News) -> Result<(), E>,
) -> Result<Watched<T, E>, NoValue<E>> {
    let pool = pool(threads).map_err(NoValue::App)?;
    let watch = Watch::default();
    let mut stopped_by = None;
    let ended = thread::scope(|scope| {
        let (done, finished) = mpsc::channel();
        let (pool, seen_by) = (&pool, &watch);
        let worker = scope.spawn(move || {
            let ended = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(seen_by))));
            // Nobody listens where the calling thread is gone.
            let _ = done.send(());
            ended
        });
        while finished.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
            if stopped_by.is_none() {
                stopped_by = look(watch.news()).err();
                watch.stop.store(stopped_by.is_some(), Ordering::Relaxed);
            }
        }
        worker.join().unwrap_or_else(Err)
    });
    let last = look(watch.news()).err();
    match (ended, stopped_by.or(last)) {
        (Ok(Ok(value)), stopped_by) => Ok(Watched { value, stopped_by }),
        (_, Some(error)) => Err(NoValue::Stopped(error)),
        (Ok(Err(error)), None) => Err(NoValue::App(error)),
        (Err(panic), None) => Err(NoValue::Defect(defect(&*panic))),
    }
}

/// Does what takes no time worth stopping on a pool of its own threads.
///
/// # Errors
/// [`NoValue::App`] where threads cannot be started, [`NoValue::Defect`] for a panic.
pub fn run_briefly<T: Send, E>(work: impl FnOnce() -> T + Send) -> Result<T, NoValue<E>> {
    let pool = pool(0).map_err(NoValue::App)?;
    catch_unwind(AssertUnwindSafe(|| pool.install(work)))
        .map_err(|panic| NoValue::Defect(defect(&*panic)))
}

fn pool(threads: usize) -> Result<ThreadPool, AppError> {
    let pool = ThreadPoolBuilder::new()
        .num_threads(threads)
        .stack_size(STACK)
        .build();
    pool.map_err(|error| {
        let many = if threads == 0 {
            String::new()
        } else {
            format!("{threads} ")
        };
        AppError::request(format!("{many}threads cannot be started: {error}"))
    })
}

/// The message of a panic, told as the defect that it is.
fn defect(panic: &(dyn Any + Send)) -> String {
    let text = panic
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| panic.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("no message");
    format!("this is a defect of partita, please report it: {text}")
}

/// What the working threads tell the calling one, and the wish to stop.
#[derive(Default)]
struct Watch {
    stop: AtomicBool,
    progress: Mutex<Option<(String, u64, u64)>>,
    notes: Mutex<Vec<(bool, String)>>,
}

/// What a lock guards, whatever happened to other threads.
fn held<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    fn news(&self) -> News {
        News {
            progress: held(&self.progress).take(),
            notes: std::mem::take(&mut *held(&self.notes)),
        }
    }
}

impl Observer for Watch {
    fn begin(&self, what: &str) -> Box<dyn Monitor + '_> {
        Box::new(Step {
            what: what.to_owned(),
            watch: self,
        })
    }

    fn note(&self, text: &str) {
        held(&self.notes).push((false, text.to_owned()));
    }

    fn warn(&self, text: &str) {
        held(&self.notes).push((true, text.to_owned()));
    }

    fn stop_asked(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// One piece of work.
struct Step<'a> {
    what: String,
    watch: &'a Watch,
}

impl Monitor for Step<'_> {
    fn tick(&self, done: u64, total: u64) -> Flow {
        if let Ok(mut progress) = self.watch.progress.try_lock() {
            *progress = Some((self.what.clone(), done, total));
        }
        self.flow()
    }

    fn flow(&self) -> Flow {
        if self.watch.stop_asked() {
            Flow::Stop
        } else {
            Flow::Continue
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_told_arrives_and_a_stop_keeps_the_best_so_far() {
        let mut notes = Vec::new();
        let found = run_watched(
            2,
            |observer| {
                observer.warn("slow");
                while !observer.stop_asked() {
                    thread::sleep(Duration::from_millis(1));
                }
                Ok(7)
            },
            |news| {
                notes.extend(news.notes);
                Err("enough")
            },
        )
        .unwrap();
        assert_eq!((found.value, found.stopped_by), (7, Some("enough")));
        assert_eq!(notes, [(true, "slow".to_owned())]);
    }

    #[test]
    fn a_panic_is_a_defect_that_is_told() {
        let none: Result<Watched<(), ()>, _> = run_watched(1, |_| panic!("oh"), |_| Ok(()));
        assert!(matches!(none, Err(NoValue::Defect(text)) if text.ends_with("report it: oh")));
    }
}
