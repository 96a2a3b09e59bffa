//! The number of clusters of a table or an ensemble.

use std::path::Path;

use partita::{Clusters, Problem, Seed};
use partita_app::{AppError, choose_of_ensemble, choose_of_table, json_text, methods, seeds};
use pyo3::prelude::*;

use crate::arguments::{Run, settings};
use crate::call::run;
use crate::ensemble::NativeEnsemble;
use crate::errors::{of_settings, raised};
use crate::tables::{IN_MEMORY, NativeTable};

/// The choice as JSON; settings are a JSON object.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "the keywords of a Python function")]
pub(crate) fn choose_k(
    py: Python<'_>,
    ensemble: Option<PyRef<'_, NativeEnsemble>>,
    table: Option<PyRef<'_, NativeTable>>,
    range: (usize, usize),
    method: &str,
    settings_json: &str,
    seed: u64,
    how: Run,
) -> PyResult<String> {
    let (settings, range, budget) = (settings(py, settings_json)?, range.0..=range.1, how.budget());
    let held = table.as_ref().map(|table| table.hold(py)).transpose()?;
    let done = match (&ensemble, table.as_ref().zip(held.as_ref())) {
        (Some(ensemble), _) => {
            let (own, source) =
                (settings.apply().map_err(|error| of_settings(py, &error))?, ensemble.source().to_owned());
            let method = methods::find(method).map_err(|error| raised(py, &error))?;
            let ensemble = &*ensemble.ensemble;
            run(py, &how, |observer| {
                let mut problem = Problem::new(ensemble, Clusters::Exactly(*range.start()));
                (problem.seed, problem.budget) = (seeds::choice(Seed::new(seed)), budget);
                choose_of_ensemble(method, &problem, range, &own, &source, observer)
            })
        }
        (None, Some((table, held))) => {
            let (own, input) = (settings.apply().map_err(|error| of_settings(py, &error))?, table.input(held));
            run(py, &how, |observer| {
                choose_of_table(&input, range, &own, Seed::new(seed), budget, Path::new(IN_MEMORY), observer)
            })
        }
        (None, None) => Err(raised(py, &AppError::request("there is neither a table nor an ensemble"))),
    };
    let choice = done?.whole()?;
    json_text(&choice).map_err(|error| raised(py, &error))
}
