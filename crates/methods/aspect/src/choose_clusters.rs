//! Choice of the number of components by an information criterion.

use partita_core::{Monitor, Outcome, ProgressCounter, Seed};

use crate::aspects::{Aspects, Posterior};
use crate::counts::DyadCounts;
use crate::criterion::Criterion;
use crate::diagnostics::{Criteria, PencaChoice, PencaDiagnostics};
use crate::error::AspectError;
use crate::penca::{FinishedRuns, PencaSettings, check, outcome, run_all};
use crate::starts::{Guide, Start};

/// Tries without improvement after which the search ends.
const PATIENCE: usize = 3;

/// The most components that are tried.
const MOST: usize = 30;

/// The most components that are tried for so many objects.
pub(crate) fn most(objects: usize) -> usize {
    objects.isqrt().clamp(1, MOST)
}

/// Tries one number of components after the other and keeps the one that `settings.criterion` likes best.
/// `details.criteria` has all criteria for every number tried.
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
        let mut starts = guide.starts(counts, clusters, seed, &progress);
        if settings.criterion == Criterion::DirichletProcess {
            for Start { aspects, .. } in &mut starts {
                aspects.posterior = Some(Posterior { most, cost: 0.0 });
                *aspects = aspects.improved(counts);
            }
        }
        check(counts, &starts, settings)?;
        let Some(finished) = run_all(counts, starts, settings, &progress) else {
            break;
        };
        let run = finished.best();
        let log_likelihood = run.aspects.summed_to_one().log_likelihood(counts);
        let (bic, mdl) = criteria(counts, &run.aspects, log_likelihood);
        let value = match settings.criterion {
            Criterion::Bic => bic,
            Criterion::Mdl => mdl,
            Criterion::DirichletProcess => -run.value(),
        };
        tried.push(Criteria {
            clusters,
            live: run.aspects.live(),
            log_likelihood,
            bic,
            mdl,
            evidence: run.aspects.posterior.map(|_| run.value()),
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
    let (_, mut chosen, finished) = kept.ok_or(AspectError::Interrupted)?;
    if settings.criterion == Criterion::DirichletProcess {
        chosen = finished.best().aspects.live();
    }
    let mut outcome = outcome(counts, finished);
    outcome.details.choice = Some(PencaChoice {
        criteria: tried,
        chosen,
    });
    Ok(outcome)
}

/// BIC and message length of a model; less is better.
fn criteria(counts: &DyadCounts, aspects: &Aspects, log_likelihood: f64) -> (f64, f64) {
    let n = counts.objects() as f64;
    let sample = counts.total().max(1.0);
    let components = aspects.live() as f64;
    let bic = -2.0 * log_likelihood + (components * n - 1.0) * sample.ln();
    let live = aspects.shares().iter().filter(|share| **share > 0.0);
    let parameters: f64 = live.map(|share| (sample * share / 12.0).ln()).sum();
    let mdl = -log_likelihood
        + 0.5 * (n - 1.0) * parameters
        + 0.5 * components * (sample / 12.0).ln()
        + 0.5 * components * n;
    (bic, mdl)
}
