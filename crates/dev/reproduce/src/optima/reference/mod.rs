//! Plain reference implementations: one run from one random start, written from the formulas, for reading and not for speed.

mod aspect;
mod bayesian;
mod collapsed;
mod factors;
mod label_means;
mod label_utilities;
mod medians;
mod mixture;
mod pairs;

use partita::extend::rand::rngs::StdRng;
use partita::extend::rand::{Rng, RngExt};
use partita::extend::{Shares, WeightedEnsemble};

/// Label rows as they are read here.
#[derive(Clone, Debug)]
pub(crate) struct LabelTable {
    /// For every object and base clustering its labels with their shares: none, one with share 1, or several.
    pub(crate) rows: Vec<Vec<Vec<(usize, f64)>>>,
    /// Clusters of every base clustering.
    pub(crate) sizes: Vec<usize>,
    /// What every base clustering and every object counts.
    pub(crate) weights: (Vec<f64>, Vec<f64>),
}

impl LabelTable {
    pub(crate) fn of(of: WeightedEnsemble<'_>) -> Self {
        let bases = of.ensemble.bases();
        let objects = of.ensemble.objects();
        let shares: Vec<Shares> = (0..bases.len())
            .map(|u| of.ensemble.base_shares(u))
            .collect();
        let of_base = |of: &Shares, i: usize| {
            of.rows()
                .row(i)
                .iter()
                .enumerate()
                .filter_map(|(j, &share): (usize, &f64)| (share > 0.0).then_some((j, share)))
                .collect()
        };
        let row = |i: usize| -> Vec<Vec<(usize, f64)>> {
            shares.iter().map(|of| of_base(of, i)).collect()
        };
        Self {
            rows: (0..objects).map(row).collect(),
            sizes: bases
                .iter()
                .map(partita::extend::BaseClustering::clusters)
                .collect(),
            weights: (
                of.shares()
                    .map_or_else(|| vec![1.0; bases.len()], <[f64]>::to_vec),
                of.each_multiplicity(),
            ),
        }
    }

    /// Base clusterings that know an object, and what each counts.
    pub(crate) fn bases(&self, i: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        (0..self.sizes.len())
            .filter(move |&u| !self.rows[i][u].is_empty())
            .map(|u| (u, self.weights.0[u]))
    }

