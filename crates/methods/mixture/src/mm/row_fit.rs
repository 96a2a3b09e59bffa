//! MM over label rows that are not held: one row pass a round.

use std::sync::Arc;

use partita_core::{BaseClustering, BaseWeights, Monitor, PassRunner, RowFit, Seed};

use super::em::{MmDiagnostics, MmSettings, advance, compete, objective};
use crate::error::MixtureError;
use crate::shared::expectation::expect;
use crate::shared::multi_start::best_over_rows;
use crate::shared::row_model::RowModel;
use crate::shared::row_passes::{MostProbable, Usage};

/// [`mm`](fn@crate::mm) over label rows that are not held.
///
/// Initializations compete on a sample of 32,768 different rows ([`RowSample`](partita_core::RowSample)), and the best goes
/// on with all rows, one pass a round. Where no more rows differ, the sample is all of them, and the best is the result.
///
/// # Cost
/// O(n M K) time a round; the sample and a few tables of ΣJ · K numbers a thread.
///
/// # Errors
/// As [`mm`](fn@crate::mm), and [`MixtureError::Pass`] when rows cannot be read.
pub fn mm_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MmDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("mm", rows = rows.source().rows(), clusters).entered();
    let offsets = BaseClustering::offsets(rows.source().bases());
    let (run, objective_by_restart) = best_over_rows(
        (rows, weights),
        (clusters, seed),
        (settings, settings.limits()),
        monitor,
        |sample, progress| compete(sample, clusters, seed, settings, progress),
        |model| {
            Ok(advance(
                expect(rows, &offsets, model.logs())?,
                model,
                settings.pseudo_count,
            ))
        },
    )?;
    let (model, logs) = (run.result, |model: &RowModel| model.logs().clone());
    let used = rows.run(&Usage {
        offsets: offsets.clone(),
        logs: logs(&model),
        base_weights: model.base_weights().map(<[f64]>::to_vec),
    })?;
    let perplexity = (-used.log_sum / used.labels).exp();
    let details = MmDiagnostics {
        log_likelihood: used.log_sum,
        perplexity,
        objective_by_restart,
        names: None,
        confusion: None,
    };
    let assign = MostProbable {
        offsets,
        logs: logs(&model),
        place: (0..clusters).collect(),
    };
    let mut fit = RowFit::new(clusters, run.stopped, assign, details);
    (fit.rounds, fit.objective) = (run.trace.len() as u64, Some(objective(run.trace)));
    fit.model = Some(Arc::new(model));
    Ok(fit)
}
