//! Errors of the mixtures.

use partita_core::{FitError, PassError, SettingsError};
use partita_linkage::LinkageError;

/// Rows or settings that no mixture can be fitted to.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MixtureError {
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
            MixtureError::Pass(PassError::Interrupted) => Self::Interrupted,
            other => Self::other(other),
        }
    }
}
