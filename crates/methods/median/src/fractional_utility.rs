//! k-means on fractional rows for utilities of label distributions, and for the normalised cut of the co-association: as on labels,
//! with shares for counts.

use partita_core::{Flow, Monitor, MultiStart, Seed, Sense, Stopped, map_parallel};
use partita_kmeans::labels::Utility;

use crate::fractional_exchange::{PartialLoss, improved};
use crate::fractional_kmeans::{best, fill_empty, start};
use crate::fractional_rows::{FractionalFit, FractionalMeans, FractionalPlan, FractionalRows};

/// What is to be large, or the cut that is to be small.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum FractionalKind {
    /// Category utility, the sum of squares of distributions.
    Squares,
    Utility(Utility),
    /// The normalised cut.
    Cut,
}

/// A criterion for one ensemble.
pub(crate) struct FractionalCriterion<'a> {
    rows: &'a FractionalRows<'a>,
    kind: FractionalKind,
    /// What every base clustering counts, divided by its own worth where that is asked for.
    pub(crate) counting: Vec<f64>,
    /// Where the clusters of each base clustering start.
    offsets: Vec<usize>,
    /// The sums of all rows.
    all: FractionalMeans,
    objects: f64,
}

impl<'a> FractionalCriterion<'a> {
    pub(crate) fn new(
        rows: &'a FractionalRows<'a>,
        kind: FractionalKind,
        offsets: Vec<usize>,
        base_weights: &[f64],
        normalised: bool,
    ) -> Self {
        let all = FractionalMeans::of(rows, &vec![0; rows.len()], 1);
        let objects = (0..rows.len()).map(|row| rows.weight(row)).sum();
        let mut made = Self {
            rows,
            kind,
            counting: base_weights.to_vec(),
            offsets,
            all,
            objects,
        };
        if normalised {
            let own: Vec<f64> = (0..base_weights.len())
                .map(|u| made.worth(&made.all, u, 0).abs())
                .collect();
            // A base clustering of one cluster has no entropy, and tells nothing.
            made.counting
                .iter_mut()
                .zip(own)
                .filter(|(_, own)| *own > 1e-12)
                .for_each(|(weight, own)| *weight /= own);
        }
        made
    }

