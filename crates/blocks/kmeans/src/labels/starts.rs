//! Initializations of k-means on label rows: k-means++ on the share of labels that differ, short runs, moves of single rows and random
//! swaps, on a sample of the rows.

use partita_core::{
    AnyBlock, EnsembleRows, Entry, Flow, Monitor, PassRunner, Row, RowSample, Seed, Silent, Stopped,
};
use rayon::prelude::*;

use super::choice::LabelChoice;
use super::climb::LabelFit;
use super::counts::Counts;
use super::exchange::exchange;
use super::plan::{Plan, Progress};
use super::sample::{Run, Sample};
use super::swaps::Swaps;
use crate::plus_plus::{Field, Points, plus_plus};

/// Initializations are tried on at most so many different rows; the best one goes on with all of them.
pub const START_ROWS: usize = 10_000;

/// Runs on a sample that is not all rows stop when an iteration gains at most this share: the rest of the way is gone with all rows.
const START_TOLERANCE: f64 = 1e-4;

/// Scores that moves of single rows may look at, in all, and as many in random swaps: on many rows fewer runs are improved, and these
/// less.
const SCORES: usize = 50_000_000;

/// Passes over the rows that a run should be able to take.
const PASSES: usize = 20;

/// Passes over the rows that a swap may take, in iterations and in moves of single rows.
const SWAP_PASSES: usize = 30;

/// The best of runs from several initializations on a sample.
pub(super) fn best_start(
    sample: &RowSample,
    plan: &Plan<'_>,
    seed: Seed,
    monitor: &dyn Monitor,
) -> LabelFit {
    let source = EnsembleRows::weighted(&sample.ensemble, &sample.weights).with_shares();
    let tolerance = if sample.whole {
        plan.tolerance
    } else {
        plan.tolerance.max(START_TOLERANCE)
    };
    let short = Plan { tolerance, ..*plan };
    let runner = PassRunner::new(&source, &Silent);
    let offsets = sample.ensemble.offsets();
    source.with_all(|block| match block {
        AnyBlock::Bytes(rows) => {
            Sample::new(&rows, runner, &offsets, &short).search(sample.whole, seed, monitor)
        }
        AnyBlock::Words(rows) => {
            Sample::new(&rows, runner, &offsets, &short).search(sample.whole, seed, monitor)
        }
        AnyBlock::Shares(rows) => {
            Sample::new(&rows, runner, &offsets, &short).search(sample.whole, seed, monitor)
        }
    })
}

impl<'r, R: Row<'r>> Sample<'_, 'r, R> {
    fn search(&self, whole: bool, seed: Seed, monitor: &dyn Monitor) -> LabelFit {
        let plan = self.plan;
        let most = (SCORES / PASSES / self.scores()).clamp(1, plan.restarts.get() as usize);
        let iterations = u64::from(plan.iterations.get());
        let mut best = Vec::new();
        let mut starts = Vec::new();
        for restart in 0..plan.restarts.get() {
            let first = self.initial(restart, seed.child(1 + u64::from(restart)));
            let progress = Progress {
                monitor,
                done: u64::from(restart) * iterations,
                total: plan.all_iterations(),
            };
            let run = self.climbed(plan, first, progress);
            starts.push(run.loss());
            let stop = run.stopped == Stopped::Interrupted;
            keep_best(&mut best, most, restart as usize, run);
            if stop {
                break;
            }
        }
        let best = self.improved(best, &mut starts);
        let last = Still {
            monitor,
            done: starts.len() as u64 * iterations,
            total: plan.all_iterations(),
        };
        let swaps = Swaps {
            sample: self,
            trials: if whole { self.trials() } else { 0 },
            passes: PASSES as u32,
        };
        let run = swaps.improve(best, seed.child(1 + u64::from(plan.restarts.get())), &last);
        let choice = LabelChoice::by(&run.counts, self.offsets, plan, u64::MAX);
        LabelFit {
            choice: choice.as_found(self.rows, &run.labels),
            counts: run.counts,
            trace: run.trace,
            stopped: run.stopped,
            starts,
        }
    }

    /// Scores that one pass over the rows looks at.
    fn scores(&self) -> usize {
        self.rows
            .len()
            .saturating_mul(self.rows.bases)
            .saturating_mul(self.plan.clusters)
            .max(1)
    }

