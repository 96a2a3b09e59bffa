//! What a file holds: a table, an ensemble, a model, the record of a run, or a choice of K.

use std::collections::BTreeMap;
use std::path::Path;
use std::str::FromStr;

use partita::Ensemble;
use partita::extend::option;
use partita::files::{self, Encode, LabelColumn, ReadOptions, Roles, SparseTable, Table};
use partita_select::ChoiceRow;
use serde_json::{Value, json};

use crate::analysis::choice::SavedChoice;
use crate::analysis::model::model_facts;
use crate::error::AppError;
use crate::input::file_kind::FileKind;
use crate::input::input_file::InputFile;
use crate::input::input_notes::say_roles;
use crate::input::label_files::read_ensemble;
use crate::machine::default_budget;
use crate::observer::Observer;
use crate::output::record::{MethodRecord, RunRecord};
use crate::path_text::PathText;

/// What a file is taken as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TakenAs {
    /// Numbers.
    Table,
    /// Labels.
    Ensemble,
    /// A saved model.
    Model,
    /// The record of a run.
    Record,
}

impl FromStr for TakenAs {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "table" => Ok(Self::Table),
            "ensemble" => Ok(Self::Ensemble),
            "model" => Ok(Self::Model),
            "record" => Ok(Self::Record),
            other => Err(format!(
                "'{other}' is no kind of file; there are table, ensemble, model and record"
            )),
        }
    }
}

