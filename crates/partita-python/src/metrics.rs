//! Comparison of clusterings.

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use partita::coassoc::CoAssociation;
use partita::metrics::{self, MetricsError, Scores};
use partita::ndarray::Array2;
use partita::{Partition, SoftPartition};
use partita_app::AppError;
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::{briefly, run};
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};

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

/// Share of the base clusterings that put two objects together, of those that label both: n × n.
#[pyfunction]
pub(crate) fn co_association<'py>(
    py: Python<'py>,
    ensemble: PyRef<'_, NativeEnsemble>,
    how: Run,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (n, ensemble, budget) = (ensemble.ensemble.objects(), &*ensemble.ensemble, how.budget());
    let check = budget.check("the co-association", 8 * (n as u64) * (n as u64), "take fewer objects");
    check.map_err(|error| raised(py, &AppError::from(error)))?;
    let done = run(py, &how, |observer| {
        let counts = CoAssociation::count(ensemble, budget, &*observer.begin("co-association"));
        let counts = counts.map_err(|error| AppError::request(error.to_string()))?;
        let mut shares = Array2::from_elem((n, n), 1.0);
        for i in (0..n).take_while(|_| !observer.stop_asked()) {
            for j in 0..i {
                let (together, seen) = counts.pair(i, j);
                let share = if seen == 0 { f64::NAN } else { f64::from(together) / f64::from(seen) };
                (shares[[i, j]], shares[[j, i]]) = (share, share);
            }
        }
        Ok(shares)
    })?;
    Ok(done.whole()?.into_pyarray(py))
}
