//! What can go wrong.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ConsensusError, SettingsError};
use partita_linkage::LinkageError;

use crate::divergence::DivergenceError;

/// Why there is no probabilistic consensus.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum PccError {
    /// K out of range.
    #[error("asked for {clusters} clusters of {objects} objects; ask for 1 to {objects}")]
    Clusters {
        /// Clusters asked for.
        clusters: usize,
        /// Objects there are.
        objects: usize,
    },
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
    /// The divergence keeps no promise.
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
}

impl PccError {
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
