//! Multi-start: runs from several initializations, of which the best is kept.

use std::num::NonZeroU32;

use partita_core::{
    ClustersError, Flow, Monitor, MultiStart, Objective, Outcome, ProgressCounter, Seed, Sense,
    Settings, SoftPartition, Stopped, WeightedEnsemble,
};
use rayon::prelude::*;

use crate::bregman::{Beta, Bregman, Kl, L2};
use crate::diagnostics::{PccDiagnostics, PccRestart};
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::evidence::Evidence;
use crate::memberships::{Layout, Memberships};
use crate::settings::{PccSettings, Solver};
use crate::solvers::{Descent, check, run};
use crate::solvers::{objective, sampled_objective};
use crate::split_empty_clusters::split_empty_clusters;
use crate::starts::{LabelStart, Start, base_labels, label_kmeans, level, starts};

/// Probabilistic consensus of pair counts under one of the divergences.
///
/// Runs from every start of [`starts`], and where no tree was grown from the two best of the base clusterings of `bases` (see
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
/// Every run takes some tens of rounds, O(n² K) each on dense evidence and O(pairs · K) on sparse.
pub fn pcc(
    evidence: &dyn Evidence,
    bases: Option<WeightedEnsemble<'_>>,
    divergence: Divergence,
    clusters: usize,
    seed: Seed,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    settings.check_divergence(divergence)?;
    settings.check_ranges()?;
    let objects = evidence.count();
    ClustersError::check(clusters, objects)?;
    let random = settings.random(objects, bases.is_some());
    let starts = if random == 0 {
        Vec::new()
    } else {
        starts(evidence, clusters, seed, settings, monitor)?
    };
    let bases = (bases, (clusters, seed));
    match divergence {
        Divergence::Kl => pcc_from(
            &Kl,
            evidence,
            with_best(&Kl, evidence, bases, starts, monitor),
            settings,
            monitor,
        ),
        Divergence::L2 => pcc_from(
            &L2,
            evidence,
            with_best(&L2, evidence, bases, starts, monitor),
            settings,
            monitor,
        ),
        Divergence::Beta(power) => {
            let (bregman, progress) = (Beta(power), ProgressCounter::new(monitor, SQUARES + REST));
            let starts = with_best(&bregman, evidence, bases, starts, monitor);
            let starts = with_squares(
                evidence,
                starts,
                (clusters, seed),
                settings,
                &progress.part(SQUARES),
            )?;
            pcc_from(&bregman, evidence, starts, settings, &progress.part(REST))
        }
    }
}

/// The divergence of counts from what a soft partition says.
pub(crate) fn held_out(
    evidence: &dyn Evidence,
    soft: &SoftPartition,
    divergence: Divergence,
) -> f64 {
    let table = Memberships::of(soft.rows(), evidence.layout());
    match divergence {
        Divergence::Kl => objective(&Kl, evidence, &table),
        Divergence::L2 => objective(&L2, evidence, &table),
        Divergence::Beta(power) => objective(&Beta(power), evidence, &table),
    }
}

