//! The first section: what was done, with what, and how to do it again.

use std::fmt::Write as _;

use partita_core::Partition;
use partita_metrics::Contingency;
use serde_json::Value;

use super::Page;
use super::parts::{Cell, section, table};
use crate::Report;
use crate::text::{command, count, cut, escape, number, percent, seconds};

/// The sentence under the title.
pub(super) fn headline(page: &Page<'_, '_>) -> String {
    let report = page.report;
    let (n, word) = (report.all() as i64, report.trust_name());
    if page.clusters.live == 1
        || page
            .report
            .choice
            .as_ref()
            .is_some_and(|choice| choice.chosen == Some(1))
    {
        return no_clusters(page);
    }
    let (objects, clusters) = (
        plural(n, "object"),
        plural(page.clusters.live as i64, "cluster"),
    );
    let agreement = page
        .agreement
        .as_ref()
        .map_or_else(String::new, |agreement| {
            format!(
                " The base clusterings agree with the result to an NMI of {} on average.",
                number(agreement.mean())
            )
        });
    format!(
        "{objects} in {clusters}; their mean {word} is {}, {} are below 0.5.{agreement}",
        number(report.mean_trust()),
        percent(1.0 - report.share_from(500))
    )
}

/// What to say first where there is one group of objects.
fn no_clusters(page: &Page<'_, '_>) -> String {
    let objects = plural(page.report.all() as i64, "object");
    let choice = page
        .report
        .choice
        .as_ref()
        .filter(|choice| choice.chosen == Some(1));
    let why = |reason: &str| cut(reason.strip_prefix("1 cluster: ").unwrap_or(reason), 300);
    match choice {
        None => format!("{objects} in one cluster: no groups are told apart."),
        Some(choice) if page.clusters.live == 1 => {
            format!(
                "No clusters: {objects} are one group. {}",
                why(&choice.reason)
            )
        }
        Some(choice) => format!(
            "No clusters are supported by the data; {} below were asked for, and {objects} are in them. {}",
            plural(page.clusters.live as i64, "cluster"),
            why(&choice.reason)
        ),
    }
}

pub(crate) fn plural(count_of: i64, word: &str) -> String {
    format!(
        "{} {word}{}",
        count(count_of),
        if count_of == 1 { "" } else { "s" }
    )
}

pub(super) fn summary(page: &Page<'_, '_>) -> String {
    let record = &page.report.record;
    let mut body = warnings(record);
    body.push_str(&tiles(page));
    body.push_str(&facts(page));
    body.push_str(&repeat(record));
    body.push_str(&methods(record));
    body.push_str(&agreement(page.report));
    body.push_str(&scores(record));
    body.push_str(&super::known::known(page));
    section(
        "summary",
        "Summary",
        "What was clustered, how, and how to do it again.",
        &body,
    )
}

fn warnings(record: &Value) -> String {
    let of = |value: &'_ Value| value["warnings"].as_array().cloned().unwrap_or_default();
    let both = [of(record), of(&record["choice"])].concat();
    let texts = both.iter().filter_map(Value::as_str);
    texts
        .take(20)
        .map(|text| format!("<p class=\"warn\">{}</p>", escape(&cut(text, 600))))
        .collect()
}

fn tiles(page: &Page<'_, '_>) -> String {
    let report = page.report;
    let mut tiles = vec![
        (count(report.all() as i64), "objects"),
        (count(page.clusters.live as i64), "clusters"),
        (
            number(report.mean_trust()),
            if report.confidence.is_some() {
                "mean confidence"
            } else {
                "mean certainty"
            },
        ),
    ];
    if let Some(ensemble) = report.ensemble {
        tiles.push((count(ensemble.bases().len() as i64), "base clusterings"));
    }
    let anmi = report.record["anmi"]
        .as_f64()
        .or_else(|| page.agreement.as_ref().map(super::Agreement::mean));
    if let Some(anmi) = anmi {
        tiles.push((number(anmi), "mean NMI with them"));
    }
    if let Some(ari) = report.record["scores"]["ari"].as_f64() {
        tiles.push((number(ari), "ARI with the known classes"));
    }
    let tile = |(value, name): &(String, &str)| {
        format!("<div class=\"tile\"><b>{value}</b><span>{name}</span></div>")
    };
    format!(
        "<div class=\"tiles\">{}</div>",
        tiles.iter().map(tile).collect::<String>()
    )
}

