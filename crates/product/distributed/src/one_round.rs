//! Evaluation and prediction by tasks: what takes one round.

use std::path::{Path, PathBuf};

use partita::extend::{PassRunner, RowBlocks};
use partita::files::ManifestRows;
use partita::metrics::{RowCounts, Scores};
use partita::{MemoryBudget, Silent};

use crate::files_engine::{FilesEngine, Stage};
use crate::job::{Content, EVALUATE, LabelEnding, PREDICT, Purpose, Round, Task};
use crate::task_columns::TaskColumns;
use partita_app::tasks::{
    PredictedCounts, RowPredictor, base_of, check_pair, clusters_of, columns_of, scores_of_counts,
};
use partita_app::{
    AppError, EvaluationInput, Observer, PredictionInput, RowPrediction, UnknownValues,
    default_budget, file_and_column, json_text, model_json, write_text,
};

/// The file of what was counted, in the folder of a prediction.
const PREDICTION: &str = "prediction.json";

/// Labels of a saved model in files, a file a part.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct PartPredictions {
    /// What is said of them all; as JSON in `prediction.json`.
    pub found: RowPrediction,
    /// The files, in the order of their rows.
    pub labels: Vec<PathBuf>,
}

/// The external indices by tasks ([`PartTask`](crate::PartTask)) over the parts of the labels' manifest. The truth is in this or another
/// manifest. The folder has what workers need, and what they made.
///
/// # Errors
/// As [`scores`](EvaluationInput::scores); [`AppError`] for a file that is no manifest, for the folder of something else, and for sums that
/// are not those of this evaluation, each part once.
pub fn scores_by_tasks(
    input: &EvaluationInput,
    folder: &Path,
    observer: &dyn Observer,
) -> Result<Stage<Scores>, AppError> {
    input.check_places()?;
    let budget = input.read.clone().within(default_budget()).budget;
    let [(labels, column), (truth, class)] =
        [&input.labels, &input.truth].map(|given| file_and_column(given));
    let rows = manifest_rows(&labels, budget)?;
    let other = if labels == truth {
        None
    } else {
        Some(manifest_rows(&truth, budget)?)
    };
    let beside = match &other {
        None => None,
        Some(rows) => {
            let path = std::path::absolute(&truth)
                .map_err(|error| AppError::io(&truth, "be found", error))?;
            Some((path, rows.hash()))
        }
    };
    let there = other.as_ref().unwrap_or(&rows);
    let (found, known) = (
        base_of(&labels, &rows, column.as_deref())?,
        base_of(&truth, there, class.as_deref())?,
    );
    check_pair((&labels, found), (&truth, known), budget)?;
    let columns = TaskColumns {
        labels: found.base,
        truth: known.base,
        beside,
    };
    let none = || AppError::content(&labels, "it has not the columns that are compared");
    let paired = columns.pair(&rows, other.as_ref()).ok_or_else(none)?;
    let clusters = paired.bases()[0].clusters() as u64;
    let same = |task: &Task| matches!(task, Task::Sum { columns: own, .. } if own.as_ref() == Some(&columns));
    let purpose = Purpose {
        method: EVALUATE.into(),
        clusters,
        plan: String::new(),
        columns: Some(columns.clone()),
    };
    let engine = FilesEngine::new(&rows, purpose, folder, Vec::new());
    engine.claim(Round::Sums(1), same)?;
    let counts = RowCounts::of(&PassRunner::new(&paired, &Silent).by(Some(&engine)));
    let scores = counts
        .map_err(|error| AppError::of_pass(&labels, &error))
        .and_then(|counts| scores_of_counts(&counts, &truth, observer));
    engine.answer(scores.map(Stage::Done))
}

/// [`predict_rows`](PredictionInput::predict_rows) by tasks ([`PartTask`](crate::PartTask)) over the parts of the manifest, each of which writes its
/// labels into the folder in this format. What is unknown to the model and refused is an error of the task that meets it.
///
/// # Errors
/// As [`predict_rows`](PredictionInput::predict_rows); [`AppError`] for the folder of something else, and for results that are not those of this
/// prediction, each part once.
pub fn predict_by_tasks(
    input: &PredictionInput,
    folder: &Path,
    ending: LabelEnding,
    observer: &dyn Observer,
) -> Result<Stage<PartPredictions>, AppError> {
    let (model, saved) = input.row_model()?;
    let rows = manifest_rows(
        &input.input,
        input.read.clone().within(default_budget()).budget,
    )?;
    input.say_others(
        RowPredictor::new(&*model, rows.bases(), &columns_of(&saved)).others,
        observer,
    );
    let model = json_text(&model_json(&input.model)?)?;
    let (clusters, refuse) = (
        clusters_of(&saved).as_u64().unwrap_or(0),
        input.unknown == UnknownValues::Refuse,
    );
    let purpose = Purpose {
        method: PREDICT.into(),
        clusters,
        plan: String::new(),
        columns: None,
    };
    let engine = FilesEngine::new(&rows, purpose, folder, Vec::new());
    let same = |task: &Task| {
        matches!(task, Task::Predict { model: own, refuse: strict, ending: format }
                if (own, *strict, *format) == (&model, refuse, ending))
    };
    engine.claim(Round::Labels, same)?;
    let hash = engine.job(
        Round::Labels,
        Task::Predict {
            model: model.clone(),
            refuse,
            ending,
        },
    )?;
    let parts = match engine.part_files(Round::Labels, hash)? {
        Ok(parts) => parts,
        Err(waiting) => return Ok(Stage::Waiting(waiting)),
    };
    let (mut labels, mut all) = (Vec::with_capacity(parts.len()), PredictedCounts::default());
    for (part, path) in parts.iter().enumerate() {
        let result = engine.checked(path, Round::Labels, hash, Some(part))?;
        labels.push(result.label_file(path, ending)?);
        let Content::Predicted { counts, .. } = result.content else {
            return Err(AppError::content(
                path,
                "these are labels of a fit, not of a saved model",
            ));
        };
        all.append(counts);
    }
    let found = input.told(all)?;
    found
        .warnings
        .iter()
        .for_each(|warning| observer.warn(warning));
    write_text(&folder.join(PREDICTION), &input.rows_to_json(&found)?)?;
    Ok(Stage::Done(PartPredictions { found, labels }))
}

/// The rows of a manifest, which tasks need.
fn manifest_rows(path: &Path, budget: MemoryBudget) -> Result<ManifestRows, AppError> {
    // A missing file is the better thing to say.
    if ManifestRows::is_manifest(path) || !path.exists() {
        return Ok(ManifestRows::open(path, budget)?);
    }
    let reason = "tasks share the rows of a manifest, and this is none; make one of it with `partita distributed plan`";
    Err(AppError::content(path, reason))
}
