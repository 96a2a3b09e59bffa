//! A computation while R looks after interrupts; what it gave, what it told and why it ended, as one list.
#![expect(
    unsafe_code,
    reason = "R says by a foreign function whether somebody pressed Ctrl-C"
)]

use std::ffi::c_void;

use extendr_api::prelude::*;
use partita::MemoryBudget;
use partita_app::{AppError, Fault, News, NoValue, Observer, default_budget, run_watched};
use serde::Deserialize;

use crate::values::{or_null, read};

/// How a computation is run: nothing that a result depends on.
#[derive(Clone, Copy, Deserialize)]
pub(crate) struct Run {
    threads: usize,
    pub(crate) max_memory: Option<u64>,
}

impl Run {
    pub(crate) fn budget(self) -> MemoryBudget {
        self.max_memory
            .map_or_else(default_budget, MemoryBudget::new)
    }
}

/// Somebody pressed Ctrl-C.
struct Interrupt;

/// Why there is no answer, for R.
pub(crate) enum Refusal {
    /// An input that cannot be used.
    Input(String),
    /// What went wrong elsewhere.
    Other(String),
}

impl From<AppError> for Refusal {
    fn from(error: AppError) -> Self {
        match error.fault() {
            Fault::Input | Fault::Request => Self::Input(error.to_string()),
            _ => Self::Other(error.to_string()),
        }
    }
}

impl From<String> for Refusal {
    fn from(text: String) -> Self {
        Self::Input(text)
    }
}

/// Whether somebody pressed Ctrl-C. R would leave by a jump over our frames; it does so no further than here.
fn interrupted() -> bool {
    unsafe extern "C" {
        fn R_ToplevelExec(what: extern "C" fn(*mut c_void), with: *mut c_void) -> i32;
        fn R_CheckUserInterrupt();
    }
    extern "C" fn check(_: *mut c_void) {
        // SAFETY: R calls this on its own thread, with no frame of Rust above that owns something.
        unsafe { R_CheckUserInterrupt() }
    }
    // SAFETY: this is R's thread, and nothing is handed over.
    unsafe { R_ToplevelExec(check, std::ptr::null_mut()) == 0 }
}

/// Does `work` on threads of its own, and gives the list that R's function `answer` reads: `value` as `of_r` makes it, or `error`
/// and its `class`; `notes` and `warnings`; whether it was `interrupted`.
pub(crate) fn answer<T: Send>(
    how: &Robj,
    work: impl FnOnce(Run, &dyn Observer) -> std::result::Result<T, AppError> + Send,
    of_r: impl FnOnce(T) -> std::result::Result<Robj, Refusal>,
) -> Robj {
    let (mut notes, mut warnings, mut stopped) = (Vec::new(), Vec::new(), false);
    let look = |news: News| {
        for (warning, text) in news.notes {
            if warning {
                warnings.push(text);
            } else {
                notes.push(text);
            }
        }
        if interrupted() {
            Err(Interrupt)
        } else {
            Ok(())
        }
    };
    let done = read::<Run>(how).map_err(Refusal::Input).and_then(|run| {
        let done = run_watched(run.threads, |observer| work(run, observer), look);
        match done {
            Ok(done) => {
                stopped = done.stopped_by.is_some();
                of_r(done.value).map(Some)
            }
            Err(NoValue::Stopped(Interrupt)) => {
                stopped = true;
                Ok(None)
            }
            Err(NoValue::App(error)) => Err(error.into()),
            Err(NoValue::Defect(text)) => Err(Refusal::Other(text)),
        }
    });
    let found = done.map(|value| value.unwrap_or_else(|| NULL.into()));
    told(found, (notes, warnings), stopped)
}

/// What takes no time and tells nothing, as [`answer`] gives it.
pub(crate) fn answer_at_once(found: std::result::Result<Robj, Refusal>) -> Robj {
    told(found, (Vec::new(), Vec::new()), false)
}

fn told(
    found: std::result::Result<Robj, Refusal>,
    (notes, warnings): (Vec<String>, Vec<String>),
    interrupted: bool,
) -> Robj {
    let (value, class, error): (Robj, &str, Option<String>) = match found {
        Ok(value) => (value, "", None),
        Err(Refusal::Input(text)) => (NULL.into(), "partita_input_error", Some(text)),
        Err(Refusal::Other(text)) => (NULL.into(), "partita_error", Some(text)),
    };
    list!(
        value = value,
        class = class,
        error = or_null(error),
        notes = notes,
        warnings = warnings,
        interrupted = interrupted
    )
    .into()
}
