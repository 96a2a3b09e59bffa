//! Errors of evidence accumulation.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, FitError, SettingsError};
use partita_linkage::LinkageError;

/// Why there is no consensus by accumulated evidence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EacError {
    /// A setting out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The tree would not fit.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The pairs could not be counted.
    #[error(transparent)]
    Evidence(#[from] CoassocError),
    /// The evidence makes no tree.
    #[error(transparent)]
    Tree(#[from] LinkageError),
}

impl From<EacError> for FitError {
    fn from(error: EacError) -> Self {
        match error {
            EacError::Budget(error) | EacError::Evidence(CoassocError::Budget(error)) => {
                error.into()
            }
            EacError::Evidence(CoassocError::Interrupted)
            | EacError::Tree(LinkageError::Interrupted) => Self::Interrupted,
            EacError::Settings(error) => error.into(),
            other => Self::other(other),
        }
    }
}
