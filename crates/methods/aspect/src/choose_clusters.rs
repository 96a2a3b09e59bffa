//! Choice of the number of components by an information criterion.

use partita_core::{Monitor, Outcome, ProgressCounter, Seed};

use crate::counts::DyadCounts;
use crate::criterion::Criterion;
use crate::diagnostics::{Criteria, PencaChoice, PencaDiagnostics};
use crate::error::AspectError;
use crate::penca::{FinishedRuns, PencaSettings, Run, check, outcome, run_all};
use crate::starts::Guide;

/// Tries without improvement after which the search ends.
const PATIENCE: usize = 3;

/// The most components that are tried.
const MOST: usize = 30;

/// The most components that are tried for so many objects.
pub(crate) fn most(objects: usize) -> usize {
    objects.isqrt().clamp(1, MOST)
}

/// Tries one number of components after the other and keeps the one that `settings.criterion` likes best.
/// `details.criteria` has both criteria for every number tried.
///
/// The search ends when three numbers in a row bring nothing, and at √n or 30.
pub(crate) fn choose(
    counts: &DyadCounts,
    guide: &Guide<'_>,
    seed: Seed,
    settings: &PencaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PencaDiagnostics>, AspectError> {
    let most = most(counts.objects());
    let runs = (u64::from(settings.restarts) + 2) * most as u64;
    let progress = ProgressCounter::new(monitor, runs * u64::from(settings.iterations.get()));
    let mut tried = Vec::new();
    let mut kept: Option<(f64, usize, FinishedRuns)> = None;
    for clusters in 1..=most {
        let seed = seed.child(clusters as u64);
        let starts = guide.starts(counts, clusters, seed, &progress);
        check(counts, &starts, settings)?;
        let Some(finished) = run_all(counts, starts, settings, &progress) else {
            break;
        };
        let run = finished.best();
        let (bic, mdl) = criteria(counts, run);
        let value = match settings.criterion {
            Criterion::Bic => bic,
            Criterion::Mdl => mdl,
        };
        tried.push(Criteria {
            clusters,
            live: run.aspects.live(),
            log_likelihood: run.value(),
            bic,
            mdl,
        });
        let interrupted = run.stopped == Some(partita_core::Stopped::Interrupted);
        if kept.as_ref().is_none_or(|(best, ..)| value < *best) {
            kept = Some((value, clusters, finished));
        }
        let since = clusters - kept.as_ref().map_or(clusters, |kept| kept.1);
        if since >= PATIENCE || interrupted {
            break;
        }
    }
    let (_, clusters, finished) = kept.ok_or(AspectError::Interrupted)?;
    let mut outcome = outcome(counts, finished);
    outcome.details.choice = Some(PencaChoice {
        criteria: tried,
        chosen: clusters,
    });
    Ok(outcome)
}

/// BIC and message length of a run; less is better.
fn criteria(counts: &DyadCounts, run: &Run) -> (f64, f64) {
    let n = counts.objects() as f64;
    let sample = counts.total().max(1.0);
    let components = run.aspects.live() as f64;
    let bic = -2.0 * run.value() + (components * n - 1.0) * sample.ln();
    let live = run.aspects.shares().iter().filter(|share| **share > 0.0);
    let parameters: f64 = live.map(|share| (sample * share / 12.0).ln()).sum();
    let mdl = -run.value()
        + 0.5 * (n - 1.0) * parameters
        + 0.5 * components * (sample / 12.0).ln()
        + 0.5 * components * n;
    (bic, mdl)
}
