//! Rounds of k-means on label rows in memory: only rows that may change their cluster choose, only rows that do are counted anew.

use std::convert::Infallible;

use partita_core::{Label, Stopped};
use rayon::prelude::*;

use super::assignment::Assignment;
use super::counts::Counts;
use super::exchange::{Cuts, Exchange, Worths};
use super::rounds::{Plan, Progress, Rounds, climb};
use super::rows::WeightedLabelRows;
use super::scores::Scores;

/// Rows of one piece of parallel work.
const PIECE: usize = 8192;

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
}

/// A run on rows in memory.
pub(super) fn climbed<L: Label>(
    rows: &WeightedLabelRows<'_, L>,
    on: &[u32],
    plan: &Plan<'_>,
    counts: Counts,
    progress: Progress<'_>,
) -> Fit {
    let mut held = HeldRows::new(rows, on, plan, counts);
    let Ok((trace, stopped)) = climb(&mut held, plan, progress);
    let (labels, counts) = held.into_parts();
    Fit {
        labels,
        counts,
        trace,
        stopped,
        starts: Vec::new(),
    }
}

/// Some of the rows of an ensemble in clusters.
pub(super) struct HeldRows<'a, L> {
    rows: &'a WeightedLabelRows<'a, L>,
    on: &'a [u32],
    plan: &'a Plan<'a>,
    labels: Vec<u32>,
    counts: Counts,
    /// Rounds that are done.
    round: u64,
    lead: Lead,
    /// Rows that moved in the last round, with the cluster that they left.
    moved: Vec<(u32, u32)>,
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

impl<L: Label> Rounds for HeldRows<'_, L> {
    type Error = Infallible;

    fn step(&mut self) -> Result<(), Infallible> {
        let first = self.lead.scores.is_none();
        let scores = Scores::new(
            self.rows.offsets(),
            &self.counts,
            self.plan.base_weights,
            self.plan.assignment.in_round(self.round),
        );
        self.round += 1;
        let Lead {
            scores: previous,
            drift,
            limits,
        } = &mut self.lead;
        *drift += previous
            .as_ref()
            .map_or(0.0, |previous| scores.drift(previous));
        let (mut next, drift, rows) = (self.labels.clone(), *drift, self.rows);
        let pieces = next
            .par_chunks_mut(PIECE)
            .zip(limits.par_chunks_mut(PIECE))
            .zip(self.on.par_chunks(PIECE));
        pieces.for_each(|((best, limits), on)| {
            let due = on
                .iter()
                .zip(best)
                .zip(limits)
                .filter(|(_, limit)| drift >= **limit);
            scores.choose(
                due.map(|((&at, best), limit)| (rows.row(at as usize), best, limit)),
                drift,
            );
        });
        self.lead.scores = Some(scores);
        let changes = next
            .iter()
            .zip(&self.labels)
            .enumerate()
            .filter(|(_, (next, old))| next != old);
        self.moved = changes.map(|(at, (_, &old))| (at as u32, old)).collect();
        if first {
            self.counts = Counts::new(self.rows.offsets(), self.plan.clusters);
        }
        for (at, old) in self.moved.clone() {
            self.put(at, old, next[at as usize]);
        }
        self.refill();
        Ok(())
    }

    fn undo(&mut self) {
        for (at, old) in std::mem::take(&mut self.moved).into_iter().rev() {
            self.put(at, self.labels[at as usize], old);
        }
    }

    fn value(&self) -> f64 {
        self.plan
            .assignment
            .loss(&self.counts, self.rows.offsets(), self.plan.base_weights)
    }
}

impl<'a, L: Label> HeldRows<'a, L> {
    /// Rows that choose by these counts first.
    pub(super) fn new(
        rows: &'a WeightedLabelRows<'a, L>,
        on: &'a [u32],
        plan: &'a Plan<'a>,
        counts: Counts,
    ) -> Self {
        let lead = Lead {
            limits: vec![f64::NEG_INFINITY; on.len()],
            ..Lead::default()
        };
        Self {
            rows,
            on,
            plan,
            labels: vec![u32::MAX; on.len()],
            counts,
            round: 0,
            lead,
            moved: Vec::new(),
        }
    }