/// Names and values of what the record says.
fn facts(page: &Page<'_, '_>) -> String {
    let (report, record) = (page.report, &page.report.record);
    let text = |key: &str| record[key].as_str().map(|text| cut(text, 300));
    let data = format!(
        "{}{}",
        text("table").map_or_else(String::new, |table| format!("{table}, ")),
        size(report)
    );
    let mut list = vec![
        ("Data", Some(data)),
        ("Base clusterings", ensemble(report)),
        ("Method", method(report)),
    ];
    list.push((
        "Its certainty",
        report.method.map(|info| info.certainty.to_owned()),
    ));
    list.push(("Number of clusters", Some(chosen(page))));
    list.push(("Settings", plain(&record["settings"])));
    list.push(("Objective", objective(record)));
    list.push(("Stopped", stopped(record)));
    list.push(("Seed", record["seed"].as_u64().map(|seed| seed.to_string())));
    list.push(("Time", time(record)));
    list.push((
        "Peak memory",
        record["peak_bytes"]
            .as_f64()
            .map(|bytes| format!("{:.0} MiB", bytes / 1_048_576.0)),
    ));
    list.push((
        "Partita",
        text("version").map(|version| format!("version {version}")),
    ));
    list.push(("Details", plain(&record["details"])));
    let fact = |(name, value): (&str, Option<String>)| {
        value.map(|value| format!("<dt>{name}</dt><dd>{}</dd>", escape(&cut(&value, 1_200))))
    };
    format!(
        "<div class=\"card\"><dl class=\"facts\">{}</dl></div>",
        list.into_iter().filter_map(fact).collect::<String>()
    )
}

/// The method's name, and what it does where that is known.
fn method(report: &Report<'_>) -> Option<String> {
    let name = report.record["method"].as_str().map(|text| cut(text, 300));
    match report.method {
        None => name,
        Some(info) => Some(format!(
            "{}: {} ({})",
            name.unwrap_or_else(|| info.name.into()),
            info.summary,
            info.reference
        )),
    }
}

fn size(report: &Report<'_>) -> String {
    let columns = report
        .features
        .map(|table| format!(" × {}", plural(table.values().ncols() as i64, "column")));
    let shown = report.counted.as_ref().map(|_| {
        format!(
            "; pictures, and the table of objects, are of {} that a hash of their numbers draws",
            count(report.n() as i64)
        )
    });
    let all = plural(report.all() as i64, "object");
    format!(
        "{all}{}{}",
        columns.unwrap_or_default(),
        shown.unwrap_or_default()
    )
}

/// How many base clusterings, of what, and what they lack.
fn ensemble(report: &Report<'_>) -> Option<String> {
    let ensemble = report.ensemble?;
    let sizes = ensemble
        .bases()
        .iter()
        .map(partita_core::BaseClustering::clusters);
    let (least, most) = (sizes.clone().min().unwrap_or(0), sizes.max().unwrap_or(0));
    let range = if least == most {
        least.to_string()
    } else {
        format!("{least} to {most}")
    };
    let mut text = format!(
        "{} into {range} clusters",
        count(ensemble.bases().len() as i64)
    );
    let labels = report.all() as f64 * ensemble.bases().len() as f64;
    let missing = match &report.counted {
        Some(counted) => labels - counted.of_base_clusters.iter().sum::<u64>() as f64,
        None => ensemble.missing() as f64,
    };
    if missing > 0.0 {
        let _ = write!(
            text,
            "; {} of the labels are missing",
            percent(missing / labels)
        );
    }
    if let Some(recipe) = plain(&report.record["recipe"]) {
        let _ = write!(text, "; made by {recipe}");
    }
    Some(text)
}

