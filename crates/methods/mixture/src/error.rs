//! Errors of the mixtures.

use partita_core::{
    BudgetError, EnsembleError, FitError, PassError, ProblemSize, Settings, SettingsError,
};
use partita_linkage::LinkageError;

/// Rows or settings that no mixture can be fitted to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MixtureError {
    /// Not one weight a row.
    #[error("{found} weights for {objects} objects")]
    Weights {
        /// Weights given.
        found: usize,
        /// Objects there are.
        objects: usize,
    },
    /// A weight that is none.
    #[error("object {object} has weight {weight}; weights are positive and finite")]
    Weight {
        /// Index of the object.
        object: usize,
        /// Its weight.
        weight: f64,
    },
    /// A setting out of its range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Pairs of so many objects are not held.
    #[error(
        "the average-link summary holds every pair of objects and takes at most {most}; there are {objects}: take vi or binder"
    )]
    TooManyObjects {
        /// Objects there are.
        objects: usize,
        /// Objects it takes.
        most: usize,
    },
    /// A pass over label rows that did not come to its end.
    #[error(transparent)]
    Pass(#[from] PassError),
    /// Rows that are not an ensemble.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
    /// Too little memory.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// No tree of the draws.
    #[error(transparent)]
    Linkage(#[from] LinkageError),
    /// A mixture of nothing.
    #[error("a mixture needs at least one cluster")]
    NoClusters,
}

impl From<MixtureError> for FitError {
    fn from(error: MixtureError) -> Self {
        match error {
            MixtureError::Settings(error) => error.into(),
            MixtureError::Budget(error) => error.into(),
            MixtureError::Pass(PassError::Interrupted) => Self::Interrupted,
            other => Self::other(other),
        }
    }
}

impl MixtureError {
    /// Refuses no clusters, and settings out of their range for a problem of this size.
    pub(crate) fn check(settings: &impl Settings, size: &ProblemSize) -> Result<(), Self> {
        if size.clusters == 0 {
            return Err(Self::NoClusters);
        }
        Ok(settings.validate(size)?)
    }
}
