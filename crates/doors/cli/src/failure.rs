//! How a command fails: the message and the exit code.

use std::error::Error;
use std::io;
use std::path::Path;

use partita_app::{AppError, Fault};

/// Why a command failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// What the application layer says.
    App(AppError),
    /// Whoever read our output has gone: nothing to say, exit code 0.
    ReaderGone,
}

impl Failure {
    /// A wrong input or command line, in one sentence.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::App(AppError::Request(message.into()))
    }

    /// It was stopped; `kept` says what was kept.
    pub(crate) fn interrupted(kept: String) -> Self {
        Self::App(AppError::Interrupted { kept })
    }

    /// What the system says of a file or folder; `doing` completes "cannot …".
    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::App(AppError::io(path, doing, source))
    }

    /// Exit code and the line on stderr, where there is something to say.
    ///
    /// | code | what happened |
    /// |---|---|
    /// | 0 | the reader of the output has gone |
    /// | 1 | something failed while working: a method, a full disk, a read or write that the system refused |
    /// | 2 | the input or the command line is wrong; places that do not exist or may not be written count as such |
    /// | 130 | stopped by Ctrl-C |
    pub(crate) fn ending(&self) -> (u8, Option<String>) {
        let Self::App(error) = self else {
            return (0, None);
        };
        match error.fault() {
            Fault::Input | Fault::Request => (2, Some(format!("error: {}", chain(error)))),
            Fault::Environment | Fault::Method => (1, Some(format!("error: {}", chain(error)))),
            Fault::Interrupted => (130, Some(format!("interrupted: {}", kept(error)))),
        }
    }
}

/// What was kept when it was stopped.
fn kept(error: &AppError) -> String {
    match error {
        AppError::Interrupted { kept } => kept.clone(),
        _ => "nothing was finished".to_owned(),
    }
}

/// An error and its causes, each said once: many errors spell out their cause themselves.
fn chain(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let said = error.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        cause = error.source();
    }
    text
}

impl<E: Into<AppError>> From<E> for Failure {
    fn from(error: E) -> Self {
        match error.into() {
            AppError::Io { path, source, .. }
                if path == Path::new("stdout") && source.kind() == io::ErrorKind::BrokenPipe =>
            {
                Self::ReaderGone
            }
            error => Self::App(error),
        }
    }
}
