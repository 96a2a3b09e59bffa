//! Errors of median partitions.

use partita_core::{
    BaseWeights, Clusters, ClustersError, Ensemble, FitError, PassError, PassRunner, ProblemSize,
    Settings, SettingsError, WeightsError,
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
    /// A pass over label rows that did not come to its end.
    #[error(transparent)]
    Pass(#[from] PassError),
}

impl From<MedianError> for FitError {
    fn from(error: MedianError) -> Self {
        match error {
            MedianError::Settings(error) => error.into(),
            MedianError::Pass(PassError::Interrupted) => Self::Interrupted,
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
    check_size(
        &ProblemSize::of(ensemble, Clusters::Exactly(clusters)),
        weights,
        settings,
    )?;
    labelled(ensemble.first_unlabelled().map(|object| object as u64))
}

/// Checks what can be checked before the rows are read.
pub(crate) fn check_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    settings: &impl Settings,
) -> Result<(), MedianError> {
    let (objects, bases) = (rows.source().rows() as usize, rows.source().bases());
    check_size(
        &ProblemSize::of_bases(objects, bases, Clusters::Exactly(clusters)),
        weights,
        settings,
    )
}

fn check_size(
    size: &ProblemSize,
    weights: Option<&BaseWeights>,
    settings: &impl Settings,
) -> Result<(), MedianError> {
    settings.validate(size)?;
    ClustersError::check(size.clusters, size.objects)?;
    Ok(WeightsError::check(weights, size.base_clusterings)?)
}

/// Refuses an object without any label, if there is one.
pub(crate) fn labelled(first_unlabelled: Option<u64>) -> Result<(), MedianError> {
    first_unlabelled.map_or(Ok(()), |object| {
        Err(MedianError::Unlabelled {
            object: object as usize,
        })
    })
}
