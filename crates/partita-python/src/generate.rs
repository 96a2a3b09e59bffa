//! Base clusterings of a table.

use partita::generate::Recipe;
use partita::{Clusters, Seed};
use partita_app::{make_ensemble, preset};
use pyo3::prelude::*;
use serde_json::Value;

use crate::arguments::{Run, object};
use crate::call::run;
use crate::consensus::read_recipe;
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};
use crate::tables::NativeTable;

/// A recipe as JSON: the default or a preset, with these fields (a JSON object) put in.
#[pyfunction]
pub(crate) fn recipe(
    py: Python<'_>,
    preset_name: Option<&str>,
    clusters: Option<usize>,
    fields: &str,
) -> PyResult<String> {
    let clusters = clusters.map(Clusters::Exactly);
    let start = preset_name.map_or_else(|| Ok(Recipe::default()), |name| preset(name, clusters));
    let start = start.map_err(|error| raised(py, &error))?;
    let wrong = |error: serde_json::Error| input_error(py, &format!("the recipe: {error}"));
    let mut value = serde_json::to_value(&start).map_err(wrong)?;
    for (name, field) in object(py, fields)? {
        value[name] = field;
    }
    let recipe: Recipe = serde_json::from_value(value).map_err(wrong)?;
    serde_json::to_value(&recipe).map(|value: Value| value.to_string()).map_err(wrong)
}

/// Makes the base clusterings of a recipe in JSON.
#[pyfunction]
pub(crate) fn generate(
    py: Python<'_>,
    table: PyRef<'_, NativeTable>,
    recipe: &str,
    seed: u64,
    how: Run,
) -> PyResult<NativeEnsemble> {
    let recipe = read_recipe(py, recipe)?;
    let held = table.hold(py)?;
    let input = table.input(&held);
    let done = run(py, &how, |observer| {
        if let Some(warning) = input.scale_warning(recipe.scale) {
            observer.warn(&warning);
        }
        make_ensemble(&input, &recipe, Seed::new(seed), None, how.budget(), observer)
    })?;
    done.whole().map(|made| NativeEnsemble::of(made.ensemble))
}
