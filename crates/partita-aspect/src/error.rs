//! What can go wrong.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ConsensusError, SettingsError};
use partita_linkage::LinkageError;

/// Why there is no aspect model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AspectError {
    /// K out of range.
    #[error("asked for {clusters} clusters of {objects} objects; ask for 1 to {objects}")]
    Clusters {
        /// Clusters asked for.
        clusters: usize,
        /// Objects there are.
        objects: usize,
    },
    /// The model belongs to other objects.
    #[error("the aspects have {found} objects, the counts {expected}")]
    Objects {
        /// Objects of the aspects.
        found: usize,
        /// Objects of the counts.
        expected: usize,
    },
    /// Numbers that are no distribution.
    #[error("{what} {index} is no distribution: it sums to {sum}")]
    Distribution {
        /// What does not sum to 1.
        what: &'static str,
        /// Which of them.
        index: usize,
        /// Its sum.
        sum: f64,
    },
    /// A setting out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// It would not fit.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The pairs could not be counted.
    #[error(transparent)]
    Evidence(#[from] CoassocError),
    /// The evidence makes no tree to start from.
    #[error(transparent)]
    Tree(#[from] LinkageError),
}

impl AspectError {
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
