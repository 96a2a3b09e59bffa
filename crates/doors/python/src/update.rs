//! Ensembles that grow by base clusterings or objects.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2, PyReadonlyArray2};
use partita_app::{Adding, AppError, UpdateInput, UpdatePair, Updated, json_text};
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::run;
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};

/// An ensemble that has grown.
#[pyclass(frozen, name = "NativeUpdate", module = "partita._partita")]
pub(crate) struct NativeUpdate {
    updated: Updated,
    ensemble: Arc<partita::Ensemble>,
}

/// Adds base clusterings or objects, and goes on from memberships (objects × K), where there are some.
#[pyfunction]
pub(crate) fn update(
    py: Python<'_>,
    ensemble: PyRef<'_, NativeEnsemble>,
    added: PyRef<'_, NativeEnsemble>,
    adding: Option<&str>,
    before: Option<PyReadonlyArray2<'_, f64>>,
    overlap: Option<PathBuf>,
    how: Run,
) -> PyResult<NativeUpdate> {
    let adding = adding.map(str::parse::<Adding>).transpose();
    let adding = adding.map_err(|error| input_error(py, &format!("adding: {error}")))?;
    let (old, new) = (
        ensemble.ensemble.as_ref().clone(),
        added.ensemble.as_ref().clone(),
    );
    let add = if added.origin.is_some() {
        added.source().to_owned()
    } else {
        "added".into()
    };
    let input = UpdateInput {
        ensemble: ensemble.source().into(),
        add,
        adding,
        overlap,
        ..UpdateInput::default()
    };
    let before = before.map(|rows| rows.as_array().to_owned());
    let done = run(py, &how, |observer| {
        let both = UpdatePair {
            old,
            old_truth: None,
            new,
            new_truth: None,
        };
        let updated = input.update_on(&both, before, observer)?;
        if let (Some(path), Some(table)) = (&input.overlap, &updated.overlap) {
            table.write(path).map_err(AppError::from)?;
        }
        Ok(updated)
    })?;
    let updated = done.whole()?;
    let ensemble = Arc::new(updated.ensemble.clone());
    Ok(NativeUpdate { updated, ensemble })
}

#[pymethods]
impl NativeUpdate {
    /// What `partita update --json` prints.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        json_text(&self.updated.to_json()).map_err(|error| raised(py, &error))
    }

    fn sentence(&self) -> String {
        self.updated.sentence()
    }

    fn ensemble(&self) -> NativeEnsemble {
        NativeEnsemble::shared(Arc::clone(&self.ensemble))
    }

    /// Labels of all objects, where there was something to go on from.
    fn labels<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<i32>>> {
        let labels = self.updated.consensus.as_ref()?.partition.labels();
        Some(
            labels
                .iter()
                .map(|&label| label as i32)
                .collect::<Vec<i32>>()
                .into_pyarray(py),
        )
    }

    fn probabilities<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        let soft = self.updated.consensus.as_ref()?.soft.as_ref()?;
        Some(soft.rows().to_owned().into_pyarray(py))
    }
}
