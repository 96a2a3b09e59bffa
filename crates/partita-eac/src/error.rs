//! What can go wrong.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ConsensusError};
use partita_linkage::LinkageError;

/// Why there is no consensus by accumulated evidence.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EacError {
    /// Theta out of range.
    #[error("theta is {0}; it must be above 0")]
    Theta(f64),
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
            other => ConsensusError::Method { method, source: Box::new(other) },
        }
    }
}
