//! What can go wrong.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ClustersError, FitError, PassError, SettingsError};
use partita_linkage::LinkageError;
use partita_spectral::SpectralError;

/// Why there is no consensus.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GraphError {
    /// K out of range.
    #[error(transparent)]
    Clusters(#[from] ClustersError),
    /// A setting out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An object that nobody labelled.
    #[error("object {object} has no label in any base clustering; remove it or label it")]
    Unlabelled {
        /// Index of the object.
        object: u64,
    },
    /// No pair statistics.
    #[error(transparent)]
    Evidence(#[from] CoassocError),
    /// No eigenvectors to cluster.
    #[error(transparent)]
    Spectral(#[from] SpectralError),
    /// No tree.
    #[error(transparent)]
    Linkage(LinkageError),
    /// A pass over label rows that did not come to its end.
    #[error(transparent)]
    Pass(PassError),
    /// More edges than the partitioner can number.
    #[error("a graph of {edges} edges; the partitioner numbers at most 2147483647")]
    Edges {
        /// Edges counted so far, each twice.
        edges: usize,
    },
    /// The graph partitioner refused.
    #[error("the graph partitioner refused: {0}")]
    Partitioner(String),
    /// Too little memory.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The monitor asked to stop before there was anything to give back.
    #[error("stopped before there was a result")]
    Interrupted,
}

impl From<PassError> for GraphError {
    fn from(error: PassError) -> Self {
        if error == PassError::Interrupted {
            Self::Interrupted
        } else {
            Self::Pass(error)
        }
    }
}

impl From<GraphError> for FitError {
    fn from(error: GraphError) -> Self {
        match error {
            GraphError::Interrupted | GraphError::Evidence(CoassocError::Interrupted) => {
                Self::Interrupted
            }
            GraphError::Evidence(CoassocError::Budget(error))
            | GraphError::Spectral(SpectralError::Budget(error))
            | GraphError::Budget(error) => error.into(),
            GraphError::Settings(error) => error.into(),
            other => Self::other(other),
        }
    }
}
