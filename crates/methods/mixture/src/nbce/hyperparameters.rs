//! Hyperparameters α0 and β of NBCE, and their maximum: the concave parts of the bound that depend on them.

use serde::{Deserialize, Serialize};
use statrs::function::gamma::digamma;

use super::prior::NbcePrior;
use crate::shared::log_probabilities::totals_by_base;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// The concentration α0 and the label pseudo-count β.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Hyperparameters {
    pub(crate) alpha0: f64,
    pub(crate) beta: f64,
}

impl Hyperparameters {
    /// The larger of the differences of ln α0 and ln β.
    pub(crate) fn distance(&self, other: &Self) -> f64 {
        let alpha0 = (self.alpha0 / other.alpha0).ln().abs();
        alpha0.max((self.beta / other.beta).ln().abs())
    }
}

/// Where learned values are looked for.
const RANGE: (f64, f64) = (1e-4, 1e4);

/// The values that maximise a variational bound plus their Gamma(1, 1) log densities, given the expected log shares
/// of clusters and labels.
///
/// ```text
/// α0: ln Γ(α0) − K ln Γ(α0/K) + α0/K Σ_k E ln π_k − α0
/// β:  Σ_u ω_u K (ln Γ(J_u β) − J_u ln Γ(β)) + β Σ_kuj ω_u E ln θ_kuj − β
/// ```
pub(crate) fn maximise(
    expected_log_pi: &[f64],
    expected_log_theta: f64,
    (offsets, base_weights): (&[usize], Option<&[f64]>),
) -> Hyperparameters {
    let clusters = expected_log_pi.len() as f64;
    let pi: f64 = expected_log_pi.iter().sum();
    let alpha0 = root(|a| digamma(a) - digamma(a / clusters) + pi / clusters - 1.0);
    let slope = |beta: f64| {
        let base = |(u, ends): (usize, &[usize])| {
            let labels = (ends[1] - ends[0]) as f64;
            let weight = base_weights.map_or(1.0, |weights| weights[u]);
            weight * (clusters * labels * (digamma(labels * beta) - digamma(beta)))
        };
        offsets.windows(2).enumerate().map(base).sum::<f64>() + expected_log_theta - 1.0
    };
    Hyperparameters {
        alpha0,
        beta: root(slope),
    }
}

/// The values that maximise ln p(z) + ln p(labels | z) at expected counts, plus their Gamma(1, 1) log densities.
pub(crate) fn maximise_collapsed(
    prior: NbcePrior,
    sums: &SufficientStatistics,
    (offsets, base_weights): (&[usize], Option<&[f64]>),
) -> Hyperparameters {
    let clusters = sums.sizes.len();
    let totals = totals_by_base(&sums.labels, offsets, clusters);
    let weight = |u: usize| base_weights.map_or(1.0, |weights| weights[u]);
    let slope = |beta: f64| {
        let rise = |from: f64, count: f64| {
            if count > 1e-12 {
                digamma(from + count) - digamma(from)
            } else {
                0.0
            }
        };
        let base = |(u, (ends, totals)): (usize, (&[usize], &[f64]))| {
            let labels = (ends[1] - ends[0]) as f64;
            weight(u)
                * totals
                    .iter()
                    .map(|&total| labels * rise(labels * beta, total))
                    .sum::<f64>()
        };
        let falls: f64 = offsets
            .windows(2)
            .zip(totals.chunks_exact(clusters))
            .enumerate()
            .map(base)
            .sum();
        let rises = |(u, ends): (usize, &[usize])| {
            let counts = sums.labels[ends[0] * clusters..ends[1] * clusters].iter();
            counts.map(move |&count| weight(u) * rise(beta, count))
        };
        offsets.windows(2).enumerate().flat_map(rises).sum::<f64>() - falls - 1.0
    };
    Hyperparameters {
        alpha0: root(|alpha0| prior.slope(&sums.sizes, alpha0) - 1.0),
        beta: root(slope),
    }
}

/// Where a falling function crosses 0, by bisection of its logarithmic range.
pub(crate) fn root(slope: impl Fn(f64) -> f64) -> f64 {
    let (mut low, mut high) = (RANGE.0.ln(), RANGE.1.ln());
    for _ in 0..32 {
        let middle = 0.5 * (low + high);
        if slope(middle.exp()) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (0.5 * (low + high)).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nbce::prior::log_labels;
    use crate::shared::{fixture, weighted_rows::WeightedRows};

    #[test]
    fn no_other_value_is_better() {
        let ensemble = fixture::ensemble();
        let rows = WeightedRows::unfolded(&ensemble);
        let labels: Vec<u32> = (0..24).map(|i| i * 3 / 24).collect();
        let sums = rows.given_hard(&labels, 5);
        for prior in [NbcePrior::Symmetric, NbcePrior::StickBreaking] {
            let best = maximise_collapsed(prior, &sums, (rows.offsets(), None));
            let alpha0 = |a: f64| prior.log_partition(&sums.sizes, a) - a;
            let beta = |b: f64| log_labels(&sums, (rows.offsets(), None), b) - b;
            for factor in [0.5, 0.9, 1.1, 2.0] {
                assert!(alpha0(best.alpha0 * factor) < alpha0(best.alpha0));
                assert!(beta(best.beta * factor) < beta(best.beta));
            }
        }
    }
}
