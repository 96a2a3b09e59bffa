//! PEnCA: EM for the dyadic aspect model from several initializations.

use std::num::NonZeroU32;

use partita_core::{
    Flow, Monitor, MultiStart, Objective, Outcome, ProgressCounter, Sense, Settings, Stopped,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::aspects::Aspects;
use crate::counts::DyadCounts;
use crate::criterion::Criterion;
use crate::diagnostics::{PencaDiagnostics, PencaRestart};
use crate::error::AspectError;
use crate::starts::{Start, StartFrom};

/// Settings of [`penca`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct PencaSettings {
    /// Random initializations besides those that `start` names; the highest likelihood is kept. None as a default: with six the likelihood
    /// is often higher, of clusters nearer in size and, over twelve sets, further from the classes (docs/reproduction/penca.md).
    ///
    /// They are drawn from Dirichlet(1): see [the crate](crate).
    #[setting(range = 0..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: u32,
    /// What EM starts from besides: trees (the cuts by single and by average link), single-link, average-link, or random (one draw if
    /// `restarts` is 0). Probabilities that you give to start from come in the place of all.
    pub start: StartFrom,
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when ten iterations raise the log-likelihood by at most this much, in nats for every time that two objects are
    /// together.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
    /// Whether a base clustering that labels an object counts as the object being together with itself: C with its diagonal. It draws
    /// clusters towards few objects each.
    pub diagonal: bool,
    /// What chooses the number of clusters where it is not given: bic, mdl, or dirichlet-process, which has no number to choose.
    pub criterion: Criterion,
    /// Pairs that are read of each object, on average, in a sample of all pairs; 0 reads all pairs. Unset: all up to 10,000 objects, 100 an object
    /// beyond.
    #[setting(range = 0..=1_000_000, alias = "partners")]
    pub pairs_per_object: Option<u32>,
}

impl Default for PencaSettings {
    fn default() -> Self {
        Self {
            restarts: 0,
            start: StartFrom::default(),
            iterations: NonZeroU32::new(2000).expect("not 0"),
            tolerance: 1e-7,
            diagonal: false,
            criterion: Criterion::default(),
            pairs_per_object: None,
        }
    }
}

/// The most objects for which all pairs are read unless the settings say otherwise.
const ALL_PAIRS: usize = 10_000;

impl PencaSettings {
    /// Partners of each of so many objects, or none for all pairs.
    pub(crate) fn sampled(&self, objects: usize) -> Option<u32> {
        let usual = if objects <= ALL_PAIRS { 0 } else { 100 };
        let chosen = self.pairs_per_object.unwrap_or(usual);
        (chosen > 0 && (chosen as usize) < objects.saturating_sub(1)).then_some(chosen)
    }
}

/// Iterations between two looks at the likelihood, which costs about as much as an iteration.
pub(crate) const STRIDE: u32 = 10;

/// Iterations after which starts are compared.
const ROUGH_ROUNDS: u32 = 50;

/// Starts that are finished after the first heat.
const FINALISTS: usize = 2;

/// EM from one start.
#[derive(Clone, Debug)]
pub(crate) struct Run {
    pub(crate) aspects: Aspects,
    /// The log-likelihood at the start and after every ten iterations.
    pub(crate) trace: Vec<f64>,
    pub(crate) iterations: u32,
    /// Why it stopped; none while there is more to gain.
    pub(crate) stopped: Option<Stopped>,
}

impl Run {
    pub(crate) fn value(&self) -> f64 {
        self.trace[self.trace.len() - 1]
    }
}

