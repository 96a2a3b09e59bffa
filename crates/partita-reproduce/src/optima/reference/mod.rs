//! Plain reference implementations: one run from one random start, written from the formulas, for reading and not for speed.

mod aspect;
mod bayesian;
mod factors;
mod label_means;
mod mixture;
mod pairs;

use partita::Ensemble;
use partita::rand::rngs::StdRng;
use partita::rand::{Rng, RngExt};

/// Label rows as they are read here.
#[derive(Clone, Debug)]
pub(crate) struct LabelTable {
    /// For every object and base clustering its label, if it has one.
    pub(crate) rows: Vec<Vec<Option<usize>>>,
    /// Clusters of every base clustering.
    pub(crate) sizes: Vec<usize>,
}

impl LabelTable {
    pub(crate) fn of(ensemble: &Ensemble) -> Self {
        let bases = ensemble.bases();
        let row = |i: usize| (0..bases.len()).map(|u| ensemble.label(i, u)).collect();
        Self {
            rows: (0..ensemble.objects()).map(row).collect(),
            sizes: bases.iter().map(partita::BaseClustering::clusters).collect(),
        }
    }

    /// Labels of an object that are there, with their base clusterings.
    pub(crate) fn labels(&self, i: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        self.rows[i].iter().enumerate().filter_map(|(u, label)| Some((u, (*label)?)))
    }

    /// `[cluster][base clustering][label]`, all of one value.
    pub(crate) fn filled(&self, clusters: usize, value: f64) -> Vec<Vec<Vec<f64>>> {
        vec![self.sizes.iter().map(|&size| vec![value; size]).collect(); clusters]
    }

    /// How much of every label is in every cluster, plus `pseudo`.
    pub(crate) fn counts(&self, soft: &[Vec<f64>], pseudo: f64) -> Vec<Vec<Vec<f64>>> {
        let mut counts = self.filled(soft[0].len(), pseudo);
        for (i, row) in soft.iter().enumerate() {
            for (u, j) in self.labels(i) {
                row.iter().enumerate().for_each(|(k, share)| counts[k][u][j] += share);
            }
        }
        counts
    }
}

/// A method and a run of its reference.
pub struct Reference {
    /// The method whose objective this is.
    pub method: &'static str,
    /// The objective that one run from a random start reaches.
    pub(crate) start: fn(&LabelTable, usize, &mut StdRng) -> f64,
    /// About how many steps a run takes, for n objects, M base clusterings, K clusters.
    pub(crate) cost: fn(f64, f64, f64) -> f64,
}

/// Rounds of a run, at most.
const ROUNDS: usize = 500;

/// All methods that have a reference.
pub static REFERENCES: &[Reference] = &[
    Reference { method: "mm", start: mixture::mm, cost: |n, m, k| 60.0 * n * m * k },
    Reference { method: "bce", start: bayesian::bce, cost: |n, m, k| 1500.0 * n * m * k },
    Reference { method: "nbce-vb", start: mixture::nbce_vb, cost: |n, m, k| 60.0 * n * m * k },
    Reference { method: "kc", start: label_means::kc, cost: |n, m, k| 12.0 * n * m * k },
    Reference { method: "qmi", start: label_means::qmi, cost: |n, m, k| 12.0 * n * m * k },
    Reference { method: "ipvc", start: label_means::ipvc, cost: |n, m, k| 12.0 * n * m * k },
    Reference { method: "nmfc", start: factors::nmfc, cost: |n, m, k| 100.0 * n * m * k },
    Reference { method: "pcc-kl", start: pairs::kl, cost: |n, _, k| 300.0 * n * n * k },
    Reference { method: "pcc-l2", start: pairs::l2, cost: |n, _, k| 100.0 * n * n * k },
    Reference { method: "penca", start: aspect::penca, cost: |n, _, k| 150.0 * n * n * k },
];

/// A row on the simplex, all of them alike probable.
fn simplex(clusters: usize, rng: &mut impl Rng) -> Vec<f64> {
    let drawn: Vec<f64> = (0..clusters).map(|_| -(1.0 - rng.random::<f64>()).ln() + 1e-12).collect();
    let sum: f64 = drawn.iter().sum();
    drawn.into_iter().map(|x| x / sum).collect()
}

/// A soft partition drawn at random.
fn random_soft(objects: usize, clusters: usize, rng: &mut impl Rng) -> Vec<Vec<f64>> {
    (0..objects).map(|_| simplex(clusters, rng)).collect()
}

/// Turns logarithms into shares, and returns the logarithm of the sum of their exponentials.
fn normalise(logs: &mut [f64]) -> f64 {
    let high = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    logs.iter_mut().for_each(|x| *x = (*x - high).exp());
    let sum: f64 = logs.iter().sum();
    logs.iter_mut().for_each(|x| *x /= sum);
    high + sum.ln()
}

/// The last value of rounds that raise an objective, once one gains less than a tenth of a millionth.
fn ascend(mut round: impl FnMut() -> f64) -> f64 {
    let mut last = f64::NEG_INFINITY;
    for _ in 0..ROUNDS {
        let value = round();
        if value - last <= 1e-7 * value.abs() {
            return value.max(last);
        }
        last = value;
    }
    last
}
