//! An ensemble as evidence, and the consensus from it: pairs counted or sampled, objects without partners named.

use partita_coassoc::{GivenPairs, copy_counts, pair_unit};
use partita_core::{Monitor, Outcome, Problem, ProgressCounter, WeightedEnsemble};
use tracing::info_span;

use crate::diagnostics::PccDiagnostics;
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::evidence::Evidence;
use crate::memberships::Layout;
use crate::pcc::{Sources, isolated, pcc};
use crate::settings::PccSettings;
use crate::starts::TREE;

/// The child of the seed that draws pairs; starts have small numbers.
const PAIRS: u64 = u64::MAX;

/// The pairs of the ensemble that are given, all or a sample, with every pair counting the same where that is asked for, and with weights of objects,
/// where there are some.
pub(crate) fn evidence(
    problem: &Problem<'_>,
    settings: &PccSettings,
    normalised: bool,
    monitor: &dyn Monitor,
) -> Result<Evidence, PccError> {
    let source = problem.weighted();
    let budget = problem.budget;
    let _span = info_span!("evidence").entered();
    let sampled = settings.sampled(source.ensemble.objects());
    let mut evidence = match (problem.pairs, sampled) {
        (Some(list), _) => match GivenPairs::of(list, source, budget, monitor)? {
            GivenPairs::All(pairs) => Evidence::of_all(&pairs),
            GivenPairs::Some(pairs) => Evidence::of_some(pairs),
        },
        (None, Some(pairs)) => {
            let seed = problem.seed.child(PAIRS);
            Evidence::sample(source, pairs, seed, budget, monitor)?
        }
        (None, None) => Evidence::count(source, budget, monitor)?,
    };
    if normalised {
        evidence = evidence.normalised();
    }
    if let Some(weights) = source.multiplicities() {
        evidence = evidence.weighted(weights, &with_copy(source)?);
    }
    Ok(evidence)
}

/// c and N of every object with a copy of itself, in base clusterings.
fn with_copy(source: WeightedEnsemble<'_>) -> Result<Vec<(f64, f64)>, PccError> {
    let scale = source.ensemble.bases().len() as f64 / f64::from(pair_unit(source)?.max(1));
    let counts = copy_counts(source)?.into_iter();
    Ok(counts
        .map(|(c, n)| (f64::from(c) * scale, f64::from(n) * scale))
        .collect())
}

/// Units of progress: pairs counted, and runs from all starts.
const EVIDENCE: u64 = 1_000;
const RUNS: u64 = 19_000;

/// The ensemble as evidence, and the consensus. Base clusterings are started from where no tree is grown.
pub(crate) fn solve(
    problem: &Problem<'_>,
    clusters: usize,
    divergence: Divergence,
    settings: &PccSettings,
    normalised: bool,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    let progress = ProgressCounter::new(monitor, EVIDENCE + RUNS);
    let evidence = evidence(problem, settings, normalised, &progress.part(EVIDENCE))?;
    let tree = evidence.layout() == Layout::Columns && evidence.objects() <= TREE;
    let sources = Sources {
        bases: (!tree).then_some(problem.weighted()),
        start: problem.start,
    };
    let seed = problem.seed;
    let _span = info_span!("solve").entered();
    let part = progress.part(RUNS);
    let mut outcome = pcc(
        &evidence, sources, divergence, clusters, seed, settings, &part,
    )
    .map_err(|error| named(error, problem))?;
    let places = &outcome.details.isolated;
    if !places.is_empty() {
        // Without names only their number is told: places in the canonical order mean nothing to a user.
        let names = problem.ensemble.object_names().unwrap_or_default();
        let names = places.iter().filter_map(|&i| names.get(i).cloned());
        let names: Vec<String> = names.collect();
        outcome.warnings.pop();
        outcome.warnings.push(isolated(places.len(), &names));
        outcome.details.isolated_names = names;
    }
    Ok(outcome)
}

/// The objects of a start by their names, where they have some: places in the canonical order mean nothing to a user.
fn named(error: PccError, problem: &Problem<'_>) -> PccError {
    let PccError::Infeasible {
        left,
        right,
        together,
    } = error
    else {
        return error;
    };
    let objects = match problem.ensemble.object_names() {
        Some(names) => format!("objects {} and {}", names[left], names[right]),
        None => "two objects".into(),
    };
    PccError::Apart { objects, together }
}