    /// Random swaps that are tried: fewer on many rows.
    fn trials(&self) -> usize {
        let asked = (self.plan.swaps as usize).saturating_mul(self.plan.restarts.get() as usize);
        (SCORES / SWAP_PASSES / self.scores()).min(asked)
    }

    /// The best run after moves of single rows, by which what the initializations reached is brought up to date.
    fn improved(&self, runs: Vec<(usize, Run)>, starts: &mut [f64]) -> Run {
        let passes = (SCORES / runs.len().max(1) / self.scores()).min(100) as u32;
        let improve = |(restart, mut run): (usize, Run)| {
            if run.stopped != Stopped::Interrupted && exchange(self, &mut run, passes) {
                run.trace.push(self.loss(&run.counts));
            }
            (restart, run)
        };
        let runs: Vec<(usize, Run)> = runs.into_par_iter().map(improve).collect();
        for (restart, run) in &runs {
            starts[*restart] = run.loss();
        }
        runs.into_iter()
            .map(|(_, run)| run)
            .reduce(|best, run| if run.loss() < best.loss() { run } else { best })
            .expect("there is at least one start")
    }

    /// Counts of K rows chosen by greedy k-means++, and every other time by plain k-means++, which varies more. Fewer where there are
    /// fewer different rows.
    fn initial(&self, restart: u32, seed: Seed) -> Counts {
        let candidates = if restart.is_multiple_of(2) {
            2 + self.plan.clusters.ilog2() as usize
        } else {
            1
        };
        let chosen = plus_plus(
            &mut Field::new(self),
            self.plan.clusters,
            candidates,
            &mut seed.rng(),
        );
        let shares = self.runner.source().are_shares();
        let mut counts = Counts::new(self.offsets, self.plan.clusters, shares);
        for (&centre, k) in chosen.iter().zip(0..) {
            counts.add(self.entries(centre), k, 1.0);
        }
        counts
    }
}

/// Keeps the best runs by rising loss, of equal ones the first.
fn keep_best(best: &mut Vec<(usize, Run)>, most: usize, restart: usize, run: Run) {
    let loss = run.loss();
    let place = best.partition_point(|(_, better)| better.loss() <= loss);
    if place == 0 || best[place - 1].1.loss() < loss {
        best.insert(place, (restart, run));
        best.truncate(most);
    }
}

/// Tells whether to go on, at progress that stands still.
struct Still<'a> {
    monitor: &'a dyn Monitor,
    done: u64,
    total: u64,
}

impl Monitor for Still<'_> {
    fn tick(&self, _done: u64, _total: u64) -> Flow {
        self.monitor.tick(self.done, self.total)
    }
}

/// Distances are the share of the labels in which two rows differ, among those that both have; for shares half the squared distance. 1
/// if there are none.
impl<'r, R: Row<'r>> Points for Sample<'_, 'r, R> {
    fn count(&self) -> usize {
        self.rows.len()
    }

    fn weight(&self, point: usize) -> f64 {
        self.rows.weight(point)
    }

    fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>> {
        let from = |&centre: &usize| {
            let centre = Centre::new(self.entries(centre), self.offsets);
            let away = |row| centre.distance(self.entries(row), self.plan.base_weights);
            (0..self.rows.len()).into_par_iter().map(away).collect()
        };
        centres.iter().map(from).collect()
    }
}

/// A row as a vector of ΣJ shares.
struct Centre {
    shares: Vec<f64>,
    /// The squared length in each base clustering; none where it does not know the row.
    squares: Vec<Option<f64>>,
}

impl Centre {
    fn new(entries: impl Iterator<Item = Entry>, offsets: &[usize]) -> Self {
        let mut shares = vec![0.0; offsets[offsets.len() - 1]];
        let mut squares = vec![None; offsets.len() - 1];
        for entry in entries {
            shares[entry.cluster] = entry.share;
            *squares[entry.base].get_or_insert(0.0) += entry.share * entry.share;
        }
        Self { shares, squares }
    }

    fn distance(&self, entries: impl Iterator<Item = Entry>, base_weights: &[f64]) -> f64 {
        let mut apart = 0.0;
        let mut shared = 0.0;
        for entry in entries {
            if let Some(square) = self.squares[entry.base] {
                let weight = base_weights[entry.base] * entry.share;
                // The shares of a row in a base clustering add up to 1.
                apart += weight * (0.5 * (entry.share + square) - self.shares[entry.cluster]);
                shared += weight;
            }
        }
        if shared > 0.0 {
            (apart / shared).max(0.0)
        } else {
            1.0
        }
    }
}
