//! Second order: variances of expected counts, and what they change in the update and in the objective.
//!
//! ```text
//! E ln(β + N) ≈ ln(β + E N) − Var N / (2 (β + E N)²)        Var N = Σ_i γ_i (1 − γ_i)
//! ```

use partita_core::{Entry, Mergeable, SettingChoice};
use serde::{Deserialize, Serialize};

use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::prior::NbcePrior;
use crate::shared::layout::BaseLayout;
use crate::shared::sufficient_statistics::{SufficientStatistics, add};
use crate::shared::trigamma::trigamma;

/// How far expectations of logarithms are expanded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum CvbOrder {
    /// The logarithm of the expected count (CVB0).
    #[default]
    First,
    /// And the term of its variance.
    Second,
}

/// Variances of the counts of labels and of the sizes of clusters, which are sums over independent rows. A share s of a label counts s times
/// what a label does.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Spread {
    /// Of the counts.
    pub(crate) sums: SufficientStatistics,
    /// Of the sums N_{≥k}, K values.
    pub(crate) tails: Vec<f64>,
    /// Of the counts of all labels of a base clustering, M lines of K values; empty while rows are summed.
    pub(crate) totals: Vec<f64>,
}

/// What one row has in the variances.
pub(crate) struct RowSpread {
    pub(crate) sizes: Vec<f64>,
    pub(crate) tails: Vec<f64>,
}

impl Spread {
    pub(crate) fn zero(like: &SufficientStatistics) -> Self {
        let clusters = like.clusters();
        Self {
            sums: SufficientStatistics::zero(like.labels.len() / clusters, clusters),
            tails: vec![0.0; clusters],
            totals: Vec::new(),
        }
    }

    pub(crate) fn with_totals(&self, layout: &BaseLayout) -> Self {
        Self {
            totals: layout.totals(&self.sums.labels, self.tails.len()),
            ..self.clone()
        }
    }

    pub(crate) fn fits(&self, like: &SufficientStatistics) -> bool {
        self.tails.len() == like.clusters()
            && self.sums.sizes.len() == like.clusters()
            && self.sums.labels.len() == like.labels.len()
    }

    /// The part of a row of these memberships that stands for so many objects.
    pub(crate) fn of_row(own: &[f64], weight: f64) -> RowSpread {
        let binary = |p: f64| weight * (p * (1.0 - p)).max(0.0);
        let mut tails = vec![0.0; own.len()];
        let mut tail = 0.0;
        for (place, p) in tails.iter_mut().zip(own).rev() {
            tail += p;
            *place = binary(tail);
        }
        RowSpread {
            sizes: own.iter().map(|&p| binary(p)).collect(),
            tails,
        }
    }

    pub(crate) fn add(&mut self, entries: impl Iterator<Item = Entry>, own: &[f64], weight: f64) {
        let row = Self::of_row(own, weight);
        self.sums.add(entries, &row.sizes);
        add(&mut self.tails, &row.tails);
    }

    /// What the variances add to the expected log joint: each ln Γ(x) has ψ′(x) Var x / 2.
    pub(crate) fn of_joint(
        &self,
        expected: &SufficientStatistics,
        prior: NbcePrior,
        layout: &BaseLayout,
        Hyperparameters { alpha0, beta }: Hyperparameters,
    ) -> f64 {
        let clusters = self.tails.len();
        let bend = |x: f64, spread: f64| {
            if spread > 0.0 {
                0.5 * spread * trigamma(x)
            } else {
                0.0
            }
        };
        let counts = layout.totals(&expected.labels, clusters);
        let totals = layout.totals(&self.sums.labels, clusters);
        let mut sum =
            prior.second_order_of_partition(&expected.sizes, &self.sums.sizes, &self.tails, alpha0);
        for (u, labels) in layout.bases() {
            let own = labels.start * clusters..labels.end * clusters;
            let all = u * clusters..(u + 1) * clusters;
            let pseudo_total = labels.len() as f64 * beta;
            let of_labels = expected.labels[own.clone()]
                .iter()
                .zip(&self.sums.labels[own]);
            let of_totals = counts[all.clone()].iter().zip(&totals[all]);
            let rises = of_labels.map(|(count, &spread)| bend(beta + count, spread));
            let falls = of_totals.map(|(count, &spread)| bend(pseudo_total + count, spread));
            sum += layout.copies_of(u) * (rises.sum::<f64>() - falls.sum::<f64>());
        }
        sum
    }
}

impl Mergeable for Spread {
    fn merge(&mut self, other: Self) {
        self.sums.merge(other.sums);
        add(&mut self.tails, &other.tails);
    }
}

