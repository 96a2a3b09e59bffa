//! Errors of the aspect model.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ClustersError, FitError, SettingsError};
use partita_linkage::LinkageError;

/// Why there is no aspect model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AspectError {
    /// K out of range.
    #[error(transparent)]
    Clusters(#[from] ClustersError),
    /// The model belongs to other objects.
    #[error("the aspects have {found} objects, the counts {expected}")]
    Objects {
        /// Objects of the aspects.
        found: usize,
        /// Objects of the counts.
        expected: usize,
    },
    /// Numbers that are not a distribution.
    #[error("{what} {index} is not a distribution: it sums to {sum}")]
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
    /// A start that needs all pairs, where a sample is read.
    #[error(
        "start={start} cuts a tree of all pairs, and of {objects} objects some of the pairs are read: take all of them \
         (pairs_per_object=0), or start=trees or start=random"
    )]
    SampledTree {
        /// The start asked for.
        start: &'static str,
        /// Objects.
        objects: usize,
    },
    /// Somebody asked to stop before there was a model.
    #[error("stopped before the first model was fitted")]
    Interrupted,
}

impl From<AspectError> for FitError {
    fn from(error: AspectError) -> Self {
        match error {
            AspectError::Budget(error) | AspectError::Evidence(CoassocError::Budget(error)) => {
                error.into()
            }
            AspectError::Interrupted
            | AspectError::Evidence(CoassocError::Interrupted)
            | AspectError::Tree(LinkageError::Interrupted) => Self::Interrupted,
            AspectError::Settings(error) => error.into(),
            other => Self::other(other),
        }
    }
}
