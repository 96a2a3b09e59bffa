//! Multi-start ascent: runs from independent initializations side by side, of which the best is kept.

use std::convert::Infallible;
use std::num::NonZeroU32;

use partita_core::{
    BaseWeights, Clusters, Flow, Monitor, MultiStart, PassError, PassRunner, ProblemSize,
    ProgressCounter, RowSample, Seed, Sense, Settings, Stopped, map_parallel,
};

use crate::error::MixtureError;
use crate::shared::initialization;
use crate::shared::kept::{Kept, KeptOf};
use crate::shared::weighted_rows::WeightedRows;

/// One run of an iteration that ascends an objective.
#[derive(Clone, Debug)]
pub(crate) struct Run<T> {
    pub(crate) result: T,
    /// The objective by round.
    pub(crate) trace: Vec<f64>,
    pub(crate) stopped: Stopped,
}

impl<T> Run<T> {
    pub(crate) fn map<U>(self, map: impl FnOnce(T) -> U) -> Run<U> {
        Run {
            result: map(self.result),
            trace: self.trace,
            stopped: self.stopped,
        }
    }

    pub(crate) fn objective(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// How many initializations and rounds a fit has, and when a round gains too little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) restarts: NonZeroU32,
    pub(crate) rounds: NonZeroU32,
    /// The share of the objective that a round must gain.
    pub(crate) tolerance: f64,
}

impl Limits {
    /// A counter of the rounds of all initializations, and of so many runs more.
    pub(crate) fn progress<'a>(&self, monitor: &'a dyn Monitor, more: u64) -> ProgressCounter<'a> {
        ProgressCounter::new(
            monitor,
            u64::from(self.rounds.get()) * (u64::from(self.restarts.get()) + more),
        )
    }

    /// The same where most initializations run for a few rounds only, as in [`best_of_finalists`].
    pub(crate) fn progress_of_finalists<'a>(
        &self,
        monitor: &'a dyn Monitor,
        more: u64,
    ) -> ProgressCounter<'a> {
        let (rounds, restarts) = (u64::from(self.rounds.get()), u64::from(self.restarts.get()));
        let short = rounds.min(SHORT.into()) * restarts;
        ProgressCounter::new(
            monitor,
            short + rounds * (restarts.div_ceil(OF_EACH as u64) + more),
        )
    }
}

/// Ascends from `state`: `round` returns the objective of a state and the next one. Keeps the last state whose
/// objective is known, and stops when a round gains at most `tolerance` times the objective.
pub(crate) fn ascend<T>(
    state: T,
    limits: Limits,
    progress: &ProgressCounter<'_>,
    round: impl Fn(&T) -> (f64, T),
) -> Run<T> {
    match try_ascend(state, limits, progress, |state| {
        Ok::<_, Infallible>(round(state))
    }) {
        Ok(run) => run,
    }
}

/// [`ascend`] where a round may fail.
fn try_ascend<T, E>(
    mut state: T,
    limits: Limits,
    progress: &ProgressCounter<'_>,
    round: impl Fn(&T) -> Result<(f64, T), E>,
) -> Result<Run<T>, E> {
    let most = limits.rounds.get() as usize;
    let mut trace: Vec<f64> = Vec::new();
    loop {
        let (objective, next) = round(&state)?;
        let gain = trace
            .last()
            .map_or(f64::INFINITY, |before| objective - before);
        trace.push(objective);
        progress.add(1);
        let stop = progress.stopped();
        let stopped = if gain <= limits.tolerance * objective.abs() {
            Some(Stopped::Converged)
        } else if stop {
            Some(Stopped::Interrupted)
        } else {
            (trace.len() >= most).then_some(Stopped::RoundLimit)
        };
        if let Some(stopped) = stopped {
            progress.add((most - trace.len()) as u64);
            return Ok(Run {
                result: state,
                trace,
                stopped,
            });
        }
        state = next;
    }
}

