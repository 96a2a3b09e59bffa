//! Counts of the pairs of one object, padded for vectors.

/// Counts of one object's pairs in the order of a [`Memberships`](crate::memberships::Memberships)'s objects, padded with zeros: together `c` times of `n`.
#[derive(Clone, Debug, Default)]
pub struct PairCounts {
    pub(crate) c: Vec<f64>,
    pub(crate) n: Vec<f64>,
}
