//! The confidence of labels: computed from ensemble and labels, so that it compares between methods; and of label rows that are read
//! block by block.

use partita::metrics::{ClusterEvidence, confidence};
use partita::{
    Assigned, Consensus, ConsensusError, Label, LabelCounts, LabelledMap, Monitor, Partition, PassError, RowBlock,
    RowOutcome, RowProblem, WeightedEnsemble, fit_rows,
};

/// The confidence of every label, n numbers ([`confidence`]). Labels and ensemble fit together here: labels of other objects are at
/// fault where this is called.
pub(crate) fn confidence_of(of: WeightedEnsemble<'_>, partition: &Partition) -> Vec<f64> {
    // Of no use where the weights are those of another ensemble, which was refused before.
    confidence(of, partition).unwrap_or_else(|_| vec![0.0; partition.objects()])
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Takes the labels of consecutive objects, the first of which has this number, and the confidence of each. A text says why it
/// cannot.
pub type ConfidentSink<'a> = dyn FnMut(u64, Assigned, Vec<f64>) -> Result<(), String> + 'a;

/// As [`partita::consense_rows`], with the confidence of every label: the same bits as of rows in memory.
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
    sink: &mut ConfidentSink<'_>,
) -> Result<RowOutcome, ConsensusError> {
    let (fit, settings) = fit_rows(method, problem, monitor)?;
    let of_pass = |error: PassError| ConsensusError::of_pass(method.info().name, error);
    let (bases, rows) = (problem.rows.bases(), problem.passes());
    let LabelCounts { sizes, of_base_clusters } = fit.count_labels(&rows).map_err(of_pass)?;
    let evidence = ClusterEvidence::of_counts(bases, &sizes, &of_base_clusters, problem.weights);
    let evidence = evidence.map_err(|error| of_pass(PassError::Sink(error.to_string())))?;
    let labelled =
        fit.each(&rows, &Confident(&evidence), &mut |first, (some, confidence)| sink(first, some, confidence));
    labelled.map_err(of_pass)?;
    Ok(RowOutcome::of(method, problem, fit, settings, sizes))
}

/// The columns of numbers beside labels that are written block by block.
pub const LABEL_NUMBERS: [&str; 2] = ["certainty", "confidence"];

/// Labels with their confidence.
pub(crate) struct Confident<'a>(pub(crate) &'a ClusterEvidence);

impl LabelledMap for Confident<'_> {
    type Out = (Assigned, Vec<f64>);

    fn map<L: Label>(&self, block: &RowBlock<'_, L>, assigned: Assigned) -> (Assigned, Vec<f64>) {
        let confidence = self.0.confidence(block, &assigned.labels);
        (assigned, confidence)
    }
}
