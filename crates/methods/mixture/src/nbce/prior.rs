//! Finite approximations of a Dirichlet process (symmetric, stick-breaking), and the probability of a partition and its labels.

use partita_core::SettingChoice;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use super::scaled_product::{ScaledProduct, split};
use crate::shared::layout::BaseLayout;
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::trigamma::trigamma;

/// How the Dirichlet process over cluster shares is made finite.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum NbcePrior {
    /// Symmetric Dirichlet, `π ~ Dir(α0/K, …, α0/K)` (the paper's FSD).
    #[default]
    Symmetric,
    /// Truncated stick-breaking, `v_k ~ Beta(1, α0)` with `v_K = 1` (the paper's TSB): early clusters are larger.
    StickBreaking,
}

impl NbcePrior {
    /// ln p(z) for clusters of these sizes, π marginalised. Sizes need not be whole.
    ///
    /// ```text
    /// symmetric       Γ(α0)/Γ(α0+n) Π_k Γ(α0/K + N_k)/Γ(α0/K)
    /// stick-breaking  α0^{K−1} Π_{k<K} Γ(1+N_k) Γ(α0+N_{>k}) / Γ(1+α0+N_{≥k})
    /// ```
    pub(crate) fn log_partition(self, sizes: &[f64], alpha0: f64) -> f64 {
        let clusters = sizes.len();
        match self {
            Self::Symmetric => {
                let share = alpha0 / clusters as f64;
                let total: f64 = sizes.iter().sum();
                let terms: f64 = sizes
                    .iter()
                    .map(|size| ln_gamma(share + size) - ln_gamma(share))
                    .sum();
                ln_gamma(alpha0) - ln_gamma(alpha0 + total) + terms
            }
            Self::StickBreaking => {
                let mut after: f64 = sizes.iter().sum();
                let mut sum = (clusters - 1) as f64 * alpha0.ln();
                for size in &sizes[..clusters - 1] {
                    let from = after;
                    after = (after - size).max(0.0);
                    sum += ln_gamma(1.0 + size) + ln_gamma(alpha0 + after)
                        - ln_gamma(1.0 + alpha0 + from);
                }
                sum
            }
        }
    }

    /// p(z_i = k | the others) up to a factor, for K clusters of these sizes and `total` others, as the first factors
    /// of `product`.
    ///
    /// ```text
    /// symmetric       α0/K + N_k
    /// stick-breaking  [(1 + N_k) / (1 + α0 + N_{≥k})]  Π_{h<k} (α0 + N_{>h}) / (1 + α0 + N_{≥h})
    /// ```
    /// The bracket is absent for k = K, where v_K = 1.
    pub(crate) fn shares(
        self,
        sizes: impl ExactSizeIterator<Item = f64>,
        total: f64,
        alpha0: f64,
        product: &mut ScaledProduct,
    ) {
        let clusters = sizes.len();
        product.exponents.fill(0);
        if self == Self::Symmetric {
            let share = alpha0 / clusters as f64;
            product
                .mantissas
                .iter_mut()
                .zip(sizes)
                .for_each(|(m, size)| *m = share + size);
            return;
        }
        let (mut after, mut left) = (total.max(0.0), (1.0, 0));
        for (k, size) in sizes.enumerate() {
            let inverse = 1.0 / (1.0 + alpha0 + after);
            product.mantissas[k] = left.0
                * if k + 1 == clusters {
                    1.0
                } else {
                    (1.0 + size) * inverse
                };
            product.exponents[k] = left.1;
            after = (after - size).max(0.0);
            left = split(left.0 * (alpha0 + after) * inverse, left.1);
        }
    }

