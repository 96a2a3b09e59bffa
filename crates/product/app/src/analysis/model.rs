//! The model that labels new objects as a consensus labels these, and saved models.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use partita::extend::{ModelReads, option};
use partita::mixture::RowModel;
use partita::ssce::{Predictor, learn, learn_soft};
use partita::{Ensemble, Features, Model, Outcome, SoftPartition};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::error::AppError;
use crate::experiment::description::TableInput;
use crate::text_files::read_json;
use crate::version::{VERSION, written_at};
use partita::files::{Encode, Impute, ReadOptions};

/// The model of an outcome: learned from the table where a predictor is named, else the method's own; where the method
/// has none, one of the label rows of its clusters.
///
/// # Errors
/// [`AppError::Request`] for a predictor without a table; [`AppError::Model`] where none can be learned.
pub fn model_of(
    predictor: Option<Predictor>,
    ensemble: &Ensemble,
    features: Option<&Features<'_>>,
    outcome: &Outcome,
) -> Result<Value, AppError> {
    if let Some(how) = predictor {
        let features = features.ok_or_else(|| {
            AppError::request(format!("the predictor {how} reads a table; give one"))
        })?;
        let model = match &outcome.soft {
            Some(soft) => learn_soft(how, features, soft)?,
            None => learn(how, features, &outcome.partition)?,
        };
        return Ok(model.to_json());
    }
    if let Some(model) = &outcome.model {
        return Ok(model.to_json());
    }
    let soft = outcome
        .soft
        .clone()
        .unwrap_or_else(|| SoftPartition::of(&outcome.partition));
    Ok(RowModel::of_consensus(ensemble, &soft).to_json())
}

/// How the table was read that a model was learned from: kept beside the model in its JSON.
const READING: &str = "reading";

/// Columns that were left out, words that were missing values, and what became of other words and of missing numbers.
#[derive(Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Reading {
    #[serde(default)]
    skip: Vec<String>,
    #[serde(default)]
    missing: Option<Vec<String>>,
    encode: Option<Encode>,
    impute: Option<Impute>,
    /// Means of the columns of numbers, where missing ones became the mean.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    means: BTreeMap<String, f64>,
    /// Columns of the table that the model reads.
    #[serde(default)]
    columns: Vec<String>,
}

impl Reading {
    /// Reads a table like the one that the model was learned from, where nothing else is said.
    pub(crate) fn apply(self, options: &mut ReadOptions) {
        options.skip.extend(self.skip);
        options.means = self.means;
        options.missing = options.missing.take().or(self.missing);
        (options.encode, options.impute, options.max_categories) = (self.encode, self.impute, None);
    }
}

/// Refuses a model of a table that other tables cannot be read like: words became numbers by their place in the alphabet, or
/// the table is not held in memory.
pub(crate) fn check_table_model(
    table: &TableInput,
    features: Option<&Features<'_>>,
) -> Result<(), AppError> {
    if table.read.encode == Some(Encode::Ordinal) {
        let reason = format!(
            "a model cannot keep the numbers of {}, which depend on all words; take one-hot",
            option("encode").to("ordinal")
        );
        return Err(AppError::request(reason));
    }
    let reason = "a model of a table is learned from a dense table that fits memory";
    features
        .map(|_| ())
        .ok_or_else(|| AppError::content(&table.file, reason))
}

/// What a model was made by: kept beside the model in its JSON.
const MADE: &str = "made";

/// The JSON of a model, with the method and the objects that it was learned from.
pub fn with_origin(mut model: Value, method: &str, objects: usize) -> Value {
    model[MADE] = json!({ "method": method, "objects": objects, "version": VERSION });
    model
}

