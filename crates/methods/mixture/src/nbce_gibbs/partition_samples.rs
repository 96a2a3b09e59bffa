//! Posterior samples of partitions, and point estimates from them: MAP, Binder loss, variation of information.

use partita_core::ndarray::Array2;
use partita_core::{
    CredibleBall, LEAF_WEIGHTS, Partition, Silent, SoftPartition, whole_multiplicities,
};
use partita_linkage::{Linkage, Rows, cut, link_rows};
use rayon::prelude::*;

use super::overlaps::Overlaps;
use super::partition_loss::{CostTerms, PartitionLoss};
use crate::error::MixtureError;

/// The most objects whose co-assignment is held pair by pair.
const MOST_PAIRED: usize = 20_000;

/// Refuses more objects than have all their pairs held.
pub(crate) fn check_pairs(objects: usize) -> Result<(), MixtureError> {
    let most = MOST_PAIRED;
    if objects > most {
        Err(MixtureError::TooManyObjects { objects, most })
    } else {
        Ok(())
    }
}

/// Label comparisons that the choice among samples may cost.
const EFFORT: usize = 4_000_000_000;

/// Iterations of the greedy search.
const SEARCH_ROUNDS: usize = 20;

/// Partitions drawn from a posterior, of objects that may stand for several.
///
/// ```text
/// loss(a, b) = Σ_k g(a_k) + Σ_m g(b_m) − 2 Σ_km g(n_km)
/// Binder: g(x) = x² / (n (n − 1))        VI: g(x) = x ln x / n
/// ```
/// for n the sum of the weights.
///
/// # References
/// Binder, *Bayesian cluster analysis*, 1978; Wade, Ghahramani, *Bayesian cluster analysis: point estimation and
/// credible balls*, 2018; Fritsch, Ickstadt, *Improved criteria for clustering based on the posterior similarity
/// matrix*, 2009.
#[doc(alias = "point estimate")]
#[doc(alias = "credible ball")]
#[derive(Clone, Debug)]
pub struct PartitionSamples {
    samples: Vec<Partition>,
    log_joint: Vec<f64>,
    /// How many objects each stands for, where they differ.
    weights: Option<Vec<f64>>,
}

impl PartitionSamples {
    /// Samples with the log joint density of each.
    ///
    /// # Panics
    /// If there is no sample, not one density a sample, or samples of different objects.
    pub fn new(samples: Vec<Partition>, log_joint: Vec<f64>) -> Self {
        assert!(
            !samples.is_empty() && samples.len() == log_joint.len(),
            "one log density a sample"
        );
        assert!(
            samples.iter().all(|s| s.objects() == samples[0].objects()),
            "samples are of the same objects"
        );
        let samples = samples.iter().map(Partition::by_appearance).collect();
        Self {
            samples,
            log_joint,
            weights: None,
        }
    }

    /// The same where an object stands for as many as its weight says.
    pub(crate) fn with_weights(self, weights: Option<Vec<f64>>) -> Self {
        Self { weights, ..self }
    }