/// Rounds after which initializations are compared.
const SHORT: u32 = 20;

/// Of so many initializations one goes on.
const OF_EACH: usize = 4;

/// Objectives that differ by no more than this share are the same run twice.
const SAME: f64 = 1e-9;

/// The run with the highest objective, and the objectives of all: every initialization runs for a few rounds, and of those that
/// differ the best quarter goes on to the end. When the monitor asks to stop, the best so far is kept.
pub(crate) fn best_of_finalists<T: Send>(
    limits: Limits,
    progress: &ProgressCounter<'_>,
    start: impl Fn(u32) -> T + Sync,
    ascend: impl Fn(T, Limits) -> Run<T> + Sync,
) -> (Run<T>, Vec<f64>) {
    let restarts = limits.restarts.get();
    let alone = restarts == 1 || limits.rounds.get() <= SHORT;
    let short = if alone {
        limits
    } else {
        Limits {
            rounds: NonZeroU32::new(SHORT).unwrap_or(limits.rounds),
            ..limits
        }
    };
    let runs = begun(restarts, progress, |restart| ascend(start(restart), short));
    let rough: Vec<f64> = runs.iter().map(Run::objective).collect();
    let last = finalists(&rough);
    let finish = |(at, run): (usize, Run<T>)| {
        let over = alone || !last.contains(&at) || progress.flow() == Flow::Stop;
        if over {
            run
        } else {
            go_on(run, limits, &ascend)
        }
    };
    best_run(map_parallel(runs.into_iter().enumerate(), finish), progress)
}

/// Runs of all initializations in their order. Once the monitor asks to stop, those that have not begun are left out, but for the first.
fn begun<T: Send>(
    restarts: u32,
    progress: &ProgressCounter<'_>,
    run: impl Fn(u32) -> Run<T> + Sync,
) -> Vec<Run<T>> {
    let wanted = |restart: u32| restart == 0 || progress.flow() == Flow::Continue;
    map_parallel(0..restarts, |restart| wanted(restart).then(|| run(restart)))
        .into_iter()
        .flatten()
        .collect()
}

/// The run with the highest objective (the first of equals), and the objectives of all. What a stop left undone was interrupted.
fn best_run<T>(mut runs: Vec<Run<T>>, progress: &ProgressCounter<'_>) -> (Run<T>, Vec<f64>) {
    let objectives: Vec<f64> = runs.iter().map(Run::objective).collect();
    let mut best = runs.swap_remove(SELECT.best(&objectives).expect("at least one restart"));
    if best.stopped == Stopped::RoundLimit && progress.flow() == Flow::Stop {
        best.stopped = Stopped::Interrupted;
    }
    (best, objectives)
}

const SELECT: MultiStart = MultiStart::new(Sense::Maximise);

/// The best of the runs that differ, a quarter of all.
fn finalists(objectives: &[f64]) -> Vec<usize> {
    let mut kept: Vec<usize> = Vec::new();
    for at in SELECT.finalists(objectives, objectives.len(), f64::INFINITY) {
        let again = |&before: &usize| {
            (objectives[before] - objectives[at]).abs() <= SAME * objectives[at].abs()
        };
        if kept.len() < objectives.len().div_ceil(OF_EACH) && !kept.iter().any(again) {
            kept.push(at);
        }
    }
    kept
}

/// Goes on with a run that ended at a limit of rounds, for the rounds that are left.
fn go_on<T>(run: Run<T>, limits: Limits, ascend: &impl Fn(T, Limits) -> Run<T>) -> Run<T> {
    let left = NonZeroU32::new(limits.rounds.get().saturating_sub(run.trace.len() as u32));
    let (Some(rounds), Stopped::RoundLimit) = (left, run.stopped) else {
        return run;
    };
    let end = ascend(run.result, Limits { rounds, ..limits });
    // The first round of the second run may look at the state with which the first one ended.
    let again = usize::from(end.trace.first() == run.trace.last());
    let trace = run
        .trace
        .iter()
        .chain(end.trace.iter().skip(again))
        .copied()
        .collect();
    Run { trace, ..end }
}

