//! Sufficient statistics of a mixture: expected cluster sizes, label counts by cluster, and the log likelihood.

use partita_core::Mergeable;
use serde::{Deserialize, Serialize};

use crate::shared::log_probabilities::weigh_by_base;

/// What some label rows add up to. The sums of all rows are those of any division of the rows, merged.
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

    /// Adds a row that belongs to the clusters by these weights.
    // Within a caller that scores rows too, the compiler keeps less of the sums in registers, and this takes a quarter longer.
    #[inline(never)]
    pub(crate) fn add(&mut self, lines: impl Iterator<Item = usize>, soft: &[f64]) {
        let clusters = soft.len();
        let plus = |sums: &mut [f64]| sums.iter_mut().zip(soft).for_each(|(sum, p)| *sum += p);
        plus(&mut self.sizes);
        for line in lines {
            plus(&mut self.labels[line * clusters..][..clusters]);
        }
    }

    /// The same in which a label of base clustering u counts `weights[u]` times, where there are weights.
    pub(crate) fn weighted(mut self, weights: Option<&[f64]>, offsets: &[usize]) -> Self {
        weigh_by_base(&mut self.labels, weights, offsets, self.sizes.len());
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

impl SufficientStatistics {
    pub(crate) fn merged(mut self, other: Self) -> Self {
        self.merge(other);
        self
    }
}

impl Mergeable for SufficientStatistics {
    fn merge(&mut self, other: Self) {
        self.sizes
            .iter_mut()
            .zip(&other.sizes)
            .for_each(|(a, b)| *a += b);
        self.labels
            .iter_mut()
            .zip(&other.labels)
            .for_each(|(a, b)| *a += b);
        self.log_sum += other.log_sum;
    }
}
