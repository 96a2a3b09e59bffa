//! The labels of all rows of a fit by passes, for ensembles in memory.

use partita_core::ndarray::Array2;
use partita_core::{
    EnsembleRows, Outcome, Partition, PassRunner, RowFit, Silent, SoftPartition, WeightedEnsemble,
};

use crate::GraphError;

/// A fit over the labels of an ensemble in memory, whose objects count their weights, as its outcome.
pub(crate) fn in_memory<'a, D>(
    source: impl Into<WeightedEnsemble<'a>>,
    fit: impl FnOnce(&PassRunner<'_>) -> Result<RowFit<D>, GraphError>,
) -> Result<Outcome<D>, GraphError> {
    let source = source.into();
    let rows = match source.multiplicities() {
        Some(weights) => EnsembleRows::weighted(source.ensemble, weights),
        None => EnsembleRows::new(source.ensemble),
    };
    let rows = PassRunner::new(&rows, &Silent);
    collected(&rows, fit(&rows)?)
}

/// The outcome of a fit over these rows.
fn collected<D>(rows: &PassRunner<'_>, fit: RowFit<D>) -> Result<Outcome<D>, GraphError> {
    let objects = rows.source().rows() as usize;
    let (mut labels, mut certainty, mut soft) =
        (Vec::with_capacity(objects), Vec::new(), Vec::new());
    fit.label(rows, &mut |_, assigned| {
        labels.extend(assigned.labels);
        match assigned.soft {
            Some(shares) => {
                // The certainty of a soft result is made from its shares.
                soft.reserve_exact(objects * fit.clusters - soft.len());
                soft.extend(shares);
            }
            None => certainty.extend(assigned.certainty),
        }
        Ok(())
    })?;
    let mut outcome = if soft.is_empty() {
        Outcome::hard(
            Partition::new(labels, fit.clusters).expect("labels are below K"),
            certainty,
            fit.stopped,
        )
    } else {
        let soft =
            Array2::from_shape_vec((labels.len(), fit.clusters), soft).expect("K shares an object");
        Outcome::soft(
            SoftPartition::new(soft).expect("shares add up to 1"),
            fit.stopped,
        )
    };
    (outcome.rounds, outcome.objective, outcome.warnings) =
        (fit.rounds, fit.objective, fit.warnings);
    Ok(outcome.with(fit.details))
}