    /// Rows in these clusters, with the counts of them.
    pub(super) fn from_parts(
        rows: &'a WeightedLabelRows<'a, L>,
        on: &'a [u32],
        plan: &'a Plan<'a>,
        labels: Vec<u32>,
        counts: Counts,
    ) -> Self {
        Self {
            labels,
            ..Self::new(rows, on, plan, counts)
        }
    }

    /// The cluster of every row, and the counts.
    pub(super) fn into_parts(self) -> (Vec<u32>, Counts) {
        (self.labels, self.counts)
    }

    /// Moves single rows wherever that lowers the loss, in so many passes over the rows at most; whether any moved. Rounds do not go
    /// on from here.
    pub(super) fn exchange(&mut self, passes: u32) -> bool {
        let (plan, offsets) = (self.plan, self.rows.offsets());
        match plan.assignment {
            Assignment::NormalisedCut(sizes) => self.exchange_by(
                Cuts::of(&self.counts, offsets, plan.base_weights, sizes),
                passes,
            ),
            Assignment::Utility(utility) => self.exchange_by(
                Worths::of(&self.counts, offsets, plan.base_weights, Some(utility)),
                passes,
            ),
            Assignment::Nearest | Assignment::Likeliest => self.exchange_by(
                Worths::of(&self.counts, offsets, plan.base_weights, None),
                passes,
            ),
        }
    }

    fn exchange_by(&mut self, mut worths: impl Exchange, passes: u32) -> bool {
        let (mut gains, mut any) = (vec![0.0; self.plan.clusters], false);
        for _ in 0..passes {
            let mut moved = false;
            for at in 0..self.on.len() {
                let (row, own) = (self.on[at] as usize, self.labels[at]);
                let labels: Vec<(usize, usize)> = self.rows.places(row).collect();
                let weight = f64::from(self.rows.weight(row));
                let Some(to) = worths.best_move(&self.counts, &labels, (own, weight), &mut gains)
                else {
                    continue;
                };
                worths.moved(&self.counts, &labels, (own, to), weight);
                self.put(at as u32, own, to);
                moved = true;
            }
            any |= moved;
            if !moved {
                break;
            }
        }
        any
    }

    /// Moves one row from a cluster (none at first) to another.
    fn put(&mut self, at: u32, from: u32, to: u32) {
        let row = self.on[at as usize] as usize;
        let weight = i64::from(self.rows.weight(row));
        if from != u32::MAX {
            self.counts.add(self.rows.places(row), from, -weight);
        }
        self.counts.add(self.rows.places(row), to, weight);
        self.labels[at as usize] = to;
    }

    /// Gives every empty cluster the row that fits its own cluster worst, while any row fits less than perfectly.
    fn refill(&mut self) {
        while let Some(empty) = self.counts.first_empty() {
            let misfit = |at: usize| {
                let (row, k) = (self.on[at] as usize, self.labels[at]);
                let alone = self.counts.objects(k) == i64::from(self.rows.weight(row));
                if alone {
                    0.0
                } else {
                    self.counts
                        .misfit(self.rows.places(row), k, self.plan.base_weights)
                }
            };
            let misfits: Vec<f64> = (0..self.on.len()).into_par_iter().map(misfit).collect();
            let worst = (0..misfits.len()).fold(0, |worst, at| {
                if misfits[at] > misfits[worst] {
                    at
                } else {
                    worst
                }
            });
            if misfits[worst] <= 0.0 {
                break;
            }
            self.moved.push((worst as u32, self.labels[worst]));
            self.lead.limits[worst] = f64::NEG_INFINITY;
            self.put(worst as u32, self.labels[worst], empty);
        }
    }
}
