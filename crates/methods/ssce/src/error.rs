//! Errors of self-supervised consensus.

use partita_core::{FitError, SettingsError, WeightsError};
use partita_spectral::SpectralError;

/// Inputs or settings that no classifier can be fitted to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SsceError {
    /// K out of range.
    #[error(
        "asked for {clusters} clusters of {objects} objects; ask for 1 to {objects}, at most 65,534"
    )]
    Clusters {
        /// Clusters asked for.
        clusters: usize,
        /// Objects there are.
        objects: usize,
    },
    /// The table has other rows than the ensemble has objects.
    #[error("the table has {rows} rows, the ensemble {objects} objects")]
    Rows {
        /// Rows of the table.
        rows: usize,
        /// Objects of the ensemble.
        objects: usize,
    },
    /// A table without columns.
    #[error("the table has no columns")]
    NoColumns,
    /// Numbers so large that a column has no standard deviation.
    #[error("the numbers of column '{column}' are too large to be scaled")]
    Scale {
        /// Name of the column.
        column: String,
    },
    /// More numbers than a model of nearest neighbours keeps.
    #[error(
        "nearest neighbours would keep {numbers} numbers, at most {most}; learn from fewer rows, or take ssce or centroid"
    )]
    Neighbours {
        /// Rows times columns.
        numbers: usize,
        /// The most that are kept.
        most: usize,
    },
    /// Not one weight a base clustering.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// A setting out of its range, or a reference that the others cannot take their names from.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// The eigenvectors of a small matrix could not be found.
    #[error("an eigenproblem inside the fit failed: {0}")]
    Eigen(#[from] SpectralError),
    /// The monitor asked to stop before there was a fit to all objects.
    #[error("stopped before there was a result")]
    Interrupted,
}

impl From<SsceError> for FitError {
    fn from(error: SsceError) -> Self {
        match error {
            SsceError::Settings(error) => error.into(),
            SsceError::Interrupted => Self::Interrupted,
            other => Self::other(other),
        }
    }
}
