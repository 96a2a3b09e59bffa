//! Multi-start: runs from several initializations, of which the best is kept.

use std::num::NonZeroU32;

use partita_core::ndarray::Array2;
use partita_core::{
    ClustersError, Flow, LabelStart, Monitor, MultiStart, Objective, Outcome, ProgressCounter,
    Seed, Sense, Settings, SoftPartition, Stopped, WeightedEnsemble,
};
use rayon::prelude::*;

use crate::bregman::{Beta, Bregman, Exponential, Kl, L2};
use crate::diagnostics::{PccDiagnostics, PccRestart};
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::evidence::Evidence;
use crate::memberships::{Layout, Memberships};
use crate::settings::{PccSettings, Solver, StartFrom};
use crate::solvers::{Descent, Model, check, check_start, feasible, run, scale};
use crate::split_empty_clusters::split_empty_clusters;
use crate::starts::{Start, label_kmeans, level, starts};

/// Probabilistic consensus of pair counts under one of the divergences.
///
/// Runs from every start of [`starts`], and where no tree was grown from the two best of the base clusterings of `sources` (see
/// [`base_starts`](crate::base_starts)) and of k-means on their labels (beyond 10,000 objects from the best alone, unless the settings ask
/// for random starts), and under `beta:p` from the lowest minimum of squared differences that these and a dozen random starts lead to, to a
/// relative gap of 1e-3. The two lowest objectives go on to the tolerance (the second only where it is within 1 % of the first), and the
/// lower one is kept. On sampled pairs a start that is alone is the best by one object of 16, and goes to the tolerance at once.
/// Where all pairs are known and the lowest leaves clusters empty, splits of the others are tried in their place, and kept if
/// they are lower. `details.restarts` has the objective of every run and whether it was finished; `details.spread` is that of
/// all runs, `details.spread_of_finished` that of those which were.
///
/// # Errors
/// [`PccError`] if K is out of range or the solver cannot work with the divergence.
///
/// # Cost
/// Every run takes some tens of iterations, O(n² K) each on dense evidence and O(pairs · K) on sparse.
pub fn pcc(
    evidence: &Evidence,
    sources: Sources<'_>,
    divergence: Divergence,
    clusters: usize,
    seed: Seed,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    settings.check_divergence(divergence)?;
    settings.check_ranges()?;
    let objects = evidence.objects();
    ClustersError::check(clusters, objects)?;
    let given = sources.given(objects, clusters, settings);
    let alone = given.is_some();
    let mut all = Vec::from_iter(given);
    if !alone && settings.random(objects, sources.bases.is_some()) > 0 {
        all = starts(evidence, clusters, seed, settings, monitor)?;
    }
    let bases = Bases {
        source: sources.bases.filter(|_| !alone),
        clusters,
        seed,
    };
    match divergence {
        Divergence::Kl => {
            if let (true, Some(Start { soft, .. })) = (alone, all.first()) {
                check_start(evidence, soft)?;
                let table = Memberships::of(soft.rows(), evidence.layout());
                feasible(&Model::new(&Kl, evidence), &table)?;
            }
            let starts = bases.with_best(&Kl, evidence, all, monitor);
            pcc_from(&Kl, evidence, starts, settings, monitor)
        }
        Divergence::L2 => {
            let starts = bases.with_best(&L2, evidence, all, monitor);
            pcc_from(&L2, evidence, starts, settings, monitor)
        }
        Divergence::Exponential => {
            let starts = bases.with_best(&Exponential, evidence, all, monitor);
            pcc_from(&Exponential, evidence, starts, settings, monitor)
        }
        Divergence::Beta(power) => {
            let bregman = Beta(power);
            let progress = ProgressCounter::new(monitor, SQUARES + REST);
            let starts = bases.with_best(&bregman, evidence, all, monitor);
            let part = progress.part(SQUARES);
            let starts = if alone {
                starts
            } else {
                bases.with_squares(evidence, starts, settings, &part)?
            };
            drop(part);
            pcc_from(&bregman, evidence, starts, settings, &progress.part(REST))
        }
    }
}

