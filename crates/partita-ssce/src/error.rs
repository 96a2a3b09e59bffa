//! What can go wrong.

use partita_spectral::SpectralError;

/// Inputs or settings that no classifier can be fitted to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SsceError {
    /// K out of range.
    #[error("asked for {clusters} clusters of {objects} objects; ask for 1 to {objects}, at most 65,534")]
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
    #[error("{found} weights for {bases} base clusterings")]
    Weights {
        /// Weights given.
        found: usize,
        /// Base clusterings there are.
        bases: usize,
    },
    /// A base clustering that the others can not take their names from.
    #[error("'{name}' can not be the reference: {reason}")]
    Reference {
        /// The name given.
        name: String,
        /// Why not.
        reason: String,
    },
    /// A setting out of its range.
    #[error("setting '{name}' is {value}; it must be {range}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// The eigenvectors of a small matrix could not be found.
    #[error("an eigenproblem inside the fit failed: {0}")]
    Eigen(#[from] SpectralError),
}

impl SsceError {
    pub(crate) fn check(name: &'static str, value: f64, allowed: bool, range: &'static str) -> Result<(), Self> {
        if value.is_finite() && allowed { Ok(()) } else { Err(Self::Setting { name, value, range }) }
    }
}
