//! Errors of a study.

use std::path::PathBuf;

/// Why something could not be measured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReproduceError {
    /// A data set that is not on this machine.
    #[error("data set {name} is not here; `cargo xtask datasets fetch {name}` gets it")]
    NoData {
        /// Name in the catalogue.
        name: String,
    },
    /// A name that is not in the list of methods.
    #[error(transparent)]
    NoMethod(#[from] partita::extend::MethodError),
    /// A file that cannot be read or written.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// It was asked to stop.
    #[error("stopped")]
    Stopped,
}

impl ReproduceError {
    pub(crate) fn file(path: impl Into<PathBuf>, reason: impl ToString) -> Self {
        Self::File {
            path: path.into(),
            reason: reason.to_string(),
        }
    }
}
