//! Models that label new objects.

use std::sync::Arc;

use numpy::{IntoPyArray, PyArray2};
use partita::Model;
use partita::extend::{ModelInput, ModelReads};
use partita::mixture::held_out;
use partita_app::{AppError, InputTable};
use pyo3::prelude::*;
use serde_json::Value;

use crate::call::briefly;
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};
use crate::tables::NativeTable;

/// A model.
#[pyclass(frozen, name = "NativeModel", module = "partita._partita")]
pub(crate) struct NativeModel(Arc<dyn Model>);

/// The model that a JSON text holds.
#[pyfunction]
pub(crate) fn read_model(py: Python<'_>, json: &str) -> PyResult<NativeModel> {
    let saved: Result<Value, _> = serde_json::from_str(json);
    let mut saved =
        saved.map_err(|error| input_error(py, &format!("this is not JSON: {error}")))?;
    without_beside(&mut saved);
    let model = partita::load_model(&saved);
    model
        .map(NativeModel)
        .map_err(|error| raised(py, &AppError::from(error)))
}

/// The perplexity of label rows under a saved model, the labels that count, those that are new to the model, and whether it is an upper
/// bound.
#[pyfunction]
pub(crate) fn perplexity(
    py: Python<'_>,
    json: &str,
    rows: PyRef<'_, NativeEnsemble>,
) -> PyResult<(f64, u64, u64, bool)> {
    let saved: Result<Value, _> = serde_json::from_str(json);
    let mut saved =
        saved.map_err(|error| input_error(py, &format!("this is not JSON: {error}")))?;
    without_beside(&mut saved);
    let rows = &*rows.ensemble;
    let found = briefly(py, || held_out(&saved, rows, None))?
        .map_err(|error| raised(py, &AppError::Model(error)))?;
    Ok((
        found.perplexity,
        found.labels,
        found.unread,
        found.upper_bound,
    ))
}

/// Takes out what model files keep beside the model.
fn without_beside(saved: &mut Value) {
    if let Some(fields) = saved.as_object_mut() {
        ["reading", "made"]
            .iter()
            .for_each(|beside| drop(fields.remove(*beside)));
    }
}

/// Probabilities of new objects (n × K), how many of their values the model does not know, and the rows that are left with nothing.
type Predicted<'py> = (Bound<'py, PyArray2<f64>>, u64, Vec<u32>);

#[pymethods]
impl NativeModel {
    /// Whether it reads a table, not label rows.
    #[getter]
    fn reads_table(&self) -> bool {
        self.0.reads() == ModelReads::Features
    }

    fn predict<'py>(
        &self,
        py: Python<'py>,
        ensemble: Option<PyRef<'_, NativeEnsemble>>,
        table: Option<PyRef<'_, NativeTable>>,
    ) -> PyResult<Predicted<'py>> {
        let held = table
            .as_ref()
            .map(|table| table.hold_dense(py))
            .transpose()?;
        let input_table = table
            .as_ref()
            .zip(held.as_ref())
            .map(|(table, held)| table.input(held));
        let features = input_table.as_ref().and_then(InputTable::features);
        let input = match (&ensemble, features) {
            (Some(ensemble), _) => ModelInput::Labels(&ensemble.ensemble),
            (None, Some(features)) => ModelInput::Features(features),
            (None, None) => {
                let columns = table.as_ref().map_or(0, |table| table.columns().len());
                return Err(input_error(
                    py,
                    &format!("the model reads a dense table of finite numbers; {columns} columns"),
                ));
            }
        };
        let found = briefly(py, || Ok((self.0.predict(&input)?, self.0.unread(&input)?)))?;
        let (soft, unread) = found.map_err(|error| raised(py, &AppError::Model(error)))?;
        Ok((
            soft.into_rows().into_pyarray(py),
            unread.values,
            unread.empty_rows,
        ))
    }
}
