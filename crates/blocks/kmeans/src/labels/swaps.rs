//! Random swaps: a cluster is given up and a row becomes the centre of another, where that leads to a lower loss.
//!
//! # References
//! Fränti, *Efficiency of random swap clustering*, Journal of Big Data 2018.

use std::num::NonZeroU32;

use partita_core::{Monitor, Row, Seed, Stopped};
use rand::{Rng, RngExt};

use super::counts::Counts;
use super::exchange::exchange;
use super::plan::{Plan, Progress};
use super::sample::{Run, Sample};
use super::scores::Scores;
use crate::plus_plus::pick;

/// Iterations after a swap, at most.
const ITERATIONS: NonZeroU32 = NonZeroU32::new(10).expect("not 0");

/// Single rows move where the iterations end at most this share above the best loss.
const NEAR: f64 = 0.05;

/// A swap has to lower the loss by this share.
const GAIN: f64 = 1e-9;

/// Random swaps on a sample.
pub(super) struct Swaps<'a, 'r, R: Row<'r>> {
    pub(super) sample: &'a Sample<'a, 'r, R>,
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

impl<'r, R: Row<'r>> Swaps<'_, 'r, R> {
    /// The run after the swaps that lower its loss; `monitor` may stop them.
    pub(super) fn improve(&self, mut best: Run, seed: Seed, monitor: &dyn Monitor) -> Run {
        let clusters = self.sample.plan.clusters;
        if clusters < 2 || self.trials == 0 || best.stopped == Stopped::Interrupted {
            return best;
        }
        let mut rng = seed.rng();
        let mut odds = self.odds(&best);
        for trial in 0..self.trials {
            let Some(counts) = self.swapped(&best.counts, &odds, trial, &mut rng) else {
                break;
            };
            let tried = self.tried(counts, best.loss(), monitor);
            let stopped = tried.stopped;
            if tried.loss() < best.loss() - GAIN * best.loss().abs() {
                best.trace.push(tried.loss());
                best.labels = tried.labels;
                best.counts = tried.counts;
                odds = self.odds(&best);
            }
            if stopped == Stopped::Interrupted {
                best.stopped = stopped;
                break;
            }
        }
        best
    }

    /// Misfits of rows to their own clusters, and what each cluster loses by going, from scores of all rows: O(rows · M · K).
    fn odds(&self, run: &Run) -> Odds {
        let Sample {
            rows,
            offsets,
            plan,
            ..
        } = self.sample;
        let assignment = plan.assignment.in_iteration(u64::MAX);
        let scores = Scores::new(offsets, &run.counts, plan.base_weights, assignment);
        let mut misfits = Vec::with_capacity(rows.len());
        let mut losses = vec![0.0; plan.clusters];
        for ((row, weight), &label) in rows.rows().zip(&run.labels) {
            let misfit = run
                .counts
                .misfit(row.entries(offsets), label, plan.base_weights);
            misfits.push(weight * misfit.max(0.0));
            let (k, lead) = scores.lead(row);
            losses[k as usize] += weight * lead;
        }
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
        let drawn = rng.random_range(0..self.sample.plan.clusters as u32);
        let cluster = if trial.is_multiple_of(2) {
            odds.cheapest
        } else {
            drawn
        };
        let mut counts = counts.clone();
        counts.clear(cluster);
        counts.add(self.sample.entries(row), cluster, 1.0);
        Some(counts)
    }

    /// Iterations from these counts, and moves of single rows where they end near the least loss.
    fn tried(&self, counts: Counts, least: f64, monitor: &dyn Monitor) -> Run {
        let plan = Plan {
            iterations: self.sample.plan.iterations.min(ITERATIONS),
            ..*self.sample.plan
        };
        let progress = Progress {
            monitor,
            done: 0,
            total: 0,
        };
        let mut run = self.sample.climbed(&plan, counts, progress);
        let near = run.loss() <= least + NEAR * least.abs();
        if run.stopped != Stopped::Interrupted && near {
            exchange(self.sample, &mut run, self.passes);
            run.trace.push(self.sample.loss(&run.counts));
        }
        run
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use partita_core::{
        AnyBlock, Ensemble, EnsembleBuilder, EnsembleRows, Flow, PassRunner, Silent,
    };
    use rand::seq::index;

    use super::super::climb::climb;
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
            iterations: count(200),
            tolerance: 1e-9,
        }
    }

    /// By what share k-means is above the best of 200 runs from rows drawn by chance.
    fn gap(seed: Seed) -> f64 {
        let (ensemble, clusters) = unequal(seed);
        let rows = EnsembleRows::new(&ensemble);
        let runner = PassRunner::new(&rows, &Silent);
        let base_weights = vec![1.0; ensemble.bases().len()];
        let plan = plan(clusters, &base_weights);
        let offsets = ensemble.offsets();
        let progress = Progress {
            monitor: &Silent,
            done: 0,
            total: 1,
        };
        let run = |start: u64| {
            let mut counts = Counts::new(&offsets, clusters, false);
            let mut rng = seed.child(start).rng();
            let drawn = index::sample(&mut rng, ensemble.objects(), clusters);
            rows.with_all(|block| {
                let AnyBlock::Bytes(block) = block else {
                    panic!("few clusters fit a byte")
                };
                for (row, k) in drawn.into_iter().zip(0..) {
                    counts.add(block.row(row).entries(&offsets), k, 1.0);
                }
            });
            let fit = climb(&runner, &plan, counts, progress).unwrap();
            *fit.trace.last().unwrap()
        };
        let best = (0..200).map(run).fold(f64::INFINITY, f64::min);
        let found = kmeans(&runner, &plan, seed, &Silent).unwrap();
        found.trace.last().unwrap() / best - 1.0
    }

    #[test]
    fn the_defaults_come_close_to_the_best_of_many_random_starts() {
        let gaps: Vec<f64> = (0..40).map(|number| gap(Seed::new(number))).collect();
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
    fn stopped_after(ticks: u64) -> (f64, Stopped, u64) {
        let (ensemble, clusters) = unequal(Seed::new(27));
        let rows = EnsembleRows::new(&ensemble);
        let base_weights = vec![1.0; ensemble.bases().len()];
        let monitor = Stops {
            left: AtomicU64::new(ticks),
            done: AtomicU64::new(0),
        };
        let runner = PassRunner::new(&rows, &Silent);
        let plan = plan(clusters, &base_weights);
        let fit = kmeans(&runner, &plan, Seed::new(1), &monitor).unwrap();
        let left = monitor.left.into_inner();
        (*fit.trace.last().unwrap(), fit.stopped, left)
    }

    #[test]
    fn swaps_stop_when_told_to_and_keep_what_they_have() {
        let (least, _, left) = stopped_after(u64::MAX);
        let ticks = u64::MAX - left;
        let stopped: Vec<_> = (0..ticks.min(40))
            .map(|before| stopped_after(ticks - before))
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
