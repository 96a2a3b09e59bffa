//! `partita choose-k`: how many clusters, if any.

use std::path::Path;

use partita::files;
use partita::{Clusters, Partition, Problem, SettingPairs};
use partita_report::{ChoiceRow as ShownRow, Measure};
use partita_select::{Choice, ChooseSettings, EnsembleChoiceSettings, choose_clusters, choose_clusters_of_ensemble};
use serde_json::{Value, json};

use partita_app::{AppError, InputTable, Stopwatch, TextTable, VERSION, methods, read_ensemble, read_json, write_json};

use crate::args::{ChooseArgs, Source};
use crate::compute::Compute;
use crate::failure::Failure;
use crate::output::{may_write, print, print_json, say};
use crate::terminal::{Progress, Terminal, unless_interrupted};

pub(crate) fn choose_k(args: &ChooseArgs) -> Result<(), Failure> {
    args.output.as_deref().map_or(Ok(()), |path| may_write(path, args.force))?;
    let compute = Compute::start(&args.compute, None)?;
    let stopwatch = Stopwatch::start();
    let choice = match args.kind.unwrap_or_else(|| guess(&args.table.table)) {
        Source::Table => of_table(args, &compute)?,
        Source::Ensemble => of_ensemble(args, &compute)?,
    };
    choice.warnings.iter().for_each(|warning| say(warning));
    let record = record(args, &choice, &stopwatch);
    if let Some(path) = &args.output {
        write_json(path, &record)?;
    }
    if args.json {
        print_json(&record)?;
    } else {
        print(&format!("{}\n{}\n", shown(&choice), choice.reason))?;
    }
    unless_interrupted(|| "some numbers of clusters or references are missing".into())
}

/// What the name of a file suggests.
fn guess(path: &Path) -> Source {
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("npz" | "mat") if !files::is_sparse_table(path) => Source::Ensemble,
        _ => Source::Table,
    }
}

fn of_table(args: &ChooseArgs, compute: &Compute) -> Result<Choice, Failure> {
    let settings: ChooseSettings = SettingPairs::parse(&args.set)?.apply()?;
    let table = InputTable::read(&args.table.input(), compute.budget, compute.seed, &Terminal)?;
    let InputTable::Dense(table) = table else {
        let here = args.table.table.display();
        return Err(Failure::input(format!(
            "{here}: is sparse or larger than memory; give a dense sample of its rows"
        )));
    };
    let (seed, progress) = (compute.seed, Progress::new("base clusterings"));
    let found = choose_clusters(table.values.view(), args.clusters.clone(), seed, &settings, compute.budget, &progress);
    Ok(found.map_err(|source| AppError::Select { input: args.table.table.clone(), source })?)
}

fn of_ensemble(args: &ChooseArgs, compute: &Compute) -> Result<Choice, Failure> {
    let settings: EnsembleChoiceSettings = SettingPairs::parse(&args.set)?.apply()?;
    let method = methods::find(&args.method)?;
    let loaded = read_ensemble(&args.table.table, args.table.read.label.as_ref())?;
    let mut problem = Problem::new(&loaded.ensemble, Clusters::Exactly(*args.clusters.start()));
    (problem.seed, problem.budget) = (compute.seed, compute.budget);
    let progress = Progress::new(methods::name_of(method));
    let found = choose_clusters_of_ensemble(method, &problem, args.clusters.clone(), &settings, &progress);
    Ok(found.map_err(|source| AppError::Select { input: args.table.table.clone(), source })?)
}

/// The choice as JSON, with the labels at every K and what is needed to do it again.
fn record(args: &ChooseArgs, choice: &Choice, stopwatch: &Stopwatch) -> Value {
    let mut record = serde_json::to_value(choice).unwrap_or_default();
    let spent = stopwatch.read();
    for (row, value) in choice.rows.iter().zip(record["rows"].as_array_mut().into_iter().flatten()) {
        value["labels"] = json!(row.partition.as_ref().map(Partition::labels));
    }
    record["file"] = json!(args.table.table);
    record["seconds"] = json!(spent.seconds);
    record["version"] = json!(VERSION);
    record["arguments"] = json!(std::env::args().skip(1).collect::<Vec<_>>());
    record
}

