//! NBCE-VB over label rows that are not held: one row pass a round.

use std::sync::Arc;

use partita_core::{BaseClustering, BaseWeights, Monitor, PassRunner, RowFit, Seed};

use super::posterior::advance;
use super::variational::{NbceVbSettings, compete, objective};
use crate::error::MixtureError;
use crate::nbce::likelihood::{
    NbceDiagnostics, RowLikelihood, in_use_by_size, merged_model, places,
};
use crate::shared::expectation::expect;
use crate::shared::multi_start::best_over_rows;
use crate::shared::row_passes::{MostProbable, Usage};

/// [`nbce_vb`](fn@crate::nbce_vb) over label rows that are not held.
///
/// Initializations compete on a sample of 32,768 different rows ([`RowSample`](partita_core::RowSample)), and the best goes
/// on with all rows, one pass a round. Where no more rows differ, the sample is all of them, and the best is the result.
///
/// # Cost
/// O(n M K) time a round; the sample and a few tables of ΣJ · K numbers a thread.
///
/// # Errors
/// As [`nbce_vb`](fn@crate::nbce_vb), and [`MixtureError::Pass`] when rows cannot be read.
pub fn nbce_vb_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &NbceVbSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<NbceDiagnostics>, MixtureError> {
    let bases = rows.source().bases();
    let _span = tracing::info_span!("nbce-vb", rows = rows.source().rows(), clusters).entered();
    let (offsets, given) = (BaseClustering::offsets(bases), weights);
    let weights = given.map(BaseWeights::copies);
    let (run, objective_by_restart) = best_over_rows(
        (rows, given),
        (clusters, seed),
        (settings, settings.limits()),
        monitor,
        |sample, progress| compete(sample, clusters, seed, settings, progress),
        |posterior| {
            let sums = expect(rows, &offsets, &posterior.logs.weighted(weights, &offsets))?;
            Ok(advance(
                sums,
                posterior,
                (&offsets, weights),
                settings.learn,
            ))
        },
    )?;
    let posterior = run.result;
    let logs = posterior.logs.weighted(weights, &offsets);
    let used = rows.run(&Usage {
        offsets: offsets.clone(),
        logs: logs.clone(),
        base_weights: weights.map(<[f64]>::to_vec),
    })?;
    let order = in_use_by_size(&used.sizes, &used.chosen);
    let (prior, theta) = posterior.means(&offsets);
    let model = merged_model(bases, &prior, &theta, &order).weighted(weights);
    let log_likelihood = expect(rows, &offsets, model.logs())?.log_sum;
    let likelihood = RowLikelihood {
        clusters_in_use: order.len(),
        log_likelihood,
        perplexity: (-log_likelihood / used.labels).exp(),
        clusters_at_most: clusters,
    };
    let (alpha0, beta) = (
        posterior.hyperparameters.alpha0,
        posterior.hyperparameters.beta,
    );
    let details = NbceDiagnostics {
        fit: likelihood,
        alpha0,
        beta,
        objective_by_restart,
    };
    let (place, places) = places(&order, clusters);
    let assign = MostProbable {
        offsets: offsets.clone(),
        logs,
        place,
    };
    let mut fit = RowFit::new(places, run.stopped, assign, details);
    (fit.rounds, fit.objective) = (run.trace.len() as u64, Some(objective(run.trace)));
    fit.model = Some(Arc::new(model));
    Ok(fit)
}