    fn terms(&self, loss: PartitionLoss) -> CostTerms<'_> {
        CostTerms::new(loss, self.objects(), self.weights.as_deref())
    }

    /// The samples, clusters numbered by appearance.
    pub fn samples(&self) -> &[Partition] {
        &self.samples
    }

    /// Log joint density of every sample.
    pub fn log_joint(&self) -> &[f64] {
        &self.log_joint
    }

    fn objects(&self) -> usize {
        self.samples[0].objects()
    }

    /// The sample with the highest joint density; the first of equals.
    pub fn map(&self) -> usize {
        (0..self.samples.len()).fold(0, |best, s| {
            if self.log_joint[s] > self.log_joint[best] {
                s
            } else {
                best
            }
        })
    }

    /// The mean loss of a partition over the samples.
    ///
    /// # Cost
    /// O(samples · n).
    pub fn expected_loss(&self, loss: PartitionLoss, partition: &Partition) -> f64 {
        self.mean_loss(&self.terms(loss), partition)
    }

    fn mean_loss(&self, terms: &CostTerms<'_>, partition: &Partition) -> f64 {
        self.samples
            .iter()
            .map(|sample| terms.distance(partition, sample))
            .sum::<f64>()
            / self.samples.len() as f64
    }

    /// The sample with the least expected loss; the first of equals. Where there are many objects, not every sample
    /// is tried.
    ///
    /// # Cost
    /// O(samples² · n), at most about 4·10⁹ steps, in parallel.
    pub fn best(&self, loss: PartitionLoss) -> usize {
        let (terms, count) = (self.terms(loss), self.samples.len());
        let affordable = (EFFORT / (count * self.objects())).clamp(1, count);
        let tried: Vec<usize> = (0..affordable).map(|c| c * count / affordable).collect();
        let losses: Vec<f64> = tried
            .par_iter()
            .map(|&s| self.mean_loss(&terms, &self.samples[s]))
            .collect();
        tried[(0..affordable).fold(
            0,
            |best, at| if losses[at] < losses[best] { at } else { best },
        )]
    }

    /// Moves single objects from `start` for as long as that lowers the expected loss, with at most `clusters`
    /// clusters.
    ///
    /// # Cost
    /// O(samples · n · K) time an iteration and samples · K² numbers.
    #[must_use]
    pub fn search(&self, loss: PartitionLoss, start: &Partition, clusters: usize) -> Partition {
        let terms = self.terms(loss);
        let width = clusters.max(start.clusters());
        let mut labels = start.by_appearance().labels().to_vec();
        let mut overlaps = Overlaps::of(&self.samples, self.weights.as_deref(), &labels, width);
        let mut costs = vec![0.0; width];
        for _ in 0..SEARCH_ROUNDS {
            let mut moved = false;
            for i in 0..labels.len() {
                let from = labels[i] as usize;
                overlaps.count(i, from, -1.0);
                overlaps.costs(i, &terms, &mut costs);
                let best = (0..width).fold(from, |best, k| {
                    if costs[k] < costs[best] - 1e-12 {
                        k
                    } else {
                        best
                    }
                });
                overlaps.count(i, best, 1.0);
                labels[i] = best as u32;
                moved |= best != from;
            }
            if !moved {
                break;
            }
        }
        Partition::new(labels, width)
            .expect("labels are below the width")
            .by_appearance()
    }

    /// The share of samples that put two objects together.
    ///
    /// # Panics
    /// If either index is out of range.
    pub fn co_assignment(&self, i: usize, j: usize) -> f64 {
        let together = self
            .samples
            .iter()
            .filter(|sample| sample.labels()[i] == sample.labels()[j])
            .count();
        together as f64 / self.samples.len() as f64
    }

    /// The cut of the average-link tree of the co-assignment, into at most `clusters` clusters, that has the least
    /// expected loss.
    ///
    /// # Cost
    /// O(n² · samples) time, 4 bytes a pair of objects.
    ///
    /// # Errors
    /// [`MixtureError::TooManyObjects`] above 20,000 objects.
    pub fn average_link(
        &self,
        loss: PartitionLoss,
        clusters: usize,
    ) -> Result<Partition, MixtureError> {
        let n = self.objects();
        check_pairs(n)?;
        let apart = Apart {
            rows: self.by_object(),
            samples: self.samples.len() as u64,
        };
        let leaves = self
            .weights
            .as_ref()
            .map_or_else(|| vec![1; n], |w| whole_multiplicities(w, LEAF_WEIGHTS));
        let tree =
            link_rows(&apart, &leaves, Linkage::Average, &Silent).map_err(MixtureError::Linkage)?;
        let terms = self.terms(loss);
        let cuts: Vec<Partition> = (1..=clusters.min(n)).map(|k| cut(&tree, k)).collect();
        let losses: Vec<f64> = cuts
            .par_iter()
            .map(|cut| self.mean_loss(&terms, cut))
            .collect();
        let best =
            (0..cuts.len()).fold(0, |best, k| if losses[k] < losses[best] { k } else { best });
        Ok(cuts[best].by_appearance())
    }

    /// The smallest ball around a partition, in variation of information, that holds at least such a share of the samples.
    ///
    /// # Cost
    /// O(samples · n).
    pub fn credible_ball(&self, centre: &Partition, level: f64) -> CredibleBall {
        let terms = self.terms(PartitionLoss::Vi);
        let distances: Vec<f64> = self
            .samples
            .par_iter()
            .map(|sample| terms.distance(centre, sample))
            .collect();
        let clusters: Vec<usize> = self.samples.iter().map(Partition::live_clusters).collect();
        CredibleBall::of(level, &distances, &clusters)
    }

    /// For every object the mean share of the samples that put it together with the other members of each cluster, divided by its sum.
    ///
    /// # Cost
    /// O(samples · n · K).
    pub fn memberships(&self, partition: &Partition) -> SoftPartition {
        let clusters = partition.clusters();
        let overlaps = Overlaps::of(
            &self.samples,
            self.weights.as_deref(),
            partition.labels(),
            clusters,
        );
        let mut rows = Array2::<f64>::zeros((self.objects(), clusters));
        for (i, mut row) in rows.outer_iter_mut().enumerate() {
            let own = partition.labels()[i] as usize;
            for (s, sample) in self.samples.iter().enumerate() {
                let together = overlaps.of_sample(s, sample.labels()[i] as usize);
                for (k, share) in row.iter_mut().enumerate() {
                    let itself = if k == own {
                        overlaps.weight(i).min(1.0)
                    } else {
                        0.0
                    };
                    let others = overlaps.size(k) - itself;
                    // An object alone in its cluster is together with itself.
                    *share += if others > 0.0 {
                        (together[k] - itself) / others
                    } else {
                        f64::from(k == own)
                    };
                }
            }
            let sum = row.sum();
            if sum > 0.0 {
                row /= sum;
            } else {
                row[own] = 1.0;
            }
        }
        SoftPartition::new(rows).expect("rows are divided by their sums")
    }

    fn by_object(&self) -> Vec<Vec<u16>> {
        (0..self.objects())
            .map(|i| {
                self.samples
                    .iter()
                    .map(|sample| sample.labels()[i] as u16)
                    .collect()
            })
            .collect()
    }
}