    /// Labels of an object with their base clusterings, and what each counts: its share times the weight of the base clustering.
    pub(crate) fn labels(&self, i: usize) -> impl Iterator<Item = (usize, usize, f64)> + '_ {
        let of = self.rows[i].iter().zip(&self.weights.0).enumerate();
        of.flat_map(|(u, (labels, weight))| {
            labels.iter().map(move |&(j, share)| (u, j, share * weight))
        })
    }

    /// Labels that are there.
    pub(crate) fn count(&self) -> f64 {
        (0..self.rows.len())
            .map(|i| self.bases(i).count())
            .sum::<usize>() as f64
    }

    /// How often two objects are together, and how often they are seen together, by the weights of base clusterings and both objects.
    pub(crate) fn pair(&self, i: usize, j: usize) -> [f64; 2] {
        let mut sums = [0.0; 2];
        for ((a, b), weight) in self.rows[i].iter().zip(&self.rows[j]).zip(&self.weights.0) {
            let of = |label: usize| {
                b.iter()
                    .find(|(other, _)| *other == label)
                    .map_or(0.0, |(_, share)| *share)
            };
            let alike: f64 = a.iter().map(|&(label, share)| share * of(label)).sum();
            let both = if a.is_empty() || b.is_empty() {
                0.0
            } else {
                self.weights.1[i] * self.weights.1[j] * weight
            };
            (sums[0], sums[1]) = (sums[0] + both * alike, sums[1] + both);
        }
        sums
    }

    /// The same for the ordered pairs among the copies that an object of weight w stands for: w (w − 1) of them, none where w is below 1.
    pub(crate) fn copies(&self, i: usize) -> [f64; 2] {
        let weight = self.weights.1[i];
        self.pair(i, i)
            .map(|sum| sum * (1.0 - 1.0 / weight).max(0.0))
    }

    /// `[cluster][base clustering][label]`, all of one value.
    pub(crate) fn filled(&self, clusters: usize, value: f64) -> Vec<Vec<Vec<f64>>> {
        vec![self.sizes.iter().map(|&size| vec![value; size]).collect(); clusters]
    }

    /// How much of every label is in every cluster, by weight, plus `pseudo` times the weight of the base clustering.
    pub(crate) fn counts(&self, soft: &[Vec<f64>], pseudo: f64) -> Vec<Vec<Vec<f64>>> {
        let mut counts = self.filled(soft[0].len(), 0.0);
        for bases in &mut counts {
            let all = bases.iter_mut().zip(&self.weights.0);
            all.for_each(|(labels, weight)| {
                labels.iter_mut().for_each(|count| *count = pseudo * weight);
            });
        }
        for ((i, row), weight) in soft.iter().enumerate().zip(&self.weights.1) {
            for (u, j, label) in self.labels(i) {
                row.iter()
                    .enumerate()
                    .for_each(|(k, share)| counts[k][u][j] += weight * share * label);
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
    /// Whether it is compared with soft base clusterings and weights too.
    pub doubt: bool,
    /// Whether the method is to come as near as random starts. Baselines of the papers need not.
    pub held: bool,
}

impl Reference {
    const fn of(
        method: &'static str,
        start: fn(&LabelTable, usize, &mut StdRng) -> f64,
        cost: fn(f64, f64, f64) -> f64,
    ) -> Self {
        Self {
            method,
            start,
            cost,
            doubt: false,
            held: true,
        }
    }

    const fn with_doubt(self) -> Self {
        Self {
            doubt: true,
            ..self
        }
    }
}

/// Rounds of a run, at most.
const ROUNDS: usize = 500;

/// All methods that have a reference.
pub static REFERENCES: &[Reference] = &[
    Reference::of("mm", mixture::mm, |n, m, k| 60.0 * n * m * k).with_doubt(),
    Reference::of("bce", bayesian::bce, |n, m, k| 1500.0 * n * m * k).with_doubt(),
    Reference::of("nbce-vb", mixture::nbce_vb, |n, m, k| 60.0 * n * m * k).with_doubt(),
    Reference::of("nbce-cvb", collapsed::nbce_cvb, |n, m, k| 60.0 * n * m * k).with_doubt(),
    Reference::of("kc", label_means::kc, |n, m, k| 12.0 * n * m * k).with_doubt(),
    Reference::of("qmi", label_means::qmi, |n, m, k| 12.0 * n * m * k).with_doubt(),
    Reference::of("ipvc", label_means::ipvc, |n, m, k| 12.0 * n * m * k).with_doubt(),
    Reference::of("kcc", label_utilities::kcc, |n, m, k| 12.0 * n * m * k).with_doubt(),
    Reference::of("sec", label_utilities::sec, |n, m, k| 12.0 * n * m * k).with_doubt(),
    Reference::of("median-vi", medians::vi, |n, m, k| 40.0 * n * m * k),
    Reference::of("median-binder", medians::binder, |n, m, k| 40.0 * n * m * k),
    Reference::of("nmfc", factors::nmfc, |n, m, k| 100.0 * n * m * k).with_doubt(),
    Reference::of("pcc-kl", pairs::kl, |n, _, k| 300.0 * n * n * k).with_doubt(),
    Reference::of("pcc-l2", pairs::l2, |n, _, k| 100.0 * n * n * k).with_doubt(),
    Reference {
        held: false,
        ..Reference::of("baum-eagon", pairs::growth, |n, _, k| 1000.0 * n * n * k)
    },
    Reference::of("penca", aspect::penca, |n, _, k| 150.0 * n * n * k).with_doubt(),
];

/// A row on the simplex, all of them alike probable.
fn simplex(clusters: usize, rng: &mut impl Rng) -> Vec<f64> {
    let drawn: Vec<f64> = (0..clusters)
        .map(|_| -(1.0 - rng.random::<f64>()).ln() + 1e-12)
        .collect();
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
