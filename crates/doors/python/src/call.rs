//! Computations on threads of their own, without the interpreter lock: the calling thread looks after signals, progress and notes.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use partita::Monitor;
use partita::extend::Flow;
use partita_app::{AppError, Observer};
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::errors::{defect, input_error, raised};

/// How often signals are looked after.
const EVERY: Duration = Duration::from_millis(40);

/// The stack of a thread: as large as that of a program's first one.
const STACK: usize = 8 << 20;

/// What a computation gives, or the panic that ended it.
type Ended<T> = Result<Result<T, AppError>, Box<dyn Any + Send>>;

/// A computation that ended, and the exception that asked it to stop, if one did.
pub(crate) struct Done<T> {
    pub(crate) value: T,
    pub(crate) stopped_by: Option<PyErr>,
}

impl<T> Done<T> {
    /// The value of a computation that nobody stopped.
    pub(crate) fn whole(self) -> PyResult<T> {
        self.stopped_by.map_or(Ok(self.value), Err)
    }
}

/// Does `work` on a pool of its own threads, which end with it: a process may fork afterwards.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    run: &Run,
    work: impl FnOnce(&dyn Observer) -> Result<T, AppError> + Send,
) -> PyResult<Done<T>> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(run.threads)
        .stack_size(STACK)
        .build();
    let pool = pool.map_err(|error| {
        input_error(
            py,
            &format!("{} threads cannot be started: {error}", run.threads),
        )
    })?;
    let watch = Watch::default();
    let (ended, stopped_by) = py.detach(|| {
        thread::scope(|scope| {
            let (done, finished) = mpsc::channel();
            let (pool, seen_by) = (&pool, &watch);
            let worker = scope.spawn(move || {
                let ended = catch_unwind(AssertUnwindSafe(|| pool.install(|| work(seen_by))));
                // Nobody listens where the calling thread is gone.
                let _ = done.send(());
                ended
            });
            let stopped_by = look_after(&finished, run, &watch);
            let ended: Ended<T> = worker.join().unwrap_or_else(Err);
            (ended, stopped_by)
        })
    });
    watch.tell(py, run)?;
    match (ended, stopped_by) {
        (Ok(Ok(value)), stopped_by) => Ok(Done { value, stopped_by }),
        (_, Some(error)) => Err(error),
        (Ok(Err(error)), None) => Err(raised(py, &error)),
        (Err(panic), None) => Err(defect(&*panic)),
    }
}

/// Does what takes no time worth stopping on a pool of its own threads.
pub(crate) fn briefly<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    let pool = rayon::ThreadPoolBuilder::new().stack_size(STACK).build();
    let pool =
        pool.map_err(|error| input_error(py, &format!("threads cannot be started: {error}")))?;
    let done = py.detach(|| catch_unwind(AssertUnwindSafe(|| pool.install(work))));
    done.map_err(|panic| defect(&*panic))
}

/// Waits for the end; the exception that a signal or a callback raised meanwhile.
fn look_after(finished: &Receiver<()>, run: &Run, watch: &Watch) -> Option<PyErr> {
    let mut stopped_by = None;
    while finished.recv_timeout(EVERY) == Err(mpsc::RecvTimeoutError::Timeout) {
        if stopped_by.is_some() {
            continue;
        }
        let told = Python::attach(|py| py.check_signals().and_then(|()| watch.tell(py, run)));
        if let Err(error) = told {
            watch.stop.store(true, Ordering::Relaxed);
            stopped_by = Some(error);
        }
    }
    stopped_by
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
    /// Hands notes and progress to Python.
    fn tell(&self, py: Python<'_>, run: &Run) -> PyResult<()> {
        let notes = std::mem::take(&mut *held(&self.notes));
        if let Some(say) = &run.say {
            notes
                .into_iter()
                .try_for_each(|note| say.call1(py, note).map(drop))?;
        }
        let progress = held(&self.progress).take();
        if let (Some(show), Some(progress)) = (&run.progress, progress) {
            show.call1(py, progress)?;
        }
        Ok(())
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
