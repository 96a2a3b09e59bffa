//! `partita report`: a page about a run.

use std::path::Path;

use clap::Parser;
use partita::files::{self, LabelColumn};
use partita::{Ensemble, Features, Partition, SoftPartition};
use partita_report::{Choice, Rendered, Report, render};
use serde_json::Value;

use super::choose::saved_choice;
use super::common::{AnyTable, read_ensemble, read_json};
use crate::args::{Cli, Command, ReportArgs, TableArgs};
use crate::failure::Failure;
use crate::output::{may_write, say, write_text};

/// The file that `run` and `report` write.
pub(crate) const PAGE: &str = "report.html";

pub(crate) fn report(args: &ReportArgs) -> Result<(), Failure> {
    let record = read_json(&args.run.join("record.json"))?;
    let first = record["method"].as_str().unwrap_or_default();
    let (record, folder) = match args.method.as_deref().filter(|method| *method != first) {
        None => (record, args.run.clone()),
        Some(method) => (record_of(&record, method, &args.run)?, args.run.join(method)),
    };
    let output = args.output.clone().unwrap_or_else(|| folder.join(PAGE));
    may_write(&output, args.force)?;
    let loaded = read_ensemble(&args.run.join("ensemble.npz"), None)?;
    let (partition, certainty) = read_result(&folder.join("labels.csv"))?;
    let soft = folder.join("soft.csv");
    let soft = if soft.is_file() { Some(files::read_soft(&soft)?.1) } else { None };
    let table = table_of(&record);
    let choice = args.choice.as_deref().map(|path| saved_choice(path, partition.objects())).transpose()?;
    let found = Found { partition: &partition, certainty: &certainty, soft: soft.as_ref(), tree: None, choice };
    let rendered = rendered(record, found, &loaded.ensemble, table.as_ref(), loaded.truth.as_ref())?;
    write_text(&output, &rendered.html)?;
    args.figures.as_deref().map_or(Ok(()), |folder| write_figures(folder, &rendered, args.force))?;
    say(&format!("{} has the report", output.display()));
    Ok(())
}

/// A consensus as a report shows it.
pub(crate) struct Found<'a> {
    pub(crate) partition: &'a Partition,
    pub(crate) certainty: &'a [f64],
    pub(crate) soft: Option<&'a SoftPartition>,
    pub(crate) tree: Option<&'a partita::Dendrogram>,
    pub(crate) choice: Option<Choice>,
}

/// The page and its figures.
pub(crate) fn rendered(
    record: Value,
    found: Found<'_>,
    ensemble: &Ensemble,
    table: Option<&AnyTable>,
    truth: Option<&LabelColumn>,
) -> Result<Rendered, Failure> {
    let data = record["table"].as_str().map(Path::new).and_then(Path::file_name).unwrap_or_default();
    let title = format!("{} by {}", data.to_string_lossy(), record["method"].as_str().unwrap_or_default());
    let mut report = Report::new(title, record, found.partition, found.certainty);
    (report.soft, report.dendrogram, report.ensemble) = (found.soft, found.tree, Some(ensemble));
    report.objects = ensemble.object_names();
    report.choice = found.choice;
    if let Some(AnyTable::Dense(table)) = table {
        report.features = Features::new(&table.columns, table.values.view()).ok();
    }
    report.truth = truth.map(|truth| truth.values.as_slice());
    report.labels_file = Some("labels.csv".into());
    Ok(render(&report)?)
}

/// The record of one of several methods of a run, with what they share.
pub(crate) fn record_of(run: &Value, method: &str, here: &Path) -> Result<Value, Failure> {
    let all = run["methods"].as_array().map(Vec::as_slice).unwrap_or_default();
    let own = all.iter().find(|record| record["method"] == method).and_then(Value::as_object).ok_or_else(|| {
        let known: Vec<&str> = all.iter().filter_map(|record| record["method"].as_str()).collect();
        Failure::input(format!("{}: has no result of '{method}'; there are {}", here.display(), known.join(", ")))
    })?;
    let mut record = run.clone();
    own.iter().for_each(|(name, value)| record[name] = value.clone());
    Ok(record)
}

/// Labels and certainties as `run` wrote them.
fn read_result(path: &Path) -> Result<(Partition, Vec<f64>), Failure> {
    let wrong = |row: usize, what: &str| Failure::input(format!("{}, line {}: {what}", path.display(), row + 2));
    let column = |name: &str| files::read_labels(path, Some(name)).map(|read| read.column.values);
    let (labels, certainty) = (column("label")?, column("certainty")?);
    let label = |(row, text): (usize, &Option<String>)| {
        text.as_deref().and_then(|text| text.parse::<u32>().ok()).ok_or_else(|| wrong(row, "the label is no number"))
    };
    let labels = labels.iter().enumerate().map(label).collect::<Result<Vec<u32>, _>>()?;
    let sure = |(row, text): (usize, &Option<String>)| {
        let number = text.as_deref().and_then(|text| text.parse::<f64>().ok());
        number.filter(|number| (0.0..=1.0).contains(number)).ok_or_else(|| wrong(row, "the certainty is not in 0 to 1"))
    };
    let certainty = certainty.iter().enumerate().map(sure).collect::<Result<Vec<f64>, _>>()?;
    let clusters = labels.iter().max().map_or(0, |&last| last as usize + 1);
    if clusters > labels.len() {
        return Err(Failure::input(format!("{}: label {} of {} objects", path.display(), clusters - 1, labels.len())));
    }
    let partition =
        Partition::new(labels, clusters).map_err(|error| Failure::input(format!("{}: {error}", path.display())))?;
    Ok((partition, certainty))
}

/// The table of the run, read as the run read it; the report goes without where it is gone.
fn table_of(record: &Value) -> Option<AnyTable> {
    let words = record["arguments"].as_array()?.iter().filter_map(Value::as_str);
    let Command::Run(run) = Cli::try_parse_from(std::iter::once("partita").chain(words)).ok()?.command else {
        return None;
    };
    let table: &TableArgs = &run.table;
    let read = AnyTable::read(table, partita::MemoryBudget::UNLIMITED, record["seed"].as_u64().unwrap_or(0));
    if read.is_err() {
        say(&format!("{} cannot be read any more; the report goes without the table", table.table.display()));
    }
    read.ok()
}

fn write_figures(folder: &Path, rendered: &Rendered, force: bool) -> Result<(), Failure> {
    std::fs::create_dir_all(folder).map_err(|error| Failure::input(format!("{}: {error}", folder.display())))?;
    let file = |figure: &partita_report::Figure, ending: &str| folder.join(format!("{}.{ending}", figure.name));
    for figure in &rendered.figures {
        ["svg", "csv"].iter().try_for_each(|ending| may_write(&file(figure, ending), force))?;
    }
    for figure in &rendered.figures {
        write_text(&file(figure, "svg"), &figure.svg)?;
        write_text(&file(figure, "csv"), &figure.csv)?;
    }
    Ok(())
}