/// Where there are more than twice as many distinct rows, initializations compete on a sample of so many.
pub(crate) const SAMPLE_ROWS: usize = 32_768;

/// The best run on `rows`, and the objectives of all: where there are many rows, initializations compete on a sample of
/// them, and only the best goes on with all.
pub(crate) fn best_on<T>(
    rows: &WeightedRows<'_>,
    seed: Seed,
    compete: impl FnOnce(&WeightedRows<'_>) -> (Run<T>, Vec<f64>),
    go_on: impl FnOnce(T) -> Run<T>,
) -> (Run<T>, Vec<f64>) {
    match initialization::sample(rows, SAMPLE_ROWS, seed.child(u64::MAX)) {
        None => compete(rows),
        Some(sample) => {
            let (best, objectives) = compete(&sample);
            (go_on(best.result), objectives)
        }
    }
}

/// A fit over label rows that are not held: [`best_of_sample`] of a fit that ascends by rounds.
pub(crate) fn best_over_rows<T: Kept>(
    (rows, weights): (&PassRunner<'_>, Option<&BaseWeights>),
    (clusters, seed): (usize, Seed),
    (settings, limits): (&impl Settings, Limits),
    monitor: &dyn Monitor,
    compete: impl FnOnce(&WeightedRows<'_>, &ProgressCounter<'_>) -> (Run<T>, Vec<f64>),
    round: impl Fn(&T) -> Result<(f64, T), PassError>,
) -> Result<(Run<T>, Vec<f64>), MixtureError> {
    let progress = limits.progress_of_finalists(monitor, 1);
    best_of_sample(
        (rows, weights),
        (clusters, seed),
        settings,
        |sample| compete(sample, &progress),
        |best| try_ascend(best, limits, &progress, &round),
    )
}

/// A fit over label rows that are not held: checks the settings, lets initializations `compete` on a sample of the rows,
/// and goes on from the best of them with all rows, unless the sample has all rows that differ. The run, and the objectives
/// of all initializations on the sample.
pub(crate) fn best_of_sample<T: Kept>(
    (rows, weights): (&PassRunner<'_>, Option<&BaseWeights>),
    (clusters, seed): (usize, Seed),
    settings: &impl Settings,
    compete: impl FnOnce(&WeightedRows<'_>) -> (Run<T>, Vec<f64>),
    go_on: impl FnOnce(T) -> Result<Run<T>, PassError>,
) -> Result<(Run<T>, Vec<f64>), MixtureError> {
    let (objects, bases) = (rows.source().rows() as usize, rows.source().bases());
    MixtureError::check(
        settings,
        &ProblemSize::of_bases(objects, bases, Clusters::Exactly(clusters)),
    )?;
    let weights = weights.map(BaseWeights::copies);
    let RowSample {
        ensemble,
        weights: of_rows,
        whole,
        ..
    } = RowSample::draw(rows, SAMPLE_ROWS, seed.child(u64::MAX))?;
    let sample = WeightedRows::weighted(&ensemble, &of_rows)?
        .with_base_weights(weights.map(<[f64]>::to_vec));
    let made = || {
        let (best, objectives) = compete(&sample);
        (best.result.keep(), best.trace, best.stopped, objectives)
    };
    let (form, trace, stopped, objectives) = rows.once("mixture/starts", |_| true, made)?;
    let other = || PassError::Parts("what is kept of 'mixture/starts' is of other rows".into());
    let result = T::open(
        form,
        &KeptOf {
            bases,
            clusters,
            weights,
        },
    )
    .ok_or_else(other)?;
    if whole {
        return Ok((
            Run {
                result,
                trace,
                stopped,
            },
            objectives,
        ));
    }
    drop(sample);
    drop((ensemble, of_rows));
    Ok((go_on(result)?, objectives))
}
