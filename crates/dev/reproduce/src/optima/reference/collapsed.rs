//! Collapsed variational inference of first order (CVB0) for NBCE, one object after another.

use partita::extend::rand::rngs::StdRng;
use statrs::function::gamma::ln_gamma;

use super::{LabelTable, ROUNDS, normalise, random_soft};

const BETA: f64 = 1.0;
const TOLERANCE: f64 = 1e-4;

/// The log joint at expected counts plus the entropy of the memberships, at α0 = β = 1.
pub(super) fn nbce_cvb(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let alpha = 1.0 / clusters as f64;
    let mut soft = random_soft(table.rows.len(), clusters, rng);
    let mut counts = Counts {
        sizes: vec![0.0; clusters],
        labels: table.filled(clusters, 0.0),
    };
    soft.iter()
        .enumerate()
        .for_each(|(i, row)| counts.add(table, i, row, table.weights.1[i]));
    for _ in 0..ROUNDS {
        let mut change = 0f64;
        for (i, row) in soft.iter_mut().enumerate() {
            let weight = table.weights.1[i];
            counts.add(table, i, row, -weight.min(1.0));
            let mut new: Vec<f64> = counts
                .sizes
                .iter()
                .map(|size| (alpha + size).ln())
                .collect();
            for (log, labels) in new.iter_mut().zip(&counts.labels) {
                for (u, j, label) in table.labels(i) {
                    let total: f64 = labels[u].iter().map(|count| BETA + count).sum();
                    *log += label * ((BETA + labels[u][j]) / total).ln();
                }
            }
            normalise(&mut new);
            change = row
                .iter()
                .zip(&new)
                .fold(change, |change, (old, new)| change.max((old - new).abs()));
            counts.add(table, i, row, weight.min(1.0) - weight);
            counts.add(table, i, &new, weight);
            *row = new;
        }
        if change <= TOLERANCE {
            break;
        }
    }
    let entropy = |row: &Vec<f64>| {
        -row.iter()
            .filter(|p| **p > 0.0)
            .map(|p| p * p.ln())
            .sum::<f64>()
    };
    let entropies = soft
        .iter()
        .zip(&table.weights.1)
        .map(|(row, weight)| weight * entropy(row));
    let labels = counts
        .labels
        .iter()
        .flat_map(|bases| bases.iter().zip(&table.weights.0));
    polya(&counts.sizes, alpha)
        + labels
            .map(|(labels, weight)| weight * polya(labels, BETA))
            .sum::<f64>()
        + entropies.sum::<f64>()
}

/// How much of the objects, and of every label, is in every cluster; labels of one of the copies that a base clustering stands for.
struct Counts {
    sizes: Vec<f64>,
    labels: Vec<Vec<Vec<f64>>>,
}

impl Counts {
    fn add(&mut self, table: &LabelTable, i: usize, row: &[f64], weight: f64) {
        for ((size, labels), share) in self.sizes.iter_mut().zip(&mut self.labels).zip(row) {
            *size += weight * share;
            let all = table.rows[i]
                .iter()
                .enumerate()
                .flat_map(|(u, row)| row.iter().map(move |&(j, label)| (u, j, label)));
            all.for_each(|(u, j, label)| labels[u][j] += weight * share * label);
        }
    }
}

/// ln of the Dirichlet-multinomial: Γ(Jc) / Γ(Jc + N) Π Γ(c + n) / Γ(c).
fn polya(counts: &[f64], c: f64) -> f64 {
    let (all, count): (f64, f64) = (counts.iter().sum(), counts.len() as f64);
    ln_gamma(count * c) - ln_gamma(count * c + all)
        + counts
            .iter()
            .map(|n| ln_gamma(c + n) - ln_gamma(c))
            .sum::<f64>()
}
