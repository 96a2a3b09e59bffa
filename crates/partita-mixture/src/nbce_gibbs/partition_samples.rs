//! Posterior samples of partitions, and point estimates from them: MAP, Binder loss, variation of information.

use partita_core::ndarray::Array2;
use partita_core::{CredibleBall, Partition, SoftPartition};
use partita_linkage::{Linkage, cut, link_f32};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::overlaps::Overlaps;
use crate::error::MixtureError;

/// The most objects whose co-assignment is held pair by pair.
const MOST_PAIRED: usize = 20_000;

/// Refuses more objects than have all their pairs held.
pub(crate) fn check_pairs(objects: usize) -> Result<(), MixtureError> {
    let most = MOST_PAIRED;
    if objects > most { Err(MixtureError::TooManyObjects { objects, most }) } else { Ok(()) }
}

/// Label comparisons that the choice among samples may cost.
const EFFORT: usize = 4_000_000_000;

/// Rounds of the greedy search.
const SEARCH_ROUNDS: usize = 20;

/// What a wrong partition costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PartitionLoss {
    /// The share of pairs of objects that one partition puts together and the other apart.
    Binder,
    /// Variation of information, nats.
    Vi,
}

/// Partitions drawn from a posterior.
///
/// ```text
/// loss(a, b) = Σ_k g(a_k) + Σ_m g(b_m) − 2 Σ_km g(n_km)
/// Binder: g(x) = x² / (n (n − 1))        VI: g(x) = x ln x / n
/// ```
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
}

impl PartitionSamples {
    /// Samples with the log joint density of each.
    ///
    /// # Panics
    /// If there is no sample, not one density a sample, or samples of different objects.
    pub fn new(samples: Vec<Partition>, log_joint: Vec<f64>) -> Self {
        assert!(!samples.is_empty() && samples.len() == log_joint.len(), "one log density a sample");
        assert!(samples.iter().all(|s| s.objects() == samples[0].objects()), "samples are of the same objects");
        let samples = samples.iter().map(Partition::by_appearance).collect();
        Self { samples, log_joint }
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
        (0..self.samples.len()).fold(0, |best, s| if self.log_joint[s] > self.log_joint[best] { s } else { best })
    }

    /// The mean loss of a partition over the samples.
    ///
    /// # Cost
    /// O(samples · n).
    pub fn expected_loss(&self, loss: PartitionLoss, partition: &Partition) -> f64 {
        self.mean_loss(&cost_terms(loss, self.objects()), partition)
    }

    fn mean_loss(&self, g: &[f64], partition: &Partition) -> f64 {
        self.samples.iter().map(|sample| distance(g, partition, sample)).sum::<f64>() / self.samples.len() as f64
    }

    /// The sample with the least expected loss; the first of equals. Where there are many objects, not every sample
    /// is tried.
    ///
    /// # Cost
    /// O(samples² · n), at most about 4·10⁹ steps, in parallel.
    pub fn best(&self, loss: PartitionLoss) -> usize {
        let (g, count) = (cost_terms(loss, self.objects()), self.samples.len());
        let affordable = (EFFORT / (count * self.objects())).clamp(1, count);
        let tried: Vec<usize> = (0..affordable).map(|c| c * count / affordable).collect();
        let losses: Vec<f64> = tried.par_iter().map(|&s| self.mean_loss(&g, &self.samples[s])).collect();
        tried[(0..affordable).fold(0, |best, at| if losses[at] < losses[best] { at } else { best })]
    }

    /// Moves single objects from `start` for as long as that lowers the expected loss, with at most `clusters`
    /// clusters.
    ///
    /// # Cost
    /// O(samples · n · K) time a round and samples · K² numbers.
    #[must_use]
    pub fn search(&self, loss: PartitionLoss, start: &Partition, clusters: usize) -> Partition {
        let g = cost_terms(loss, self.objects());
        let steps: Vec<f64> = g.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let width = clusters.max(start.clusters());
        let mut labels = start.by_appearance().labels().to_vec();
        let mut overlaps = Overlaps::of(&self.samples, &labels, width);
        let mut costs = vec![0.0; width];
        for _ in 0..SEARCH_ROUNDS {
            let mut moved = false;
            for i in 0..labels.len() {
                let from = labels[i] as usize;
                overlaps.count(i, from, false);
                overlaps.costs(i, &steps, &mut costs);
                let best = (0..width).fold(from, |best, k| if costs[k] < costs[best] - 1e-12 { k } else { best });
                overlaps.count(i, best, true);
                labels[i] = best as u32;
                moved |= best != from;
            }
            if !moved {
                break;
            }
        }
        Partition::new(labels, width).expect("labels are below the width").by_appearance()
    }