/// How many clusters, and why so many.
fn chosen(page: &Page<'_, '_>) -> String {
    let live = page.clusters.live;
    let asked = match &page.report.record["experiment"]["clusters"] {
        Value::String(text) => Some(cut(text, 20)),
        Value::Number(clusters) => Some(clusters.to_string()),
        _ => None,
    };
    let why = match (&page.report.choice, asked.as_deref()) {
        (Some(choice), _) if !choice.reason.is_empty() && choice.chosen == Some(live) => {
            return choice.reason.clone();
        }
        (_, Some("auto")) => "chosen by the method".into(),
        (_, Some(asked)) if asked == live.to_string() => "as asked for".into(),
        (_, Some(asked)) => format!("{asked} were asked for"),
        _ => return live.to_string(),
    };
    format!("{live}; {why}")
}

fn objective(record: &Value) -> Option<String> {
    let value = record["objective"].as_f64()?;
    let name = record["objective_name"]
        .as_str()
        .map_or_else(String::new, |name| format!(" ({})", cut(name, 200)));
    Some(format!("{}{name}", number(value)))
}

fn stopped(record: &Value) -> Option<String> {
    let why = match record["stopped"].as_str()? {
        "converged" => "its tolerance was met".to_owned(),
        "exact" => "the answer is exact".to_owned(),
        "round-limit" => "it used up its rounds".to_owned(),
        "interrupted" => "it was interrupted; this is the best so far".to_owned(),
        other => cut(other, 60),
    };
    let rounds = record["rounds"].as_u64().filter(|&rounds| rounds > 0);
    Some(rounds.map_or(why.clone(), |rounds| {
        format!("{why}, after {}", plural(rounds as i64, "round"))
    }))
}

fn time(record: &Value) -> Option<String> {
    let consensus = seconds(record["seconds"].as_f64()?);
    let made = record["generate"]["seconds"].as_f64();
    Some(
        made.map_or(format!("{consensus} for the consensus"), |made| {
            format!(
                "{} for the base clusterings, {consensus} for the consensus",
                seconds(made)
            )
        }),
    )
}

/// The fields of a JSON object in a line; those without a value, and those with many, are left out.
fn plain(value: &Value) -> Option<String> {
    let written = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(x) => Some(x.to_string())
            .filter(|text| text.len() <= 8)
            .or_else(|| x.as_f64().map(number)),
        Value::Bool(holds) => Some(if *holds { "yes" } else { "no" }.to_owned()),
        Value::Array(items) if items.len() <= 8 && items.iter().all(Value::is_string) => Some(
            items
                .iter()
                .filter_map(Value::as_str)
                .collect::<Vec<_>>()
                .join(" + "),
        ),
        _ => None,
    };
    let fields = value.as_object()?.iter();
    let fields: Vec<String> = fields
        .filter_map(|(name, value)| Some(format!("{name} {}", written(value)?)))
        .collect();
    (!fields.is_empty()).then(|| fields.join(", "))
}

