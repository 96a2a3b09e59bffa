//! Synthetic tables with known clusters.

use numpy::{IntoPyArray, PyArray1, PyArray2};
use partita::Seed;
use partita::synth::{SynthSettings, families, synthesise};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::arguments::settings;
use crate::errors::{input_error, of_settings};

/// All families as JSON: name, group, usual number of objects, what is drawn.
#[pyfunction]
pub(crate) fn synth_families() -> String {
    let family = |family: &partita::synth::Family| json!({ "name": family.name, "group": family.group.name(), "objects": family.objects, "about": family.about });
    families().map(family).collect::<Value>().to_string()
}

/// Points (n × d), the cluster of each (−1 for none), true probabilities of mixtures, names of the columns.
type Drawn<'py> = (
    Bound<'py, PyArray2<f64>>,
    Bound<'py, PyArray1<i32>>,
    Option<Bound<'py, PyArray2<f64>>>,
    Vec<String>,
);

/// Draws a table; settings are a JSON object.
#[pyfunction]
pub(crate) fn synth<'py>(
    py: Python<'py>,
    family: &str,
    objects: Option<usize>,
    seed: u64,
    settings_json: &str,
) -> PyResult<Drawn<'py>> {
    let own = settings(py, settings_json)?;
    let own: SynthSettings = own.apply().map_err(|error| of_settings(py, &error))?;
    let usual = families()
        .find(|known| known.name == family)
        .map_or(1, |known| known.objects);
    let drawn = py.detach(|| synthesise(family, objects.unwrap_or(usual), Seed::new(seed), &own));
    let drawn = drawn.map_err(|error| input_error(py, &error.to_string()))?;
    let labels: Vec<i32> = drawn
        .labels
        .iter()
        .map(|label| label.map_or(-1, |label| label as i32))
        .collect();
    let soft = drawn.soft.map(|soft| soft.into_rows().into_pyarray(py));
    Ok((
        drawn.values.into_pyarray(py),
        labels.into_pyarray(py),
        soft,
        drawn.columns,
    ))
}
