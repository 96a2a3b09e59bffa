//! Random swaps: a cluster is given up and a row becomes the centre of another, where that leads to a lower loss.
//!
//! # References
//! Fränti, *Efficiency of random swap clustering*, Journal of Big Data 2018.

use std::num::NonZeroU32;

use partita_core::{Label, Monitor, Seed, Stopped};
use rand::{Rng, RngExt};

use super::counts::Counts;
use super::held::{Fit, HeldRows, climbed};
use super::rounds::{Plan, Progress, Rounds};
use super::rows::WeightedLabelRows;
use super::scores::Scores;
use crate::plus_plus::pick;

/// Rounds after a swap, at most.
const ROUNDS: NonZeroU32 = NonZeroU32::new(10).expect("not 0");

/// Single rows move where the rounds end at most this share above the best loss.
const NEAR: f64 = 0.05;

/// A swap has to lower the loss by this share.
const GAIN: f64 = 1e-9;

/// Random swaps on some of the rows of an ensemble.
pub(super) struct Swaps<'a, L> {
    pub(super) rows: &'a WeightedLabelRows<'a, L>,
    pub(super) on: &'a [u32],
    pub(super) plan: &'a Plan<'a>,
    /// Swaps that are tried.
    pub(super) trials: usize,
    /// Most passes over the rows of moves of single rows, after each swap.
    pub(super) passes: u32,
}

/// What swaps of a partition are drawn by.
struct Odds {
    /// Weight × misfit of every row.
    misfits: Vec<f64>,
    /// The cluster whose rows have the least to lose when they go to the second best.
    cheapest: u32,
}