    fn shares<'m>(
        &self,
        means: &'m FractionalMeans,
        u: usize,
        k: usize,
    ) -> impl Iterator<Item = f64> + Clone + 'm {
        (self.offsets[u]..self.offsets[u + 1]).map(move |c| means.mean(u, c, k))
    }

    /// φ of the label distribution of base clustering `u` in cluster `k`.
    fn worth(&self, means: &FractionalMeans, u: usize, k: usize) -> f64 {
        let shares = self.shares(means, u, k);
        match self.kind {
            FractionalKind::Utility(utility) => utility.worth(shares),
            _ => shares.map(|share| share * share).sum(),
        }
    }

    fn most(&self) -> f64 {
        if let FractionalKind::Utility(utility) = self.kind {
            utility.most()
        } else {
            1.0
        }
    }

    /// What k-means makes small.
    pub(crate) fn loss(&self, means: &FractionalMeans) -> f64 {
        let all: f64 = (0..means.clusters() as u32)
            .map(|k| self.part(means, k))
            .sum();
        all.max(0.0)
    }

    /// The objective from losses.
    pub(crate) fn objective(&self, losses: &[f64]) -> Vec<f64> {
        if self.kind == FractionalKind::Cut {
            return losses.to_vec();
        }
        let above = |(u, weight): (usize, &f64)| {
            weight * self.all.known[u] / self.objects * (self.most() - self.worth(&self.all, u, 0))
        };
        let reach: f64 = self.counting.iter().enumerate().map(above).sum();
        losses
            .iter()
            .map(|loss| reach - loss / self.objects)
            .collect()
    }

    /// Weight of the pairs within a cluster, and of all pairs of its objects with any.
    fn within_and_volume(&self, means: &FractionalMeans, k: usize) -> (f64, f64) {
        let add = |(within, volume): (f64, f64), (u, c): (usize, usize)| {
            let sum = means.sums[c * means.clusters() + k];
            (
                within + self.counting[u] * sum * sum,
                volume + self.counting[u] * sum * self.all.sums[c],
            )
        };
        self.rows.places().fold((0.0, 0.0), add)
    }

    /// What a share of 1 in every base cluster adds to the score of every cluster: ΣJ lines of K values.
    fn lines(&self, means: &FractionalMeans, round: u32) -> Vec<f64> {
        let clusters = means.clusters();
        let mut lines = vec![0.0; means.sums.len()];
        if self.kind == FractionalKind::Cut {
            for k in 0..clusters {
                let (within, volume) = self.within_and_volume(means, k);
                let volume = volume.max(f64::MIN_POSITIVE);
                for (u, c) in self.rows.places() {
                    let own = self.all.sums[c] * (within / volume / volume);
                    lines[c * clusters + k] =
                        self.counting[u] * (2.0 * means.sums[c * clusters + k] / volume - own);
                }
            }
            return lines;
        }
        for (u, weight) in self.counting.iter().enumerate() {
            let all: Vec<f64> = self.shares(&self.all, u, 0).collect();
            for k in 0..clusters {
                let known = means.known[u * clusters + k];
                // A cluster that a base clustering says nothing about is taken to be like all objects.
                let own: Vec<f64> = if known > 0.0 {
                    self.shares(means, u, k).collect()
                } else {
                    all.clone()
                };
                for (c, gain) in (self.offsets[u]..).zip(self.gains(&own, &all, known, round)) {
                    lines[c * clusters + k] = weight * gain;
                }
            }
        }
        lines
    }

    fn gains(&self, own: &[f64], all: &[f64], size: f64, round: u32) -> Vec<f64> {
        match self.kind {
            FractionalKind::Utility(Utility::Entropy { smoothing }) => {
                let smoothing = smoothing * [1.0, 0.1].get(round as usize).copied().unwrap_or(1e-9);
                Utility::Entropy { smoothing }.gains(own.iter().copied(), all, size)
            }
            FractionalKind::Utility(utility) => utility.gains(own.iter().copied(), all, size),
            _ => {
                let square: f64 = own.iter().map(|share| share * share).sum();
                own.iter().map(|share| 2.0 * share - square).collect()
            }
        }
    }

    /// Rounds in which the loss may rise, since smoothing goes down.
    fn first_rounds(&self) -> usize {
        if matches!(self.kind, FractionalKind::Utility(Utility::Entropy { .. })) {
            3
        } else {
            0
        }
    }

    /// k-means from several initializations by k-means++.
    ///
    /// # Cost
    /// O(entries · K) time a round and start, in parallel over starts.
    pub(crate) fn search(
        &self,
        plan: &FractionalPlan<'_>,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> FractionalFit {
        let total = u64::from(plan.restarts);
        let run = |restart: u32| {
            let mut rng = seed.child(u64::from(restart)).rng();
            self.lloyd(plan, start(self.rows, plan, &mut rng), monitor)
        };
        let mut runs = map_parallel(0..plan.restarts, run);
        monitor.tick(total, total);
        let starts: Vec<f64> = runs
            .iter()
            .map(|run| run.trace[run.trace.len() - 1])
            .collect();
        let best = MultiStart::new(Sense::Minimise).best(&starts).unwrap_or(0);
        let best = FractionalFit {
            starts,
            ..runs.swap_remove(best)
        };
        improved(
            self,
            (self.rows, plan),
            best,
            seed.child(u64::from(plan.restarts)),
            monitor,
        )
    }

    fn lloyd(
        &self,
        plan: &FractionalPlan<'_>,
        mut labels: Vec<u32>,
        monitor: &dyn Monitor,
    ) -> FractionalFit {
        let mut means = FractionalMeans::of(self.rows, &labels, plan.clusters);
        let mut trace = vec![self.loss(&means)];
        let stopped = loop {
            let round = trace.len() - 1;
            if round >= plan.rounds as usize {
                break Stopped::RoundLimit;
            }
            if monitor.flow() == Flow::Stop {
                break Stopped::Interrupted;
            }
            let mut next = self.chosen_in(&labels, &means, round as u32);
            let misfit = self.misfits(&means, &next);
            fill_empty(self.rows, &mut next, &misfit, plan.clusters);
            let settling = round >= self.first_rounds();
            if next == labels && settling {
                break Stopped::Converged;
            }
            let candidate = FractionalMeans::of(self.rows, &next, plan.clusters);
            let (before, value) = (trace[round], self.loss(&candidate));
            if settling && value > before {
                break Stopped::Converged;
            }
            (labels, means) = (next, candidate);
            trace.push(value);
            if settling && before - value <= plan.tolerance * value.abs() {
                break Stopped::Converged;
            }
        };
        FractionalFit {
            labels,
            means,
            trace,
            starts: Vec::new(),
            stopped,
        }
    }

    /// The best cluster of every row.
    fn chosen_in(&self, labels: &[u32], means: &FractionalMeans, round: u32) -> Vec<u32> {
        let (lines, clusters) = (self.lines(means, round), means.clusters());
        let mut scores = vec![0.0; clusters];
        let of_row = |(row, &stays): (usize, &u32)| {
            scores.fill(0.0);
            for (_, c, share) in self.rows.entries(row) {
                scores
                    .iter_mut()
                    .zip(&lines[c * clusters..])
                    .for_each(|(score, gain)| *score += share * gain);
            }
            best(&scores, stays, |a, b| a > b)
        };
        labels.iter().enumerate().map(of_row).collect()
    }
}

impl PartialLoss for FractionalCriterion<'_> {
    fn loss(&self, means: &FractionalMeans, _: &[u32]) -> f64 {
        self.loss(means)
    }

    fn part(&self, means: &FractionalMeans, cluster: u32) -> f64 {
        let k = cluster as usize;
        if self.kind == FractionalKind::Cut {
            let (within, volume) = self.within_and_volume(means, k);
            return if volume > 0.0 {
                1.0 - within / volume
            } else {
                1.0
            };
        }
        let lacking = |(u, weight): (usize, &f64)| {
            let known = means.known[u * means.clusters() + k];
            if known > 0.0 {
                weight * known * (self.most() - self.worth(means, u, k))
            } else {
                0.0
            }
        };
        self.counting.iter().enumerate().map(lacking).sum()
    }

    fn chosen(&self, means: &FractionalMeans, labels: &[u32]) -> Vec<u32> {
        self.chosen_in(labels, means, u32::MAX)
    }

    /// How far the labels of rows are from those of their clusters.
    fn misfits(&self, means: &FractionalMeans, labels: &[u32]) -> Vec<f64> {
        let misfit = |(row, &k): (usize, &u32)| {
            1.0 - means.certainty(self.rows, row, k as usize, &self.counting)
        };
        labels.iter().enumerate().map(misfit).collect()
    }

    fn climb(
        &self,
        plan: &FractionalPlan<'_>,
        labels: Vec<u32>,
        monitor: &dyn Monitor,
    ) -> FractionalFit {
        self.lloyd(plan, labels, monitor)
    }
}
