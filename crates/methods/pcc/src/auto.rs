//! How many clusters: from the most that may be used down, while held-out base clusterings are predicted as well.
//!
//! K is the most clusters that a run may use, and on evidence in blocks it leaves the others empty: a run with K above,
//! without its empty clusters, is an upper bound. Going down from there, K is as small as it can be without predicting
//! base clusterings that were not seen worse. A likelihood penalised by a count of parameters would not do: a pair's count
//! shares its labels with those of 2(n−2) other pairs, and by how much they repeat each other depends on the ensemble.

use partita_core::{
    BaseWeights, Clusters, Ensemble, Monitor, Outcome, Problem, ProgressCounter, SoftPartition,
    Stopped,
};

use crate::diagnostics::{HeldOut, LiveAtMost, PccChoice, PccDiagnostics};
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::on_ensemble::{evidence, solve};
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
    rough.absolute_tolerance = None;
    let progress = ProgressCounter::new(monitor, 2 * RUN + SEARCH);
    let part = progress.part(RUN);
    let first = solve(problem, most, divergence, &rough, false, &part)?;
    drop(part);
    let live = first.partition.live_clusters();
    if first.stopped == Stopped::Interrupted {
        return Ok(first);
    }
    let (chosen, held_out) = descend(problem, live, divergence, &rough, &progress.part(SEARCH))?;
    let part = progress.part(RUN);
    let mut outcome = solve(problem, chosen, divergence, settings, false, &part)?;
    outcome.details.choice = Some(PccChoice {
        chosen,
        live_at_most: LiveAtMost {
            clusters: most,
            live,
        },
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
    let bases = problem.ensemble.bases().len();
    let mut tried: Vec<HeldOut> = Vec::new();
    if bases < 2 {
        return Ok((live, tried));
    }
    let halves = [0, 1].map(|odd| Half::of(problem, odd));
    let progress = ProgressCounter::new(monitor, 2 * live as u64 * RUN);
    let mut worse = 0;
    let mut best = f64::INFINITY;
    for clusters in (1..=live).rev() {
        let mut value = 0.0;
        for [fitted, seen] in [[0, 1], [1, 0]] {
            let monitor = &progress.part(RUN);
            let fit = halves[fitted].problem(problem);
            let outcome = solve(&fit, clusters, divergence, settings, false, monitor)?;
            let soft = outcome.soft.expect("PCC is soft");
            let soft = smoothed(&soft, &halves[fitted].ensemble);
            let seen = evidence(&halves[seen].problem(problem), settings, false, monitor)?;
            value += held_out(&seen, &soft, divergence);
        }
        tried.push(HeldOut {
            clusters,
            divergence: value,
        });
        best = best.min(value);
        let is_worse = value > best * (1.0 + MARGIN);
        worse = if is_worse { worse + 1 } else { 0 };
        if worse >= PATIENCE || progress.stopped() {
            break;
        }
    }
    let smallest = tried.iter().rev();
    let chosen = smallest
        .clone()
        .find(|tried| tried.divergence <= best * (1.0 + MARGIN));
    Ok((chosen.map_or(live, |found| found.clusters), tried))
}

/// Half of the base clusterings, and their weights.
struct Half {
    ensemble: Ensemble,
    weights: Option<BaseWeights>,
}

impl Half {
    /// Every other base clustering, from the first or the second on.
    fn of(problem: &Problem<'_>, odd: u32) -> Self {
        let bases = problem.ensemble.bases().len() as u32;
        let bases: Vec<u32> = (odd..bases).step_by(2).collect();
        let objects: Vec<u32> = (0..problem.ensemble.objects() as u32).collect();
        let weights = problem.weights.and_then(|given| {
            let weights = bases.iter().map(|&u| given.as_slice()[u as usize]);
            BaseWeights::new(weights.collect()).ok()
        });
        Self {
            ensemble: problem.ensemble.select(&objects, &bases),
            weights,
        }
    }

    fn problem<'a, 'b: 'a>(&'a self, whole: &Problem<'b>) -> Problem<'a> {
        let mut half = Problem::new(&self.ensemble, Clusters::Auto);
        half.seed = whole.seed;
        half.budget = whole.budget;
        half.weights = self.weights.as_ref();
        half.object_weights = whole.object_weights;
        half
    }
}

/// With one more label for every object, which may be any: what was not seen among a few labels is not impossible.
fn smoothed(soft: &SoftPartition, ensemble: &Ensemble) -> SoftPartition {
    let mut rows = soft.rows().to_owned();
    let clusters = soft.clusters() as f64;
    for (i, mut row) in rows.outer_iter_mut().enumerate() {
        let labels = (0..ensemble.bases().len()).filter(|&u| ensemble.label(i, u).is_some());
        let seen = labels.count() as f64;
        row.mapv_inplace(|y| (y * seen + 1.0 / clusters) / (seen + 1.0));
    }
    SoftPartition::new(rows).expect("means of rows on the simplex")
}
