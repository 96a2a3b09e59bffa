//! Which clusters are real.

use partita::Seed;
use partita::files::Table;
use partita::generate::GenerateError;
use partita_app::{ClusterTestInput, InputTable, json_text};
use pyo3::prelude::*;

use crate::arguments::Run;
use crate::call::run;
use crate::errors::{input_error, raised};
use crate::reading::{Named, labels_of};
use crate::tables::{IN_MEMORY, NativeTable};

/// The test as JSON, and the merged cluster of every object, -1 for none.
#[pyfunction]
#[expect(
    clippy::too_many_arguments,
    reason = "the keywords of a Python function"
)]
pub(crate) fn test_clusters(
    py: Python<'_>,
    table: PyRef<'_, NativeTable>,
    labels: Named,
    alpha: f64,
    halvings: u32,
    merge_small: bool,
    scale: &str,
    common: bool,
    seed: u64,
    how: Run,
) -> PyResult<(String, Vec<i64>)> {
    let mut input = ClusterTestInput::default();
    (input.labels, input.table.file) = ("labels".into(), IN_MEMORY.into());
    let wrong = |error: GenerateError| input_error(py, &error.to_string());
    input.scale = Some(scale.parse().map_err(wrong)?);
    input.settings.alpha = alpha;
    input.settings.halvings = halvings;
    input.settings.merge_small = merge_small;
    (input.common, input.seed, input.budget) = (common, Seed::new(seed), how.budget());
    let held = table.hold_dense(py)?;
    let InputTable::View(view) = table.input(&held) else {
        return Err(input_error(py, "clusters are tested on columns of numbers"));
    };
    let done = run(py, &how, |observer| {
        let table = Table {
            columns: view.columns,
            values: view.values.to_owned(),
            object_names: view.object_names,
            label: None,
            gaps: view.gaps,
        };
        input.test_held(table, labels_of(labels), observer)
    });
    let found = done?.whole()?;
    let json = json_text(&found.to_json()).map_err(|error| raised(py, &error))?;
    let merged = found.test.labels.iter();
    let merged = merged.map(|label| label.map_or(-1, i64::from)).collect();
    Ok((json, merged))
}