    /// The logarithm of [`shares`](Self::shares) for w objects that go to the same cluster, up to a constant.
    ///
    /// ```text
    /// symmetric       Γ(α0/K + N_k + w) / Γ(α0/K + N_k)
    /// ```
    /// and of stick-breaking likewise: each factor x becomes Γ(x + w) / Γ(x).
    pub(crate) fn log_shares(self, sizes: &[f64], w: f64, alpha0: f64) -> Vec<f64> {
        let clusters = sizes.len();
        if self == Self::Symmetric {
            return sizes
                .iter()
                .map(|size| log_rise(alpha0 / clusters as f64 + size, w))
                .collect();
        }
        let (mut after, mut left) = (sizes.iter().sum::<f64>(), 0.0);
        let mut share = |(k, size): (usize, &f64)| {
            let whole = log_rise(1.0 + alpha0 + after, w);
            after = (after - size).max(0.0);
            let share = if k + 1 == clusters {
                left
            } else {
                left + log_rise(1.0 + size, w) - whole
            };
            left += log_rise(alpha0 + after, w) - whole;
            share
        };
        sizes.iter().enumerate().map(&mut share).collect()
    }

    /// The second-order terms of the expected logarithm of [`shares`](Self::shares), added to `logs`, where the sizes N_k and the sums N_{≥k}
    /// have these variances: each ln x has −Var x / (2 x²).
    pub(crate) fn second_order(
        self,
        sizes: &[f64],
        spreads: &[f64],
        tails: &[f64],
        alpha0: f64,
        logs: &mut [f64],
    ) {
        let bend = |x: f64, spread: f64| -0.5 * spread / (x * x);
        let clusters = sizes.len();
        if self == Self::Symmetric {
            let share = alpha0 / clusters as f64;
            for ((log, size), spread) in logs.iter_mut().zip(sizes).zip(spreads) {
                *log += bend(share + size, *spread);
            }
            return;
        }
        let (mut after, mut left) = (sizes.iter().sum::<f64>(), 0.0);
        for k in 0..clusters - 1 {
            let whole = bend(1.0 + alpha0 + after, tails[k]);
            after = (after - sizes[k]).max(0.0);
            logs[k] += left + bend(1.0 + sizes[k], spreads[k]) - whole;
            left += bend(alpha0 + after, tails[k + 1]) - whole;
        }
        logs[clusters - 1] += left;
    }

    /// The second-order terms of the expectation of [`log_partition`](Self::log_partition): each ln Γ(x) has ψ′(x) Var x / 2.
    pub(crate) fn second_order_of_partition(
        self,
        sizes: &[f64],
        spreads: &[f64],
        tails: &[f64],
        alpha0: f64,
    ) -> f64 {
        let bend = |x: f64, spread: f64| 0.5 * spread * trigamma(x);
        let clusters = sizes.len();
        if self == Self::Symmetric {
            let share = alpha0 / clusters as f64;
            let terms = sizes.iter().zip(spreads);
            return terms
                .map(|(size, spread)| bend(share + size, *spread))
                .sum();
        }
        let (mut after, mut sum) = (sizes.iter().sum::<f64>(), 0.0);
        for k in 0..clusters - 1 {
            sum += bend(1.0 + sizes[k], spreads[k]) - bend(1.0 + alpha0 + after, tails[k]);
            after = (after - sizes[k]).max(0.0);
            sum += bend(alpha0 + after, tails[k + 1]);
        }
        sum
    }

    /// E π given clusters of these sizes.
    pub(crate) fn expected_shares(self, sizes: &[f64], alpha0: f64) -> Vec<f64> {
        let clusters = sizes.len();
        let total: f64 = sizes.iter().sum();
        if self == Self::Symmetric {
            return sizes
                .iter()
                .map(|size| (size + alpha0 / clusters as f64) / (total + alpha0))
                .collect();
        }
        let (mut after, mut left) = (total, 1.0);
        let mut share = |(k, size): (usize, &f64)| {
            let whole = 1.0 + alpha0 + after;
            after = (after - size).max(0.0);
            let share = if k + 1 == clusters {
                left
            } else {
                left * (1.0 + size) / whole
            };
            left *= (alpha0 + after) / whole;
            share
        };
        sizes.iter().enumerate().map(&mut share).collect()
    }