/// Of the base clusterings and k-means on their labels the two with the lowest objectives, before the other starts, or the lowest alone
/// if there are no others. The rest are not held: on a million objects each takes as much memory as the evidence. Once the monitor asks
/// to stop, no more are looked at.
fn with_best<D: Bregman>(
    bregman: &D,
    evidence: &dyn Evidence,
    (source, (clusters, seed)): (Option<WeightedEnsemble<'_>>, (usize, Seed)),
    starts: Vec<Start>,
    monitor: &dyn Monitor,
) -> Vec<Start> {
    let Some(source) = source else { return starts };
    let alone = starts.is_empty();
    let most = if alone { 1 } else { 2 };
    let sampled = alone && evidence.layout() == Layout::Rows;
    let worth = |start: &LabelStart| {
        if sampled {
            return sampled_objective(bregman, evidence, start.together());
        }
        objective(
            bregman,
            evidence,
            &Memberships::of(start.start().soft.rows(), evidence.layout()),
        )
    };
    let mut kept: Vec<(f64, LabelStart)> = Vec::new();
    for start in
        base_labels(source.ensemble, clusters).chain([label_kmeans(source, clusters, seed)])
    {
        if !kept.is_empty() && monitor.flow() == Flow::Stop {
            break;
        }
        let value = worth(&start);
        let place = kept.partition_point(|(better, _)| *better <= value);
        kept.insert(place, (value, start));
        kept.truncate(most);
    }
    kept.into_iter()
        .map(|(_, labels)| labels.start())
        .chain(starts)
        .collect()
}

/// With the lowest minimum of squared differences that these starts and a dozen random ones lead to, in front of them. Powers of
/// probabilities cost ten times as much as squares, of which many runs are cheap, and minima of either are near those of the other. With the
/// block solver, and where there are random starts at all.
fn with_squares(
    evidence: &dyn Evidence,
    mut starts: Vec<Start>,
    (clusters, seed): (usize, Seed),
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Vec<Start>, PccError> {
    if settings.solver != Solver::Block || settings.random(evidence.count(), true) == 0 {
        return Ok(starts);
    }
    let random = |at| {
        Start::random(
            format!("dirichlet {at}"),
            evidence.count(),
            clusters,
            seed.child(FOR_SQUARES).child(at),
        )
    };
    let all = starts
        .iter()
        .cloned()
        .chain((1..=RANDOM_FOR_SQUARES).map(random))
        .collect();
    let mut rough = settings.clone();
    rough.tolerance = rough.tolerance.max(ROUGH);
    let squares = pcc_from(&L2, evidence, all, &rough, monitor)?;
    let soft = squares.soft.expect("PCC is soft");
    starts.insert(
        0,
        Start::new(format!("squares from {}", squares.details.start), soft),
    );
    Ok(starts)
}

/// Random starts of [`with_squares`], and the child of the seed that they come from.
pub(crate) const RANDOM_FOR_SQUARES: u64 = 12;
const FOR_SQUARES: u64 = u64::MAX - 2;

/// Units of progress: of [`with_squares`], and of all that follows.
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
    evidence: &dyn Evidence,
    mut starts: Vec<Start>,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    assert!(!starts.is_empty(), "a run needs a start");
    check(bregman, settings)?;
    let objects = evidence.count();
    if let Some(start) = starts.iter().find(|start| start.soft.objects() != objects) {
        return Err(PccError::Start {
            found: start.soft.objects(),
            expected: objects,
        });
    }
    starts.iter_mut().for_each(|start| level(evidence, start));
    let mut rough = settings.clone();
    let alone = starts.len() == 1 && evidence.layout() == Layout::Rows;
    rough.tolerance = if alone {
        settings.tolerance
    } else {
        settings.tolerance.max(ROUGH)
    };
    let finals = if rough.tolerance > settings.tolerance {
        FINALISTS as u64
    } else {
        0
    };
    let progress = ProgressCounter::new(monitor, (starts.len() as u64 + finals) * RUN + SPLITS);
    // Once somebody asks to stop, starts that have not begun are left out, but for the first.
    let wanted = |(at, _): &(usize, Start)| *at == 0 || progress.flow() == Flow::Continue;
    let (mut names, mut runs): (Vec<String>, Vec<Descent>) =
        (starts.into_par_iter().enumerate().filter(wanted))
            .map(|(_, Start { name, soft })| {
                let table = Memberships::of(soft.rows(), evidence.layout());
                drop(soft);
                (
                    name,
                    run(bregman, evidence, table, &rough, &progress.part(RUN)),
                )
            })
            .unzip();
    let mut last = SELECT.finalists(&objectives(&runs), FINALISTS, BEHIND);
    if rough.tolerance > settings.tolerance {
        runs = (runs.into_par_iter().enumerate())
            .map(|(at, run)| match (last.contains(&at), progress.flow()) {
                (false, _) => run,
                (true, Flow::Stop) => Descent {
                    stopped: Stopped::Interrupted,
                    ..run
                },
                (true, Flow::Continue) => {
                    finish(bregman, evidence, run, settings, &progress.part(RUN))
                }
            })
            .collect();
    }
    let mut kept = SELECT
        .best_among(&objectives(&runs), last.iter().copied())
        .expect("a run goes on");
    if let Some(fuller) = split_empty_clusters(
        bregman,
        evidence,
        &runs[kept],
        &rough,
        &progress.part(SPLITS),
    ) {
        names.push(format!("{}, split", names[kept]));
        runs.push(finish(bregman, evidence, fuller, settings, &progress));
        kept = runs.len() - 1;
        last.push(kept);
    }
    let finished = |at: usize| rough.tolerance <= settings.tolerance || last.contains(&at);
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

/// Goes on from where a rough run ended, with the rounds that are left.
fn finish<D: Bregman>(
    bregman: &D,
    evidence: &dyn Evidence,
    rough: Descent,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Descent {
    let left = u64::from(settings.rounds.get()).saturating_sub(rough.rounds);
    let (Some(left), Stopped::Converged) = (NonZeroU32::new(left as u32), rough.stopped) else {
        return rough;
    };
    let mut settings = settings.clone();
    settings.rounds = left;
    let end = run(
        bregman,
        evidence,
        Memberships::of(rough.soft.rows(), evidence.layout()),
        &settings,
        monitor,
    );
    let trace = rough.trace.iter().chain(&end.trace[1..]).copied().collect();
    Descent {
        trace,
        rounds: rough.rounds + end.rounds,
        ..end
    }
}

/// What [`Objective::name`] says.
const OBJECTIVE: &str =
    "divergence of the observed shares from the model's, weighted by observations";

fn outcome(
    evidence: &dyn Evidence,
    names: &[String],
    mut runs: Vec<Descent>,
    best: usize,
    finished: impl Fn(usize) -> bool,
) -> Outcome<PccDiagnostics> {
    let restart = |(at, (name, run)): (usize, (&String, &Descent))| PccRestart {
        start: name.clone(),
        objective: run.objective,
        rounds: run.rounds,
        kkt_gap: run.kkt_gap,
        finished: finished(at),
        stopped: run.stopped,
    };
    let restarts: Vec<PccRestart> = names.iter().zip(&runs).enumerate().map(restart).collect();
    let highest = |counts: &dyn Fn(usize) -> bool| {
        let objective = |(at, run): (usize, &Descent)| counts(at).then_some(run.objective);
        runs.iter()
            .enumerate()
            .filter_map(objective)
            .fold(f64::NEG_INFINITY, f64::max)
    };
    let (highest, highest_finished) = (highest(&|_| true), highest(&finished));
    let interrupted = runs.iter().any(|run| run.stopped == Stopped::Interrupted);
    let kept = runs.swap_remove(best);
    let stopped = if interrupted {
        Stopped::Interrupted
    } else {
        kept.stopped
    };
    let mut outcome = Outcome::soft(kept.soft, stopped);
    outcome.rounds = kept.rounds;
    outcome.kkt_gap = Some(kept.kkt_gap);
    let spread = |highest: f64| {
        if kept.objective > 0.0 {
            highest / kept.objective - 1.0
        } else {
            0.0
        }
    };
    let (spread, spread_of_finished) = (spread(highest), spread(highest_finished));
    outcome.objective = Some(Objective {
        name: OBJECTIVE,
        sense: Sense::Minimise,
        value: kept.objective,
        trace: kept.trace,
    });
    let alone: Vec<usize> = (0..evidence.count())
        .filter(|&i| evidence.weight(i) == 0.0)
        .collect();
    if !alone.is_empty() {
        outcome
            .warnings
            .push(isolated(alone.len(), alone.iter().map(ToString::to_string)));
    }
    let diagnostics = PccDiagnostics {
        restarts,
        start: names[best].clone(),
        spread,
        spread_of_finished,
        live_clusters: outcome.partition.live_clusters(),
        isolated: alone,
        isolated_names: Vec::new(),
        choice: None,
    };
    outcome.with(diagnostics)
}

/// What is said of objects without partners, the first few by name.
pub(crate) fn isolated(count: usize, names: impl Iterator<Item = String>) -> String {
    const SHOWN: usize = 5;
    let shown: Vec<String> = names.take(SHOWN).collect();
    let more = if count > shown.len() && !shown.is_empty() {
        ", …"
    } else {
        ""
    };
    let list = if shown.is_empty() {
        String::new()
    } else {
        format!(" ({}{more})", shown.join(", "))
    };
    format!(
        "{count} objects{list} are in no pair of the evidence; nothing is known of their clusters and their \
         probabilities are uniform"
    )
}
