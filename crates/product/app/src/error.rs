//! Errors of an experiment, and whose fault each is.

use std::io;
use std::path::{Path, PathBuf};

use partita::extend::on_one_line;
use partita::extend::{
    BudgetError, ConsensusError, EnsembleError, ModelError, PassError, SettingsError,
};
use partita::files::{FileError, PickError};
use partita::generate::GenerateError;
use partita::metrics::MetricsError;
use partita::ssce::SsceError;
use partita_report::ReportError;
use partita_select::SelectError;

/// Whose fault an error is: what has to change before the same request can succeed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// A file says something that cannot be used.
    Input,
    /// What was asked for cannot be done: a setting, a name, a place that cannot be written to.
    Request,
    /// The machine refused while it worked: a full disk, a read that failed.
    Environment,
    /// A method failed on an input that it should have handled.
    Method,
    /// Nobody's: it was asked to stop.
    Interrupted,
}

/// Why an experiment has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AppError {
    /// A file that cannot be read or written.
    #[error(transparent)]
    File(#[from] FileError),
    /// Rows that cannot be taken from a table.
    #[error("{}: {source}", .path.display())]
    Rows {
        /// The table.
        path: PathBuf,
        /// What is wrong.
        source: PickError,
    },
    /// A file that holds something else than is needed.
    #[error("{}: {reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// An input is not what it was when a run was recorded.
    #[error(
        "{}: is not the file that the run read: its SHA-256 begins {now:.12}, on record is {was:.12}; restore it, or \
         allow changed inputs",
        .path.display()
    )]
    ChangedInput {
        /// The file.
        path: PathBuf,
        /// Its SHA-256 on record.
        was: String,
        /// Its SHA-256 now.
        now: String,
    },
    /// No base clusterings.
    #[error(transparent)]
    Generate(#[from] GenerateError),
    /// Base clusterings that make no ensemble.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// A method cannot do what it is asked for, whatever the input is.
    #[error(transparent)]
    Method(#[from] ConsensusError),
    /// A method found no consensus of this input.
    #[error("{}: {source}", .input.display())]
    Consensus {
        /// What the objects come from.
        input: PathBuf,
        /// What the method said.
        source: ConsensusError,
    },
    /// Settings that do not fit.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Too little memory.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// No number of clusters was chosen.
    #[error("{}: {source}", .input.display())]
    Select {
        /// What the objects come from.
        input: PathBuf,
        /// What went wrong.
        source: SelectError,
    },
    /// Partitions that cannot be compared.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
    /// A model that cannot be used.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A model that cannot be learned from a table.
    #[error(transparent)]
    Learn(#[from] SsceError),
    /// No report.
    #[error(transparent)]
    Report(#[from] ReportError),
    /// A request that cannot be met, and the remedy.
    #[error("{0}")]
    Request(String),
    /// The system refused something that is not the reading or writing of data.
    #[error("{}: cannot {doing}: {source}", .path.display())]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was tried, such as `be made`.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// It was asked to stop.
    #[error("{kept}")]
    Interrupted {
        /// What was kept.
        kept: String,
    },
}

impl AppError {
    /// A file that holds something else than is needed.
    pub fn content(path: &Path, reason: impl Into<String>) -> Self {
        Self::Content {
            path: path.into(),
            reason: on_one_line(&reason.into()),
        }
    }

    /// A request that cannot be met.
    pub fn request(reason: impl Into<String>) -> Self {
        Self::Request(reason.into())
    }

    /// What the system said of a file or folder; `doing` completes "cannot …".
    pub fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        Self::Io {
            path: path.into(),
            doing,
            source,
        }
    }

    /// It was asked to stop before anything was finished.
    pub fn nothing_finished() -> Self {
        Self::Interrupted {
            kept: "nothing was finished".into(),
        }
    }

    /// The error of a pass over the label rows of a file.
    pub fn of_pass(path: &Path, error: &PassError) -> Self {
        if *error == PassError::Interrupted {
            Self::nothing_finished()
        } else {
            Self::content(path, error.to_string())
        }
    }

    /// Whose fault it is.
    pub fn fault(&self) -> Fault {
        match self {
            Self::File(FileError::Io { source, .. }) | Self::Io { source, .. } => {
                fault_of_system(source)
            }
            Self::Generate(error) => fault_of_generate(error),
            Self::Method(error) | Self::Consensus { source: error, .. } => fault_of_method(error),
            Self::Select { source, .. } => fault_of_choice(source),
            Self::Interrupted { .. } => Fault::Interrupted,
            Self::Settings(_) | Self::Budget(_) | Self::Request(_) => Fault::Request,
            _ => Fault::Input,
        }
    }
}

/// A place that does not exist or may not be used is a wrong request; everything else is the machine's.
pub fn fault_of_system(error: &io::Error) -> Fault {
    fault_of_kind(error.kind())
}

fn fault_of_kind(kind: io::ErrorKind) -> Fault {
    use io::ErrorKind as Kind;
    match kind {
        Kind::NotFound
        | Kind::PermissionDenied
        | Kind::AlreadyExists
        | Kind::IsADirectory
        | Kind::NotADirectory
        | Kind::ReadOnlyFilesystem
        | Kind::InvalidFilename
        | Kind::InvalidInput => Fault::Request,
        _ => Fault::Environment,
    }
}

fn fault_of_method(error: &ConsensusError) -> Fault {
    match error {
        ConsensusError::Method { .. } => Fault::Method,
        ConsensusError::Interrupted => Fault::Interrupted,
        ConsensusError::Settings { .. }
        | ConsensusError::Budget(_)
        | ConsensusError::Auto { .. } => Fault::Request,
        _ => Fault::Input,
    }
}

fn fault_of_generate(error: &GenerateError) -> Fault {
    match error {
        GenerateError::NothingFinished { .. } => Fault::Interrupted,
        GenerateError::Budget(_) => Fault::Request,
        GenerateError::PartFile { kind, .. } => fault_of_kind(*kind),
        _ => Fault::Input,
    }
}

fn fault_of_choice(error: &SelectError) -> Fault {
    match error {
        SelectError::Interrupted => Fault::Interrupted,
        SelectError::Consensus(error) => fault_of_method(error),
        SelectError::Generate(error) => fault_of_generate(error),
        SelectError::Settings(_) | SelectError::Budget(_) | SelectError::Method(_) => {
            Fault::Request
        }
        _ => Fault::Input,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_is_nobodys_input() {
        let of =
            |kind: io::ErrorKind| AppError::io(Path::new("out"), "be written", kind.into()).fault();
        assert_eq!(of(io::ErrorKind::StorageFull), Fault::Environment);
        assert_eq!(of(io::ErrorKind::FileTooLarge), Fault::Environment);
        assert_eq!(of(io::ErrorKind::Other), Fault::Environment);
        assert_eq!(of(io::ErrorKind::PermissionDenied), Fault::Request);
        assert_eq!(of(io::ErrorKind::NotFound), Fault::Request);
    }

    #[test]
    fn a_changed_input_shows_the_beginnings_of_both_hashes() {
        let hash = |digit: &str| digit.repeat(64);
        let error = AppError::ChangedInput {
            path: "t.csv".into(),
            was: hash("a"),
            now: hash("b"),
        };
        assert!(
            error
                .to_string()
                .contains("begins bbbbbbbbbbbb, on record is aaaaaaaaaaaa;"),
            "{error}"
        );
    }
}
