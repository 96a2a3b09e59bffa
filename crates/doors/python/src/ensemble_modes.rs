//! Modes: the answers that an ensemble holds.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use partita_app::{FoundModes, json_text};
use partita_modes::Mode;
use pyo3::exceptions::PyIndexError;
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::{briefly, run};
use crate::ensemble::NativeEnsemble;
use crate::errors::raised;

/// The modes of an ensemble.
#[pyclass(frozen, name = "NativeModes", module = "partita._partita")]
pub(crate) struct NativeModes(FoundModes);

/// Finds the modes of an ensemble.
#[pyfunction]
pub(crate) fn find_modes(
    py: Python<'_>,
    ensemble: PyRef<'_, NativeEnsemble>,
    how: Run,
) -> PyResult<NativeModes> {
    let (held, input) = (Arc::clone(&ensemble.ensemble), ensemble.input());
    run(py, &how, |observer| FoundModes::of(held, input, observer))?
        .whole()
        .map(NativeModes)
}

impl NativeModes {
    fn mode(&self, at: usize) -> PyResult<&Mode> {
        let count = self.0.modes.modes.len();
        self.0
            .modes
            .modes
            .get(at)
            .ok_or_else(|| PyIndexError::new_err(format!("mode {at} of {count}")))
    }
}

#[pymethods]
impl NativeModes {
    /// What `partita modes --json` prints.
    fn record(&self, py: Python<'_>) -> PyResult<String> {
        json_text(&self.0.to_json()).map_err(|error| raised(py, &error))
    }

    /// Labels of a mode, n numbers from 0.
    fn labels<'py>(&self, py: Python<'py>, mode: usize) -> PyResult<Bound<'py, PyArray1<i32>>> {
        let labels: Vec<i32> = self
            .mode(mode)?
            .partition
            .labels()
            .iter()
            .map(|&label| label as i32)
            .collect();
        Ok(labels.into_pyarray(py))
    }

    /// The share of a mode's members that give each label, n × K.
    fn probabilities<'py>(
        &self,
        py: Python<'py>,
        mode: usize,
    ) -> PyResult<Bound<'py, PyArray2<f64>>> {
        Ok(self.mode(mode)?.soft.rows().to_owned().into_pyarray(py))
    }

    /// How much the modes differ on every object, n numbers.
    fn disagreement<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.0.modes.disagreement.clone().into_pyarray(py)
    }

    fn ensemble(&self) -> NativeEnsemble {
        NativeEnsemble::shared(Arc::clone(&self.0.ensemble))
    }

    /// Writes what `partita modes -o` writes.
    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        briefly(py, || self.0.write(&folder))?.map_err(|error| raised(py, &error))
    }
}