/// What runs of [`pcc`] start from besides evidence.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sources<'a> {
    /// Base clusterings.
    pub bases: Option<WeightedEnsemble<'a>>,
    /// Probabilities, n × K, in the place of everything else.
    pub start: Option<&'a SoftPartition>,
}

impl<'a> Sources<'a> {
    /// Base clusterings.
    pub fn of_bases(bases: WeightedEnsemble<'a>) -> Self {
        Self {
            bases: Some(bases),
            start: None,
        }
    }

    /// The only start, where there is one.
    fn given(&self, objects: usize, clusters: usize, settings: &PccSettings) -> Option<Start> {
        match (self.start, settings.start) {
            (Some(soft), _) => Some(Start::new("given", soft.clone())),
            (None, StartFrom::Uniform) => {
                let rows = Array2::from_elem((objects, clusters), 1.0 / clusters as f64);
                let soft = SoftPartition::new(rows).expect("equal shares");
                Some(Start::new("uniform", soft))
            }
            (None, StartFrom::Evidence) => None,
        }
    }
}

/// The divergence of counts from what a soft partition says.
pub(crate) fn held_out(evidence: &Evidence, soft: &SoftPartition, divergence: Divergence) -> f64 {
    let table = Memberships::of(soft.rows(), evidence.layout());
    match divergence {
        Divergence::Kl => Model::new(&Kl, evidence).objective(&table),
        Divergence::L2 => Model::new(&L2, evidence).objective(&table),
        Divergence::Exponential => Model::new(&Exponential, evidence).objective(&table),
        Divergence::Beta(power) => Model::new(&Beta(power), evidence).objective(&table),
    }
}

/// What starts are made from besides evidence.
struct Bases<'a> {
    source: Option<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
}

impl Bases<'_> {
    /// Of the base clusterings and k-means on their labels the two with the lowest objectives, before the other starts, or the lowest
    /// alone if there are no others. The rest are not held: on a million objects each takes as much memory as the evidence. Once the
    /// monitor asks to stop, no more are looked at.
    fn with_best<D: Bregman>(
        &self,
        bregman: &D,
        evidence: &Evidence,
        starts: Vec<Start>,
        monitor: &dyn Monitor,
    ) -> Vec<Start> {
        let Some(source) = self.source else {
            return starts;
        };
        let model = Model::new(bregman, evidence);
        let alone = starts.is_empty();
        let most = if alone { 1 } else { 2 };
        let kmeans = [label_kmeans(source, self.clusters, self.seed)];
        let mut kept: Vec<(f64, LabelStart)> = Vec::new();
        for start in LabelStart::of_bases(source.ensemble, self.clusters).chain(kmeans) {
            if !kept.is_empty() && monitor.flow() == Flow::Stop {
                break;
            }
            let value = if alone && evidence.layout() == Layout::Rows {
                model.sampled_objective(start.together())
            } else {
                model.objective(&Memberships::of(start.soft().rows(), evidence.layout()))
            };
            let place = kept.partition_point(|(better, _)| *better <= value);
            kept.insert(place, (value, start));
            kept.truncate(most);
        }
        let kept = kept.into_iter().map(|(_, labels)| labels.into());
        kept.chain(starts).collect()
    }

    /// With the lowest minimum of squared differences that these starts and a dozen random ones lead to, in front of them. Powers of
    /// probabilities cost ten times as much as squares, of which many runs are cheap, and minima of either are near those of the other.
    /// With the block solver, and where there are random starts at all.
    fn with_squares(
        &self,
        evidence: &Evidence,
        mut starts: Vec<Start>,
        settings: &PccSettings,
        monitor: &dyn Monitor,
    ) -> Result<Vec<Start>, PccError> {
        let objects = evidence.objects();
        if settings.solver != Solver::Block || settings.random(objects, true) == 0 {
            return Ok(starts);
        }
        let mut all = starts.clone();
        for at in 1..=RANDOM_FOR_SQUARES {
            let seed = self.seed.child(FOR_SQUARES).child(at);
            let name = format!("dirichlet {at}");
            all.push(Start::random(name, objects, self.clusters, seed));
        }
        let mut rough = settings.clone();
        rough.tolerance = rough.tolerance.max(ROUGH);
        rough.absolute_tolerance = None;
        let squares = pcc_from(&L2, evidence, all, &rough, monitor)?;
        let name = format!("squares from {}", squares.details.start);
        starts.insert(0, Start::new(name, squares.soft.expect("PCC is soft")));
        Ok(starts)
    }
}

