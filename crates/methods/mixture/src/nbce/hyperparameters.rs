//! Hyperparameters α0 and β of NBCE, and their maximum: the concave parts of the bound that depend on them.

use std::ops::Range;

use partita_core::SettingChoice;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::digamma;

use super::prior::NbcePrior;
use crate::shared::layout::BaseLayout;
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

/// Whether α0 and β are learned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Learn {
    /// They stay as given.
    #[default]
    False,
    /// Under Gamma(1, 1), which keeps both from growing without end.
    True,
    /// By maximum likelihood, as the paper has it.
    Ml,
}

impl Learn {
    pub(crate) fn is_on(self) -> bool {
        self != Self::False
    }

    /// How steeply the log density of learned values falls.
    pub(crate) fn slope(self) -> f64 {
        f64::from(u8::from(self == Self::True))
    }

    /// What to say of estimates of maximum likelihood that ran to a limit.
    pub(crate) fn warnings(self, found: Hyperparameters) -> Vec<String> {
        let ran = |(name, value): (&str, f64)| {
            let way = match (value / RANGE.0, value / RANGE.1) {
                (low, _) if low < 1.01 => "falls to 0",
                (_, high) if high > 0.99 => "grows without end",
                _ => return None,
            };
            let remedy = "take learn=true, or leave learn out and set it";
            Some(format!(
                "the likelihood rises while {name} {way}: it stands at the limit {value:.4}; {remedy}"
            ))
        };
        let both = [("alpha0", found.alpha0), ("beta", found.beta)];
        both.into_iter()
            .filter(|_| self == Self::Ml)
            .filter_map(ran)
            .collect()
    }
}

/// Where learned values are looked for.
const RANGE: (f64, f64) = (1e-4, 1e4);

/// The values that maximise a variational bound plus their log densities (those of Gamma(1, 1) where `learn` says so), given the expected log
/// shares of clusters and labels.
///
/// ```text
/// α0: ln Γ(α0) − K ln Γ(α0/K) + α0/K Σ_k E ln π_k − α0
/// β:  Σ_u ω_u K (ln Γ(J_u β) − J_u ln Γ(β)) + β Σ_kuj ω_u E ln θ_kuj − β
/// ```
pub(crate) fn maximise(
    learn: Learn,
    expected_log_pi: &[f64],
    expected_log_theta: f64,
    layout: &BaseLayout,
) -> Hyperparameters {
    let clusters = expected_log_pi.len() as f64;
    let pi: f64 = expected_log_pi.iter().sum();
    let alpha0 = root(|a| digamma(a) - digamma(a / clusters) + pi / clusters - learn.slope());
    let slope = |beta: f64| {
        let base = |(u, labels): (usize, Range<usize>)| {
            let labels = labels.len() as f64;
            layout.copies_of(u) * (clusters * labels * (digamma(labels * beta) - digamma(beta)))
        };
        layout.bases().map(base).sum::<f64>() + expected_log_theta - learn.slope()
    };
    Hyperparameters {
        alpha0,
        beta: root(slope),
    }
}

/// The values that maximise ln p(z) + ln p(labels | z) at expected counts, plus their log densities as in [`maximise`].
pub(crate) fn maximise_collapsed(
    learn: Learn,
    prior: NbcePrior,
    sums: &SufficientStatistics,
    layout: &BaseLayout,
) -> Hyperparameters {
    let clusters = sums.clusters();
    let totals = layout.totals(&sums.labels, clusters);
    let slope = |beta: f64| {
        let rise = |from: f64, count: f64| {
            if count > 1e-12 {
                digamma(from + count) - digamma(from)
            } else {
                0.0
            }
        };
        let base = |(u, labels): (usize, Range<usize>)| {
            let counts = &sums.labels[labels.start * clusters..labels.end * clusters];
            let rises: f64 = counts.iter().map(|&count| rise(beta, count)).sum();
            let labels = labels.len() as f64;
            let totals = &totals[u * clusters..(u + 1) * clusters];
            let falls = totals
                .iter()
                .map(|&total| labels * rise(labels * beta, total));
            layout.copies_of(u) * (rises - falls.sum::<f64>())
        };
        layout.bases().map(base).sum::<f64>() - learn.slope()
    };
    Hyperparameters {
        alpha0: root(|alpha0| prior.slope(&sums.sizes, alpha0) - learn.slope()),
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
    use crate::shared::fixture::{self, Held};

    #[test]
    fn no_other_value_is_better() {
        let ensemble = fixture::ensemble();
        let held = Held::each(&ensemble);
        let labels: Vec<u32> = (0..24).map(|i| i * 3 / 24).collect();
        let sums = held.rows().given_hard(&labels, 5);
        let priors = [NbcePrior::Symmetric, NbcePrior::StickBreaking];
        for (prior, learn) in priors
            .into_iter()
            .flat_map(|prior| [Learn::True, Learn::Ml].map(|learn| (prior, learn)))
        {
            let best = maximise_collapsed(learn, prior, &sums, &held.layout);
            assert_eq!(learn.warnings(best), Vec::<String>::new());
            let alpha0 = |a: f64| prior.log_partition(&sums.sizes, a) - learn.slope() * a;
            let beta = |b: f64| log_labels(&sums, &held.layout, b) - learn.slope() * b;
            for factor in [0.5, 0.9, 1.1, 2.0] {
                assert!(alpha0(best.alpha0 * factor) < alpha0(best.alpha0));
                assert!(beta(best.beta * factor) < beta(best.beta));
            }
        }
    }

    /// Pure clusters want β at 0, and labels that clusters say nothing of want it without end.
    #[test]
    fn estimates_that_run_away_end_at_a_limit_and_say_so() {
        let labels: Vec<u32> = (0..12).map(|i| i % 3).collect();
        let column = labels.iter().map(|&j| Some(j)).collect();
        let held = Held::each(&partita_conformance::ensemble([("a".into(), column)]));
        let even: Vec<u32> = (0..12).map(|i| i / 3 % 2).collect();
        for (clusters, part) in [
            (labels, "beta falls to 0"),
            (even, "beta grows without end"),
        ] {
            let sums = held.rows().given_hard(&clusters, 3);
            let best = maximise_collapsed(Learn::Ml, NbcePrior::Symmetric, &sums, &held.layout);
            let told = Learn::Ml.warnings(best);
            assert!(told.iter().any(|text| text.contains(part)), "{told:?}");
            assert!(Learn::True.warnings(best).is_empty());
        }
    }
}
