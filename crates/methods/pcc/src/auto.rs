//! How many clusters: from the most that may be used down, while held-out base clusterings are predicted as well.
//!
//! K is the most clusters that a run may use, and on evidence in blocks it leaves the others empty: a run with K above,
//! without its empty clusters, is an upper bound. Going down from there, K is as small as it can be without predicting
//! base clusterings that were not seen worse. A likelihood penalised by a count of parameters would not do: a pair's count
//! shares its labels with those of 2(n−2) other pairs, and by how much they repeat each other depends on the ensemble.

use partita_core::ndarray::Array2;
use partita_core::{
    BaseWeights, Clusters, Ensemble, Monitor, Outcome, Problem, ProgressCounter, SoftPartition,
    Stopped,
};

use crate::diagnostics::{HeldOut, LiveAtMost, PccChoice, PccDiagnostics};
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::on_ensemble::{counted, solve};
use crate::pcc::held_out;
use crate::settings::PccSettings;

/// Divergences from what was not seen that differ by less than this share are the same.
const MARGIN: f64 = 1e-3;

/// Numbers of clusters in a row that predict worse, after which the search ends.
const PATIENCE: usize = 2;

/// Units of progress: of a run, and of the search for K.
const RUN: u64 = 10_000;
const SEARCH: u64 = 40_000;

/// Relative gap at which halves are compared.
const ROUGH: f64 = 1e-3;

/// The consensus with a number of clusters of its own choice. `details.chosen` is that number, `details.live_at_most` how
/// many clusters the first run left, `details.held_out` the divergence of either half of the base clusterings from what
/// the other half predicts, for every number tried.
pub(crate) fn auto(
    problem: &Problem<'_>,
    divergence: Divergence,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    let most = settings.most_clusters(problem.ensemble.objects());
    let mut rough = settings.clone();
    rough.tolerance = rough.tolerance.max(ROUGH);
    let progress = ProgressCounter::new(monitor, 2 * RUN + SEARCH);
    let first = solve(problem, most, divergence, &rough, &progress.part(RUN))?;
    let live = first.partition.live_clusters();
    if first.stopped == Stopped::Interrupted {
        return Ok(first);
    }
    let (chosen, held_out) = descend(problem, live, divergence, &rough, &progress.part(SEARCH))?;
    let mut outcome = solve(problem, chosen, divergence, settings, &progress.part(RUN))?;
    let live_at_most = LiveAtMost {
        clusters: most,
        live,
    };
    outcome.details.choice = Some(PccChoice {
        chosen,
        live_at_most,
        held_out,
    });
    Ok(outcome)
}

/// From `live` clusters down: the smallest number that predicts as well as the best, and what was found.
fn descend(
    problem: &Problem<'_>,
    live: usize,
    divergence: Divergence,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<(usize, Vec<HeldOut>), PccError> {
    let bases = problem.ensemble.bases().len() as u32;
    let parity = |odd: u32| (0..bases).filter(|u| u % 2 == odd).collect::<Vec<u32>>();
    let objects: Vec<u32> = (0..problem.ensemble.objects() as u32).collect();
    let weights = |odd: u32| {
        let given = problem.weights?;
        BaseWeights::new(
            parity(odd)
                .iter()
                .map(|&u| given.as_slice()[u as usize])
                .collect(),
        )
        .ok()
    };
    let halves = [0, 1].map(|odd| {
        (
            problem.ensemble.select(&objects, &parity(odd)),
            weights(odd),
        )
    });
    let (mut tried, mut told, mut worse) = (Vec::new(), Vec::new(), 0);
    if bases < 2 {
        return Ok((live, told));
    }
    let progress = ProgressCounter::new(monitor, 2 * live as u64 * RUN);
    for clusters in (1..=live).rev() {
        let [one, two] = [(0, 1), (1, 0)].map(|(fitted, seen)| {
            let (pair, part) = ((&halves[fitted], &halves[seen]), progress.part(RUN));
            held_out_divergence(problem, pair, clusters, divergence, settings, &part)
        });
        let value = one? + two?;
        told.push(HeldOut {
            clusters,
            divergence: value,
        });
        tried.push((clusters, value));
        let best = tried
            .iter()
            .map(|&(_, value)| value)
            .fold(f64::INFINITY, f64::min);
        worse = if value > best * (1.0 + MARGIN) {
            worse + 1
        } else {
            0
        };
        if worse >= PATIENCE || progress.stopped() {
            break;
        }
    }
    let best = tried
        .iter()
        .map(|&(_, value)| value)
        .fold(f64::INFINITY, f64::min);
    let enough = tried
        .iter()
        .rev()
        .find(|(_, value)| *value <= best * (1.0 + MARGIN));
    Ok((enough.map_or(live, |&(clusters, _)| clusters), told))
}

/// Half of the base clusterings, and their weights.
type Half = (Ensemble, Option<BaseWeights>);

/// Divergence of the base clusterings in `seen` from what those in `fitted` predict.
fn held_out_divergence(
    problem: &Problem<'_>,
    (fitted, seen): (&Half, &Half),
    clusters: usize,
    divergence: Divergence,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<f64, PccError> {
    fn half<'a, 'b: 'a>(half: &'a Half, whole: &Problem<'b>, clusters: usize) -> Problem<'a> {
        let mut made = Problem::new(&half.0, Clusters::Exactly(clusters));
        (made.seed, made.budget, made.weights) = (whole.seed, whole.budget, half.1.as_ref());
        made.object_weights = whole.object_weights;
        made
    }
    let outcome = solve(
        &half(fitted, problem, clusters),
        clusters,
        divergence,
        settings,
        monitor,
    )?;
    let soft = outcome.soft.expect("PCC is soft");
    let soft = smoothed(&soft, &fitted.0);
    counted(
        &half(seen, problem, clusters),
        settings,
        false,
        monitor,
        |evidence, _| Ok(held_out(evidence, &soft, divergence)),
    )
}

/// With one more label for every object, which may be any: what was not seen among a few labels is not impossible.
fn smoothed(soft: &SoftPartition, ensemble: &Ensemble) -> SoftPartition {
    let labels = |i: usize| {
        (0..ensemble.bases().len())
            .filter(|&u| ensemble.label(i, u).is_some())
            .count() as f64
    };
    let (rows, clusters) = (soft.rows(), soft.clusters() as f64);
    let seen: Vec<f64> = (0..soft.objects()).map(labels).collect();
    let row = |(i, k): (usize, usize)| (rows[[i, k]] * seen[i] + 1.0 / clusters) / (seen[i] + 1.0);
    SoftPartition::new(Array2::from_shape_fn(rows.dim(), row))
        .expect("means of rows on the simplex")
}
