//! k-means on label rows: k-means++ on the share of labels that differ, then assignments and counts in turn, from several
//! initializations; moves of single rows and random swaps improve the best.

use partita_core::{Flow, Label, Monitor, Seed, Stopped};
use rand::seq::index;
use rayon::prelude::*;

use super::counts::Counts;
use super::held::{Fit, HeldRows, climbed};
use super::rounds::{Plan, Progress, Rounds};
use super::rows::WeightedLabelRows;
use super::swaps::Swaps;
use crate::plus_plus::{Field, Points, plus_plus};

/// Initializations are tried on at most so many rows; the best one goes on with all of them.
pub const START_ROWS: usize = 10_000;

/// Runs on a sample stop when a round gains at most this share: the rest of the way is gone with all rows.
const START_TOLERANCE: f64 = 1e-4;

/// The best partition of label rows that several initializations lead to: the smallest sum of squares of one-hot labels about the
/// means of their clusters. Moves of single rows and random swaps improve it. Beyond 10,000 rows initializations are tried on so many,
/// without swaps, and the best goes on with all.
///
/// # Cost
/// O(rows · M · K) a round, in parallel over rows; rows that cannot have changed their choice are left out.
pub fn kmeans<L: Label>(
    rows: &WeightedLabelRows<'_, L>,
    plan: &Plan<'_>,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Fit {
    let all: Vec<u32> = (0..rows.len() as u32).collect();
    let Some(some) = sample(rows.len(), seed) else {
        return best_start(rows, &all, plan, false, seed, monitor);
    };
    let Fit { counts, starts, .. } = best_start(rows, &some, plan, true, seed, monitor);
    let total = plan.all_rounds(true);
    let progress = Progress {
        monitor,
        done: total - u64::from(plan.rounds.get()),
        total,
    };
    Fit {
        starts,
        ..climbed(rows, &all, plan, counts, progress)
    }
}

/// The best of runs from several initializations, on some of the rows; they are short where the best will `go_on` with more. The best
/// few that differ are improved by moves of single rows, then the best by random swaps.
pub(super) fn best_start<L: Label>(
    rows: &WeightedLabelRows<'_, L>,
    on: &[u32],
    plan: &Plan<'_>,
    go_on: bool,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Fit {
    let rounds = u64::from(plan.rounds.get());
    let tolerance = if go_on {
        plan.tolerance.max(START_TOLERANCE)
    } else {
        plan.tolerance
    };
    let short = Plan { tolerance, ..*plan };
    let mut best = Improved {
        rows,
        on,
        plan: &short,
        most: 0,
        fits: Vec::new(),
    };
    best.most = (SCORES / PASSES / best.scores()).clamp(1, plan.restarts.get() as usize);
    let mut starts: Vec<f64> = Vec::new();
    for restart in 0..plan.restarts.get() {
        let first = initial(rows, on, plan, restart, seed.child(1 + u64::from(restart)));
        let progress = Progress {
            monitor,
            done: u64::from(restart) * rounds,
            total: plan.all_rounds(go_on),
        };
        let fit = climbed(rows, on, &short, first, progress);
        starts.push(fit.trace.last().copied().unwrap_or(f64::INFINITY));
        let stop = fit.stopped == Stopped::Interrupted;
        best.add(restart as usize, fit);
        if stop {
            break;
        }
    }
    let swaps = Swaps {
        rows,
        on,
        plan: &short,
        trials: best.trials(),
        passes: PASSES as u32,
    };
    let last = Still {
        monitor,
        done: starts.len() as u64 * rounds,
        total: plan.all_rounds(go_on),
    };
    swaps.improve(
        best.into_best(starts),
        seed.child(1 + u64::from(plan.restarts.get())),
        &last,
    )
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

/// Scores that moves of single rows may look at, in all, and as many in random swaps: on many rows fewer runs are improved, and these
/// less.
const SCORES: usize = 50_000_000;

/// Passes over the rows that a run should be able to take.
const PASSES: usize = 20;

/// Passes over the rows that a swap may take, in rounds and in moves of single rows.
const SWAP_PASSES: usize = 30;

/// The best runs so far, by rising sum of squares; of equal ones the first.
struct Improved<'a, L> {
    rows: &'a WeightedLabelRows<'a, L>,
    on: &'a [u32],
    plan: &'a Plan<'a>,
    /// How many are kept.
    most: usize,
    fits: Vec<(usize, Fit)>,
}

impl<L: Label> Improved<'_, L> {
    fn value(fit: &Fit) -> f64 {
        fit.trace.last().copied().unwrap_or(f64::INFINITY)
    }

    fn add(&mut self, restart: usize, fit: Fit) {
        let value = Self::value(&fit);
        let place = self
            .fits
            .partition_point(|(_, better)| Self::value(better) <= value);
        if place == 0 || Self::value(&self.fits[place - 1].1) < value {
            self.fits.insert(place, (restart, fit));
            self.fits.truncate(self.most);
        }
    }

    /// Scores that one pass over the rows looks at.
    fn scores(&self) -> usize {
        self.on
            .len()
            .saturating_mul(self.rows.bases())
            .saturating_mul(self.plan.clusters)
            .max(1)
    }

    /// Random swaps that are tried: fewer on many rows, none where they may be a sample.
    fn trials(&self) -> usize {
        if self.on.len() >= START_ROWS {
            return 0;
        }
        let asked = (self.plan.swaps as usize).saturating_mul(self.plan.restarts.get() as usize);
        (SCORES / SWAP_PASSES / self.scores()).min(asked)
    }

    /// The best run after moves, with what every initialization reached.
    fn into_best(mut self, mut starts: Vec<f64>) -> Fit {
        let passes = (SCORES / self.most / self.scores()).min(100) as u32;
        let fits: Vec<(usize, Fit)> = std::mem::take(&mut self.fits);
        let improved = |(restart, fit): (usize, Fit)| {
            let interrupted = fit.stopped == Stopped::Interrupted || passes == 0;
            (
                restart,
                if interrupted {
                    fit
                } else {
                    self.improve(fit, passes)
                },
            )
        };
        let fits: Vec<(usize, Fit)> = fits.into_par_iter().map(improved).collect();
        fits.iter()
            .for_each(|(restart, fit)| starts[*restart] = Self::value(fit));
        let better = |a: (usize, Fit), b: (usize, Fit)| {
            if Self::value(&b.1) < Self::value(&a.1) {
                b
            } else {
                a
            }
        };
        let (_, best) = fits
            .into_iter()
            .reduce(better)
            .expect("there is at least one start");
        Fit { starts, ..best }
    }

    fn improve(&self, fit: Fit, passes: u32) -> Fit {
        let mut held = HeldRows::from_parts(self.rows, self.on, self.plan, fit.labels, fit.counts);
        let mut trace = fit.trace;
        if held.exchange(passes) {
            trace.push(held.value());
        }
        let (labels, counts) = held.into_parts();
        Fit {
            labels,
            counts,
            trace,
            ..fit
        }
    }
}

