//! What can go wrong.

use partita_core::{BudgetError, FitError, SettingsError};

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
    /// A group of label rows that cannot be had.
    #[error("group {group} of the label rows: {reason}")]
    Source {
        /// Index of the group.
        group: usize,
        /// Why not.
        reason: String,
    },
    /// Whoever takes the labels failed.
    #[error("{0}")]
    Sink(String),
    /// One group does not fit.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A mixture of nothing.
    #[error("a mixture needs at least one cluster")]
    NoClusters,
}

impl From<MixtureError> for FitError {
    fn from(error: MixtureError) -> Self {
        match error {
            MixtureError::Settings(error) => error.into(),
            MixtureError::Budget(error) => error.into(),
            other => Self::other(other),
        }
    }
}

impl MixtureError {
    pub(crate) fn check_clusters(clusters: usize) -> Result<(), Self> {
        if clusters > 0 { Ok(()) } else { Err(Self::NoClusters) }
    }
}