/// The aspect model of `starts[·]`'s number of components under which the counts are most likely.
///
/// ```text
/// maximise  Σ_{y<z} c_yz ln Σ_r p_r B_ry B_rz       over distributions p, B_1, …, B_L
/// ```
///
/// | slides | here |
/// |---|---|
/// | C, N, L | [`DyadCounts`], n, K |
/// | p_r, B_rj, V_jr | [`Aspects::shares`], [`Aspects::members`], [`Aspects::soft`] |
/// | R_mr | never formed: an iteration keeps n × L sums |
///
/// All starts run for 50 iterations; the two with the highest likelihood run to the end, the higher of which is kept.
/// Components may die: they keep their number, with probability 0, and `details.live_clusters` counts the others.
/// `details.restarts` has the log-likelihood of every start and whether it was finished.
///
/// # Errors
/// [`AspectError::Objects`] if a start has other objects than the counts, [`AspectError::Settings`] for a tolerance
/// that is negative or not finite, [`AspectError::Interrupted`] where somebody asks to stop before there is a model.
///
/// # Cost
/// O(pairs · L) an iteration; on all pairs n² L / 4 operations on vectors, on some the pairs that were ever together.
///
/// # Differences from the slides
/// They name no start, no end and no size of the sample: see [`PencaSettings`].
///
/// # Panics
/// If there is no start.
pub fn penca(
    counts: &DyadCounts,
    starts: Vec<Start>,
    settings: &PencaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PencaDiagnostics>, AspectError> {
    check(counts, &starts, settings)?;
    let iterations = starts.len() as u64 * u64::from(settings.iterations.get());
    let progress = ProgressCounter::new(monitor, iterations);
    let finished = run_all(counts, starts, settings, &progress).ok_or(AspectError::Interrupted)?;
    Ok(outcome(counts, finished))
}

pub(crate) fn check(
    counts: &DyadCounts,
    starts: &[Start],
    settings: &PencaSettings,
) -> Result<(), AspectError> {
    assert!(!starts.is_empty(), "a run needs a start");
    let expected = counts.objects();
    let mut objects = starts.iter().map(|start| start.aspects.objects());
    if let Some(found) = objects.find(|found| *found != expected) {
        return Err(AspectError::Objects { found, expected });
    }
    Ok(settings.check_ranges()?)
}

/// Runs from several starts, and which of them is best.
pub(crate) struct FinishedRuns {
    pub(crate) names: Vec<String>,
    pub(crate) runs: Vec<Run>,
    pub(crate) best: usize,
}

impl FinishedRuns {
    pub(crate) fn best(&self) -> &Run {
        &self.runs[self.best]
    }
}

/// The runs from all starts, but from those that had not begun when somebody asked to stop; nothing if none had.
pub(crate) fn run_all(
    counts: &DyadCounts,
    starts: Vec<Start>,
    settings: &PencaSettings,
    progress: &ProgressCounter<'_>,
) -> Option<FinishedRuns> {
    let stop = || progress.flow() == Flow::Stop;
    let (names, mut runs): (Vec<String>, Vec<Run>) = starts
        .into_par_iter()
        .filter_map(|start| {
            let trace = vec![start.aspects.log_likelihood_unless(counts, stop)?];
            let aspects = start.aspects;
            Some((
                start.name,
                Run {
                    aspects,
                    trace,
                    iterations: 0,
                    stopped: None,
                },
            ))
        })
        .unzip();
    let last = settings.iterations.get();
    let rough = ROUGH_ROUNDS.min(last);
    let all = runs.par_iter_mut();
    all.for_each(|run| go(counts, run, rough, settings, progress));
    let select = MultiStart::new(Sense::Maximise);
    let finalists = select.finalists(&values(&runs), FINALISTS, f64::INFINITY);
    let goes_on = runs
        .par_iter_mut()
        .enumerate()
        .filter(|(at, _)| finalists.contains(at));
    goes_on.for_each(|(_, run)| go(counts, run, last, settings, progress));
    for at in finalists {
        runs[at].stopped.get_or_insert(Stopped::IterationLimit);
    }
    let best = select.best(&values(&runs))?;
    Some(FinishedRuns { names, runs, best })
}

fn values(runs: &[Run]) -> Vec<f64> {
    runs.iter().map(Run::value).collect()
}

/// Goes on to iteration `last`, or until there is little to gain. Iterations after the last look at the likelihood are dropped when somebody
/// asks to stop.
fn go(
    counts: &DyadCounts,
    run: &mut Run,
    last: u32,
    settings: &PencaSettings,
    progress: &ProgressCounter<'_>,
) {
    let small = settings.tolerance * counts.total();
    while run.iterations < last && run.stopped.is_none() {
        let iterations = STRIDE.min(last - run.iterations);
        let Some((aspects, now)) = stride(counts, &run.aspects, iterations, progress) else {
            run.stopped = Some(Stopped::Interrupted);
            break;
        };
        let before = run.value();
        run.aspects = aspects;
        run.iterations += iterations;
        run.trace.push(now);
        if now - before <= small {
            run.stopped = Some(Stopped::Converged);
        }
    }
}

/// The model after so many iterations and its log-likelihood, or nothing if somebody asks to stop.
fn stride(
    counts: &DyadCounts,
    aspects: &Aspects,
    iterations: u32,
    progress: &ProgressCounter<'_>,
) -> Option<(Aspects, f64)> {
    let stop = || progress.flow() == Flow::Stop;
    let mut next = aspects.clone();
    for _ in 0..iterations {
        if progress.stopped() {
            return None;
        }
        progress.add(1);
        next = next.improved_unless(counts, stop)?;
    }
    let value = next.log_likelihood_unless(counts, stop)?;
    Some((next, value))
}

/// What [`Objective::name`] says.
const OBJECTIVE: &str = "log-likelihood of the pairs that are together, nats";
const EVIDENCE: &str = "lower bound of the log evidence of the pairs that are together, nats";

pub(crate) fn outcome(counts: &DyadCounts, finished: FinishedRuns) -> Outcome<PencaDiagnostics> {
    let FinishedRuns {
        names,
        mut runs,
        best,
    } = finished;
    let restarts = names.iter().zip(&runs).map(|(name, run)| PencaRestart {
        start: name.clone(),
        log_likelihood: run.value(),
        iterations: run.iterations,
        stopped: run
            .stopped
            .map_or("outrun".into(), |stopped| stopped.to_string()),
    });
    let restarts = restarts.collect();
    let interrupted = runs
        .iter()
        .any(|run| run.stopped == Some(Stopped::Interrupted));
    let kept = runs.swap_remove(best);
    let stopped = match kept.stopped {
        _ if interrupted => Stopped::Interrupted,
        stopped => stopped.unwrap_or(Stopped::IterationLimit),
    };
    let value = kept.value();
    let mut outcome = Outcome::soft(kept.aspects.soft(), stopped);
    outcome.iterations = kept.iterations.into();
    let diagnostics = PencaDiagnostics {
        restarts,
        start: names[best].clone(),
        live_clusters: outcome.partition.live_clusters(),
        live_components: kept.aspects.live(),
        shares: kept.aspects.summed_to_one().shares,
        pairs_together: counts.total(),
        choice: None,
    };
    outcome.objective = Some(Objective {
        name: kept.aspects.posterior.map_or(OBJECTIVE, |_| EVIDENCE),
        sense: Sense::Maximise,
        value,
        trace: kept.trace,
    });
    let alone = counts.alone();
    if alone > 0 {
        outcome.warnings.push(format!(
            "{alone} objects are never together with another; nothing is known of their clusters and their \
             probabilities are the clusters' shares"
        ));
    }
    outcome.with(diagnostics)
}
