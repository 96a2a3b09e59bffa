//! k-means on label rows: k-means++ on the share of labels that differ, then assignments and counts in turn, from several
//! initializations.

use std::num::NonZeroU32;

use partita_core::{Flow, Label, Monitor, MultiStart, Seed, Sense, Stopped};
use rand::seq::index;
use rayon::prelude::*;

use super::counts::Counts;
use super::rows::WeightedLabelRows;
use super::scores::{Assignment, Scores};
use crate::plus_plus::{Field, Points, plus_plus};

/// Initializations are tried on at most so many rows; the best one goes on with all of them.
const START_ROWS: usize = 10_000;

/// Runs on a sample stop when a round gains at most this share: the rest of the way is gone with all rows.
const START_TOLERANCE: f64 = 1e-4;

/// Rows of one piece of parallel work.
const PIECE: usize = 8192;

/// What to optimise and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Clusters, K.
    pub clusters: usize,
    /// How much a label of each base clustering counts, M numbers.
    pub base_weights: &'a [f64],
    /// How a row chooses its cluster.
    pub assignment: Assignment,
    /// Initializations; the best is kept.
    #[doc(alias = "n_init")]
    pub restarts: NonZeroU32,
    /// Most iterations of one run.
    #[doc(alias = "max_iter")]
    pub rounds: NonZeroU32,
    /// Stop when an iteration gains at most this share of the sum of squares.
    #[doc(alias = "tol")]
    pub tolerance: f64,
}

/// The result of one initialization, or the best of several.
#[derive(Debug)]
pub struct Fit {
    /// The cluster of every row.
    pub labels: Vec<u32>,
    /// How often every label occurs in every cluster.
    pub counts: Counts,
    /// Sum of squares by round.
    pub trace: Vec<f64>,
    /// Why it stopped.
    pub stopped: Stopped,
    /// Sum of squares of every initialization, on the rows that they are tried on.
    pub starts: Vec<f64>,
    lead: Lead,
}

/// Which rows need not choose again.
#[derive(Debug, Default)]
struct Lead {
    /// The scores of the round before.
    scores: Option<Scores>,
    /// How far scores have moved since the first round.
    drift: f64,
    /// The drift up to which the choice of a row stands.
    limits: Vec<f64>,
}

/// The best partition of label rows that several initializations lead to: the smallest sum of squares of one-hot labels about the
/// means of their clusters. Beyond 10,000 rows they are tried on so many, and the best goes on with all.
///
/// # Cost
/// O(rows · M · K) a round, in parallel over rows; rows that cannot have changed their choice are left out.
pub fn kmeans<L: Label>(rows: &WeightedLabelRows<'_, L>, plan: &Plan<'_>, seed: Seed, monitor: &dyn Monitor) -> Fit {
    let all: Vec<u32> = (0..rows.len() as u32).collect();
    let some = sample(rows.len(), seed);
    let on: &[u32] = some.as_deref().unwrap_or(&all);
    let (restarts, rounds) = (plan.restarts.get(), u64::from(plan.rounds.get()));
    let total = rounds * (u64::from(restarts) + u64::from(some.is_some()));
    let tolerance = if some.is_some() { plan.tolerance.max(START_TOLERANCE) } else { plan.tolerance };
    let short = Plan { tolerance, ..*plan };
    let select = MultiStart::new(Sense::Minimise);
    let (mut kept, mut starts): (Option<Fit>, Vec<f64>) = (None, Vec::new());
    for restart in 0..restarts {
        let first = initial(rows, on, plan, seed.child(1 + u64::from(restart)));
        let fit = climb(rows, on, &short, first, (monitor, u64::from(restart) * rounds, total));
        starts.push(fit.value());
        let stop = fit.stopped == Stopped::Interrupted;
        if select.best(&starts) == Some(restart as usize) {
            kept = Some(fit);
        }
        if stop {
            break;
        }
    }
    let kept = kept.expect("there is at least one start");
    let fit = match some {
        Some(_) => climb(rows, &all, plan, kept.counts, (monitor, total - rounds, total)),
        None => kept,
    };
    Fit { starts, ..fit }
}

impl Fit {
    /// The sum of squares reached.
    pub fn value(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::INFINITY)
    }
}