/// The table for people.
fn shown(choice: &Choice) -> String {
    let mut table = TextTable::new(["k", "rcsi", "p", "pac", "delta area", "certainty", "anmi", "lifetime", "bic", ""]);
    let cell = |value: Option<f64>, digits: usize| value.map_or_else(String::new, |value| format!("{value:.digits$}"));
    for row in &choice.rows {
        table.row([
            row.clusters.to_string(),
            cell(row.rcsi, 3),
            row.p.map_or_else(String::new, |p| format!("{p:.1e}")),
            cell(row.pac, 4),
            cell(row.delta_area, 4),
            cell(row.certainty, 4),
            cell(row.anmi, 4),
            cell(row.lifetime, 4),
            cell(row.bic, 0),
            if row.clusters == choice.clusters { "<- chosen".into() } else { String::new() },
        ]);
    }
    table.render()
}

/// What a report shows of a saved choice.
pub(crate) fn saved_choice(path: &Path, objects: usize) -> Result<partita_report::Choice, Failure> {
    let saved = read_json(path, "write it anew with `partita choose-k -o`")?;
    let here = path.display();
    let wrong = |what: &str| Failure::input(format!("{here}: {what}; write it anew with `partita choose-k -o`"));
    let rows = saved["rows"].as_array().ok_or_else(|| wrong("there are no rows"))?;
    let labels = |row: &Value| -> Option<Partition> {
        let labels: Vec<u32> = serde_json::from_value(row["labels"].clone()).ok()?;
        let clusters = labels.iter().max().map_or(0, |&last| last as usize + 1);
        // A sample of the objects cannot be drawn beside all of them.
        (labels.len() == objects && clusters <= objects).then(|| Partition::new(labels, clusters).ok()).flatten()
    };
    Ok(partita_report::Choice {
        chosen: saved["clusters"].as_u64().map(|clusters| clusters as usize),
        verdict: saved["reason"].as_str().unwrap_or_default().to_owned(),
        rows: rows.iter().map(shown_row).collect(),
        objective_name: if rows.iter().any(|row| row["bic"].is_number()) { "BIC".into() } else { "objective".into() },
        measures: measures(rows),
        partitions: rows.iter().map(labels).collect::<Option<Vec<_>>>().unwrap_or_default(),
    })
}

/// What may have decided, where it was measured.
fn measures(rows: &[Value]) -> Vec<Measure> {
    let names = [
        ("rcsi", "stability against data without clusters (RCSI)"),
        ("lifetime", "lifetime in the tree"),
        ("anmi", "mean NMI with the base clusterings"),
    ];
    let measure = |(field, name): (&str, &str)| {
        let values: Vec<Option<f64>> = rows.iter().map(|row| row[field].as_f64()).collect();
        values.iter().any(Option::is_some).then(|| Measure { name: name.into(), values })
    };
    names.into_iter().filter_map(measure).collect()
}

fn shown_row(row: &Value) -> ShownRow {
    let number = |name: &str| row[name].as_f64();
    let null = &row["references"][0]["pac"];
    ShownRow {
        clusters: row["clusters"].as_u64().unwrap_or(0) as usize,
        cdf: serde_json::from_value(row["cdf"].clone()).unwrap_or_default(),
        area: number("area"),
        delta_area: number("delta_area"),
        pac: number("pac"),
        null_pac: null["mean"].as_f64(),
        null_range: null["low"].as_f64().zip(null["high"].as_f64()),
        certainty: number("certainty"),
        objective: row["bic"].as_f64().or_else(|| row["objective"]["value"].as_f64()),
    }
}
