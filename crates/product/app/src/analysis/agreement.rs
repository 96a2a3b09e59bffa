//! The numbers beside labels: how far base clusterings agree with them, and their probabilities.

use partita::Partition;
use partita::extend::{Assigned, LabelledMap, Row, RowBlock, WeightedEnsemble};
use partita::metrics::{Agreement, object_agreement};

/// The agreement of every label, n numbers ([`object_agreement`]). Labels and ensemble fit together here: labels of other objects are at
/// fault where this is called.
pub(crate) fn agreement_of(of: WeightedEnsemble<'_>, partition: &Partition) -> Vec<f64> {
    // Of no use where the weights are those of another ensemble, which was refused before.
    object_agreement(of, partition).unwrap_or_else(|_| vec![0.0; partition.objects()])
}

pub(crate) fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// The columns of numbers beside labels, of methods that are `soft` or not.
pub fn label_numbers(soft: bool) -> &'static [&'static str] {
    if soft {
        &["agreement", "probability"]
    } else {
        &["agreement"]
    }
}

/// The numbers beside some labels, as [`label_numbers`] names them.
pub fn numbers_of<'a>(agreement: &'a [f64], probability: Option<&'a [f64]>) -> Vec<&'a [f64]> {
    [Some(agreement), probability]
        .into_iter()
        .flatten()
        .collect()
}

/// Labels with their agreement.
pub struct Agreeing<'a>(pub &'a Agreement);

impl LabelledMap for Agreeing<'_> {
    type Out = (Assigned, Vec<f64>);

    fn map<'a, R: Row<'a>>(
        &self,
        block: &RowBlock<'a, R>,
        assigned: Assigned,
    ) -> (Assigned, Vec<f64>) {
        let agreement = self.0.of_rows(block, &assigned.labels);
        (assigned, agreement)
    }
}
