//! Multi-start ascent: initializations compete on a sample of the rows, and the best goes on with all.

use std::num::NonZeroU32;

use partita_core::{
    EnsembleRows, Flow, Monitor, MultiStart, PassError, PassRunner, ProgressCounter, RowProblem,
    RowSample, Sense, Stopped, map_parallel,
};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::shared::held_rows::HeldRows;
use crate::shared::layout::BaseLayout;

/// How a mixture is fitted, over a sample of the rows as over all of them.
pub(crate) trait MixtureFit: Sync {
    /// What an iteration changes.
    type State: Send + Serialize + DeserializeOwned;

    /// Where an initialization begins.
    fn start(&self, rows: HeldRows<'_>, restart: u32) -> Self::State;

    /// Iterations from a state until they end.
    fn ascend(
        &self,
        rows: &PassRunner<'_>,
        state: Self::State,
        limits: Limits,
        progress: &ProgressCounter<'_>,
    ) -> Result<Run<Self::State>, PassError>;

    /// Whether a state that was kept is of such rows.
    fn fits(&self, state: &Self::State) -> bool;
}

/// Different rows on which initializations compete.
pub(crate) const SAMPLE_ROWS: usize = 32_768;

/// The best of all initializations on a sample of the rows, and what all reached.
#[derive(Serialize, Deserialize)]
pub(crate) struct Competition<T> {
    pub(crate) best: Run<T>,
    /// The objectives of all initializations.
    pub(crate) objectives: Vec<f64>,
}

/// Initializations compete on a sample; the best of them goes on with all rows, unless the sample has all rows that differ.
pub(crate) fn best_fit<F: MixtureFit>(
    fit: &F,
    problem: &RowProblem<'_>,
    layout: &BaseLayout,
    limits: Limits,
    monitor: &dyn Monitor,
) -> Result<Competition<F::State>, PassError> {
    let progress = limits.progress_of_finalists(monitor, 1);
    let rows = problem.passes();
    let sample = RowSample::draw(&rows, SAMPLE_ROWS, problem.seed.child(u64::MAX))?;
    let whole = sample.whole;
    let fits = |kept: &Competition<F::State>| fit.fits(&kept.best.result);
    let found = rows.once("mixture/starts", fits, || {
        let rows = EnsembleRows::weighted(&sample.ensemble, &sample.weights).with_shares();
        best_of_finalists(fit, HeldRows { rows, layout }, limits, &progress)
    })?;
    drop(sample);
    if whole {
        return Ok(found);
    }
    Ok(Competition {
        best: fit.ascend(&rows, found.best.result, limits, &progress)?,
        objectives: found.objectives,
    })
}

/// One run of an iteration that ascends an objective.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Run<T> {
    pub(crate) result: T,
    /// The objective by iteration.
    pub(crate) trace: Vec<f64>,
    pub(crate) stopped: Stopped,
}

impl<T> Run<T> {
    pub(crate) fn objective(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::NEG_INFINITY)
    }
}

/// How many initializations and iterations a fit has, and when an iteration gains too little.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    pub(crate) restarts: NonZeroU32,
    pub(crate) iterations: NonZeroU32,
    /// The share of the objective that an iteration must gain.
    pub(crate) tolerance: f64,
}

impl Limits {
    /// The same of one run.
    pub(crate) fn of_one_run(self) -> Self {
        Self {
            restarts: NonZeroU32::MIN,
            ..self
        }
    }

    /// A counter of the iterations of all initializations, and of so many runs more.
    pub(crate) fn progress<'a>(&self, monitor: &'a dyn Monitor, more: u64) -> ProgressCounter<'a> {
        ProgressCounter::new(
            monitor,
            u64::from(self.iterations.get()) * (u64::from(self.restarts.get()) + more),
        )
    }

    /// The same where most initializations run for a few iterations only, as in [`best_fit`].
    pub(crate) fn progress_of_finalists<'a>(
        &self,
        monitor: &'a dyn Monitor,
        more: u64,
    ) -> ProgressCounter<'a> {
        let (iterations, restarts) = (
            u64::from(self.iterations.get()),
            u64::from(self.restarts.get()),
        );
        let short = iterations.min(SHORT.into()) * restarts;
        ProgressCounter::new(
            monitor,
            short + iterations * (restarts.div_ceil(OF_EACH as u64) + more),
        )
    }
}

