//! The variational posterior of cluster shares and label shares, and its bound on the evidence.

use std::ops::Range;

use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use crate::nbce::hyperparameters::{Hyperparameters, Learn, maximise};
use crate::shared::layout::BaseLayout;
use crate::shared::log_probabilities::LogProbabilities;
use crate::shared::shares::MixtureShares;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// q(π) and q(θ), with what their next E-step reads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Posterior {
    pub(crate) hyperparameters: Hyperparameters,
    /// ξ, K values.
    shares: Vec<f64>,
    /// ρ, ΣJ lines of K values.
    pub(crate) labels: Vec<f64>,
    /// Σ_j ρ_kuj, M lines of K values.
    totals: Vec<f64>,
    /// E ln π and E ln θ.
    pub(crate) logs: LogProbabilities,
}

impl Posterior {
    pub(crate) fn of(
        sums: SufficientStatistics,
        hyperparameters: Hyperparameters,
        layout: &BaseLayout,
    ) -> Self {
        let clusters = sums.clusters();
        let (mut shares, mut labels) = (sums.sizes, sums.labels);
        shares
            .iter_mut()
            .for_each(|share| *share += hyperparameters.alpha0 / clusters as f64);
        labels
            .iter_mut()
            .for_each(|label| *label += hyperparameters.beta);
        let all = digamma(shares.iter().sum());
        let prior = shares.iter().map(|&share| digamma(share) - all).collect();
        let totals = layout.totals(&labels, clusters);
        let mut lines: Vec<f64> = labels.iter().map(|&label| digamma(label)).collect();
        for ((_, labels), totals) in layout.bases().zip(totals.chunks_exact(clusters)) {
            let logs: Vec<f64> = totals.iter().map(|&total| digamma(total)).collect();
            let own = &mut lines[labels.start * clusters..labels.end * clusters];
            for line in own.chunks_exact_mut(clusters) {
                line.iter_mut()
                    .zip(&logs)
                    .for_each(|(line, log)| *line -= log);
            }
        }
        Self {
            hyperparameters,
            shares,
            labels,
            totals,
            logs: LogProbabilities { prior, lines },
        }
    }

    /// E π and E θ.
    pub(crate) fn means(&self, layout: &BaseLayout) -> MixtureShares {
        let mut theta = self.labels.clone();
        layout.normalise(&mut theta, self.shares.len());
        let total: f64 = self.shares.iter().sum();
        MixtureShares {
            prior: self.shares.iter().map(|share| share / total).collect(),
            theta,
        }
    }

    /// KL(q(π) ‖ p(π)) + Σ_u ω_u KL(q(θ_u) ‖ p(θ_u)).
    pub(crate) fn divergence(&self, layout: &BaseLayout) -> f64 {
        let k = self.shares.len();
        let clusters = k as f64;
        let Hyperparameters { alpha0, beta } = self.hyperparameters;
        let pi = ln_gamma(self.shares.iter().sum()) - ln_gamma(alpha0)
            + clusters * ln_gamma(alpha0 / clusters)
            + tilts(&self.shares, &self.logs.prior, alpha0 / clusters);
        let of_base = |(u, labels): (usize, Range<usize>)| {
            let count = labels.len() as f64;
            let normaliser = count * ln_gamma(beta) - ln_gamma(count * beta);
            let totals = self.totals[u * k..(u + 1) * k].iter();
            let tops: f64 = totals.map(|&total| ln_gamma(total)).sum();
            let own = labels.start * k..labels.end * k;
            let tilts = tilts(&self.labels[own.clone()], &self.logs.lines[own], beta);
            layout.copies_of(u) * (clusters * normaliser + tops + tilts)
        };
        pi + layout.bases().map(of_base).sum::<f64>()
    }

    pub(crate) fn fits(&self, layout: &BaseLayout, clusters: usize) -> bool {
        layout.fits(&self.labels, &self.shares, clusters)
            && layout.fits(&self.logs.lines, &self.logs.prior, clusters)
            && self.totals.len() == layout.len() * clusters
    }
}

/// Σ (a − c) E ln − ln Γ(a) for the parameters a of a Dirichlet with prior c.
fn tilts(parameters: &[f64], logs: &[f64], prior: f64) -> f64 {
    let pairs = parameters.iter().zip(logs);
    pairs.map(|(&a, log)| (a - prior) * log - ln_gamma(a)).sum()
}

/// The bound (plus the log densities of learned α0 and β) and the next posterior, from what the rows expect under
/// `posterior`.
pub(crate) fn advance(
    sums: SufficientStatistics,
    posterior: &Posterior,
    layout: &BaseLayout,
    learn: Learn,
) -> (f64, Posterior) {
    let Hyperparameters { alpha0, beta } = posterior.hyperparameters;
    let bound = sums.log_sum - posterior.divergence(layout) - learn.slope() * (alpha0 + beta);
    let mut next = Posterior::of(sums, posterior.hyperparameters, layout);
    if learn.is_on() {
        let expected = next.logs.clone().weighted(layout).lines.iter().sum();
        next.hyperparameters = maximise(learn, &next.logs.prior, expected, layout);
    }
    (bound, next)
}
