//! EM for mixtures of products of label distributions (MM), and mean-field inference for NBCE.

use partita::extend::rand::rngs::StdRng;
use statrs::function::gamma::{digamma, ln_gamma};

use super::{LabelTable, ascend, normalise, random_soft};

/// Labels added to every label value of every cluster, as `mm` does.
const PSEUDO: f64 = 0.1;

/// Σ_i ln Σ_k π_k Π_u θ_kuℓ + c Σ ln θ.
pub(super) fn mm(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let mut soft = random_soft(table.rows.len(), clusters, rng);
    ascend(|| {
        let mut theta = table.counts(&soft, PSEUDO);
        for labels in theta.iter_mut().flatten() {
            let sum: f64 = labels.iter().sum();
            labels
                .iter_mut()
                .for_each(|count| *count = (*count / sum).ln());
        }
        let objects: f64 = table.weights.1.iter().sum();
        let share = |k: usize| (size(table, &soft, k) / objects).ln();
        let shares: Vec<f64> = (0..clusters).map(share).collect();
        let prior: f64 = theta
            .iter()
            .flat_map(|bases| bases.iter().zip(&table.weights.0))
            .map(|(labels, weight): (&Vec<f64>, &f64)| weight * labels.iter().sum::<f64>())
            .sum();
        PSEUDO * prior + expect(table, &mut soft, &shares, &theta)
    })
}

/// The weight of the objects in a cluster.
fn size(table: &LabelTable, soft: &[Vec<f64>], cluster: usize) -> f64 {
    soft.iter()
        .zip(&table.weights.1)
        .map(|(row, weight)| weight * row[cluster])
        .sum()
}

/// Labels by cluster, plus β each, of one of the copies that every base clustering stands for.
fn of_each_copy(table: &LabelTable, soft: &[Vec<f64>], beta: f64) -> Vec<Vec<Vec<f64>>> {
    let mut counts = table.counts(soft, 0.0);
    for (labels, weight) in counts
        .iter_mut()
        .flat_map(|bases| bases.iter_mut().zip(&table.weights.0))
    {
        labels
            .iter_mut()
            .for_each(|count| *count = beta + *count / weight);
    }
    counts
}

/// The E-step; returns the log likelihood.
fn expect(
    table: &LabelTable,
    soft: &mut [Vec<f64>],
    shares: &[f64],
    theta: &[Vec<Vec<f64>>],
) -> f64 {
    let mut sum = 0.0;
    for (i, row) in soft.iter_mut().enumerate() {
        row.copy_from_slice(shares);
        for (u, j, label) in table.labels(i) {
            row.iter_mut()
                .zip(theta)
                .for_each(|(log, theta)| *log += label * theta[u][j]);
        }
        sum += table.weights.1[i] * normalise(row);
    }
    sum
}

/// The lower bound on the evidence at α0 = β = 1.
pub(super) fn nbce_vb(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let alpha = 1.0 / clusters as f64;
    let beta = 1.0;
    let mut soft = random_soft(table.rows.len(), clusters, rng);
    ascend(|| {
        let xi: Vec<f64> = (0..clusters)
            .map(|k| alpha + size(table, &soft, k))
            .collect();
        let rho = of_each_copy(table, &soft, beta);
        let means = |parameters: &[f64]| -> Vec<f64> {
            let all = digamma(parameters.iter().sum());
            parameters.iter().map(|&a| digamma(a) - all).collect()
        };
        let shares = means(&xi);
        let theta: Vec<Vec<Vec<f64>>> = rho
            .iter()
            .map(|bases| bases.iter().map(|rho| means(rho)).collect())
            .collect();
        let divergence = divergence(&xi, &shares, alpha)
            + rho
                .iter()
                .zip(&theta)
                .flat_map(|(rho, logs)| rho.iter().zip(logs).zip(&table.weights.0))
                .map(|((rho, logs), weight)| weight * divergence(rho, logs, beta))
                .sum::<f64>();
        expect(table, &mut soft, &shares, &theta) - divergence
    })
}

/// KL(Dir(a) ‖ Dir(c, …, c)), given E ln.
fn divergence(a: &[f64], logs: &[f64], c: f64) -> f64 {
    let count = a.len() as f64;
    let tilt: f64 = a
        .iter()
        .zip(logs)
        .map(|(&a, log)| (a - c) * log - ln_gamma(a))
        .sum();
    ln_gamma(a.iter().sum()) + tilt - ln_gamma(count * c) + count * ln_gamma(c)
}
