//! Errors of evidence accumulation.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, SettingsError};
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
