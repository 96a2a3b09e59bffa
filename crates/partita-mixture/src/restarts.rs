//! Independent starts, side by side; the best is kept.

use std::convert::Infallible;
use std::num::{NonZeroU32, Saturating};
use std::sync::atomic::{AtomicU64, Ordering};

use partita_core::{Flow, Monitor, ProblemSize, Seed, Stopped};
use rayon::prelude::*;

use crate::{Rows, seeding};

/// One run of an iteration that climbs.
#[derive(Clone, Debug)]
pub(crate) struct Run<T> {
    pub(crate) result: T,
    /// The objective by round.
    pub(crate) trace: Vec<f64>,
    pub(crate) stopped: Stopped,
}

impl<T> Run<T> {
    pub(crate) fn objective(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// Counts rounds of all runs and asks whether to go on.
pub(crate) struct Rounds<'a> {
    monitor: &'a dyn Monitor,
    done: AtomicU64,
    total: u64,
}

impl<'a> Rounds<'a> {
    pub(crate) fn new(monitor: &'a dyn Monitor, total: u64) -> Self {
        Self { monitor, done: AtomicU64::new(0), total }
    }

    /// One more round is done.
    pub(crate) fn tick(&self) -> Flow {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        self.monitor.tick(done.min(self.total), self.total)
    }

    /// A run ended before its last round.
    pub(crate) fn skip(&self, rounds: u64) {
        self.done.fetch_add(rounds, Ordering::Relaxed);
    }
}

/// Climbs from `state`: `round` returns the objective of a state and the next one. Keeps the last state whose
/// objective is known, and stops when a round gains at most `tolerance` times the objective.
pub(crate) fn climb<T>(state: T, limits: (u32, f64), rounds: &Rounds<'_>, round: impl Fn(&T) -> (f64, T)) -> Run<T> {
    match try_climb(state, limits, rounds, |state| Ok::<_, Infallible>(round(state))) {
        Ok(run) => run,
    }
}

/// [`climb`] where a round may fail.
pub(crate) fn try_climb<T, E>(
    mut state: T,
    (most, tolerance): (u32, f64),
    rounds: &Rounds<'_>,
    round: impl Fn(&T) -> Result<(f64, T), E>,
) -> Result<Run<T>, E> {
    let mut trace: Vec<f64> = Vec::new();
    loop {
        let (objective, next) = round(&state)?;
        let gain = trace.last().map_or(f64::INFINITY, |before| objective - before);
        trace.push(objective);
        let flow = rounds.tick();
        let stopped = if gain <= tolerance * objective.abs() {
            Some(Stopped::Converged)
        } else if flow == Flow::Stop {
            Some(Stopped::Interrupted)
        } else {
            (trace.len() >= most as usize).then_some(Stopped::RoundLimit)
        };
        if let Some(stopped) = stopped {
            rounds.skip(u64::from(most) - trace.len() as u64);
            return Ok(Run { result: state, trace, stopped });
        }
        state = next;
    }
}

/// Where there are more than twice as many distinct rows, starts race on a sample of so many.
const RACE_ROWS: usize = 32_768;

/// The course on which the starts of a fit race each other: a sample of the rows where there are many, and then only
/// the best start climbs on all of them.
pub(crate) fn course(rows: &Rows<'_>, seed: Seed) -> Option<Rows<'static>> {
    seeding::sample(rows, RACE_ROWS, seed.child(u64::MAX))
}

/// The run with the highest objective (the first of equals), and the objectives of all.
pub(crate) fn best_of<T: Send>(restarts: u32, run: impl Fn(u32) -> Run<T> + Sync) -> (Run<T>, Vec<f64>) {
    let runs: Vec<Run<T>> = (0..restarts).into_par_iter().map(&run).collect();
    let objectives: Vec<f64> = runs.iter().map(Run::objective).collect();
    let better = |best: Run<T>, run: Run<T>| if run.objective() > best.objective() { run } else { best };
    (runs.into_iter().reduce(better).expect("at least one restart"), objectives)
}

/// Starts that run at the same time, at most, for all that is known of the threads.
const AT_ONCE: u64 = 64;

/// Bytes of a climb: distinct rows, memberships of the result three times over, the partial sums of starts that run at
/// the same time, and the models of all starts.
pub(crate) fn bytes_of_rounds(size: &ProblemSize, restarts: NonZeroU32) -> u64 {
    let [n, m, side, k] = size.saturating();
    let restarts = u64::from(restarts.get());
    let parts = n.0.div_ceil(1024).min(64) + 5;
    let tables = Saturating(restarts.min(AT_ONCE) * parts + 4 * restarts.saturating_sub(AT_ONCE));
    let rows = n * (m * Saturating(2) + k * Saturating(24) + Saturating(40));
    (rows + tables * Saturating(8) * (side + m + Saturating(1)) * k).0
}

/// Rows that one start holds, at most.
pub(crate) fn rows_of_start(size: &ProblemSize) -> Saturating<u64> {
    Saturating((size.objects as u64).min(2 * RACE_ROWS as u64))
}