/// The command that made the run, and the one that makes it again where its folder has the record.
fn repeat(record: &Value) -> String {
    let words: Vec<String> = record["arguments"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .map(str::to_owned)
        .collect();
    if words.is_empty() {
        return String::new();
    }
    let made = command("partita", words.into_iter());
    let text = |key: &Value| {
        key.as_str()
            .map(|text| text.trim_end_matches('/').to_owned())
    };
    let again =
        text(&record["experiment"]["outputs"]["folder"]).zip(text(&record["working_folder"]));
    let again = again.map_or_else(
        || made.clone(),
        |(folder, here)| {
            let again = [
                "run",
                "--from",
                &format!("{folder}/record.json"),
                "-o",
                &format!("{folder}-again"),
            ];
            let again = command("partita", again.map(str::to_owned).into_iter());
            format!("{} && {again}", command("cd", std::iter::once(here)))
        },
    );
    format!(
        "<h3>The command</h3><pre>{}</pre><h3>To repeat it</h3><pre id=\"command\">{}</pre>\
         <p class=\"bar\" style=\"margin-top:10px\">\
         <button type=\"button\" class=\"copy\" data-of=\"command\" hidden>Copy</button></p>",
        escape(&cut(&made, 4_000)),
        escape(&cut(&again, 4_000))
    )
}

/// Several methods on the same base clusterings.
fn methods(record: &Value) -> String {
    let methods = record["methods"].as_array().map_or(&[][..], Vec::as_slice);
    if methods.len() < 2 {
        return String::new();
    }
    let row = |method: &Value| {
        let value = |key: &str| method[key].as_f64().unwrap_or(f64::NAN);
        let cell = |x: f64| Cell::Number(x, number(x));
        let name = method["method"].as_str().unwrap_or_default().to_owned();
        vec![
            Cell::Name(name),
            cell(value("clusters")),
            cell(value("anmi")),
            cell(value("confidence")),
            cell(method["scores"]["ari"].as_f64().unwrap_or(f64::NAN)),
            Cell::Number(value("seconds"), seconds(value("seconds"))),
        ]
    };
    let heads = [
        "Method",
        "Clusters",
        "Mean NMI with the base clusterings",
        "Mean confidence",
        "ARI with the known classes",
        "Time",
    ];
    let rows: Vec<Vec<Cell>> = methods.iter().take(100).map(row).collect();
    let caption = "The first method is the one that this report shows.";
    format!(
        "<h3>Methods side by side</h3>{}",
        table("methods-table", "sorts", caption, &heads, &rows)
    )
}

/// Methods that the table of agreement has room for.
const METHODS: usize = 12;

/// How far the methods of a run agree, two by two.
fn agreement(report: &Report<'_>) -> String {
    let methods = &report.methods[..report.methods.len().min(METHODS)];
    if methods.len() < 2 {
        return String::new();
    }
    let ari =
        |a: &Partition, b: &Partition| Contingency::new(a, b).map_or(f64::NAN, |table| table.ari());
    let row = |(name, a): &(String, Partition)| {
        let cells = methods
            .iter()
            .map(|(_, b)| ari(a, b))
            .map(|ari| Cell::Number(ari, number(ari)));
        std::iter::once(Cell::Name(name.clone()))
            .chain(cells)
            .collect()
    };
    let rows: Vec<Vec<Cell>> = methods.iter().map(row).collect();
    let heads: Vec<&str> = std::iter::once("Method")
        .chain(methods.iter().map(|(name, _)| name.as_str()))
        .collect();
    let left = report.methods.len() - methods.len();
    let left = if left > 0 {
        format!(" {left} more are left out.")
    } else {
        String::new()
    };
    let caption = format!(
        "Adjusted Rand index of every two methods: 1 is the same grouping, 0 is chance.{left}"
    );
    format!(
        "<h3>Methods against each other</h3>{}",
        table("agreement-table", "sorts", &caption, &heads, &rows)
    )
}

/// Scores against known classes, the base clusterings' beside them.
fn scores(record: &Value) -> String {
    const INDICES: [(&str, &str); 6] = [
        ("Accuracy (H)", "/h"),
        ("Adjusted Rand index", "/ari"),
        ("Adjusted mutual information", "/ami"),
        ("NMI, over the larger entropy", "/nmi/max"),
        ("Purity", "/purity"),
        ("Pairwise F1", "/f1/pairwise"),
    ];
    if !record["scores"].is_object() {
        return String::new();
    }
    let base = record["base_scores"]
        .as_array()
        .map_or(&[][..], Vec::as_slice);
    let row = |&(name, path): &(&str, &str)| {
        let of = |scores: &Value| scores.pointer(path).and_then(Value::as_f64);
        let values: Vec<f64> = base.iter().filter_map(of).collect();
        let mut cells = vec![Cell::Name(name.into())];
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let best = values.iter().copied().fold(f64::NAN, f64::max);
        let found = [of(&record["scores"]).unwrap_or(f64::NAN), mean, best];
        let found = if base.is_empty() {
            &found[..1]
        } else {
            &found[..]
        };
        cells.extend(found.iter().map(|&x| Cell::Number(x, number(x))));
        cells
    };
    let heads = [
        "Index",
        "Result",
        "Base clusterings, mean",
        "Base clusterings, best",
    ];
    let rows: Vec<Vec<Cell>> = INDICES.iter().map(row).collect();
    let caption = "Agreement with the known classes; 1 is the same grouping.";
    format!(
        "<h3>Against the known classes</h3>{}",
        table("scores-table", "", caption, &heads[..rows[0].len()], &rows)
    )
}
