//! The confidence of labels: computed from ensemble and labels, so that it compares between methods.

use partita::Partition;
use partita::extend::{Assigned, LabelledMap, Row, RowBlock, WeightedEnsemble};
use partita::metrics::{ClusterEvidence, confidence};

/// The confidence of every label, n numbers ([`confidence`]). Labels and ensemble fit together here: labels of other objects are at
/// fault where this is called.
pub(crate) fn confidence_of(of: WeightedEnsemble<'_>, partition: &Partition) -> Vec<f64> {
    // Of no use where the weights are those of another ensemble, which was refused before.
    confidence(of, partition).unwrap_or_else(|_| vec![0.0; partition.objects()])
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The columns of numbers beside labels that are written block by block.
pub const LABEL_NUMBERS: [&str; 2] = ["certainty", "confidence"];

/// Labels with their confidence.
pub struct Confident<'a>(pub &'a ClusterEvidence);

impl LabelledMap for Confident<'_> {
    type Out = (Assigned, Vec<f64>);

    fn map<'a, R: Row<'a>>(
        &self,
        block: &RowBlock<'a, R>,
        assigned: Assigned,
    ) -> (Assigned, Vec<f64>) {
        let confidence = self.0.confidence(block, &assigned.labels);
        (assigned, confidence)
    }
}
