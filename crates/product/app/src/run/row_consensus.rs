//! The consensus of label rows that are read block by block: labels with their agreement, and what a report shows of them.

use partita::extend::{
    Assigned, Consensus, ConsensusError, LabelCounts, PassError, PassRunner, RowBlocks, RowOutcome,
    RowProblem, fit_rows,
};
use partita::metrics::Agreement;
use partita::{BaseWeights, Monitor};

use partita_core::RowFit;

use crate::analysis::agreement::Agreeing;
use crate::output::row_report::{ReportRows, WithDrawn};

/// Takes the labels of consecutive objects, the first of which has this number, and the agreement of each. A text says why it
/// cannot.
pub(crate) type AgreeingSink<'a> = dyn FnMut(u64, Assigned, Vec<f64>) -> Result<(), String> + 'a;

/// As [`partita::extend::consense_rows`], with the agreement of every label: the same bits as of rows in memory; and how many labels are
/// missing. `shown` takes what a report shows of them.
///
/// # Errors
/// As [`partita::extend::consense_rows`].
///
/// # Cost
/// That of the method, and one more pass over the rows that labels and counts them. K ΣJ counts are held a thread.
pub(crate) fn consense_rows_with_agreement(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
    monitor: &dyn Monitor,
    shown: Option<&mut ReportRows>,
    sink: &mut AgreeingSink<'_>,
) -> Result<(RowOutcome, usize), ConsensusError> {
    let (fit, settings) = fit_rows(method, problem, monitor)?;
    let counts = label_rows(&fit, &problem.passes(), problem.weights, shown, sink)
        .map_err(|error| ConsensusError::of_pass(method.info().name, error))?;
    let missing = missing_labels(problem.rows, &counts);
    let found = RowOutcome::of(method, problem, fit, settings, counts.sizes);
    Ok((found, missing))
}

/// Labels all rows by a fit, and hands their labels and agreement to `sink`; what was counted of them.
pub(crate) fn label_rows<D>(
    fit: &RowFit<D>,
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    mut shown: Option<&mut ReportRows>,
    sink: &mut AgreeingSink<'_>,
) -> Result<LabelCounts, PassError> {
    let counts = fit.count_labels(rows)?;
    let agreement = agreement_of_counts(rows.source(), &counts, weights)?;
    let map = WithDrawn::new(Agreeing(&agreement), shown.as_deref());
    if let Some(shown) = shown.as_deref_mut() {
        shown.count(counts.clone());
    }
    fit.each(rows, &map, &mut |first, (some, own, drawn)| {
        if let Some(shown) = shown.as_deref_mut() {
            shown.take(first, &some, &own, drawn);
        }
        sink(first, some, own)
    })?;
    Ok(counts)
}

/// What the agreement of labels is read from.
///
/// # Errors
/// [`PassError`] of the pass.
pub fn agreement_of_counts(
    rows: &dyn RowBlocks,
    counts: &LabelCounts,
    weights: Option<&BaseWeights>,
) -> Result<Agreement, PassError> {
    Agreement::of_counts(rows.bases(), &counts.of_base_clusters, weights)
        .map_err(|error| PassError::Parts(error.to_string()))
}

/// The labels that rows lack: all but those that were counted.
pub fn missing_labels(rows: &dyn RowBlocks, counts: &LabelCounts) -> usize {
    let there: u64 = counts.of_base_clusters.iter().sum();
    (rows.rows() * rows.bases().len() as u64).saturating_sub(there) as usize
}
