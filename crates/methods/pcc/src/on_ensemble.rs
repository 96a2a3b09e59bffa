//! An ensemble as evidence, and the consensus from it: pairs counted or sampled, objects without partners named.

use partita_coassoc::{copy_counts, pair_unit};
use partita_core::{Ensemble, Monitor, Outcome, Problem, ProgressCounter, WeightedEnsemble};
use tracing::info_span;

use crate::diagnostics::PccDiagnostics;
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::evidence::{Dense, Evidence, NormalisedCounts, Sparse, WeightedPairs};
use crate::pcc::{isolated, pcc};
use crate::settings::PccSettings;
use crate::starts::TREE;

/// The child of the seed that draws pairs; starts have small numbers.
const PAIRS: u64 = u64::MAX;

/// Counts the pairs of the ensemble, all or a sample, and hands them to `found` with the ensemble where its base
/// clusterings shall be started from, because no tree is grown.
pub(crate) fn counted<T>(
    problem: &Problem<'_>,
    settings: &PccSettings,
    normalised: bool,
    monitor: &dyn Monitor,
    found: impl FnOnce(&dyn Evidence, Option<WeightedEnsemble<'_>>) -> Result<T, PccError>,
) -> Result<T, PccError> {
    let (source, budget) = (problem.weighted(), problem.budget);
    let objects = source.ensemble.objects();
    if let Some(partners) = settings.sampled(objects) {
        let sample =
            || Sparse::sample(source, partners, problem.seed.child(PAIRS), budget, monitor);
        let evidence = info_span!("evidence").in_scope(sample)?;
        return info_span!("solve")
            .in_scope(|| as_asked(evidence, problem, normalised, |e| found(e, Some(source))));
    }
    let bases = (objects > TREE).then_some(source);
    let evidence = info_span!("evidence").in_scope(|| Dense::count(source, budget, monitor))?;
    info_span!("solve").in_scope(|| as_asked(evidence, problem, normalised, |e| found(e, bases)))
}

/// The evidence with every pair counting the same, where that is asked for, and with weights of objects, where there are some.
fn as_asked<T>(
    evidence: impl Evidence,
    problem: &Problem<'_>,
    normalised: bool,
    found: impl FnOnce(&dyn Evidence) -> Result<T, PccError>,
) -> Result<T, PccError> {
    let source = problem.weighted();
    let Some(weights) = source.multiplicities() else {
        return if normalised {
            found(&NormalisedCounts::new(evidence))
        } else {
            found(&evidence)
        };
    };
    let with_copy = with_copy(source)?;
    if normalised {
        let share = |&(c, n): &(f64, f64)| if n > 0.0 { (c / n, 1.0) } else { (0.0, 0.0) };
        let with_copy: Vec<(f64, f64)> = with_copy.iter().map(share).collect();
        return found(&WeightedPairs::new(
            NormalisedCounts::new(evidence),
            weights,
            &with_copy,
        ));
    }
    found(&WeightedPairs::new(evidence, weights, &with_copy))
}

/// c and N of every object with a copy of itself, in base clusterings.
fn with_copy(source: WeightedEnsemble<'_>) -> Result<Vec<(f64, f64)>, PccError> {
    let scale = source.ensemble.bases().len() as f64 / f64::from(pair_unit(source)?.max(1));
    let scaled = |(c, n): (u32, u32)| (f64::from(c) * scale, f64::from(n) * scale);
    Ok(copy_counts(source)?.into_iter().map(scaled).collect())
}

/// Units of progress: pairs counted, and runs from all starts.
pub(crate) const EVIDENCE: u64 = 1_000;
pub(crate) const RUNS: u64 = 19_000;

/// The ensemble as evidence, and the consensus.
pub(crate) fn solve(
    problem: &Problem<'_>,
    clusters: usize,
    divergence: Divergence,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    let seed = problem.seed;
    let progress = ProgressCounter::new(monitor, EVIDENCE + RUNS);
    let outcome = counted(
        problem,
        settings,
        false,
        &progress.part(EVIDENCE),
        |evidence, bases| {
            pcc(
                evidence,
                bases,
                divergence,
                clusters,
                seed,
                settings,
                &progress.part(RUNS),
            )
        },
    )?;
    Ok(named(outcome, problem.ensemble))
}

/// Objects without partners by name. Without names only their number is told: places in the canonical order mean
/// nothing to a user.
pub(crate) fn named(
    mut outcome: Outcome<PccDiagnostics>,
    ensemble: &Ensemble,
) -> Outcome<PccDiagnostics> {
    let places = &outcome.details.isolated;
    if places.is_empty() {
        return outcome;
    }
    let names: Vec<String> = match ensemble.object_names() {
        Some(names) => places.iter().map(|&i| names[i].clone()).collect(),
        None => Vec::new(),
    };
    outcome.warnings.pop();
    outcome
        .warnings
        .push(isolated(places.len(), names.iter().cloned()));
    outcome.details.isolated_names = names;
    outcome
}
