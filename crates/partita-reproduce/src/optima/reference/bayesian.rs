//! Variational EM for mixed memberships (BCE).

use partita::rand::rngs::StdRng;
use statrs::function::gamma::{digamma, ln_gamma};

use super::{LabelTable, ascend, random_soft};

const PSEUDO: f64 = 0.1;
/// Where α begins and where it stays, as `bce` has it.
const ALPHA: f64 = 0.5;
const RANGE: (f64, f64) = (1e-3, 1e3);
const ROW_ROUNDS: usize = 30;

/// The lower bound on the log likelihood with the pseudo-counts' term.
pub(super) fn bce(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let soft = random_soft(table.rows.len(), clusters, rng);
    let mut theta = shares(table.counts(&soft, PSEUDO));
    let mut alpha = vec![ALPHA; clusters];
    let mut gamma: Vec<Vec<f64>> = (soft.iter().enumerate())
        .map(|(i, row)| row.iter().map(|share| ALPHA + share * table.labels(i).count() as f64).collect())
        .collect();
    ascend(|| {
        let mut counts = table.filled(clusters, PSEUDO);
        let mut value = PSEUDO * theta.iter().flatten().flatten().map(|p: &f64| p.ln()).sum::<f64>();
        let mut means = vec![0.0; clusters];
        for (i, gamma) in gamma.iter_mut().enumerate() {
            infer(table, i, &alpha, &theta, gamma);
            let logs = logs(gamma);
            value += dirichlet(&alpha) - dirichlet(gamma);
            value += alpha.iter().zip(&*gamma).zip(&logs).map(|((a, g), log)| (a - g) * log).sum::<f64>();
            for (u, j) in table.labels(i) {
                let phi: Vec<f64> = (0..clusters).map(|k| logs[k].exp() * theta[k][u][j]).collect();
                let sum: f64 = phi.iter().sum();
                value += sum.max(f64::MIN_POSITIVE).ln();
                phi.iter().enumerate().for_each(|(k, phi)| counts[k][u][j] += phi / sum);
            }
            means.iter_mut().zip(logs).for_each(|(mean, log)| *mean += log / table.rows.len() as f64);
        }
        theta = shares(counts);
        learn(&mut alpha, &means);
        value
    })
}

fn shares(mut counts: Vec<Vec<Vec<f64>>>) -> Vec<Vec<Vec<f64>>> {
    for labels in counts.iter_mut().flatten() {
        let sum: f64 = labels.iter().sum();
        labels.iter_mut().for_each(|count| *count /= sum);
    }
    counts
}

fn logs(gamma: &[f64]) -> Vec<f64> {
    let all = digamma(gamma.iter().sum());
    gamma.iter().map(|&g| digamma(g) - all).collect()
}

/// ln Γ(Σa) − Σ ln Γ(a).
fn dirichlet(a: &[f64]) -> f64 {
    ln_gamma(a.iter().sum()) - a.iter().map(|&a| ln_gamma(a)).sum::<f64>()
}

/// γ of one object, by rounds of φ and γ.
fn infer(table: &LabelTable, i: usize, alpha: &[f64], theta: &[Vec<Vec<f64>>], gamma: &mut [f64]) {
    for _ in 0..ROW_ROUNDS {
        let weights: Vec<f64> = logs(gamma).into_iter().map(f64::exp).collect();
        let mut next = alpha.to_vec();
        for (u, j) in table.labels(i) {
            let phi: Vec<f64> = weights.iter().zip(theta).map(|(w, theta)| w * theta[u][j]).collect();
            let sum: f64 = phi.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            next.iter_mut().zip(phi).for_each(|(next, phi)| *next += phi / sum);
        }
        let change = next.iter().zip(&*gamma).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        gamma.copy_from_slice(&next);
        if change < 1e-5 {
            break;
        }
    }
}

/// Maximises ln Γ(Σα) − Σ ln Γ(α) + Σ (α − 1) means by steps along the gradient in ln α.
fn learn(alpha: &mut [f64], means: &[f64]) {
    let value = |a: &[f64]| dirichlet(a) + a.iter().zip(means).map(|(a, t)| (a - 1.0) * t).sum::<f64>();
    let mut step = 1.0;
    for _ in 0..50 {
        let all = digamma(alpha.iter().sum());
        let slope = |(&a, t): (&f64, &f64)| a * (all - digamma(a) + t);
        let slopes: Vec<f64> = alpha.iter().zip(means).map(slope).collect();
        let moved = |step: f64| -> Vec<f64> {
            alpha
                .iter()
                .zip(&slopes)
                .map(|(a, s)| (a * (step * s).clamp(-3.0, 3.0).exp()).clamp(RANGE.0, RANGE.1))
                .collect()
        };
        let now = value(alpha);
        while step > 1e-9 && value(&moved(step)) < now {
            step *= 0.5;
        }
        let next = moved(step);
        if value(&next) < now {
            break;
        }
        alpha.copy_from_slice(&next);
        step *= 2.0;
    }
}
