//! The variational posterior of cluster shares and label shares, and its bound on the evidence.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use crate::nbce::hyperparameters::{Hyperparameters, maximise};
use crate::shared::kept::{Kept, KeptOf};
use crate::shared::log_probabilities::{LogProbabilities, normalise_by_base, totals_by_base};
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
        offsets: &[usize],
    ) -> Self {
        let clusters = sums.sizes.len();
        let (mut shares, mut labels) = (sums.sizes, sums.labels);
        shares
            .iter_mut()
            .for_each(|share| *share += hyperparameters.alpha0 / clusters as f64);
        labels
            .iter_mut()
            .for_each(|label| *label += hyperparameters.beta);
        let all = digamma(shares.iter().sum());
        let prior = shares.iter().map(|&share| digamma(share) - all).collect();
        let totals = totals_by_base(&labels, offsets, clusters);
        let mut lines: Vec<f64> = labels.iter().map(|&label| digamma(label)).collect();
        for (ends, totals) in offsets.windows(2).zip(totals.chunks_exact(clusters)) {
            let logs: Vec<f64> = totals.iter().map(|&total| digamma(total)).collect();
            for line in lines[ends[0] * clusters..ends[1] * clusters].chunks_exact_mut(clusters) {
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
    pub(crate) fn means(&self, offsets: &[usize]) -> (Vec<f64>, Vec<f64>) {
        let (mut prior, mut theta) = (self.shares.clone(), self.labels.clone());
        normalise_by_base(&mut theta, offsets, prior.len());
        let total: f64 = prior.iter().sum();
        prior.iter_mut().for_each(|share| *share /= total);
        (prior, theta)
    }

    /// KL(q(π) ‖ p(π)) + Σ_u ω_u KL(q(θ_u) ‖ p(θ_u)).
    pub(crate) fn divergence(&self, (offsets, base_weights): (&[usize], Option<&[f64]>)) -> f64 {
        let clusters = self.shares.len() as f64;
        let Hyperparameters { alpha0, beta } = self.hyperparameters;
        let labels = |ends: &[usize]| (ends[1] - ends[0]) as f64;
        let weight = |u: usize| base_weights.map_or(1.0, |weights| weights[u]);
        let normaliser =
            |ends: &[usize]| labels(ends) * ln_gamma(beta) - ln_gamma(labels(ends) * beta);
        let pi = ln_gamma(self.shares.iter().sum()) - ln_gamma(alpha0)
            + clusters * ln_gamma(alpha0 / clusters);
        let bases = || offsets.windows(2).enumerate();
        let theta: f64 = clusters
            * bases()
                .map(|(u, ends)| weight(u) * normaliser(ends))
                .sum::<f64>();
        let top = |(at, &total): (usize, &f64)| weight(at / self.shares.len()) * ln_gamma(total);
        let tops: f64 = self.totals.iter().enumerate().map(top).sum();
        let of_base = |(u, ends): (usize, &[usize])| {
            let range = ends[0] * self.shares.len()..ends[1] * self.shares.len();
            let own = tilts(&self.labels[range.clone()], &self.logs.lines[range], beta);
            own.map(move |tilt| weight(u) * tilt)
        };
        pi + theta
            + tops
            + tilts(&self.shares, &self.logs.prior, alpha0 / clusters).sum::<f64>()
            + bases().flat_map(of_base).sum::<f64>()
    }
}

impl Kept for Posterior {
    type Form = Self;

    fn keep(self) -> Self {
        self
    }

    fn open(form: Self, of: &KeptOf<'_>) -> Option<Self> {
        let logs = of.fits(&form.logs.lines, None, &form.logs.prior);
        (logs && of.fits(&form.labels, Some(&form.totals), &form.shares)).then_some(form)
    }
}

/// (a − c) E ln − ln Γ(a) for the parameters a of a Dirichlet with prior c.
fn tilts(parameters: &[f64], logs: &[f64], prior: f64) -> impl Iterator<Item = f64> {
    parameters
        .iter()
        .zip(logs)
        .map(move |(&a, log)| (a - prior) * log - ln_gamma(a))
}

/// The bound (plus the log densities of learned α0 and β) and the next posterior, from what the rows expect under
/// `posterior`.
pub(crate) fn advance(
    sums: SufficientStatistics,
    posterior: &Posterior,
    (offsets, base_weights): (&[usize], Option<&[f64]>),
    learn: bool,
) -> (f64, Posterior) {
    let Hyperparameters { alpha0, beta } = posterior.hyperparameters;
    let bound = sums.log_sum
        - posterior.divergence((offsets, base_weights))
        - if learn { alpha0 + beta } else { 0.0 };
    let mut next = Posterior::of(sums, posterior.hyperparameters, offsets);
    if learn {
        let expected = next.logs.weighted(base_weights, offsets).lines.iter().sum();
        next.hyperparameters = maximise(&next.logs.prior, expected, (offsets, base_weights));
    }
    (bound, next)
}
