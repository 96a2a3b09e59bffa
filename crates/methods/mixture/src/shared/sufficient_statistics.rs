//! Sufficient statistics of a mixture: expected cluster sizes, label counts by cluster, and the log likelihood.

use partita_core::{Entry, Mergeable};
use serde::{Deserialize, Serialize};

use crate::shared::layout::BaseLayout;
use crate::shared::log_probabilities::farthest;

/// What some rows add up to. The sums of all rows are those of any division of the rows, merged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct SufficientStatistics {
    /// The weight in every cluster, K values.
    pub(crate) sizes: Vec<f64>,
    /// The weight of every label in every cluster, ΣJ lines of K values.
    pub(crate) labels: Vec<f64>,
    /// The weighted sum of log normalisers.
    pub(crate) log_sum: f64,
}

impl SufficientStatistics {
    pub(crate) fn zero(label_values: usize, clusters: usize) -> Self {
        Self {
            sizes: vec![0.0; clusters],
            labels: vec![0.0; label_values * clusters],
            log_sum: 0.0,
        }
    }

    pub(crate) fn clusters(&self) -> usize {
        self.sizes.len()
    }

    /// Adds a row that belongs to the clusters by these weights.
    // Within a caller that scores rows too, the compiler keeps less of the sums in registers, and this takes a quarter longer.
    #[inline(never)]
    pub(crate) fn add(&mut self, entries: impl Iterator<Item = Entry>, soft: &[f64]) {
        let clusters = soft.len();
        self.sizes
            .iter_mut()
            .zip(soft)
            .for_each(|(sum, p)| *sum += p);
        for Entry { cluster, share, .. } in entries {
            let line = &mut self.labels[cluster * clusters..][..clusters];
            line.iter_mut()
                .zip(soft)
                .for_each(|(sum, p)| *sum += share * p);
        }
    }

    /// The largest difference of two sums.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        farthest(&self.sizes, &other.sizes).max(farthest(&self.labels, &other.labels))
    }

    /// The same in which labels count as often as their base clustering has copies.
    pub(crate) fn weighted(mut self, layout: &BaseLayout) -> Self {
        layout.weigh(&mut self.labels, self.sizes.len());
        self
    }

    /// The same with empty clusters up to so many.
    pub(crate) fn widened(self, clusters: usize) -> Self {
        let had = self.sizes.len();
        if had >= clusters {
            return self;
        }
        let mut wide = Self::zero(self.labels.len() / had, clusters);
        wide.sizes[..had].copy_from_slice(&self.sizes);
        for (to, from) in wide
            .labels
            .chunks_exact_mut(clusters)
            .zip(self.labels.chunks_exact(had))
        {
            to[..had].copy_from_slice(from);
        }
        Self {
            log_sum: self.log_sum,
            ..wide
        }
    }
}

impl Mergeable for SufficientStatistics {
    fn merge(&mut self, other: Self) {
        add(&mut self.sizes, &other.sizes);
        add(&mut self.labels, &other.labels);
        self.log_sum += other.log_sum;
    }
}

/// Adds numbers to others, place by place.
pub(crate) fn add(sums: &mut [f64], more: &[f64]) {
    sums.iter_mut()
        .zip(more)
        .for_each(|(sum, more)| *sum += more);
}
