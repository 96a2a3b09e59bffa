//! What can go wrong.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ConsensusError, SettingsError};
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

impl EacError {
    /// The same in the words of [`partita_core::Consensus`].
    pub(crate) fn of(self, method: &'static str) -> ConsensusError {
        match self {
            Self::Budget(error) | Self::Evidence(CoassocError::Budget(error)) => error.into(),
            Self::Evidence(CoassocError::Interrupted) | Self::Tree(LinkageError::Interrupted) => {
                ConsensusError::Interrupted
            }
            Self::Settings(error) => error.of(method),
            other => ConsensusError::Method { method, source: Box::new(other) },
        }
    }
}
