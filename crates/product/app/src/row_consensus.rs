//! The consensus of label rows that are read block by block: labels with their confidence, and what a report shows of them.

use partita::metrics::ClusterEvidence;
use partita::{
    Assigned, Consensus, ConsensusError, Monitor, PassError, RowOutcome, RowProblem, fit_rows,
};

use crate::confidence::Confident;
use crate::row_report::{ReportRows, WithDrawn};

/// Takes the labels of consecutive objects, the first of which has this number, and the confidence of each. A text says why it
/// cannot.
pub type ConfidentSink<'a> = dyn FnMut(u64, Assigned, Vec<f64>) -> Result<(), String> + 'a;

/// As [`partita::consense_rows`], with the confidence of every label: the same bits as of rows in memory. `shown` takes what a report
/// shows of them.
///
/// # Errors
/// As [`partita::consense_rows`].
///
/// # Cost
/// That of the method, and one more pass over the rows that labels and counts them. K ΣJ counts are held a thread.
pub fn consense_rows_with_confidence(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
    monitor: &dyn Monitor,
    mut shown: Option<&mut ReportRows>,
    sink: &mut ConfidentSink<'_>,
) -> Result<RowOutcome, ConsensusError> {
    let (fit, settings) = fit_rows(method, problem, monitor)?;
    let of_pass = |error: PassError| ConsensusError::of_pass(method.info().name, error);
    let (bases, rows) = (problem.rows.bases(), problem.passes());
    let counts = fit.count_labels(&rows).map_err(of_pass)?;
    let evidence = ClusterEvidence::of_counts(
        bases,
        &counts.sizes,
        &counts.of_base_clusters,
        problem.weights,
    );
    let evidence = evidence.map_err(|error| of_pass(PassError::Sink(error.to_string())))?;
    let sizes = counts.sizes.clone();
    let map = WithDrawn::new(Confident(&evidence), shown.as_deref());
    if let Some(shown) = shown.as_deref_mut() {
        shown.count(counts);
    }
    let labelled = fit.each(&rows, &map, &mut |first, (some, confidence, drawn)| {
        if let Some(shown) = shown.as_deref_mut() {
            shown.take(first, &some, &confidence, drawn);
        }
        sink(first, some, confidence)
    });
    labelled.map_err(of_pass)?;
    Ok(RowOutcome::of(method, problem, fit, settings, sizes))
}
