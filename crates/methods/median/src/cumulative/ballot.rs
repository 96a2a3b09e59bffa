//! What the clusters of one base clustering vote for.

use partita_core::ndarray::{Array2, Axis};
use serde::{Deserialize, Serialize};

use super::Scheme;

/// The votes of the clusters of a base clustering for those of the reference, times its weight.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Ballot {
    /// The base clustering.
    pub(super) base: usize,
    weight: f64,
    columns: usize,
    /// A line of votes for every cluster.
    lines: Vec<f64>,
    /// Whether a cluster shares an object with the reference: else it does not vote.
    casts: Vec<bool>,
}

impl Ballot {
    /// The ballot of a base clustering of this weight from the objects that its clusters (lines) share with those of the reference.
    pub(super) fn new(scheme: Scheme, base: usize, weight: f64, shared: &Array2<f64>) -> Self {
        let sums = shared.sum_axis(Axis(1));
        let mut lines = Vec::with_capacity(shared.len());
        for (line, sum) in shared.outer_iter().zip(&sums) {
            let scale = if scheme == Scheme::Unnormalised {
                1.0
            } else {
                1.0 / sum
            };
            lines.extend(line.iter().map(|votes| weight * scale * votes));
        }
        let casts = sums.iter().map(|&sum| sum > 0.0).collect();
        Self {
            base,
            weight,
            columns: shared.ncols(),
            lines,
            casts,
        }
    }

    /// Adds the votes of an object with such a share in cluster `label`, and gives their weight: 0 if the cluster does not vote.
    pub(super) fn cast(&self, label: usize, share: f64, votes: &mut [f64]) -> f64 {
        if !self.casts[label] {
            return 0.0;
        }
        for (vote, line) in votes.iter_mut().zip(self.line(label)) {
            *vote += share * line;
        }
        self.weight * share
    }

    /// The votes of a cluster; zeros if it does not vote.
    pub(super) fn line(&self, label: usize) -> &[f64] {
        &self.lines[label * self.columns..][..self.columns]
    }

    /// The weight of the base clustering.
    pub(super) fn weight(&self) -> f64 {
        self.weight
    }
}
