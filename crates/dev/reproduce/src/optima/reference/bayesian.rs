//! Variational EM for mixed memberships (BCE).

use partita::extend::rand::rngs::StdRng;
use statrs::function::gamma::{digamma, ln_gamma};

use super::{LabelTable, ascend, random_soft};

const PSEUDO: f64 = 0.1;
/// α of every cluster, as `bce` has it.
const ALPHA: f64 = 0.5;
const ROW_ROUNDS: usize = 30;

/// The lower bound on the log likelihood with the pseudo-counts' term.
pub(super) fn bce(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let soft = random_soft(table.rows.len(), clusters, rng);
    let mut theta = shares(table.counts(&soft, PSEUDO));
    let alpha = vec![ALPHA; clusters];
    let mut gamma: Vec<Vec<f64>> = (soft.iter().enumerate())
        .map(|(i, row)| {
            row.iter()
                .map(|share| ALPHA + share * table.bases(i).map(|(_, weight)| weight).sum::<f64>())
                .collect()
        })
        .collect();
    ascend(|| {
        let mut counts = table.counts(&vec![vec![0.0; clusters]; table.rows.len()], PSEUDO);
        let logs_of = |(labels, weight): (&Vec<f64>, &f64)| {
            weight * labels.iter().map(|p| p.ln()).sum::<f64>()
        };
        let logs_of_theta = theta
            .iter()
            .flat_map(|bases| bases.iter().zip(&table.weights.0))
            .map(logs_of);
        let mut value = PSEUDO * logs_of_theta.sum::<f64>();
        for (i, gamma) in gamma.iter_mut().enumerate() {
            infer(table, i, &alpha, &theta, gamma);
            let logs = logs(gamma);
            let tilt = alpha
                .iter()
                .zip(&*gamma)
                .zip(&logs)
                .map(|((a, g), log)| (a - g) * log)
                .sum::<f64>();
            let of_object = table.weights.1[i];
            value += of_object * (dirichlet(&alpha) - dirichlet(gamma) + tilt);
            for (u, weight) in table.bases(i) {
                let phi: Vec<f64> = (0..clusters)
                    .map(|k| logs[k].exp() * likely(&theta[k][u], &table.rows[i][u]))
                    .collect();
                let sum: f64 = phi.iter().sum();
                value += of_object * weight * sum.max(f64::MIN_POSITIVE).ln();
                for &(j, share) in &table.rows[i][u] {
                    let each = |(k, phi): (usize, &f64)| {
                        counts[k][u][j] += of_object * weight * share * phi / sum;
                    };
                    phi.iter().enumerate().for_each(each);
                }
            }
        }
        theta = shares(counts);
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

/// exp Σ_j s_j ln θ_j: the probability of a label that is known by its shares.
fn likely(theta: &[f64], shares: &[(usize, f64)]) -> f64 {
    shares
        .iter()
        .map(|&(j, share)| share * theta[j].ln())
        .sum::<f64>()
        .exp()
}

/// γ of one object, by rounds of φ and γ.
fn infer(table: &LabelTable, i: usize, alpha: &[f64], theta: &[Vec<Vec<f64>>], gamma: &mut [f64]) {
    for _ in 0..ROW_ROUNDS {
        let weights: Vec<f64> = logs(gamma).into_iter().map(f64::exp).collect();
        let mut next = alpha.to_vec();
        for (u, weight) in table.bases(i) {
            let of = |(w, theta): (&f64, &Vec<Vec<f64>>)| w * likely(&theta[u], &table.rows[i][u]);
            let phi: Vec<f64> = weights.iter().zip(theta).map(of).collect();
            let sum: f64 = phi.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            next.iter_mut()
                .zip(phi)
                .for_each(|(next, phi)| *next += weight * phi / sum);
        }
        let change = next
            .iter()
            .zip(&*gamma)
            .map(|(a, b)| (a - b).abs())
            .fold(0.0, f64::max);
        gamma.copy_from_slice(&next);
        if change < 1e-5 {
            break;
        }
    }
}
