//! What can go wrong.

use partita_core::{BaseWeights, ConsensusError, Ensemble, SettingsError};

/// Ensembles, weights or settings that no median can be found for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MedianError {
    /// K out of range.
    #[error("asked for {clusters} clusters of {objects} objects")]
    Clusters {
        /// Clusters asked for.
        clusters: usize,
        /// Objects there are.
        objects: usize,
    },
    /// Not one weight a base clustering.
    #[error("{found} weights for {bases} base clusterings")]
    Weights {
        /// Weights given.
        found: usize,
        /// Base clusterings there are.
        bases: usize,
    },
    /// A setting out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// An object that nobody labelled.
    #[error("object {object} has no label in any base clustering")]
    Unlabelled {
        /// Index of the object.
        object: usize,
    },
}

impl MedianError {
    /// The error as that of a method.
    pub(crate) fn of(self, method: &'static str) -> ConsensusError {
        match self {
            Self::Settings(error) => error.of(method),
            other => ConsensusError::Method { method, source: Box::new(other) },
        }
    }
}

/// Checks what every method of this crate needs.
pub(crate) fn check(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    tolerance: f64,
) -> Result<(), MedianError> {
    let (objects, bases) = (ensemble.objects(), ensemble.bases().len());
    if clusters == 0 || clusters > objects {
        return Err(MedianError::Clusters { clusters, objects });
    }
    if let Some(found) = weights.map(|weights| weights.as_slice().len()).filter(|&found| found != bases) {
        return Err(MedianError::Weights { found, bases });
    }
    SettingsError::not_negative("tolerance", tolerance)?;
    match ensemble.first_unlabelled() {
        Some(object) => Err(MedianError::Unlabelled { object }),
        None => Ok(()),
    }
}
