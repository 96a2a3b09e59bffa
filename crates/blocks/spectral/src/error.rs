//! Errors of eigenproblems.

use partita_core::BudgetError;

/// Why there are no eigenpairs.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SpectralError {
    /// The matrix is not square.
    #[error("a matrix of {rows} × {columns} has no eigenpairs; it must be square")]
    NotSquare {
        /// Rows of the matrix.
        rows: usize,
        /// Columns of the matrix.
        columns: usize,
    },
    /// An entry is not a number.
    #[error("entry ({row}, {column}) is {value}; every entry must be finite")]
    NotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// An entry differs from its mirror image.
    #[error(
        "entry ({row}, {column}) is {value} but its mirror image is {mirrored}; the matrix must be symmetric"
    )]
    NotSymmetric {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        value: f64,
        /// The entry with row and column exchanged.
        mirrored: f64,
    },
    /// The operator gave a number that is not finite.
    #[error("the operator gave {value} for a vector of finite numbers")]
    Operator {
        /// What it gave.
        value: f64,
    },
    /// More eigenpairs than there are.
    #[error("asked for {count} eigenpairs of a matrix of side {side}; ask for 1 to {side}")]
    Count {
        /// Eigenpairs asked for.
        count: usize,
        /// Side of the matrix.
        side: usize,
    },
    /// Too little memory.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// Lanczos ran out of vectors and the matrix is too large for the dense solver.
    #[error(
        "the {count} largest eigenpairs have residual {residual:e} after {vectors} Krylov vectors, wanted {tolerance:e}; \
         allow more blocks or a larger tolerance"
    )]
    NotConverged {
        /// Eigenpairs asked for.
        count: usize,
        /// Krylov vectors built.
        vectors: usize,
        /// Largest residual, relative to the largest eigenvalue.
        residual: f64,
        /// Residual asked for.
        tolerance: f64,
    },
    /// The dense solver gave up, which finite input does not make it do.
    #[error("the dense eigensolver did not converge on a matrix of side {side}")]
    Dense {
        /// Side of the matrix.
        side: usize,
    },
}