impl<L: Label> Swaps<'_, L> {
    /// The run after the swaps that lower its loss; `monitor` may stop them.
    pub(super) fn improve(&self, mut best: Fit, seed: Seed, monitor: &dyn Monitor) -> Fit {
        if self.plan.clusters < 2 || self.trials == 0 || best.stopped == Stopped::Interrupted {
            return best;
        }
        let (mut rng, mut odds) = (seed.rng(), self.odds(&best));
        for trial in 0..self.trials {
            let Some(counts) = self.swapped(&best.counts, &odds, trial, &mut rng) else {
                break;
            };
            let (stopped, lower) = self.tried(counts, &best, monitor);
            if let Some((labels, counts, value)) = lower {
                best.trace.push(value);
                best = Fit {
                    labels,
                    counts,
                    ..best
                };
                odds = self.odds(&best);
            }
            if stopped == Stopped::Interrupted {
                return Fit { stopped, ..best };
            }
        }
        best
    }

    /// Misfits of rows to their own clusters, and what each cluster loses by going, from scores of all rows: O(rows · M · K).
    fn odds(&self, fit: &Fit) -> Odds {
        let (rows, base_weights) = (self.rows, self.plan.base_weights);
        let weight = |at: u32| f64::from(rows.weight(at as usize));
        let misfit = |(&at, &k): (&u32, &u32)| {
            weight(at) * fit.counts.misfit(rows.places(at as usize), k, base_weights)
        };
        let misfits = self.on.iter().zip(&fit.labels).map(misfit).collect();
        let assignment = self.plan.assignment.in_round(u64::MAX);
        let scores = Scores::new(rows.offsets(), &fit.counts, base_weights, assignment);
        let (mut chosen, mut leads) = (fit.labels.clone(), vec![0.0; self.on.len()]);
        let due = self.on.iter().zip(&mut chosen).zip(&mut leads);
        scores.choose(
            due.map(|((&at, k), lead)| (rows.row(at as usize), k, lead)),
            0.0,
        );
        let mut losses = vec![0.0; self.plan.clusters];
        self.on
            .iter()
            .zip(&chosen)
            .zip(&leads)
            .for_each(|((&at, &k), lead)| losses[k as usize] += weight(at) * lead);
        let cheapest = (0..losses.len()).fold(
            0,
            |least, k| if losses[k] < losses[least] { k } else { least },
        );
        Odds {
            misfits,
            cheapest: cheapest as u32,
        }
    }

    /// Counts with a row, drawn by its misfit, for a cluster: in turn the cheapest and one that is drawn. None where every row fits
    /// perfectly.
    fn swapped(
        &self,
        counts: &Counts,
        odds: &Odds,
        trial: usize,
        rng: &mut impl Rng,
    ) -> Option<Counts> {
        let total: f64 = odds.misfits.iter().sum();
        let row = pick(&odds.misfits, rng.random::<f64>() * total)?;
        let drawn = rng.random_range(0..self.plan.clusters as u32);
        let cluster = if trial.is_multiple_of(2) {
            odds.cheapest
        } else {
            drawn
        };
        let mut counts = counts.clone();
        counts.clear(cluster);
        counts.add(self.rows.places(self.on[row] as usize), cluster, 1);
        Some(counts)
    }

    /// Rounds and moves of single rows from these counts: why the rounds stopped, and labels, counts and loss where it is lower.
    fn tried(
        &self,
        counts: Counts,
        best: &Fit,
        monitor: &dyn Monitor,
    ) -> (Stopped, Option<(Vec<u32>, Counts, f64)>) {
        let plan = Plan {
            rounds: self.plan.rounds.min(ROUNDS),
            ..*self.plan
        };
        let fit = climbed(
            self.rows,
            self.on,
            &plan,
            counts,
            Progress {
                monitor,
                done: 0,
                total: 0,
            },
        );
        let last = |fit: &Fit| fit.trace.last().copied().unwrap_or(f64::INFINITY);
        let (reached, least) = (last(&fit), last(best));
        if fit.stopped == Stopped::Interrupted || reached > (1.0 + NEAR) * least {
            return (fit.stopped, None);
        }
        let mut held = HeldRows::from_parts(self.rows, self.on, &plan, fit.labels, fit.counts);
        held.exchange(self.passes);
        let value = held.value();
        let (labels, counts) = held.into_parts();
        (
            fit.stopped,
            (value < (1.0 - GAIN) * least).then_some((labels, counts, value)),
        )
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use partita_core::{Ensemble, EnsembleBuilder, Flow, Silent};
    use rand::seq::index;

    use super::super::rows::{RowVisitor, with_rows};
    use super::super::{Assignment, kmeans};
    use super::*;

    /// One large cluster and several small ones; up to two of five labels are wrong.
    fn unequal(seed: Seed) -> (Ensemble, usize) {
        let mut rng = seed.rng();
        let (objects, clusters) = (rng.random_range(100..300), rng.random_range(4..12));
        let truth: Vec<usize> = (0..objects)
            .map(|i| {
                if rng.random_bool(0.8) {
                    0
                } else {
                    i % clusters
                }
            })
            .collect();
        let mut builder = EnsembleBuilder::new(objects);
        let noise = rng.random_range(0.0..0.4);
        for u in 0..rng.random_range(3..30) {
            let label = |&own: &usize| {
                if rng.random_bool(noise) {
                    rng.random_range(0..clusters)
                } else {
                    own
                }
            };
            let labels: Vec<Option<u32>> = truth
                .iter()
                .map(label)
                .map(|label| Some(label as u32))
                .collect();
            builder.push(u.to_string(), labels).unwrap();
        }
        (builder.finish().unwrap(), clusters)
    }

    fn plan(clusters: usize, base_weights: &[f64]) -> Plan<'_> {
        let count = |number| NonZeroU32::new(number).unwrap();
        let assignment = Assignment::Nearest;
        Plan {
            clusters,
            base_weights,
            assignment,
            restarts: count(10),
            swaps: 8,
            rounds: count(200),
            tolerance: 1e-9,
        }
    }

    /// By what share k-means is above the best of 200 runs from rows drawn by chance.
    struct Gap {
        clusters: usize,
        seed: Seed,
    }

    impl RowVisitor for Gap {
        type Out = f64;

        fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> f64 {
            let base_weights = vec![1.0; rows.bases()];
            let plan = plan(self.clusters, &base_weights);
            let all: Vec<u32> = (0..rows.len() as u32).collect();
            let run = |start: u64| {
                let mut counts = Counts::new(rows.offsets(), self.clusters);
                let drawn =
                    index::sample(&mut self.seed.child(start).rng(), rows.len(), self.clusters);
                drawn
                    .into_iter()
                    .zip(0..)
                    .for_each(|(row, k)| counts.add(rows.places(row), k, 1));
                let fit = climbed(
                    rows,
                    &all,
                    &plan,
                    counts,
                    Progress {
                        monitor: &Silent,
                        done: 0,
                        total: 1,
                    },
                );
                *fit.trace.last().unwrap()
            };
            let best = (0..200).map(run).fold(f64::INFINITY, f64::min);
            *kmeans(rows, &plan, self.seed, &Silent)
                .trace
                .last()
                .unwrap()
                / best
                - 1.0
        }
    }

    #[test]
    fn the_defaults_come_close_to_the_best_of_many_random_starts() {
        let gap = |number| {
            let seed = Seed::new(number);
            let (ensemble, clusters) = unequal(seed);
            with_rows(&ensemble, Gap { clusters, seed })
        };
        let gaps: Vec<f64> = (0..40).map(gap).collect();
        let worst = gaps.iter().copied().fold(0.0, f64::max);
        assert!(worst < 0.01, "worst gap {worst}");
    }

    /// Stops after so many ticks, which never go back.
    struct Stops {
        left: AtomicU64,
        done: AtomicU64,
    }

    impl Monitor for Stops {
        fn tick(&self, done: u64, total: u64) -> Flow {
            assert!(self.done.swap(done, Ordering::Relaxed) <= done && done <= total);
            let left = self.left.load(Ordering::Relaxed);
            self.left.store(left.saturating_sub(1), Ordering::Relaxed);
            if left <= 1 {
                Flow::Stop
            } else {
                Flow::Continue
            }
        }
    }

    /// The objective of a run that is stopped after so many ticks, whether it was, and the ticks that were left.
    struct StoppedAfter(u64, usize);

    impl RowVisitor for StoppedAfter {
        type Out = (f64, Stopped, u64);

        fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Self::Out {
            let base_weights = vec![1.0; rows.bases()];
            let monitor = Stops {
                left: AtomicU64::new(self.0),
                done: AtomicU64::new(0),
            };
            let fit = kmeans(rows, &plan(self.1, &base_weights), Seed::new(1), &monitor);
            (
                *fit.trace.last().unwrap(),
                fit.stopped,
                monitor.left.into_inner(),
            )
        }
    }

    #[test]
    fn swaps_stop_when_told_to_and_keep_what_they_have() {
        let (ensemble, clusters) = unequal(Seed::new(27));
        let (least, _, left) = with_rows(&ensemble, StoppedAfter(u64::MAX, clusters));
        let ticks = u64::MAX - left;
        let stopped: Vec<_> = (0..ticks.min(40))
            .map(|before| with_rows(&ensemble, StoppedAfter(ticks - before, clusters)))
            .collect();
        assert!(
            stopped
                .iter()
                .all(|(_, stopped, left)| (*stopped, *left) == (Stopped::Interrupted, 0))
        );
        let values: Vec<f64> = stopped
            .iter()
            .rev()
            .map(|(value, ..)| *value)
            .chain([least])
            .collect();
        assert!(values.is_sorted_by(|a, b| a >= b), "{values:?}");
    }
}