    /// How fast [`log_partition`](Self::log_partition) rises with α0.
    pub(crate) fn slope(self, sizes: &[f64], alpha0: f64) -> f64 {
        let clusters = sizes.len();
        let total: f64 = sizes.iter().sum();
        match self {
            Self::Symmetric => {
                let share = alpha0 / clusters as f64;
                let rise = |size: &f64| digamma(share + size) - digamma(share);
                digamma(alpha0) - digamma(alpha0 + total)
                    + sizes.iter().map(rise).sum::<f64>() / clusters as f64
            }
            Self::StickBreaking => {
                let mut after = total;
                let mut sum = (clusters - 1) as f64 / alpha0;
                for size in &sizes[..clusters - 1] {
                    let from = after;
                    after = (after - size).max(0.0);
                    sum += digamma(alpha0 + after) - digamma(1.0 + alpha0 + from);
                }
                sum
            }
        }
    }
}

/// The most factors that a product is quicker with than logarithms of the gamma function.
const FACTORS: f64 = 16.0;

/// ln Γ(x + more) − ln Γ(x): the logarithm of x for one more.
pub(crate) fn log_rise(x: f64, more: f64) -> f64 {
    if more.fract() == 0.0 && more <= FACTORS && x < 1e15 {
        return (0..more as u32)
            .map(|one| x + f64::from(one))
            .product::<f64>()
            .ln();
    }
    ln_gamma(x + more) - ln_gamma(x)
}

/// ln p(labels | z), θ marginalised, for counts of labels by cluster that need not be whole. A base clustering of weight ω is ω copies,
/// each of which has a θ of its own.
///
/// ```text
/// Π_k Π_u [ Γ(J_u β)/Γ(J_u β + N_ku) Π_j Γ(β + N_kuj)/Γ(β) ]^ω_u
/// ```
pub(crate) fn log_labels(sums: &SufficientStatistics, layout: &BaseLayout, beta: f64) -> f64 {
    let clusters = sums.clusters();
    let mut log = 0.0;
    for (u, labels) in layout.bases() {
        let weight = layout.copies_of(u);
        let block = &sums.labels[labels.start * clusters..labels.end * clusters];
        let labels = labels.len() as f64;
        for k in 0..clusters {
            let mut total = 0.0;
            for &count in block[k..]
                .iter()
                .step_by(clusters)
                .filter(|count| **count > 0.0)
            {
                total += count;
                log += weight * (ln_gamma(beta + count) - ln_gamma(beta));
            }
            if total > 0.0 {
                log += weight * (ln_gamma(labels * beta) - ln_gamma(labels * beta + total));
            }
        }
    }
    log
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};

    #[test]
    fn the_joint_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce"];
        let z: Vec<u32> = serde_json::from_value(told["z"].clone()).unwrap();
        let held = Held::each(&ensemble);
        let sums = held.rows().given_hard(&z, 6);
        let found = [
            NbcePrior::Symmetric.log_partition(&sums.sizes, 0.8),
            NbcePrior::StickBreaking.log_partition(&sums.sizes, 0.8),
            log_labels(&sums, &held.layout, 0.3),
        ];
        let expected = ["log_p_z_fsd", "log_p_z_tsb", "log_p_y_given_z"]
            .map(|name| told[name].as_f64().unwrap());
        fixture::assert_close(&found, &expected);
    }

    #[test]
    fn partitions_have_probabilities_that_sum_to_one() {
        for prior in [NbcePrior::Symmetric, NbcePrior::StickBreaking] {
            let mut total = 0.0;
            for code in 0..3usize.pow(5) {
                let mut sizes = [0.0; 3];
                (0..5).for_each(|i| sizes[code / 3usize.pow(i) % 3] += 1.0);
                total += prior.log_partition(&sizes, 0.7).exp();
            }
            assert!((total - 1.0).abs() < 1e-12);
        }
    }
}
