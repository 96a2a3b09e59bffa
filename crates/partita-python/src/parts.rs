//! A consensus of the rows of a manifest in rounds of tasks: for engines that start tasks, such as Dask.

use std::path::{Path, PathBuf};

use partita::files::Manifest;
use partita_app::{
    Fold, Folded, KeptRows, LabelEnding, NoObserver, PartDone, PartTask, PlanAsked, ReadOptions, WeightSource,
    json_text, release_rows,
};
use pyo3::prelude::*;
use serde_json::json;

use crate::arguments::{Run, settings};
use crate::call::run;
use crate::errors::raised;

/// Writes the manifest of files; the number of its parts.
#[pyfunction]
pub(crate) fn write_manifest(
    py: Python<'_>,
    files: Vec<PathBuf>,
    output: PathBuf,
    rows_a_part: u64,
    skip: Vec<String>,
    how: Run,
) -> PyResult<usize> {
    let mut options = ReadOptions::default().within(how.budget());
    options.skip = skip;
    let done = run(py, &how, |observer| {
        let folder = output.parent().unwrap_or(Path::new(""));
        let (manifest, notes) = Manifest::of(&files, folder, &options, rows_a_part.max(1))?;
        notes.iter().for_each(|note| observer.note(note));
        manifest.write(&output)?;
        Ok(manifest.parts.len())
    })?;
    done.whole()
}

/// What the rows of a fit are asked for: method, settings as JSON, K, seed, source of weights, format of the
/// files of labels.
type Asked = (Option<String>, Option<String>, Option<usize>, Option<u64>, Option<String>, String);

/// Folds as far as the sums allow: what comes next, or the record, as JSON.
#[pyfunction]
pub(crate) fn fold(py: Python<'_>, manifest: PathBuf, folder: PathBuf, asked: Asked, how: Run) -> PyResult<String> {
    let (method, own, clusters, seed, weights, ending) = asked;
    let settings = own.map(|json| settings(py, &json)).transpose()?;
    let base_weights = weights.map(|source| match source.as_str() {
        "agreement" => WeightSource::Agreement,
        _ => WeightSource::File(source.into()),
    });
    let labels = match ending.as_str() {
        "parquet" => LabelEnding::Parquet,
        "npy" => LabelEnding::Npy,
        _ => LabelEnding::Csv,
    };
    let asked = PlanAsked { method, settings, clusters, seed, base_weights, labels: Some(labels) };
    let fold = Fold { manifest, folder, sums: Vec::new(), asked, report: true, budget: how.budget() };
    // A fit that is replayed does not stop halfway.
    let folded = run(py, &how, |_| fold.run(&partita::Silent))?.whole()?;
    let answer = match folded {
        Folded::Waiting(next) => {
            json!({ "done": false, "round": next.round, "model": next.model, "parts": next.parts, "missing": next.missing })
        }
        Folded::Done { record, labels } => {
            release_rows();
            json!({ "done": true, "labels": labels, "record": record })
        }
    };
    json_text(&answer).map_err(|error| raised(py, &error))
}

/// Does the task of one part; where its sum is.
#[pyfunction]
pub(crate) fn pass_part(py: Python<'_>, manifest: PathBuf, model: PathBuf, part: usize, how: Run) -> PyResult<PathBuf> {
    let task = PartTask {
        manifest,
        model,
        part,
        output: None,
        replace: false,
        budget: how.budget(),
        kept: KeptRows::InMemory,
    };
    match run(py, &how, |_| task.run(&NoObserver))?.whole()? {
        PartDone::Written(path) | PartDone::There(path) => Ok(path),
    }
}
