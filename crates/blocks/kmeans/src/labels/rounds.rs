//! Rounds of k-means on label rows, wherever the rows are: what to optimise, and when to stop.

use std::num::NonZeroU32;

use partita_core::{Flow, Monitor, Stopped};

use super::assignment::Assignment;

/// Random swaps for each initialization where the result is to be as good as it can be ([`Plan::swaps`]).
pub const SWAPS: u32 = 8;

/// What to optimise and for how long.
#[derive(Clone, Copy, Debug)]
pub struct Plan<'a> {
    /// Clusters, K.
    pub clusters: usize,
    /// How much a label of each base clustering counts, M numbers.
    pub base_weights: &'a [f64],
    /// How a row chooses its cluster.
    pub assignment: Assignment<'a>,
    /// Initializations; the best is kept.
    #[doc(alias = "n_init")]
    pub restarts: NonZeroU32,
    /// Random swaps that are tried for each initialization, at most.
    pub swaps: u32,
    /// Most iterations of one run.
    #[doc(alias = "max_iter")]
    pub rounds: NonZeroU32,
    /// Stop when an iteration gains at most this share of the sum of squares.
    #[doc(alias = "tol")]
    pub tolerance: f64,
}

impl Plan<'_> {
    /// Rounds of all runs, at most.
    pub(super) fn all_rounds(&self, go_on: bool) -> u64 {
        u64::from(self.rounds.get()) * (u64::from(self.restarts.get()) + u64::from(go_on))
    }
}

/// Where a run reports: to whom, rounds done before it, and rounds of all runs.
#[derive(Clone, Copy)]
pub(super) struct Progress<'a> {
    pub(super) monitor: &'a dyn Monitor,
    pub(super) done: u64,
    pub(super) total: u64,
}

/// Rows that choose their clusters, wherever they are.
pub(super) trait Rounds {
    /// Why rows cannot be had.
    type Error;

    /// Every row chooses by the counts, and the counts follow. An empty cluster takes the row that fits its own worst, while any row
    /// fits less than perfectly.
    fn step(&mut self) -> Result<(), Self::Error>;

    /// Undoes the last step.
    fn undo(&mut self);

    /// The sum of squares.
    fn value(&self) -> f64;
}

/// Rounds until nothing moves, the objective stands still, or the rounds are used up. Gives the objective by round, and why it
/// stopped.
pub(super) fn climb<R: Rounds>(
    rounds: &mut R,
    plan: &Plan<'_>,
    progress: Progress<'_>,
) -> Result<(Vec<f64>, Stopped), R::Error> {
    let mut trace: Vec<f64> = Vec::new();
    for round in 1..=u64::from(plan.rounds.get()) {
        rounds.step()?;
        let value = rounds.value();
        let gained = trace.last().map_or(f64::INFINITY, |last| last - value);
        let may_rise = round <= plan.assignment.first_rounds();
        if gained < 0.0 && !may_rise {
            // The nearest mean never does this; the likeliest cluster may.
            rounds.undo();
            return Ok((trace, Stopped::Converged));
        }
        trace.push(value);
        if gained <= plan.tolerance * value && !may_rise {
            return Ok((trace, Stopped::Converged));
        }
        if progress.monitor.tick(progress.done + round, progress.total) == Flow::Stop {
            return Ok((trace, Stopped::Interrupted));
        }
    }
    Ok((trace, Stopped::RoundLimit))
}
