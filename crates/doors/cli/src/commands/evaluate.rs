//! `partita evaluate`: labels against the truth, and what an ensemble says of them.

use std::path::Path;

use partita::files;
use partita::metrics::{Cover, OverlapScores, jensen_shannon};
use serde_json::{Map, Value, json};

use partita_app::{
    EvaluationInput, SupportInput, TextTable, default_budget, file_and_column, match_soft,
    model_json, read_ensemble,
};
use partita_distributed::Stage;

use super::parts::next;
use crate::args::EvaluateArgs;
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{self, check_outputs, say};
use crate::terminal::Terminal;

pub(crate) fn evaluate(args: &EvaluateArgs) -> Result<(), Failure> {
    start_threads(&args.machine.threads)?;
    args.machine.budget();
    if let (Some(model), Some(rows)) = (&args.model, &args.held_out) {
        return perplexity(args, model, rows);
    }
    // The flags ask for labels where there is no model.
    let Some(labels) = &args.labels else {
        return Ok(());
    };
    let inputs = [
        Some(labels),
        args.truth.as_ref(),
        args.ensemble.as_ref(),
        args.weights.base_weights.as_ref(),
        args.weights.object_weights.as_ref(),
    ];
    let inputs = inputs.into_iter().flatten();
    let files = inputs.map(|input| file_and_column(input).0);
    check_outputs(&args.agreement, files, args.out.force)?;
    let mut found = match &args.truth {
        None => Map::new(),
        Some(truth) => match scores(args, labels, truth)? {
            Stage::Done(scores) => scores,
            Stage::Waiting(waiting) => {
                return next(&waiting, &file_and_column(labels).0, args.out.json);
            }
        },
    };
    if let Some(ensemble) = &args.ensemble {
        found.extend(support(args, labels, ensemble)?);
    }
    output::answer(args.out.json, &found, &as_text(&found))
}

/// How well a model predicts label rows that it has not seen.
fn perplexity(args: &EvaluateArgs, model: &Path, rows: &Path) -> Result<(), Failure> {
    let saved = model_json(model)?;
    let loaded = read_ensemble(rows, &args.read.options(default_budget()), &Terminal)?;
    let found = partita::mixture::held_out(&saved, &loaded.ensemble, args.annealed)
        .map_err(|error| Failure::input(format!("{}: {error}", model.display())))?;
    if found.unread > 0 {
        say(&format!(
            "{}: {} labels are new to the model and do not count",
            rows.display(),
            found.unread
        ));
    }
    if args.out.json {
        return output::print_json(&json!({
            "perplexity": found.perplexity,
            "labels": found.labels,
            "unread": found.unread,
            "upper_bound": found.upper_bound,
            "standard_error": found.standard_error,
        }));
    }
    let at_most = if found.upper_bound { "at most " } else { "" };
    let error = found.standard_error.map(|error| format!(" ± {error:.4}"));
    let error = error.unwrap_or_default();
    output::print(&format!(
        "perplexity {at_most}{:.4}{error} over {} labels\n",
        found.perplexity, found.labels
    ))
}

/// The external indices by name.
fn scores(
    args: &EvaluateArgs,
    labels: &Path,
    truth: &Path,
) -> Result<Stage<Map<String, Value>>, Failure> {
    let read = args.read.options(default_budget());
    let input = EvaluationInput {
        labels: labels.into(),
        truth: truth.into(),
        common: args.common,
        read,
    };
    let found = match &args.tasks {
        None => input.scores(&Terminal)?,
        Some(folder) => match partita_distributed::scores_by_tasks(&input, folder, &Terminal)? {
            Stage::Done(scores) => scores,
            Stage::Waiting(waiting) => return Ok(Stage::Waiting(waiting)),
        },
    };
    let mut scores = json!(found).as_object().cloned().unwrap_or_default();
    let (js, overlap) = soft_scores(args)?;
    scores.insert("js".into(), json!(js));
    if let Some(overlap) = overlap {
        scores.insert("overlap".into(), json!(overlap));
    }
    Ok(Stage::Done(scores))
}

/// How far an ensemble agrees with the labels, by name; the agreement of each goes to its file.
fn support(
    args: &EvaluateArgs,
    labels: &Path,
    ensemble: &Path,
) -> Result<Map<String, Value>, Failure> {
    let input = SupportInput {
        labels: labels.to_owned(),
        ensemble: ensemble.to_owned(),
        common: args.common,
        read: args.read.options(default_budget()),
        base_weights: args.weights.of_bases(),
        object_weights: args.weights.of_objects(),
    };
    let support = input.support(&Terminal)?;
    if let Some(path) = &args.agreement {
        support.write(path)?;
        say(&format!(
            "{} has the agreement of {} labels",
            path.display(),
            support.labels.len()
        ));
    }
    let clusters = support.stability.iter().map(|(label, found)| {
        json!({
            "label": label,
            "jaccard": found.jaccard,
            "dissolved": found.dissolved,
            "recovered": found.recovered,
        })
    });
    let facts = json!({
        "clusters": clusters.collect::<Vec<_>>(),
        "anmi": support.anmi,
        "agreement": support.mean_agreement(),
        "objects": support.labels.len(),
        "base_clusterings": support.base_clusterings,
    });
    Ok(facts.as_object().cloned().unwrap_or_default())
}

/// The divergence of probabilities, and how alike the overlapping clusters are that they make.
fn soft_scores(args: &EvaluateArgs) -> Result<(Option<f64>, Option<OverlapScores>), Failure> {
    let Some((soft, truth)) = args.soft.as_ref().zip(args.soft_truth.as_ref()) else {
        return Ok((None, None));
    };
    let (found, expected) = (files::read_soft(soft)?, files::read_soft(truth)?);
    let (found, expected) = match_soft((soft, found), (truth, expected), args.common)?;
    let compare = |threshold| {
        let covers = [&found, &expected].map(|soft| Cover::of_soft(soft, threshold));
        let [found, expected] = covers;
        OverlapScores::of(&found?, &expected?)
    };
    let overlap = args.overlap.map(compare).transpose()?;
    Ok((Some(jensen_shannon(&found, &expected)?), overlap))
}

fn as_text(found: &Map<String, Value>) -> String {
    let mut table = TextTable::new(["score", "value"]);
    let clusters = found.get("clusters").and_then(Value::as_array);
    let scores = found
        .iter()
        .filter(|(_, score)| !score.is_null() && !score.is_array());
    for (name, score) in scores {
        match score.as_object() {
            None => table.row([name.clone(), rounded(score)]),
            Some(parts) => parts
                .iter()
                .for_each(|(part, score)| table.row([format!("{name} {part}"), rounded(score)])),
        }
    }
    let stability = clusters.map_or_else(String::new, |clusters| stability_table(clusters));
    table.render() + &stability
}

/// How well an ensemble finds every cluster again.
fn stability_table(clusters: &[Value]) -> String {
    let mut table = TextTable::new(["cluster", "Jaccard", "dissolved", "recovered"]);
    for found in clusters {
        let label = found["label"].as_str().unwrap_or_default().to_owned();
        let numbers = ["jaccard", "dissolved", "recovered"].map(|name| rounded(&found[name]));
        let [jaccard, dissolved, recovered] = numbers;
        table.row([label, jaccard, dissolved, recovered]);
    }
    format!(
        "\n{}Stability is not a p-value: one population that is cut may be cut alike every time.\n",
        table.render()
    )
}

fn rounded(score: &Value) -> String {
    match score.as_f64().filter(|_| score.is_f64()) {
        Some(score) => format!("{score:.4}"),
        None => score.to_string(),
    }
}