/// Rows to try starts on, where there are too many.
fn sample(rows: usize, seed: Seed) -> Option<Vec<u32>> {
    (rows > START_ROWS).then(|| {
        let mut drawn: Vec<u32> =
            index::sample(&mut seed.child(0).rng(), rows, START_ROWS).into_iter().map(|i| i as u32).collect();
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

/// Counts of K rows chosen by k-means++. Fewer where there are fewer different rows.
fn initial<L: Label>(rows: &WeightedLabelRows<'_, L>, on: &[u32], plan: &Plan<'_>, seed: Seed) -> Counts {
    let points = Sampled { rows, on, base_weights: plan.base_weights };
    let mut counts = Counts::new(rows, plan.clusters);
    let chosen = plus_plus(&mut Field::new(&points), plan.clusters, 1, &mut seed.rng());
    chosen.iter().zip(0..).for_each(|(&centre, k)| counts.add(rows, on[centre] as usize, k, 1));
    counts
}

/// Share of the labels in which two rows differ, among those that both have; 1 if there are none.
fn distance<L: Label>(a: &[L], b: &[L], base_weights: &[f64]) -> f64 {
    if a == b {
        return 0.0;
    }
    let (mut differ, mut shared) = (0.0, 0.0);
    for ((a, b), base_weights) in a.iter().zip(b).zip(base_weights) {
        if *a != L::MISSING && *b != L::MISSING {
            shared += base_weights;
            differ += if a == b { 0.0 } else { *base_weights };
        }
    }
    if shared > 0.0 { differ / shared } else { 1.0 }
}

/// Rounds from what `counts` says until nothing moves, the objective stands still, or the rounds are used up.
fn climb<L: Label>(
    rows: &WeightedLabelRows<'_, L>,
    on: &[u32],
    plan: &Plan<'_>,
    counts: Counts,
    (monitor, done, total): (&dyn Monitor, u64, u64),
) -> Fit {
    let mut fit = Fit {
        labels: vec![u32::MAX; on.len()],
        counts,
        trace: Vec::new(),
        stopped: Stopped::RoundLimit,
        starts: Vec::new(),
        lead: Lead { limits: vec![f64::NEG_INFINITY; on.len()], ..Lead::default() },
    };
    for round in 0..u64::from(plan.rounds.get()) {
        let moved = fit.step(rows, on, plan);
        let value = fit.counts.squares(rows.offsets(), plan.base_weights);
        if round > 0 && value > fit.value() {
            // The nearest mean never does this; the likeliest cluster may.
            fit.back(rows, on, &moved);
            fit.stopped = Stopped::Converged;
            break;
        }
        let still = round > 0 && fit.value() - value <= plan.tolerance * value;
        fit.trace.push(value);
        if moved.is_empty() || still {
            fit.stopped = Stopped::Converged;
            break;
        }
        if monitor.tick(done + round + 1, total) == Flow::Stop {
            fit.stopped = Stopped::Interrupted;
            break;
        }
    }
    fit
}

impl Fit {
    /// One round: every row chooses, the counts follow. Returns which rows moved, with the cluster they left.
    fn step<L: Label>(&mut self, rows: &WeightedLabelRows<'_, L>, on: &[u32], plan: &Plan<'_>) -> Vec<(u32, u32)> {
        let scores = Scores::new(rows, &self.counts, plan.base_weights, plan.assignment);
        let Lead { scores: previous, drift, limits } = &mut self.lead;
        *drift += previous.as_ref().map_or(0.0, |previous| scores.drift(previous, rows.offsets()));
        let (mut next, drift) = (self.labels.clone(), *drift);
        let pieces = next.par_chunks_mut(PIECE).zip(limits.par_chunks_mut(PIECE)).zip(on.par_chunks(PIECE));
        pieces.for_each(|(kept, on)| scores.choose(rows, on, drift, kept));
        self.lead.scores = Some(scores);
        let changes = next.iter().zip(&self.labels).enumerate().filter(|(_, (next, old))| next != old);
        let mut moved: Vec<(u32, u32)> = changes.map(|(at, (_, &old))| (at as u32, old)).collect();
        if self.trace.is_empty() {
            self.counts = Counts::new(rows, plan.clusters);
        }
        for &(at, old) in &moved {
            self.put(rows, on, at, old, next[at as usize]);
        }
        self.refill(rows, on, plan, &mut moved);
        moved
    }

    /// Moves one row from a cluster (none at first) to another.
    fn put<L: Label>(&mut self, rows: &WeightedLabelRows<'_, L>, on: &[u32], at: u32, from: u32, to: u32) {
        let row = on[at as usize] as usize;
        let weight = i64::from(rows.weight(row));
        if from != u32::MAX {
            self.counts.add(rows, row, from, -weight);
        }
        self.counts.add(rows, row, to, weight);
        self.labels[at as usize] = to;
    }

    /// Undoes a round.
    fn back<L: Label>(&mut self, rows: &WeightedLabelRows<'_, L>, on: &[u32], moved: &[(u32, u32)]) {
        for &(at, old) in moved.iter().rev() {
            self.put(rows, on, at, self.labels[at as usize], old);
        }
    }

    /// Gives every empty cluster the row that fits its own cluster worst, while any row fits less than perfectly.
    fn refill<L: Label>(
        &mut self,
        rows: &WeightedLabelRows<'_, L>,
        on: &[u32],
        plan: &Plan<'_>,
        moved: &mut Vec<(u32, u32)>,
    ) {
        while let Some(empty) = self.counts.first_empty() {
            let misfit = |at: usize| {
                let (row, k) = (on[at] as usize, self.labels[at]);
                let apart = |(u, place)| plan.base_weights[u] * (1.0 - self.counts.share(u, place, k as usize));
                let alone = self.counts.objects(k) == i64::from(rows.weight(row));
                if alone { 0.0 } else { rows.places(row).map(apart).sum() }
            };
            let misfits: Vec<f64> = (0..on.len()).into_par_iter().map(misfit).collect();
            let worst = (0..on.len()).fold(0, |worst, at| if misfits[at] > misfits[worst] { at } else { worst });
            if misfits[worst] <= 0.0 {
                break;
            }
            moved.push((worst as u32, self.labels[worst]));
            self.lead.limits[worst] = f64::NEG_INFINITY;
            self.put(rows, on, worst as u32, self.labels[worst], empty);
        }
    }
}
