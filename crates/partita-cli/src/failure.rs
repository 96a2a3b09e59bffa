//! How a command ends when it does not end well.

use std::process::ExitCode;

use partita::ConsensusError;

/// Why a command failed, with the exit code that says so.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The input or the command line is wrong: exit code 2.
    Input(anyhow::Error),
    /// A computation failed: exit code 1.
    Computation(anyhow::Error),
    /// Ctrl-C: exit code 130.
    Interrupted(String),
    /// Whoever read our output has gone: nothing to say, exit code 0.
    ReaderGone,
}

impl Failure {
    /// A wrong input, in one sentence.
    pub(crate) fn input(message: impl Into<String>) -> Self {
        Self::Input(anyhow::Error::msg(message.into()))
    }

    /// Prints the failure on stderr, in one line.
    pub(crate) fn report(self) -> ExitCode {
        let (code, message) = match self {
            Self::Input(error) => (2, format!("error: {}", whole(&error))),
            Self::Computation(error) => (1, format!("error: {}", whole(&error))),
            Self::Interrupted(kept) => (130, format!("interrupted: {kept}")),
            Self::ReaderGone => return ExitCode::SUCCESS,
        };
        crate::output::say(&message);
        ExitCode::from(code)
    }
}

/// An error and its causes, each said once: many errors spell out their cause themselves.
fn whole(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if !text.contains(&cause) {
            text += if text.is_empty() { "" } else { ": " };
            text += &cause;
        }
    }
    text
}

/// Everything a library reports is about its input, unless it says that the computation broke.
impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Self {
        let error: anyhow::Error = error.into();
        match error.downcast_ref::<ConsensusError>() {
            Some(ConsensusError::Method { .. }) => Self::Computation(error),
            Some(ConsensusError::Interrupted) => Self::Interrupted("nothing was finished".into()),
            _ => Self::Input(error),
        }
    }
}