/// The differences, none below 0.
pub(crate) fn without(all: &[f64], less: &[f64]) -> Vec<f64> {
    let pairs = all.iter().zip(less);
    pairs.map(|(all, less)| (all - less).max(0.0)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nbce::prior::log_labels;
    use crate::nbce::scaled_product::ScaledProduct;
    use crate::nbce_cvb::counts::Counts;
    use crate::shared::fixture::{self, Held};
    use crate::shared::held_rows::GivenMemberships;
    use crate::shared::log_probabilities::normalise;
    use partita_core::{AnyBlock, Row, Seed};
    use rand::RngExt;

    const CLUSTERS: usize = 3;
    const OBJECTS: usize = 7;

    /// The logarithm of the joint of every assignment of all objects.
    fn joints(held: &Held, prior: NbcePrior, given: Hyperparameters) -> Vec<(Vec<u32>, f64)> {
        let joint = |code: usize| {
            let place = |i: u32| (code / CLUSTERS.pow(i) % CLUSTERS) as u32;
            let z: Vec<u32> = (0..OBJECTS as u32).map(place).collect();
            let sums = held.rows().given_hard(&z, CLUSTERS);
            let log = prior.log_partition(&sums.sizes, given.alpha0);
            (z, log + log_labels(&sums, &held.layout, given.beta))
        };
        (0..CLUSTERS.pow(OBJECTS as u32)).map(joint).collect()
    }

    /// Calls `each` with every row and its memberships.
    fn each_row(held: &Held, lines: &[f64], mut each: impl FnMut(&[u8], &[f64])) {
        held.rows().rows.with_all(|block| {
            let AnyBlock::Bytes(block) = block else {
                panic!("few clusters")
            };
            let pairs = block.rows().zip(lines.chunks_exact(CLUSTERS));
            pairs.for_each(|((row, _), own)| each(row, own));
        });
    }

    /// Conditionals of all rows under given memberships, and the expected log joint, beside those of enumeration: E over the other objects of
    /// the log joint with object i in cluster k, which eq. (10) is up to a constant.
    #[test]
    fn second_order_is_nearer_to_enumeration() {
        for (alpha0, beta, most) in [(0.8, 0.7, 0.7), (5.0, 3.0, 0.3)] {
            let mut errors = [0.0; 4];
            for seed in 0..12 {
                add(
                    &mut errors,
                    &errors_of(seed, Hyperparameters { alpha0, beta }),
                );
            }
            assert!(
                errors[1] < most * errors[0] && errors[3] < 0.05 * errors[2],
                "{errors:?}"
            );
        }
    }

    /// The errors of conditionals of first and second order, and of the log joint.
    fn errors_of(seed: u64, given: Hyperparameters) -> [f64; 4] {
        let prior = [NbcePrior::Symmetric, NbcePrior::StickBreaking][seed as usize % 2];
        let drawn = fixture::drawn(seed);
        let bases: Vec<u32> = (0..drawn.bases().len() as u32).collect();
        let ensemble = drawn.select(&[0, 1, 2, 3, 4, 5, 6], &bases);
        let copies = bases.iter().map(|&u| 0.5 + f64::from(u)).collect();
        let held = Held::each(&ensemble).with_copies((seed % 3 == 2).then_some(copies));
        let mut rng = Seed::new(seed).rng();
        let mut lines: Vec<f64> = (0..OBJECTS * CLUSTERS).map(|_| rng.random()).collect();
        for line in lines.chunks_exact_mut(CLUSTERS) {
            let sum: f64 = line.iter().sum();
            line.iter_mut().for_each(|p| *p /= sum);
        }
        let memberships = GivenMemberships::Lines(lines.clone());
        let sums = held.rows().given(memberships, CLUSTERS);
        let mut spread = Spread::zero(&sums);
        each_row(&held, &lines, |row, own| {
            spread.add(row.entries(&held.layout.offsets), own, 1.0);
        });
        let joints = joints(&held, prior, given);
        let chance = |z: &[u32], but: usize| -> f64 {
            let each = z.iter().enumerate().filter(|(i, _)| *i != but);
            each.map(|(i, &k)| lines[i * CLUSTERS + k as usize])
                .product()
        };
        let exact: f64 = joints
            .iter()
            .map(|(z, joint)| chance(z, OBJECTS) * joint)
            .sum();
        let at_means = prior.log_partition(&sums.sizes, given.alpha0)
            + log_labels(&sums, &held.layout, given.beta);
        let more = spread.of_joint(&sums, prior, &held.layout, given);
        let mut errors = [
            0.0,
            0.0,
            (at_means - exact).abs(),
            (at_means + more - exact).abs(),
        ];
        for (order, spread) in [None, Some(&spread)].into_iter().enumerate() {
            let counts = Counts::of(&held.layout, &sums, spread, given, prior, 1e-8);
            let mut product = ScaledProduct::new(CLUSTERS);
            let mut i = 0;
            each_row(&held, &lines, |row, own| {
                let (mut found, mut expected) = (vec![0.0; CLUSTERS], vec![0.0; CLUSTERS]);
                counts.conditional(row, own, 1.0, &mut product);
                let sum = product.weights(&mut found);
                for (z, joint) in &joints {
                    expected[z[i] as usize] += chance(z, i) * joint;
                }
                normalise(&mut expected);
                let pairs = found.iter().zip(&expected);
                errors[order] += pairs.map(|(a, b)| (a / sum - b).abs()).sum::<f64>();
                i += 1;
            });
        }
        errors
    }
}