/// The JSON of a model of a table, with how the table was read.
pub(crate) fn with_reading(
    mut model: Value,
    table: &TableInput,
    features: Option<&Features<'_>>,
) -> Value {
    let read = table.read.clone();
    // One column of words became several, called `column=word`.
    let named = features.map_or(&[][..], Features::columns).iter();
    let mut columns: Vec<String> = named
        .map(|name| match (read.encode, name.split_once('=')) {
            (Some(Encode::OneHot) | None, Some((column, _))) => column.to_owned(),
            _ => name.clone(),
        })
        .collect();
    columns.dedup();
    let ReadOptions {
        skip,
        missing,
        encode,
        impute,
        ..
    } = read;
    // Filled with its mean, a column has the mean of what was there.
    let means = features
        .filter(|_| impute != Some(Impute::None))
        .map(column_means)
        .unwrap_or_default();
    let reading = Reading {
        skip,
        missing,
        encode,
        impute,
        means,
        columns,
    };
    model[READING] = serde_json::to_value(reading).unwrap_or_default();
    model
}

fn column_means(features: &Features<'_>) -> BTreeMap<String, f64> {
    let rows = features.values().nrows().max(1) as f64;
    let names = features.columns().iter().cloned();
    names
        .zip(features.values().columns())
        .map(|(name, column)| (name, column.sum() / rows))
        .collect()
}

/// Names of the columns or base clusterings that a saved model reads, in its order.
pub fn columns_of(saved: &Value) -> Vec<String> {
    let texts = |list: &Value| {
        let names = list.as_array().into_iter().flatten();
        names
            .filter_map(|name| {
                name.as_str()
                    .or_else(|| name["name"].as_str())
                    .map(str::to_owned)
            })
            .collect::<Vec<_>>()
    };
    let named = texts(&saved[READING]["columns"]);
    if named.is_empty() {
        [texts(&saved["columns"]), texts(&saved["base_clusterings"])].concat()
    } else {
        named
    }
}

/// What a saved model is: what it reads, which columns, how many clusters it tells apart, by what it was made, how its table was read.
///
/// # Errors
/// As [`load_model`].
pub fn model_facts(path: &Path) -> Result<Value, AppError> {
    let (model, saved) = (load_model(path)?, read_json(path, "fit it again")?);
    let reads = match model.reads() {
        ModelReads::Labels => "label rows",
        ModelReads::Features => "a table",
    };
    let clusters = clusters_of(&saved);
    Ok(json!({
        "kind": "model", "reads": reads, "columns": columns_of(&saved), "clusters": clusters, "made": saved[MADE],
        "reading": saved[READING], "format": saved["format"], "written": written_at(path),
    }))
}

/// How many clusters a saved model tells apart, if its JSON says.
pub fn clusters_of(saved: &Value) -> Value {
    let per_cluster = ["prior", "weights", "centroids"]
        .into_iter()
        .find_map(|name| saved[name].as_array());
    per_cluster
        .map(Vec::len)
        .map_or_else(|| saved["clusters"].clone(), Value::from)
}

/// The JSON of a saved model itself, and of how its table was read.
fn saved_model(path: &Path) -> Result<(Value, Option<Value>), AppError> {
    let mut saved = read_json(path, "fit it again")?;
    let mut beside = |name: &str| saved.as_object_mut().and_then(|fields| fields.remove(name));
    let (reading, _) = (beside(READING), beside(MADE));
    Ok((saved, reading))
}

/// The JSON of a saved model without what is kept beside it.
///
/// # Errors
/// [`AppError::Content`] for a file that is not JSON.
pub fn model_json(path: &Path) -> Result<Value, AppError> {
    saved_model(path).map(|(saved, _)| saved)
}

/// A saved model, and how tables for it are read.
///
/// # Errors
/// [`AppError::Content`] for a file that is not a model of a known format.
pub(crate) fn open_model(path: &Path) -> Result<(Arc<dyn Model>, Reading), AppError> {
    let wrong =
        |error: &dyn std::fmt::Display| AppError::content(path, format!("{error}; fit it again"));
    let (saved, reading) = saved_model(path)?;
    let model = partita::load_model(&saved).map_err(|error| wrong(&error))?;
    let damaged = |error| wrong(&format!("how its table was read is damaged: {error}"));
    let reading = reading
        .map_or_else(|| Ok(Reading::default()), serde_json::from_value)
        .map_err(damaged)?;
    Ok((model, reading))
}

/// A saved model.
///
/// # Errors
/// [`AppError::Content`] for a file that is not a model of a known format.
pub fn load_model(path: &Path) -> Result<Arc<dyn Model>, AppError> {
    open_model(path).map(|(model, _)| model)
}
