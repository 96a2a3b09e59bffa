//! Maximum likelihood of a Dirichlet's parameters by Newton steps.

use statrs::function::gamma::{digamma, ln_gamma};

use crate::shared::trigamma::trigamma;

/// Where learned α stays.
const ALPHA: (f64, f64) = (1e-3, 1e3);

/// Maximises ln Γ(Σα) − Σ ln Γ(α_k) + Σ (α_k − 1) t_k by Newton steps, halved until they ascend. The Hessian is a
/// diagonal plus a constant, so that a step costs O(K).
pub(crate) fn learn(alpha: &mut [f64], means: &[f64]) {
    let value = |a: &[f64]| {
        let terms: f64 = a
            .iter()
            .zip(means)
            .map(|(&a, t)| (a - 1.0) * t - ln_gamma(a))
            .sum();
        ln_gamma(a.iter().sum()) + terms
    };
    let mut current = value(alpha);
    for _ in 0..20 {
        let total: f64 = alpha.iter().sum();
        let gradient: Vec<f64> = alpha
            .iter()
            .zip(means)
            .map(|(&a, t)| digamma(total) - digamma(a) + t)
            .collect();
        let inverse: Vec<f64> = alpha.iter().map(|&a| -1.0 / trigamma(a)).collect();
        let dot: f64 = gradient.iter().zip(&inverse).map(|(g, q)| g * q).sum();
        let shift = dot / (1.0 / trigamma(total) + inverse.iter().sum::<f64>());
        let mut step = 1.0;
        let better = loop {
            let moved = alpha.iter().zip(&gradient).zip(&inverse);
            let next: Vec<f64> = moved
                .map(|((a, g), q)| (a - step * (g - shift) * q).clamp(ALPHA.0, ALPHA.1))
                .collect();
            let after = value(&next);
            if after > current {
                break Some((next, after));
            }
            step *= 0.5;
            if step < 1e-6 {
                break None;
            }
        };
        let Some((next, after)) = better else { break };
        let gain = after - current;
        alpha.copy_from_slice(&next);
        current = after;
        if gain < 1e-12 {
            break;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_is_where_the_slope_is_zero() {
        let means = [-1.2, -2.5, -0.8];
        let mut alpha = [0.5; 3];
        learn(&mut alpha, &means);
        let total: f64 = alpha.iter().sum();
        assert!(
            alpha
                .iter()
                .zip(means)
                .all(|(&a, t)| (digamma(total) - digamma(a) + t).abs() < 1e-5),
            "{alpha:?}"
        );
        assert!((trigamma(1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-12);
    }
}
