//! Errors of median partitions.

use partita_core::{
    BaseWeights, Clusters, ClustersError, Ensemble, FitError, ProblemSize, Settings, SettingsError, WeightsError,
};

/// Ensembles, weights or settings that no median can be found for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MedianError {
    /// K out of range.
    #[error(transparent)]
    Clusters(#[from] ClustersError),
    /// Not one weight a base clustering.
    #[error(transparent)]
    Weights(#[from] WeightsError),
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

impl From<MedianError> for FitError {
    fn from(error: MedianError) -> Self {
        match error {
            MedianError::Settings(error) => error.into(),
            other => Self::other(other),
        }
    }
}

/// Checks what every method of this crate needs.
pub(crate) fn check(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    settings: &impl Settings,
) -> Result<(), MedianError> {
    settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(clusters)))?;
    ClustersError::check(clusters, ensemble.objects())?;
    WeightsError::check(weights, ensemble.bases().len())?;
    match ensemble.first_unlabelled() {
        Some(object) => Err(MedianError::Unlabelled { object }),
        None => Ok(()),
    }
}