    /// The share of samples that put two objects together.
    ///
    /// # Panics
    /// If either index is out of range.
    pub fn co_assignment(&self, i: usize, j: usize) -> f64 {
        let together = self.samples.iter().filter(|sample| sample.labels()[i] == sample.labels()[j]).count();
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
    pub fn average_link(&self, loss: PartitionLoss, clusters: usize) -> Result<Partition, MixtureError> {
        let n = self.objects();
        check_pairs(n)?;
        let rows = self.by_object();
        let apart = |i: usize, j: usize| {
            let together = rows[i].iter().zip(&rows[j]).filter(|(a, b)| a == b).count();
            1.0 - together as f32 / self.samples.len() as f32
        };
        let condensed: Vec<Vec<f32>> =
            (0..n).into_par_iter().map(|i| (i + 1..n).map(|j| apart(i, j)).collect()).collect();
        let tree = link_f32(condensed.concat(), n, Linkage::Average).expect("one finite distance a pair");
        let g = cost_terms(loss, n);
        let cuts: Vec<Partition> = (1..=clusters.min(n)).map(|k| cut(&tree, k)).collect();
        let losses: Vec<f64> = cuts.par_iter().map(|cut| self.mean_loss(&g, cut)).collect();
        let best = (0..cuts.len()).fold(0, |best, k| if losses[k] < losses[best] { k } else { best });
        Ok(cuts[best].by_appearance())
    }

    /// The smallest ball around a partition, in variation of information, that holds at least such a share of the samples.
    ///
    /// # Cost
    /// O(samples · n).
    pub fn credible_ball(&self, centre: &Partition, level: f64) -> CredibleBall {
        let g = cost_terms(PartitionLoss::Vi, self.objects());
        let distances: Vec<f64> = self.samples.par_iter().map(|sample| distance(&g, centre, sample)).collect();
        let clusters: Vec<usize> = self.samples.iter().map(Partition::live_clusters).collect();
        CredibleBall::of(level, &distances, &clusters)
    }

    /// For every object the mean share of the samples that put it together with the other members of each cluster, divided by its sum.
    ///
    /// # Cost
    /// O(samples · n · K).
    pub fn memberships(&self, partition: &Partition) -> SoftPartition {
        let clusters = partition.clusters();
        let overlaps = Overlaps::of(&self.samples, partition.labels(), clusters);
        let mut rows = Array2::<f64>::zeros((self.objects(), clusters));
        for (i, mut row) in rows.outer_iter_mut().enumerate() {
            let own = partition.labels()[i] as usize;
            for (s, sample) in self.samples.iter().enumerate() {
                let together = overlaps.of_sample(s, sample.labels()[i] as usize);
                for (k, share) in row.iter_mut().enumerate() {
                    let itself = u32::from(k == own);
                    // An object alone in its cluster is together with itself.
                    let (together, all) = match overlaps.size(k) - itself {
                        0 => (itself, 1),
                        others => (together[k] - itself, others),
                    };
                    *share += f64::from(together) / f64::from(all);
                }
            }
            let sum = row.sum();
            if sum > 0.0 { row /= sum } else { row[own] = 1.0 }
        }
        SoftPartition::new(rows).expect("rows are divided by their sums")
    }

    fn by_object(&self) -> Vec<Vec<u16>> {
        (0..self.objects()).map(|i| self.samples.iter().map(|sample| sample.labels()[i] as u16).collect()).collect()
    }

    /// How sure every object's place is: the mean share of samples that put it together with the other members of
    /// its cluster, and for an object alone the share of samples in which it is alone.
    pub fn certainty(&self, partition: &Partition) -> Vec<f64> {
        let overlaps = Overlaps::of(&self.samples, partition.labels(), partition.clusters());
        let sizes: Vec<Vec<usize>> = self.samples.iter().map(Partition::sizes).collect();
        let object = |(i, &k): (usize, &u32)| {
            let others = overlaps.size(k as usize) - 1;
            let share = |(s, sample): (usize, &Partition)| {
                let place = sample.labels()[i] as usize;
                if others == 0 {
                    return f64::from(sizes[s][place] == 1);
                }
                f64::from(overlaps.of_sample(s, place)[k as usize] - 1) / f64::from(others)
            };
            self.samples.iter().enumerate().map(share).sum::<f64>() / self.samples.len() as f64
        };
        partition.labels().iter().enumerate().map(object).map(|c: f64| c.clamp(0.0, 1.0)).collect()
    }
}

/// g(0), …, g(n).
fn cost_terms(loss: PartitionLoss, objects: usize) -> Vec<f64> {
    let n = objects as f64;
    let g = |x: usize| {
        let x = x as f64;
        match loss {
            PartitionLoss::Binder => x * x / (n * (n - 1.0)).max(1.0),
            PartitionLoss::Vi if x > 0.0 => x * x.ln() / n,
            PartitionLoss::Vi => 0.0,
        }
    };
    (0..=objects).map(g).collect()
}

fn distance(g: &[f64], a: &Partition, b: &Partition) -> f64 {
    let width = b.clusters();
    let mut cells = vec![0u32; a.clusters() * width];
    a.labels().iter().zip(b.labels()).for_each(|(&k, &m)| cells[k as usize * width + m as usize] += 1);
    let sides = |partition: &Partition| partition.sizes().iter().map(|&size| g[size]).sum::<f64>();
    (sides(a) + sides(b) - 2.0 * cells.iter().map(|&cell| g[cell as usize]).sum::<f64>()).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::initialization::pick;
    use partita_core::Seed;

    #[test]
    fn memberships_are_mean_co_assignments_and_the_ball_holds_its_share() {
        let (samples, centre) = (samples(4), Partition::new((0..12).map(|i| i / 4).collect(), 3).unwrap());
        let soft = samples.memberships(&centre);
        let mean = |i: usize, k: usize| {
            let others: Vec<usize> = (0..12).filter(|&j| j != i && j / 4 == k).collect();
            others.iter().map(|&j| samples.co_assignment(i, j)).sum::<f64>() / others.len() as f64
        };
        for i in 0..12 {
            let all: f64 = (0..3).map(|k| mean(i, k)).sum();
            assert!((0..3).all(|k| (soft.rows()[[i, k]] - mean(i, k) / all).abs() < 1e-12), "object {i}");
        }
        let ball = samples.credible_ball(&centre, 0.9);
        let alone = |s: usize| PartitionSamples::new(vec![samples.samples()[s].clone()], vec![0.0]);
        let inside = (0..40).filter(|&s| alone(s).expected_loss(PartitionLoss::Vi, &centre) <= ball.radius).count();
        assert!(inside >= 36 && ball.horizontal.distance == ball.radius, "{inside} {ball:?}");
    }

    /// Noisy copies of 0 0 0 0 1 1 1 1 2 2 2 2.
    fn samples(seed: u64) -> PartitionSamples {
        let mut rng = Seed::new(seed).rng();
        let sample = |_| {
            let label =
                |i: u32| pick(&[0, 1, 2].map(|k| if k == i / 4 { 20.0 } else { 1.0 }), &mut rng).unwrap() as u32;
            Partition::new((0..12).map(label).collect(), 3).unwrap()
        };
        let samples: Vec<Partition> = (0..40).map(sample).collect();
        PartitionSamples::new(samples, (0..40).map(|s| -f64::from((s - 20_i32).abs())).collect())
    }

    /// Both losses as their definitions write them, without the shared form.
    fn by_definition(loss: PartitionLoss, a: &Partition, b: &Partition) -> f64 {
        let (a, b) = (a.labels(), b.labels());
        let n = a.len();
        let same = |labels: &[u32], i: usize| (0..n).filter(|&j| labels[i] == labels[j]).count() as f64 / n as f64;
        let both = |i: usize| (0..n).filter(|&j| a[i] == a[j] && b[i] == b[j]).count() as f64 / n as f64;
        let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (i, j)));
        match loss {
            PartitionLoss::Binder => {
                let differ = pairs.filter(|&(i, j)| (a[i] == a[j]) != (b[i] == b[j])).count();
                differ as f64 / (n * (n - 1) / 2) as f64
            }
            PartitionLoss::Vi => {
                (0..n).map(|i| same(a, i).ln() + same(b, i).ln() - 2.0 * both(i).ln()).sum::<f64>() / n as f64
            }
        }
    }

    #[test]
    fn losses_are_what_they_are_called() {
        let samples = samples(1);
        for loss in [PartitionLoss::Binder, PartitionLoss::Vi] {
            let g = cost_terms(loss, 12);
            for (a, b) in samples.samples.iter().zip(&samples.samples[1..]) {
                assert!((distance(&g, a, b) - by_definition(loss, a, b)).abs() < 1e-12);
            }
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
                assert!(samples.samples.iter().all(|sample| value(best) <= value(sample)));
                assert!(value(&found) <= value(best) + 1e-12);
                assert_eq!(samples.average_link(loss, 4).unwrap(), truth);
            }
            assert_eq!(samples.search(PartitionLoss::Binder, &truth, 4), truth);
            assert_eq!(samples.map(), 20);
        }
    }

    #[test]
    fn certainty_is_the_mean_co_assignment() {
        let samples = samples(3);
        let partition = Partition::new(vec![0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 3], 4).unwrap();
        let found = samples.certainty(&partition);
        for i in [0, 5, 9] {
            let others: Vec<usize> =
                (0..12).filter(|&j| j != i && partition.labels()[i] == partition.labels()[j]).collect();
            let mean = others.iter().map(|&j| samples.co_assignment(i, j)).sum::<f64>() / others.len() as f64;
            assert!((found[i] - mean).abs() < 1e-12);
        }
        let alone =
            (0..40).filter(|&s| (0..11).all(|j| samples.samples[s].labels()[j] != samples.samples[s].labels()[11]));
        assert!((found[11] - alone.count() as f64 / 40.0).abs() < 1e-12);
    }
}
