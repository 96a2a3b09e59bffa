//! Errors of probabilistic consensus.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ClustersError, FitError, SettingsError};
use partita_linkage::LinkageError;

use crate::divergence::DivergenceError;

/// Why there is no probabilistic consensus.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PccError {
    /// K out of range.
    #[error(transparent)]
    Clusters(#[from] ClustersError),
    /// The start belongs to other objects.
    #[error("the start has {found} objects, the evidence {expected}")]
    Start {
        /// Objects of the start.
        found: usize,
        /// Objects of the evidence.
        expected: usize,
    },
    /// The start gives a pair that was seen together no chance of it, and the divergence makes that infinitely bad.
    #[error(
        "in the start, objects {left} and {right} share no cluster, but {together} base clusterings have them \
         together; start from soft assignments that are nowhere 0"
    )]
    Infeasible {
        /// The first object.
        left: usize,
        /// The second object.
        right: usize,
        /// How often they are together.
        together: u32,
    },
    /// The same of a start that a user gives.
    #[error(
        "in the start {objects} share no cluster, but {together} base clusterings have them together; start from probabilities that are          nowhere 0"
    )]
    Apart {
        /// The two objects.
        objects: String,
        /// How often they are together.
        together: u32,
    },
    /// The divergence does not hold what it guarantees.
    #[error(transparent)]
    Divergence(#[from] DivergenceError),
    /// A divergence of the caller's own that fails on a grid.
    #[error(
        "the divergence or its second derivative is not convex in its second argument near d({x}, {p}); the solvers \
         need both"
    )]
    Concave {
        /// First argument.
        x: f64,
        /// Second argument.
        p: f64,
    },
    /// A setting out of its range, or a solver that reads another divergence.
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
    /// The monitor asked to stop before a run had begun.
    #[error("stopped before there was a result")]
    Interrupted,
}

impl From<PccError> for FitError {
    fn from(error: PccError) -> Self {
        match error {
            PccError::Budget(error) | PccError::Evidence(CoassocError::Budget(error)) => {
                error.into()
            }
            PccError::Interrupted
            | PccError::Evidence(CoassocError::Interrupted)
            | PccError::Tree(LinkageError::Interrupted) => Self::Interrupted,
            PccError::Settings(error) => error.into(),
            other => Self::other(other),
        }
    }
}
