//! Comparison of clusterings.

use std::path::Path;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray1, PyReadonlyArray2};
use partita::metrics::{self, MetricsError, Scores};
use partita::{Partition, SoftPartition};
use partita_app::{AppError, Judge, strong_pairs};
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::{briefly, run};
use crate::consensus::{base_weights, object_weights, wrong_object_weights};
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};
use crate::reading::{Named, Numbers, labels_of, sparse};

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
    SoftPartition::new(rows.as_array().to_owned())
        .map_err(|error| input_error(py, &error.to_string()))
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

/// Rows of an ensemble and places of labels of the same objects, matched by their names.
type MatchedRows<'py> = (Bound<'py, PyArray1<u32>>, Bound<'py, PyArray1<i64>>);

/// Matches named labels with the objects of an ensemble; those without a label are left out.
#[pyfunction]
pub(crate) fn match_rows<'py>(
    py: Python<'py>,
    labels: Named,
    ensemble: PyRef<'_, NativeEnsemble>,
    common: bool,
    how: Run,
) -> PyResult<MatchedRows<'py>> {
    let (labels, place, ensemble) = (labels_of(labels), ensemble.source(), &*ensemble.ensemble);
    let done = run(py, &how, |observer| {
        partita_app::match_rows(
            (place, ensemble),
            (Path::new("labels"), &labels),
            common,
            observer,
        )
    });
    let (rows, places) = done?.whole()?;
    let places: Vec<i64> = places.into_iter().map(|place| place as i64).collect();
    Ok((rows.into_pyarray(py), places.into_pyarray(py)))
}

/// What judges labels: an ensemble, the rows of it that count (all if not given), and weights.
#[derive(FromPyObject)]
pub(crate) struct JudgeAsked<'py> {
    ensemble: PyRef<'py, NativeEnsemble>,
    rows: Option<PyReadonlyArray1<'py, u32>>,
    /// Whether base clusterings have weights by agreement.
    agreement: bool,
    base_weights: Option<Vec<f64>>,
    object_weights: Option<Vec<f64>>,
}

impl JudgeAsked<'_> {
    fn judge(&self, py: Python<'_>) -> PyResult<Judge<'_>> {
        let ensemble = &*self.ensemble.ensemble;
        let bases = if self.agreement {
            Some(briefly(py, || metrics::agreement_weights(ensemble))?)
        } else {
            base_weights(py, self.base_weights.clone())?
        };
        let objects = object_weights(py, self.object_weights.clone())?;
        let rows = self.rows.as_ref().map(|rows| rows.as_array().to_vec());
        let judge = briefly(py, || Judge::new(ensemble, rows.as_deref(), bases, objects))?;
        judge.map_err(|error| wrong_object_weights(py, &error))
    }
}

/// Mean NMI of labels with the base clusterings.
#[pyfunction]
pub(crate) fn anmi(
    py: Python<'_>,
    labels: PyReadonlyArray1<'_, i64>,
    asked: JudgeAsked<'_>,
) -> PyResult<f64> {
    let (labels, judge) = (partition(&labels), asked.judge(py)?);
    briefly(py, || judge.anmi(&labels))?.map_err(|error| failed(py, error))
}

/// The agreement of each label.
#[pyfunction]
pub(crate) fn object_agreement<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'_, i64>,
    asked: JudgeAsked<'_>,
) -> PyResult<Bound<'py, PyArray1<f64>>> {
    let (labels, judge) = (partition(&labels), asked.judge(py)?);
    let found = briefly(py, || judge.agreement(&labels))?;
    found
        .map(|found| found.into_pyarray(py))
        .map_err(|error| failed(py, error))
}

/// Jaccard coefficient, share dissolved and share recovered of every cluster, in the order of the labels.
#[pyfunction]
pub(crate) fn cluster_stability<'py>(
    py: Python<'py>,
    labels: PyReadonlyArray1<'_, i64>,
    asked: JudgeAsked<'_>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let (labels, judge) = (partition(&labels), asked.judge(py)?);
    let found = briefly(py, || judge.stability(&labels))?;
    let found = found.map_err(|error| failed(py, error))?;
    let rows = found
        .iter()
        .map(|one| vec![one.jaccard, one.dissolved, one.recovered]);
    PyArray2::from_vec2(py, &rows.collect::<Vec<_>>())
        .map_err(|error| input_error(py, &error.to_string()))
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

/// The NMI, or the adjusted Rand index, of every pair of base clusterings: M × M.
#[pyfunction]
pub(crate) fn agreement_matrix<'py>(
    py: Python<'py>,
    ensemble: PyRef<'_, NativeEnsemble>,
    index: &str,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let ensemble = &ensemble.ensemble;
    let matrix = match index {
        "nmi" => metrics::agreement_matrix,
        "ari" => metrics::rand_matrix,
        _ => {
            let wrong = format!("index='{index}'; write 'nmi' or 'ari'");
            return Err(input_error(py, &wrong));
        }
    };
    Ok(briefly(py, || matrix(ensemble))?.into_pyarray(py))
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
        let done = run(py, &how, |observer| {
            strong_pairs(ensemble, least, budget, observer)
        })?;
        return Ok(Numbers::Sparse(sparse(py, done.whole()?)));
    }
    let done = run(py, &how, |observer| {
        partita_app::co_association(ensemble, budget, observer)
    })?;
    Ok(Numbers::Dense(done.whole()?.into_pyarray(py)))
}
