//! Counts of the pairs of one object, as the kernels read them.

use crate::memberships::{Layout, Memberships};

/// Counts of one object's pairs in the order of a [`Memberships`]'s objects, padded with zeros: together `c` times of `n`.
#[derive(Clone, Debug, Default)]
pub(crate) struct PairCounts {
    pub(crate) c: Vec<f64>,
    pub(crate) n: Vec<f64>,
}

impl PairCounts {
    /// The shares c/N, 0 where N is.
    pub(crate) fn shares(&self) -> Vec<f64> {
        let pairs = self.c.iter().zip(&self.n);
        pairs.map(|(&c, &n)| share(c, n).0).collect()
    }
}

/// c/N and 1 in place of c and N.
pub(crate) fn share(c: f64, n: f64) -> (f64, f64) {
    if n > 0.0 { (c / n, 1.0) } else { (0.0, 0.0) }
}

/// Scratch space for what one object sees of the others.
#[derive(Debug)]
pub(crate) struct LocalPairs {
    pub(crate) table: Memberships,
    pub(crate) counts: PairCounts,
}

impl LocalPairs {
    pub(crate) fn new(clusters: usize) -> Self {
        Self {
            table: Memberships::zeros(0, clusters, Layout::Columns),
            counts: PairCounts::default(),
        }
    }
}
