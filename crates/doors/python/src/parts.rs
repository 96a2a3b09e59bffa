//! A consensus of the rows of a manifest in rounds of tasks: for engines that start tasks, such as Dask.

use std::path::{Path, PathBuf};

use partita::files::Manifest;
use partita_app::{
    EvaluationInput, NoObserver, PredictionInput, ReadOptions, UnknownValues, WeightSource,
    json_text,
};
use partita_distributed::{
    Fold, Folded, KeptRows, LabelEnding, PartDone, PartPredictions, PartTask, PlanAsked, Stage,
    predict_by_tasks, release_rows, scores_by_tasks,
};
use pyo3::prelude::*;
use serde_json::{Value, json};

use crate::arguments::{Run, settings};
use crate::call::run;
use crate::errors::raised;

/// Writes the manifest of files, with columns to leave out and those that are read alone; the number of its parts.
#[pyfunction]
pub(crate) fn write_manifest(
    py: Python<'_>,
    files: Vec<PathBuf>,
    output: PathBuf,
    rows_per_part: u64,
    which: (Vec<String>, Vec<String>),
    how: Run,
) -> PyResult<usize> {
    let mut options = ReadOptions::default().within(how.budget());
    (options.skip, options.data) = which;
    let done = run(py, &how, |observer| {
        let folder = output.parent().unwrap_or(Path::new(""));
        let (manifest, notes) = Manifest::of(&files, folder, &options, rows_per_part.max(1))?;
        notes.iter().for_each(|note| observer.note(note));
        manifest.write(&output)?;
        Ok(manifest.parts.len())
    })?;
    done.whole()
}

/// What the rows of a fit are asked for: method, settings as JSON, K, seed, source of weights, format of the
/// files of labels.
type Asked = (
    Option<String>,
    Option<String>,
    Option<usize>,
    Option<u64>,
    Option<String>,
    String,
);

/// Folds as far as the sums allow: what comes next, or the record, as JSON.
#[pyfunction]
pub(crate) fn fold(
    py: Python<'_>,
    manifest: PathBuf,
    folder: PathBuf,
    asked: Asked,
    how: Run,
) -> PyResult<String> {
    let (method, own, clusters, seed, weights, ending) = asked;
    let settings = own.map(|json| settings(py, &json)).transpose()?;
    let base_weights = weights.map(|source| match source.as_str() {
        "agreement" => WeightSource::Agreement,
        _ => WeightSource::File(source.into()),
    });
    let labels = Some(label_ending(&ending));
    let asked = PlanAsked {
        method,
        settings,
        clusters,
        seed,
        base_weights,
        labels,
    };
    let fold = Fold {
        manifest,
        folder,
        sums: Vec::new(),
        asked,
        report: true,
        budget: how.budget(),
        arguments: Vec::new(),
    };
    // A fit that is replayed does not stop halfway.
    let folded = run(py, &how, |_| fold.run(&partita::Silent))?.whole()?;
    answer(
        py,
        folded,
        |Folded { record, labels }| json!({ "done": true, "labels": labels, "record": record }),
    )
}

/// The labels of a saved model as far as tasks have made them: what comes next, or what was found, as JSON.
#[pyfunction]
pub(crate) fn predict_parts(
    py: Python<'_>,
    model: PathBuf,
    manifest: PathBuf,
    folder: PathBuf,
    asked: (String, bool),
    how: Run,
) -> PyResult<String> {
    let (ending, refuse) = asked;
    let unknown = if refuse {
        UnknownValues::Refuse
    } else {
        UnknownValues::Missing
    };
    let input = PredictionInput {
        model,
        input: manifest,
        read: ReadOptions::default().within(how.budget()),
        unknown,
    };
    let predicted = run(py, &how, |observer| {
        predict_by_tasks(&input, &folder, label_ending(&ending), observer)
    })?
    .whole()?;
    answer(
        py,
        predicted,
        |PartPredictions { found, labels, .. }| {
            json!({
                "done": true, "labels": labels, "n": found.rows, "sizes": found.sizes, "mean_probability": found.mean_probability,
                "unknown_values": found.unknown_values, "rows_without_values": found.empty_rows,
            })
        },
    )
}

/// The scores of labels as far as tasks have counted them: what comes next, or the scores, as JSON.
#[pyfunction]
pub(crate) fn evaluate_parts(
    py: Python<'_>,
    labels: PathBuf,
    truth: PathBuf,
    folder: PathBuf,
    how: Run,
) -> PyResult<String> {
    let input = EvaluationInput {
        labels,
        truth,
        common: false,
        read: ReadOptions::default().within(how.budget()),
    };
    let scores = run(py, &how, |observer| {
        scores_by_tasks(&input, &folder, observer)
    })?
    .whole()?;
    answer(
        py,
        scores,
        |scores| json!({ "done": true, "scores": scores }),
    )
}

/// What comes next, or what was found, as JSON.
fn answer<T>(py: Python<'_>, stage: Stage<T>, done: impl FnOnce(T) -> Value) -> PyResult<String> {
    let answer = match stage {
        Stage::Waiting(next) => next.to_json(),
        Stage::Done(found) => {
            release_rows();
            done(found)
        }
    };
    json_text(&answer).map_err(|error| raised(py, &error))
}

fn label_ending(name: &str) -> LabelEnding {
    match name {
        "parquet" => LabelEnding::Parquet,
        "npy" => LabelEnding::Npy,
        _ => LabelEnding::Csv,
    }
}

/// Does the task of one part; where its sum is.
#[pyfunction]
pub(crate) fn pass_part(
    py: Python<'_>,
    manifest: PathBuf,
    model: PathBuf,
    part: usize,
    how: Run,
) -> PyResult<PathBuf> {
    let task = PartTask {
        manifest,
        job: model,
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
