//! Computations on threads of their own, without the interpreter lock: the calling thread looks after signals, progress and notes.

use partita_app::{AppError, News, NoValue, Observer, Watched, run_briefly, run_watched};
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::errors::{defect, raised};

/// A computation that ended, and the exception that asked it to stop, if one did.
pub(crate) type Done<T> = Watched<T, PyErr>;

/// Does `work` on a pool of its own threads, which end with it: a process may fork afterwards.
pub(crate) fn run<T: Send>(
    py: Python<'_>,
    run: &Run,
    work: impl FnOnce(&dyn Observer) -> Result<T, AppError> + Send,
) -> PyResult<Done<T>> {
    let look = |news| Python::attach(|py| py.check_signals().and_then(|()| tell(py, run, news)));
    py.detach(|| run_watched(run.threads, work, look))
        .map_err(|none| no_value(py, none))
}

/// Does what takes no time worth stopping on a pool of its own threads.
pub(crate) fn briefly<T: Send>(py: Python<'_>, work: impl FnOnce() -> T + Send) -> PyResult<T> {
    py.detach(|| run_briefly(work))
        .map_err(|none| no_value(py, none))
}

fn no_value(py: Python<'_>, none: NoValue<PyErr>) -> PyErr {
    match none {
        NoValue::Stopped(error) => error,
        NoValue::App(error) => raised(py, &error),
        NoValue::Defect(text) => defect(text),
    }
}

/// Hands notes and progress to Python.
fn tell(py: Python<'_>, run: &Run, news: News) -> PyResult<()> {
    if let Some(say) = &run.say {
        news.notes
            .into_iter()
            .try_for_each(|note| say.call1(py, note).map(drop))?;
    }
    if let (Some(show), Some(progress)) = (&run.progress, news.progress) {
        show.call1(py, progress)?;
    }
    Ok(())
}