/// Random starts of [`Bases::with_squares`], and the child of the seed that they come from.
pub(crate) const RANDOM_FOR_SQUARES: u64 = 12;
const FOR_SQUARES: u64 = u64::MAX - 2;

/// Units of progress: of [`Bases::with_squares`], and of all that follows.
const SQUARES: u64 = 2_000;
const REST: u64 = 17_000;

/// [`pcc`] under any divergence, from given starts. Objects that are in no pair of the evidence keep uniform rows;
/// `details.isolated` lists them and a warning names the first.
///
/// # Errors
/// [`PccError`] if a start does not fit the evidence, or the divergence or solver do not fit together.
///
/// # Panics
/// If there is no start.
pub fn pcc_from<D: Bregman>(
    bregman: &D,
    evidence: &Evidence,
    mut starts: Vec<Start>,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    assert!(!starts.is_empty(), "a run needs a start");
    check(bregman, settings)?;
    let settings = &settings.relative_to(scale(evidence));
    for start in &mut starts {
        check_start(evidence, &start.soft)?;
        level(evidence, start);
    }
    let model = &Model::new(bregman, evidence);
    let mut rough = settings.clone();
    let alone = starts.len() == 1 && evidence.layout() == Layout::Rows;
    if !alone {
        rough.tolerance = settings.tolerance.max(ROUGH);
    }
    let twice = rough.tolerance > settings.tolerance;
    let mut units = starts.len();
    if twice {
        units += FINALISTS;
    }
    let progress = ProgressCounter::new(monitor, units as u64 * RUN + SPLITS);
    let (mut names, mut runs): (Vec<String>, Vec<Descent>) = (starts.into_par_iter().enumerate())
        // Once somebody asks to stop, starts that have not begun are left out, but for the first.
        .filter(|(at, _)| *at == 0 || progress.flow() == Flow::Continue)
        .map(|(_, Start { name, soft })| {
            let table = Memberships::of(soft.rows(), evidence.layout());
            drop(soft);
            (name, run(model, table, &rough, &progress.part(RUN)))
        })
        .unzip();
    let mut last = SELECT.finalists(&objectives(&runs), FINALISTS, BEHIND);
    if twice {
        let goes_on = runs
            .par_iter_mut()
            .enumerate()
            .filter(|(at, _)| last.contains(at));
        goes_on.for_each(|(_, run)| match progress.flow() {
            Flow::Stop => run.stopped = Stopped::Interrupted,
            Flow::Continue => finish(model, run, settings, &progress.part(RUN)),
        });
    }
    let best = SELECT.best_among(&objectives(&runs), last.iter().copied());
    let mut kept = best.expect("a run goes on");
    let part = progress.part(SPLITS);
    if let Some(mut fuller) = split_empty_clusters(model, &runs[kept], &rough, &part) {
        names.push(format!("{}, split", names[kept]));
        finish(model, &mut fuller, settings, &progress);
        runs.push(fuller);
        kept = runs.len() - 1;
        last.push(kept);
    }
    let finished = |at: usize| !twice || last.contains(&at);
    Ok(outcome(evidence, &names, runs, kept, finished))
}

/// Relative gap at which starts are compared; only the best go on from there.
const ROUGH: f64 = 1e-3;

/// Units of progress: of a run, and of all splits.
const RUN: u64 = 1000;
const SPLITS: u64 = 200;

/// Runs that go on, at most.
const FINALISTS: usize = 2;