/// How many samples put two objects apart.
struct Apart {
    /// The cluster of every object in every sample.
    rows: Vec<Vec<u16>>,
    samples: u64,
}

impl Rows for Apart {
    fn objects(&self) -> usize {
        self.rows.len()
    }

    fn unit(&self) -> u64 {
        self.samples
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        let own = &self.rows[object];
        for (to, other) in row.iter_mut().zip(&self.rows) {
            *to = own.iter().zip(other).filter(|(a, b)| a != b).count() as u32;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use partita_kmeans::plus_plus::pick;
    use rand::RngExt;

    #[test]
    fn memberships_are_mean_co_assignments_and_the_ball_holds_its_share() {
        let (samples, centre) = (
            samples(4),
            Partition::new((0..12).map(|i| i / 4).collect(), 3).unwrap(),
        );
        let soft = samples.memberships(&centre);
        let mean = |i: usize, k: usize| {
            let others: Vec<usize> = (0..12).filter(|&j| j != i && j / 4 == k).collect();
            others
                .iter()
                .map(|&j| samples.co_assignment(i, j))
                .sum::<f64>()
                / others.len() as f64
        };
        for i in 0..12 {
            let all: f64 = (0..3).map(|k| mean(i, k)).sum();
            assert!(
                (0..3).all(|k| (soft.rows()[[i, k]] - mean(i, k) / all).abs() < 1e-12),
                "object {i}"
            );
        }
        let ball = samples.credible_ball(&centre, 0.9);
        let alone = |s: usize| PartitionSamples::new(vec![samples.samples()[s].clone()], vec![0.0]);
        let inside = (0..40)
            .filter(|&s| alone(s).expected_loss(PartitionLoss::Vi, &centre) <= ball.radius)
            .count();
        assert!(
            inside >= 36 && ball.horizontal.distance == ball.radius,
            "{inside} {ball:?}"
        );
    }

    /// Noisy copies of 0 0 0 0 1 1 1 1 2 2 2 2.
    fn samples(seed: u64) -> PartitionSamples {
        let mut rng = Seed::new(seed).rng();
        let sample = |_| {
            let label = |i: u32| {
                pick(
                    &[0, 1, 2].map(|k| if k == i / 4 { 20.0 } else { 1.0 }),
                    22.0 * rng.random::<f64>(),
                )
                .unwrap() as u32
            };
            Partition::new((0..12).map(label).collect(), 3).unwrap()
        };
        let samples: Vec<Partition> = (0..40).map(sample).collect();
        PartitionSamples::new(
            samples,
            (0..40).map(|s| -f64::from((s - 20_i32).abs())).collect(),
        )
    }

    /// Both losses as their definitions write them, without the shared form.
    fn by_definition(loss: PartitionLoss, a: &Partition, b: &Partition) -> f64 {
        let (a, b) = (a.labels(), b.labels());
        let n = a.len();
        let same = |labels: &[u32], i: usize| {
            (0..n).filter(|&j| labels[i] == labels[j]).count() as f64 / n as f64
        };
        let both =
            |i: usize| (0..n).filter(|&j| a[i] == a[j] && b[i] == b[j]).count() as f64 / n as f64;
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        match loss {
            PartitionLoss::Binder => {
                let differ = pairs
                    .filter(|&(i, j)| (a[i] == a[j]) != (b[i] == b[j]))
                    .count();
                differ as f64 / (n * (n - 1) / 2) as f64
            }
            PartitionLoss::Vi => {
                (0..n)
                    .map(|i| same(a, i).ln() + same(b, i).ln() - 2.0 * both(i).ln())
                    .sum::<f64>()
                    / n as f64
            }
        }
    }

    #[test]
    fn losses_are_what_they_are_called() {
        let samples = samples(1);
        for loss in [PartitionLoss::Binder, PartitionLoss::Vi] {
            let terms = CostTerms::new(loss, 12, None);
            for (a, b) in samples.samples.iter().zip(&samples.samples[1..]) {
                assert!((terms.distance(a, b) - by_definition(loss, a, b)).abs() < 1e-12);
            }
        }
    }

    /// An object of weight 2 is two objects in losses, memberships and the tree.
    #[test]
    fn weights_are_copies() {
        let once = samples(2);
        let twice = |sample: &Partition| {
            let labels = sample
                .labels()
                .iter()
                .chain(&sample.labels()[..3])
                .copied()
                .collect();
            Partition::new(labels, sample.clusters()).unwrap()
        };
        let copied = PartitionSamples::new(
            once.samples.iter().map(twice).collect(),
            once.log_joint.clone(),
        );
        let weights: Vec<f64> = (0..12).map(|i| if i < 3 { 2.0 } else { 1.0 }).collect();
        let weighted = once.clone().with_weights(Some(weights));
        let (centre, near) = (weighted.samples[0].clone(), |a: f64, b: f64| {
            (a - b).abs() < 1e-12
        });
        for loss in [PartitionLoss::Binder, PartitionLoss::Vi] {
            assert!(near(
                weighted.expected_loss(loss, &centre),
                copied.expected_loss(loss, &twice(&centre))
            ));
            assert_eq!(
                twice(&weighted.average_link(loss, 4).unwrap()),
                copied.average_link(loss, 4).unwrap()
            );
            let (found, start) = (weighted.search(loss, &centre, 4), twice(&centre));
            let lost =
                copied.expected_loss(loss, &start) - copied.expected_loss(loss, &twice(&found));
            assert!(lost >= -1e-12, "{loss:?}: {lost}");
        }
        let (soft, all) = (
            weighted.memberships(&centre),
            copied.memberships(&twice(&centre)),
        );
        for i in 0..12 {
            assert!(
                (0..centre.clusters()).all(|k| near(soft.rows()[[i, k]], all.rows()[[i, k]])),
                "shares of {i}"
            );
        }
    }

    #[test]
    fn search_never_loses_and_finds_the_groups() {
        let truth = Partition::new((0..12).map(|i| i / 4).collect(), 3).unwrap();
        for seed in 0..20 {
            let samples = samples(seed);
            for loss in [PartitionLoss::Binder, PartitionLoss::Vi] {
                let best = &samples.samples[samples.best(loss)];
                let found = samples.search(loss, best, 4);
                let value = |partition: &Partition| samples.expected_loss(loss, partition);
                assert!(
                    samples
                        .samples
                        .iter()
                        .all(|sample| value(best) <= value(sample))
                );
                assert!(value(&found) <= value(best) + 1e-12);
                assert_eq!(samples.average_link(loss, 4).unwrap(), truth);
            }
            assert_eq!(samples.search(PartitionLoss::Binder, &truth, 4), truth);
            assert_eq!(samples.map(), 20);
        }
    }
}
