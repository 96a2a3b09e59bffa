//! Comparison of clusterings.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use partita::metrics::{self, MetricsError, Scores};
use partita::{Partition, SoftPartition};
use partita_app::{AppError, strong_pairs};
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::{briefly, run};
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};
use crate::reading::{Numbers, sparse};

fn failed(py: Python<'_>, error: MetricsError) -> PyErr {
    raised(py, &AppError::from(error))
}

fn partition(labels: &PyReadonlyArray1<'_, i64>) -> Partition {
    Partition::from_values(&labels.as_array().to_vec())
}

/// Every external index as JSON.
#[pyfunction]
pub(crate) fn scores(
    py: Python<'_>,
    found: PyReadonlyArray1<'_, i64>,
    truth: PyReadonlyArray1<'_, i64>,
) -> PyResult<String> {
    let (found, truth) = (partition(&found), partition(&truth));
    let scores = briefly(py, || Scores::of(&found, &truth))?.map_err(|error| failed(py, error))?;
    serde_json::to_string(&scores).map_err(|error| input_error(py, &error.to_string()))
}

fn soft(py: Python<'_>, rows: &PyReadonlyArray2<'_, f64>) -> PyResult<SoftPartition> {
    SoftPartition::new(rows.as_array().to_owned()).map_err(|error| input_error(py, &error.to_string()))
}

/// Jensen–Shannon divergence of two tables of probabilities under the best permutation of clusters.
#[pyfunction]
pub(crate) fn jensen_shannon(
    py: Python<'_>,
    a: PyReadonlyArray2<'_, f64>,
    b: PyReadonlyArray2<'_, f64>,
) -> PyResult<f64> {
    let (a, b) = (soft(py, &a)?, soft(py, &b)?);
    briefly(py, || metrics::jensen_shannon(&a, &b))?.map_err(|error| failed(py, error))
}

/// Mean NMI of labels with the base clusterings.
#[pyfunction]
pub(crate) fn anmi(
    py: Python<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    ensemble: PyRef<'_, NativeEnsemble>,
) -> PyResult<f64> {
    let (labels, ensemble) = (partition(&labels), &ensemble.ensemble);
    briefly(py, || metrics::anmi(&labels, ensemble))?.map_err(|error| failed(py, error))
}

/// How far the ensemble supports each label.
#[pyfunction]
pub(crate) fn confidence<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'_, i64>,
    ensemble: PyRef<'_, NativeEnsemble>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (labels, ensemble) = (partition(&labels), &ensemble.ensemble);
    let found = briefly(py, || metrics::confidence(&**ensemble, &labels))?;
    found.map(|found| found.into_pyarray(py)).map_err(|error| failed(py, error))
}

/// The mean NMI of each base clustering with the others, as weights.
#[pyfunction]
pub(crate) fn agreement_weights<'py>(
    py: Python<'py>,
    ensemble: PyRef<'_, NativeEnsemble>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let ensemble = &ensemble.ensemble;
    let weights = briefly(py, || metrics::agreement_weights(ensemble))?;
    Ok(weights.as_slice().to_vec().into_pyarray(py))
}

/// The NMI of every pair of base clusterings: M × M.
#[pyfunction]
pub(crate) fn agreement_matrix<'py>(
    py: Python<'py>,
    ensemble: PyRef<'_, NativeEnsemble>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let ensemble = &ensemble.ensemble;
    Ok(briefly(py, || metrics::agreement_matrix(ensemble))?.into_pyarray(py))
}

/// Share of the base clusterings that put two objects together, of those that label both: n × n, or compressed rows of the pairs of at
/// least such a share.
#[pyfunction]
pub(crate) fn co_association<'py>(
    py: Python<'py>,
    ensemble: PyRef<'_, NativeEnsemble>,
    least: Option<f64>,
    how: Run,
) -> PyResult<Numbers<'py>> {
    let (ensemble, budget) = (&*ensemble.ensemble, how.budget());
    if let Some(least) = least {
        let done = run(py, &how, |observer| strong_pairs(ensemble, least, budget, observer))?;
        return Ok(Numbers::Sparse(sparse(py, done.whole()?)));
    }
    let done = run(py, &how, |observer| partita_app::co_association(ensemble, budget, observer))?;
    Ok(Numbers::Dense(done.whole()?.into_pyarray(py)))
}