/// Runs whose objective is higher by this share do not go on. A gap of [`ROUGH`] mostly leaves less to gain; on a plateau it
/// can leave more, and a run that would have won is then lost.
const BEHIND: f64 = 0.01;

const SELECT: MultiStart = MultiStart::new(Sense::Minimise);

fn objectives(runs: &[Descent]) -> Vec<f64> {
    runs.iter().map(|run| run.objective).collect()
}

/// Goes on from where a rough run ended, with the iterations that are left.
fn finish<D: Bregman>(
    model: &Model<'_, D>,
    rough: &mut Descent,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) {
    let left = u64::from(settings.iterations.get()).saturating_sub(rough.iterations);
    let (Some(left), Stopped::Converged) = (NonZeroU32::new(left as u32), rough.stopped) else {
        return;
    };
    let mut settings = settings.clone();
    settings.iterations = left;
    let table = Memberships::of(rough.soft.rows(), model.evidence.layout());
    let mut end = run(model, table, &settings, monitor);
    end.iterations += rough.iterations;
    end.trace.splice(..1, rough.trace.drain(..));
    *rough = end;
}

/// What [`Objective::name`] says.
const OBJECTIVE: &str =
    "divergence of the observed shares from the model's, weighted by observations";

fn outcome(
    evidence: &Evidence,
    names: &[String],
    mut runs: Vec<Descent>,
    best: usize,
    finished: impl Fn(usize) -> bool,
) -> Outcome<PccDiagnostics> {
    let mut restarts = Vec::with_capacity(runs.len());
    for (at, (name, run)) in names.iter().zip(&runs).enumerate() {
        restarts.push(PccRestart {
            start: name.clone(),
            objective: run.objective,
            iterations: run.iterations,
            kkt_gap: run.kkt_gap,
            finished: finished(at),
            stopped: run.stopped,
        });
    }
    let interrupted = runs.iter().any(|run| run.stopped == Stopped::Interrupted);
    let kept = runs.swap_remove(best);
    let mut outcome = Outcome::soft(kept.soft, kept.stopped);
    if interrupted {
        outcome.stopped = Stopped::Interrupted;
    }
    outcome.iterations = kept.iterations;
    outcome.kkt_gap = Some(kept.kkt_gap);
    outcome.objective = Some(Objective {
        name: OBJECTIVE,
        sense: Sense::Minimise,
        value: kept.objective,
        trace: kept.trace,
    });
    let alone: Vec<usize> = (0..evidence.objects())
        .filter(|&i| evidence.weight(i) == 0.0)
        .collect();
    if !alone.is_empty() {
        let names: Vec<String> = alone.iter().map(ToString::to_string).collect();
        outcome.warnings.push(isolated(alone.len(), &names));
    }
    let diagnostics = PccDiagnostics {
        start: names[best].clone(),
        spread: spread(&restarts, kept.objective, |_| true),
        spread_of_finished: spread(&restarts, kept.objective, |run| run.finished),
        restarts,
        live_clusters: outcome.partition.live_clusters(),
        isolated: alone,
        isolated_names: Vec::new(),
        choice: None,
    };
    outcome.with(diagnostics)
}

/// By what share the highest objective of some runs is above the lowest.
fn spread(runs: &[PccRestart], lowest: f64, counts: impl Fn(&&PccRestart) -> bool) -> f64 {
    let objectives = runs.iter().filter(counts).map(|run| run.objective);
    let highest = objectives.fold(f64::NEG_INFINITY, f64::max);
    if lowest > 0.0 {
        highest / lowest - 1.0
    } else {
        0.0
    }
}

/// What is said of objects without partners, the first few by name.
pub(crate) fn isolated(count: usize, names: &[String]) -> String {
    const SHOWN: usize = 5;
    let shown = &names[..names.len().min(SHOWN)];
    let more = if count > shown.len() { ", …" } else { "" };
    let mut list = String::new();
    if !shown.is_empty() {
        list = format!(" ({}{more})", shown.join(", "));
    }
    format!(
        "{count} objects{list} are in no pair of the evidence; nothing is known of their clusters and their \
         probabilities are uniform"
    )
}