/// Rows to try starts on, where there are too many.
fn sample(rows: usize, seed: Seed) -> Option<Vec<u32>> {
    (rows > START_ROWS).then(|| {
        let mut drawn: Vec<u32> = index::sample(&mut seed.child(0).rng(), rows, START_ROWS)
            .into_iter()
            .map(|i| i as u32)
            .collect();
        drawn.sort_unstable();
        drawn
    })
}

/// Chosen label rows with their distances.
struct Sampled<'a, L> {
    rows: &'a WeightedLabelRows<'a, L>,
    on: &'a [u32],
    base_weights: &'a [f64],
}

impl<L: Label> Points for Sampled<'_, L> {
    fn count(&self) -> usize {
        self.on.len()
    }

    fn weight(&self, point: usize) -> f64 {
        f64::from(self.rows.weight(self.on[point] as usize))
    }

    fn distances(&self, centres: &[usize]) -> Vec<Vec<f64>> {
        let from = |&centre: &usize| {
            let centre = self.rows.row(self.on[centre] as usize);
            let away = |&at: &u32| distance(self.rows.row(at as usize), centre, self.base_weights);
            self.on.par_iter().map(away).collect()
        };
        centres.iter().map(from).collect()
    }
}

/// Counts of K rows chosen by greedy k-means++, and every other time by plain k-means++, which varies more. Fewer where there are fewer
/// different rows.
fn initial<L: Label>(
    rows: &WeightedLabelRows<'_, L>,
    on: &[u32],
    plan: &Plan<'_>,
    restart: u32,
    seed: Seed,
) -> Counts {
    let points = Sampled {
        rows,
        on,
        base_weights: plan.base_weights,
    };
    let mut counts = Counts::new(rows.offsets(), plan.clusters);
    let candidates = if restart.is_multiple_of(2) {
        2 + plan.clusters.ilog2() as usize
    } else {
        1
    };
    let chosen = plus_plus(
        &mut Field::new(&points),
        plan.clusters,
        candidates,
        &mut seed.rng(),
    );
    chosen
        .iter()
        .zip(0..)
        .for_each(|(&centre, k)| counts.add(rows.places(on[centre] as usize), k, 1));
    counts
}

/// Share of the labels in which two rows differ, among those that both have; 1 if there are none.
fn distance<L: Label>(a: &[L], b: &[L], base_weights: &[f64]) -> f64 {
    if a == b {
        return 0.0;
    }
    let (mut differ, mut shared) = (0.0, 0.0);
    for ((a, b), weight) in a.iter().zip(b).zip(base_weights) {
        if *a != L::MISSING && *b != L::MISSING {
            shared += weight;
            differ += if a == b { 0.0 } else { *weight };
        }
    }
    if shared > 0.0 { differ / shared } else { 1.0 }
}