/// What a file holds, as one JSON object whose `kind` says what it is: whatever is found in it, or what it is if it is taken as this.
/// The observer hears what was taken for what.
///
/// # Errors
/// [`AppError`] for what cannot be read, or is not what it is taken as.
///
/// # Cost
/// That of reading it.
pub fn inspect(
    file: &Path,
    kind: Option<TakenAs>,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Value, AppError> {
    let mut options = options.clone();
    // One row or columns that do not vary can be described.
    options.clusterable = false;
    match kind {
        None => found(file, &options, observer),
        Some(kind) => taken_as(kind, file, &options, observer),
    }
}

/// What a file holds, whatever it is.
fn found(file: &Path, options: &ReadOptions, observer: &dyn Observer) -> Result<Value, AppError> {
    match FileKind::of(file, options)? {
        FileKind::Model => model_facts(file),
        FileKind::Record(path) => Ok(record_facts(&RunRecord::open(&path)?)),
        FileKind::Choice => Ok(choice_facts(&SavedChoice::open(file)?)),
        FileKind::Ensemble(loaded, roles) => {
            say_roles(file, &roles, observer);
            let facts = ensemble_facts(&loaded.ensemble, loaded.truth.as_ref());
            Ok(with_columns(facts, file, options, &roles))
        }
        FileKind::Either(loaded, roles) => {
            say_roles(file, &roles, observer);
            observer.note(
                &format!(
                    "every column may be labels or a feature; they are shown as labels, {} shows them as features",
                    option("as").called("kind").to("table")
                ),
            );
            let mut facts = ensemble_facts(&loaded.ensemble, loaded.truth.as_ref());
            facts["kind"] = "ensemble or table".into();
            Ok(with_columns(facts, file, options, &roles))
        }
        FileKind::Table | FileKind::SparseTable => {
            taken_as(TakenAs::Table, file, options, observer)
        }
    }
}

/// What a file holds if it is of this kind.
fn taken_as(
    kind: TakenAs,
    file: &Path,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Value, AppError> {
    Ok(match kind {
        TakenAs::Table if files::is_sparse_table(file, options) => {
            let options = options.clone().within(default_budget());
            let table = files::read_sparse_table(file, &options)?;
            let roles = table.roles();
            say_roles(file, &roles, observer);
            with_columns(sparse_facts(&table), file, &options, &roles)
        }
        TakenAs::Table => {
            let (table, roles) = match described(file, options, observer) {
                Ok(described) => described,
                Err(error) => return refused(error, file, options),
            };
            say_roles(file, &roles, observer);
            with_columns(table_facts(&table), file, options, &roles)
        }
        TakenAs::Ensemble => {
            let loaded = read_ensemble(file, options, observer)?;
            ensemble_facts(&loaded.ensemble, loaded.truth.as_ref())
        }
        TakenAs::Model => model_facts(file)?,
        TakenAs::Record => record_facts(&RunRecord::open(file)?),
    })
}

/// The columns of a table that cannot be clustered as it is, and why; the error where they cannot be read.
fn refused(error: AppError, file: &Path, options: &ReadOptions) -> Result<Value, AppError> {
    let facts = json!({ "kind": "table", "refused": error.to_string() });
    let facts = with_columns(facts, file, options, &Roles::default());
    match facts.get("file_columns") {
        Some(_) => Ok(facts),
        None => Err(error),
    }
}

/// The facts, and every column of the file.
fn with_columns(mut facts: Value, file: &Path, options: &ReadOptions, roles: &Roles) -> Value {
    let columns = files::column_facts(file, options, roles).unwrap_or_default();
    if !columns.is_empty() {
        facts["file_columns"] = json!(columns);
    }
    facts
}

/// A table as it is read; words that nothing says how to read are shown by category, else by number, and that is said.
fn described(
    file: &Path,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<(Table, Roles), AppError> {
    let refused = match files::load_table(file, options) {
        Ok(loaded) => return Ok(loaded),
        Err(refused) => refused,
    };
    let ways = [(Encode::OneHot, "one-hot"), (Encode::Ordinal, "ordinal")];
    for (encode, name) in ways.into_iter().filter(|_| options.encode.is_none()) {
        let mut options = options.clone();
        options.encode = Some(encode);
        if let Ok(loaded) = files::load_table(file, &options) {
            let encode = option("encode").to(name);
            observer.note(&format!("shown with {encode}, since {refused}"));
            return Ok(loaded);
        }
    }
    Err(refused.into())
}

/// What a run was: command, inputs, what every method found.
fn record_facts(record: &RunRecord) -> Value {
    let input = |file: &InputFile| json!({ "path": file.path.to_json(), "bytes": file.bytes, "sha256": file.sha256 });
    let method = |method: &MethodRecord| {
        let scores = method.scores.as_ref();
        json!({
            "name": method.method, "clusters": method.clusters, "sizes": method.sizes, "agreement": method.agreement,
            "anmi": method.anmi, "h": scores.map(|scores| scores.h), "ari": scores.map(|scores| scores.ari),
            "seconds": method.seconds, "warnings": method.warnings,
        })
    };
    let first = record.methods.first();
    json!({
        "kind": "record of a run",
        "command": format!("partita {}", record.arguments.join(" ")),
        "objects": first.map(|method| method.n),
        "base_clusterings": first.map(|method| method.base_clusterings),
        "clusters_asked": record.experiment.clusters,
        "choice": record.choice.as_ref().map(|choice| &choice.reason),
        "seed": record.experiment.seed,
        "started": record.started,
        "finished": record.finished,
        "interrupted": record.interrupted,
        "version": first.map(|method| &method.version),
        "inputs": record.inputs.iter().map(input).collect::<Vec<_>>(),
        "methods": record.methods.iter().map(method).collect::<Vec<_>>(),
    })
}

/// What a choice of the number of clusters found.
fn choice_facts(saved: &SavedChoice) -> Value {
    let row = |row: &ChoiceRow| json!({ "k": row.clusters, "score": row.score, "rcsi": row.rcsi, "p": row.p, "pac": row.pac, "lifetime": row.lifetime });
    json!({
        "kind": "choice of the number of clusters",
        "file": saved.file.to_json(),
        "clusters": saved.choice.clusters,
        "reason": saved.choice.reason,
        "warnings": saved.choice.warnings,
        "version": saved.version,
        "rows": saved.choice.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn table_facts(table: &Table) -> Value {
    let range = |column: usize| {
        let values = table.values.column(column);
        let (low, high) = values
            .iter()
            .fold((f64::INFINITY, f64::NEG_INFINITY), |(l, h), &x| {
                (l.min(x), h.max(x))
            });
        let mean = values.mean().unwrap_or(f64::NAN);
        json!({ "name": table.columns[column], "min": low, "mean": mean, "max": high })
    };
    json!({
        "kind": "table",
        "objects": table.values.nrows(),
        "columns": table.columns.len(),
        "label": table.label.as_ref().map(classes),
        "named_objects": table.object_names.is_some(),
        "features": (0..table.columns.len()).map(range).collect::<Vec<_>>(),
    })
}

fn sparse_facts(table: &SparseTable) -> Value {
    let (objects, columns) = table.values.shape();
    let stored = table.values.nnz();
    json!({
        "kind": "sparse table",
        "objects": objects,
        "columns": columns,
        "stored_numbers": stored,
        "share_stored": stored as f64 / (objects * columns).max(1) as f64,
        "label": table.label.as_ref().map(classes),
        "named_objects": table.object_names.is_some(),
        "features": table.columns,
    })
}

fn classes(label: &LabelColumn) -> Value {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for value in &label.values {
        *counts
            .entry(value.as_deref().unwrap_or("(missing)"))
            .or_default() += 1;
    }
    json!({ "name": label.name, "classes": counts })
}

/// The mean over the objects that a base clustering knows of their largest share: 1 where it is hard.
fn mean_largest_share(ensemble: &Ensemble, base: usize) -> f64 {
    let shares = ensemble.base_shares(base);
    let rows = shares.rows();
    let largest = rows
        .outer_iter()
        .map(|row| row.fold(0.0, |most: f64, &share| most.max(share)));
    let known: Vec<f64> = largest.filter(|&share| share > 0.0).collect();
    known.iter().sum::<f64>() / known.len().max(1) as f64
}

fn ensemble_facts(ensemble: &Ensemble, truth: Option<&LabelColumn>) -> Value {
    // Hashes and places of all rows, and the rows that differ; very many are not compared.
    let (n, bases) = (ensemble.objects() as u64, ensemble.bases().len() as u64);
    let fits = n.saturating_mul(bases.saturating_add(24)) <= default_budget().bytes();
    let fragments = fits.then(|| ensemble.fragments().weights().len());
    let base = |u: usize| {
        let labelled = ensemble.column(u).flatten().count();
        let (base, soft) = (&ensemble.bases()[u], ensemble.memberships().is_some());
        let mut facts =
            json!({ "name": base.name(), "clusters": base.clusters(), "labelled": labelled });
        if soft {
            facts["mean_largest_share"] = json!(mean_largest_share(ensemble, u));
        }
        facts
    };
    let recipe = ensemble
        .recipe()
        .map(|text| serde_json::from_str(text).unwrap_or_else(|_| json!(text)));
    json!({
        "kind": "ensemble",
        "objects": ensemble.objects(),
        "base_clusterings": ensemble.bases().len(),
        "missing_labels": ensemble.missing(),
        "soft": ensemble.memberships().is_some(),
        "unlabelled_object": ensemble.first_unlabelled().map(|object| ensemble.object_name(object)),
        "distinct_label_rows": fragments,
        "truth": truth.map(classes),
        "named_objects": ensemble.object_names().is_some(),
        "recipe": recipe,
        "bases": (0..ensemble.bases().len()).map(base).collect::<Vec<_>>(),
    })
}
