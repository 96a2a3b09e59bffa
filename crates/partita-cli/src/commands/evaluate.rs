//! `partita evaluate`: labels against the truth.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use partita::files::{self, LabelColumn, Labels};
use partita::metrics::{Scores, jensen_shannon};
use serde_json::{Value, json};

use partita_app::{TextTable, default_budget, read_ensemble, read_json, read_labels, score};

use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::output::{self, say};

pub(crate) fn evaluate(args: &EvaluateArgs) -> Result<(), Failure> {
    if let (Some(model), Some(rows)) = (&args.model, &args.held_out) {
        return perplexity(model, rows, args.json);
    }
    // The flags ask for both where there is no model.
    let (Some(labels), Some(truth)) = (&args.labels, &args.truth) else { return Ok(()) };
    scores(args, labels, truth)
}

/// How well a model predicts label rows that it has not seen.
fn perplexity(model: &Path, rows: &Path, json: bool) -> Result<(), Failure> {
    let saved = read_json(model, "fit it again")?;
    let loaded = read_ensemble(rows, None, default_budget())?;
    let found = partita::mixture::held_out(&saved, &loaded.ensemble)
        .map_err(|error| Failure::input(format!("{}: {error}", model.display())))?;
    if found.unread > 0 {
        say(&format!("{}: {} labels are new to the model and do not count", rows.display(), found.unread));
    }
    if json {
        return output::print_json(&json!({
            "perplexity": found.perplexity,
            "labels": found.labels,
            "unread": found.unread,
            "upper_bound": found.upper_bound,
        }));
    }
    let at_most = if found.upper_bound { "at most " } else { "" };
    output::print(&format!("perplexity {at_most}{:.4} over {} labels\n", found.perplexity, found.labels))
}

fn scores(args: &EvaluateArgs, labels: &Path, truth: &Path) -> Result<(), Failure> {
    let found = read_labels(labels, None)?;
    let (path, column) = file_and_column(truth);
    let truth = read_labels(&path, column.as_deref())?;
    let truth = matched(&found, truth, labels, &path)?;
    let unknown = truth.values.iter().filter(|value| value.is_none()).count();
    if unknown > 0 {
        say(&format!("{}: {unknown} objects have no true label and do not count", path.display()));
    }
    let labels = codes(&found.column);
    let scores = score(labels.into_iter(), &truth)
        .ok_or_else(|| Failure::input(format!("{}: no object has both a label and a true label", path.display())))?;
    let js = soft_score(args)?;
    if args.json { output::print_json(&as_json(&scores, js)) } else { output::print(&as_text(&scores, js)) }
}

/// `FILE` or `FILE:COLUMN`; a file whose name has a colon wins over a column.
fn file_and_column(given: &Path) -> (PathBuf, Option<String>) {
    match given.to_str().and_then(|text| text.rsplit_once(':')) {
        Some((file, column)) if !given.exists() && !column.is_empty() => (file.into(), Some(column.into())),
        _ => (given.to_owned(), None),
    }
}

/// The truth in the order of the labels: by name where both have names that agree, else by position.
fn matched(found: &Labels, truth: Labels, found_path: &Path, truth_path: &Path) -> Result<LabelColumn, Failure> {
    let (n, m) = (found.column.values.len(), truth.column.values.len());
    let place: Option<BTreeMap<&String, usize>> =
        truth.object_names.as_ref().map(|names| names.iter().zip(0..).collect());
    let by_name = found.object_names.as_ref().zip(place);
    if let Some((names, place)) = by_name {
        let places: Option<Vec<usize>> = names.iter().map(|name| place.get(name).copied()).collect();
        if let Some(places) = places {
            let values = places.iter().map(|&at| truth.column.values[at].clone()).collect();
            return Ok(LabelColumn { name: truth.column.name, values });
        }
        let numbered = names.iter().enumerate().all(|(at, name)| *name == at.to_string());
        if let (false, Some(absent)) = (numbered, names.iter().find(|name| !place.contains_key(name))) {
            let (found, truth) = (found_path.display(), truth_path.display());
            return Err(Failure::input(format!(
                "{found}: object '{absent}' is not in {truth}; score the same objects"
            )));
        }
    }
    if n != m {
        let (found, truth) = (found_path.display(), truth_path.display());
        return Err(Failure::input(format!("{found} labels {n} objects, {truth} has {m}; score the same objects")));
    }
    Ok(truth.column)
}

/// Labels as numbers, in the order of their values.
fn codes(column: &LabelColumn) -> Vec<Option<usize>> {
    let mut values: Vec<&String> = column.values.iter().flatten().collect();
    values.sort_unstable();
    values.dedup();
    column.values.iter().map(|value| value.as_ref().map(|v| values.partition_point(|w| *w < v))).collect()
}

fn soft_score(args: &EvaluateArgs) -> Result<Option<f64>, Failure> {
    let Some((soft, truth)) = args.soft.as_ref().zip(args.soft_truth.as_ref()) else { return Ok(None) };
    let ((_, found), (_, expected)) = (files::read_soft(soft)?, files::read_soft(truth)?);
    Ok(Some(jensen_shannon(&found, &expected)?))
}

fn as_json(scores: &Scores, js: Option<f64>) -> Value {
    let mut value = serde_json::to_value(scores).unwrap_or_default();
    value["js"] = json!(js);
    value
}

fn as_text(scores: &Scores, js: Option<f64>) -> String {
    let mut table = TextTable::new(["score", "value"]);
    let value = serde_json::to_value(scores).unwrap_or_default();
    for (name, score) in value.as_object().into_iter().flatten() {
        match score.as_object() {
            None => table.row([name.clone(), rounded(score)]),
            Some(parts) => parts.iter().for_each(|(part, score)| table.row([format!("{name} {part}"), rounded(score)])),
        }
    }
    if let Some(js) = js {
        table.row(["js".to_owned(), format!("{js:.4}")]);
    }
    table.render()
}

fn rounded(score: &Value) -> String {
    score.as_f64().map_or_else(|| score.to_string(), |score| format!("{score:.4}"))
}
