//! `partita evaluate`: labels against the truth.

use std::path::Path;

use partita::files;
use partita::metrics::{Scores, jensen_shannon};
use serde_json::{Value, json};

use partita_app::{EvaluationInput, TextTable, default_budget, match_soft, model_json, read_ensemble};

use crate::args::EvaluateArgs;
use crate::failure::Failure;
use crate::output::{self, say};
use crate::terminal::Terminal;

pub(crate) fn evaluate(args: &EvaluateArgs) -> Result<(), Failure> {
    if let (Some(model), Some(rows)) = (&args.model, &args.held_out) {
        return perplexity(args, model, rows);
    }
    // The flags ask for both where there is no model.
    let (Some(labels), Some(truth)) = (&args.labels, &args.truth) else { return Ok(()) };
    scores(args, labels, truth)
}

/// How well a model predicts label rows that it has not seen.
fn perplexity(args: &EvaluateArgs, model: &Path, rows: &Path) -> Result<(), Failure> {
    let saved = model_json(model)?;
    let loaded = read_ensemble(rows, &args.read.options(default_budget()), &Terminal)?;
    let found = partita::mixture::held_out(&saved, &loaded.ensemble)
        .map_err(|error| Failure::input(format!("{}: {error}", model.display())))?;
    if found.unread > 0 {
        say(&format!("{}: {} labels are new to the model and do not count", rows.display(), found.unread));
    }
    if args.json {
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
    let read = args.read.options(default_budget());
    let input = EvaluationInput { labels: labels.into(), truth: truth.into(), common: args.common, read };
    let scores = input.scores(&Terminal)?;
    let js = soft_score(args)?;
    if args.json { output::print_json(&as_json(&scores, js)) } else { output::print(&as_text(&scores, js)) }
}

fn soft_score(args: &EvaluateArgs) -> Result<Option<f64>, Failure> {
    let Some((soft, truth)) = args.soft.as_ref().zip(args.soft_truth.as_ref()) else { return Ok(None) };
    let (found, expected) = (files::read_soft(soft)?, files::read_soft(truth)?);
    let (found, expected) = match_soft((soft, found), (truth, expected), args.common)?;
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
