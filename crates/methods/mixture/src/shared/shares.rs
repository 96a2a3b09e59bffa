//! The parameters of a mixture: shares of clusters, and of labels within clusters.

use serde::{Deserialize, Serialize};

use crate::shared::layout::BaseLayout;
use crate::shared::log_probabilities::LogProbabilities;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// π and θ.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct MixtureShares {
    /// π, K values.
    pub(crate) prior: Vec<f64>,
    /// θ, ΣJ lines of K values.
    pub(crate) theta: Vec<f64>,
}

impl MixtureShares {
    /// Labels that are added to every cluster and base clustering where there is to be one in all, spread evenly over the label values.
    pub(crate) const ONE_LABEL: f64 = 1.0;

    /// The M-step: shares from sums, after so many pseudo-labels for every label value and `per_cluster` pseudo-objects for every cluster.
    pub(crate) fn of_sums(
        sums: &SufficientStatistics,
        layout: &BaseLayout,
        pseudo_count: f64,
        per_cluster: f64,
    ) -> Self {
        Self::with(sums, layout, |_| pseudo_count, per_cluster)
    }

    /// The same with one pseudo-label a base clustering and cluster.
    pub(crate) fn with_one_label(
        sums: &SufficientStatistics,
        layout: &BaseLayout,
        per_cluster: f64,
    ) -> Self {
        let spread = |labels: usize| Self::ONE_LABEL / labels.max(1) as f64;
        Self::with(sums, layout, spread, per_cluster)
    }

    fn with(
        sums: &SufficientStatistics,
        layout: &BaseLayout,
        per_label: impl Fn(usize) -> f64,
        per_cluster: f64,
    ) -> Self {
        let clusters = sums.clusters();
        let total: f64 = sums.sizes.iter().map(|size| size + per_cluster).sum();
        let share = |size: &f64| (size + per_cluster) / total;
        let mut theta = sums.labels.clone();
        for (_, labels) in layout.bases() {
            let more = per_label(labels.len());
            let own = &mut theta[labels.start * clusters..labels.end * clusters];
            own.iter_mut().for_each(|count| *count += more);
        }
        layout.normalise(&mut theta, clusters);
        Self {
            prior: sums.sizes.iter().map(share).collect(),
            theta,
        }
    }

    /// Their logarithms, in which labels count as often as their base clustering has copies.
    pub(crate) fn logs(&self, layout: &BaseLayout) -> LogProbabilities {
        let logs = |values: &[f64]| values.iter().map(|p| p.ln()).collect();
        let logs = LogProbabilities {
            prior: logs(&self.prior),
            lines: logs(&self.theta),
        };
        logs.weighted(layout)
    }

    pub(crate) fn fits(&self, layout: &BaseLayout, clusters: usize) -> bool {
        layout.fits(&self.theta, &self.prior, clusters)
    }
}
