//! A fit over passes for an ensemble in memory: equal rows count once with their weights, and every object gets the label of its row.

use ndarray::Array2;

use crate::{
    EnsembleRows, FitError, Outcome, Partition, PassError, PassRunner, Problem, ProblemSize,
    RowFit, RowProblem, Silent, SoftPartition,
};

/// Outcomes of several fits over passes that have something in common, for an ensemble in memory: equal rows count once with their
/// weights, and every object gets the label of its row.
///
/// # Cost
/// That of the fits over the distinct rows, and O(n M) to find them; a copy of these.
///
/// # Errors
/// Those of the fits.
pub fn fit_each_in_memory<D>(
    problem: &Problem<'_>,
    fits: impl FnOnce(&RowProblem<'_>) -> Result<Vec<RowFit<D>>, FitError>,
) -> Result<Vec<Outcome<D>>, FitError> {
    let fragments = problem.ensemble.fragments();
    let weights = fragments.masses(problem.weighted().multiplicities());
    let rows = EnsembleRows::weighted(fragments.ensemble(), &weights).with_shares();
    let runner = PassRunner::new(&rows, &Silent);
    let outcome = |fit| Ok(labelled(&runner, fit)?.expanded(fragments.of_object()));
    let fits = fits(&problem.over(&rows))?;
    fits.into_iter().map(outcome).collect()
}

/// Bytes that [`fit_each_in_memory`] holds at once beside what the method does, at most: the distinct rows and what is found of them.
pub fn fit_in_memory_bytes(size: &ProblemSize, soft: bool) -> u64 {
    let [n, m, _, k] = size.saturating();
    let shares = n.0.min(size.soft_shares as u64);
    let of_object = if soft { 2 * 8 * k.0 } else { 0 };
    let labels = 2 * m.0;
    n.0.saturating_mul(labels.saturating_add(of_object).saturating_add(60))
        .saturating_add(shares.saturating_mul(2))
        .saturating_add((size.soft_shares as u64).saturating_mul(12))
}

/// The outcome of a fit whose labels are collected.
pub(crate) fn labelled<D>(rows: &PassRunner<'_>, fit: RowFit<D>) -> Result<Outcome<D>, FitError> {
    let objects = rows.source().rows() as usize;
    let mut labels = Vec::with_capacity(objects);
    let mut soft: Vec<f64> = Vec::new();
    let taken = fit.label(rows, &mut |_, assigned| {
        labels.extend(assigned.labels);
        if let Some(shares) = assigned.soft {
            soft.reserve_exact((objects * fit.clusters).saturating_sub(soft.len()));
            soft.extend(shares);
        }
        Ok(())
    });
    taken.map_err(|error| match error {
        PassError::Interrupted => FitError::Interrupted,
        other => FitError::other(other),
    })?;
    let partition = Partition::new(labels, fit.clusters).map_err(FitError::other)?;
    let mut outcome = Outcome::hard(partition, fit.stopped);
    if !soft.is_empty() {
        let soft = Array2::from_shape_vec((objects, fit.clusters), soft)
            .expect("K probabilities an object");
        outcome.soft = Some(SoftPartition::new(soft).map_err(FitError::other)?);
    }
    outcome.iterations = fit.iterations;
    outcome.objective = fit.objective;
    outcome.model = fit.model;
    outcome.warnings = fit.warnings;
    Ok(outcome.with(fit.details))
}
