//! What can go wrong.

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
}
