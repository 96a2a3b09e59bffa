//! What can be wrong with a comparison.

/// Things that cannot be compared.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MetricsError {
    /// The two sides describe another number of objects.
    #[error("one side has {left} objects, the other {right}")]
    Sizes {
        /// Objects on the left side.
        left: usize,
        /// Objects on the right side.
        right: usize,
    },
    /// There is no object to compare.
    #[error("there is no object to compare")]
    Empty,
    /// An entry of an overlap matrix is not a finite number.
    #[error("the overlap of row {row} and column {column} is {value}")]
    NotFinite {
        /// Row of the entry.
        row: usize,
        /// Column of the entry.
        column: usize,
        /// The entry.
        value: f64,
    },
    /// There is no such base clustering.
    #[error("there is no base clustering {base}; the ensemble has {bases}, counted from 0")]
    NoSuchBase {
        /// Index asked for.
        base: usize,
        /// Base clusterings there are.
        bases: usize,
    },
    /// A threshold for probabilities that is none.
    #[error("the threshold for probabilities is {threshold}; it must be between 0 and 1")]
    Threshold {
        /// The threshold given.
        threshold: f64,
    },
}