/// Ascends from `state`: `iteration` returns the objective of a state and the next one. Keeps the last state whose
/// objective is known, and stops when an iteration gains at most `tolerance` times the objective.
pub(crate) fn ascend<T>(
    mut state: T,
    limits: Limits,
    progress: &ProgressCounter<'_>,
    iteration: impl Fn(&T) -> Result<(f64, T), PassError>,
) -> Result<Run<T>, PassError> {
    let most = limits.iterations.get() as usize;
    let mut trace: Vec<f64> = Vec::new();
    loop {
        let (objective, next) = iteration(&state)?;
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
            (trace.len() >= most).then_some(Stopped::IterationLimit)
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

/// Iterations after which initializations are compared.
const SHORT: u32 = 20;

/// Of so many initializations one goes on.
const OF_EACH: usize = 4;

/// Objectives that differ by no more than this share are the same run twice.
const SAME: f64 = 1e-9;

/// The run with the highest objective, and the objectives of all: every initialization runs for a few iterations, and of those that
/// differ the best quarter goes on to the end. When the monitor asks to stop, the best so far is kept.
fn best_of_finalists<F: MixtureFit>(
    fit: &F,
    rows: HeldRows<'_>,
    limits: Limits,
    progress: &ProgressCounter<'_>,
) -> Competition<F::State> {
    let ascend = |state, limits| {
        let run = fit.ascend(&rows.passes(), state, limits, progress);
        run.expect("rows in memory are read, and nobody stops a pass")
    };
    let restarts = limits.restarts.get();
    let alone = restarts == 1 || limits.iterations.get() <= SHORT;
    let short = if alone {
        limits
    } else {
        Limits {
            iterations: NonZeroU32::new(SHORT).unwrap_or(limits.iterations),
            ..limits
        }
    };
    let runs = begun(restarts, progress, |restart| {
        let start = fit.start(rows, restart);
        // A start takes about as long as an iteration.
        let wanted = restart == 0 || progress.flow() == Flow::Continue;
        wanted.then(|| ascend(start, short))
    });
    let rough: Vec<f64> = runs.iter().map(Run::objective).collect();
    let last = finalists(&rough);
    let finish = |(at, run): (usize, Run<F::State>)| {
        let over = alone || !last.contains(&at) || progress.flow() == Flow::Stop;
        if over {
            run
        } else {
            go_on(run, limits, &ascend)
        }
    };
    let runs = map_parallel(runs.into_iter().enumerate(), finish);
    // Objectives may fall on the way (that of CVB does): a run that was cut off does not win for that.
    let whole =
        |at: &usize| alone || last.contains(at) || runs[*at].stopped != Stopped::IterationLimit;
    let among = (0..runs.len()).filter(whole).collect();
    best_run(runs, among, progress)
}

/// Runs of all initializations in their order. Once the monitor asks to stop, those that have not begun are left out, but for the first.
fn begun<T: Send>(
    restarts: u32,
    progress: &ProgressCounter<'_>,
    run: impl Fn(u32) -> Option<Run<T>> + Sync,
) -> Vec<Run<T>> {
    let wanted = |restart: u32| restart == 0 || progress.flow() == Flow::Continue;
    map_parallel(0..restarts, |restart| {
        wanted(restart).then(|| run(restart))?
    })
    .into_iter()
    .flatten()
    .collect()
}

/// The run with the highest objective of some (the first of equals), and the objectives of all. What a stop left undone was interrupted.
fn best_run<T>(
    mut runs: Vec<Run<T>>,
    among: Vec<usize>,
    progress: &ProgressCounter<'_>,
) -> Competition<T> {
    let objectives: Vec<f64> = runs.iter().map(Run::objective).collect();
    let best = SELECT.best_among(&objectives, among);
    let mut best = runs.swap_remove(best.expect("at least one run goes on to the end"));
    if best.stopped == Stopped::IterationLimit && progress.flow() == Flow::Stop {
        best.stopped = Stopped::Interrupted;
    }
    Competition { best, objectives }
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

/// Goes on with a run that ended at a limit of iterations, for the iterations that are left.
fn go_on<T>(run: Run<T>, limits: Limits, ascend: &impl Fn(T, Limits) -> Run<T>) -> Run<T> {
    let left = NonZeroU32::new(
        limits
            .iterations
            .get()
            .saturating_sub(run.trace.len() as u32),
    );
    let (Some(iterations), Stopped::IterationLimit) = (left, run.stopped) else {
        return run;
    };
    let end = ascend(
        run.result,
        Limits {
            iterations,
            ..limits
        },
    );
    // The first iteration of the second run may look at the state with which the first one ended.
    let again = usize::from(end.trace.first() == run.trace.last());
    let trace = run
        .trace
        .iter()
        .chain(end.trace.iter().skip(again))
        .copied()
        .collect();
    Run { trace, ..end }
}
