//! `partita run`: from a table to labels, through every floor.

use std::path::{Path, PathBuf};

use anyhow::Context;
use partita::files::{self, LabelColumn};
use partita::generate::Recipe;
use partita::metrics::Scores;
use partita::{Clusters, Consensus, ConsensusError, Ensemble, Features, Outcome, Problem, ProblemSize, SettingMap};
use serde::Serialize;

use super::common::{AnyTable, Compute, method, unless_interrupted};
use super::report::{Found, PAGE, record_of, rendered};
use crate::args::RunArgs;
use crate::failure::Failure;
use crate::output::{Targets, print, print_json, say_warnings, write_json, write_result, write_text};
use crate::progress::interrupted;
use crate::recipe::recipe;
use crate::record::{Record, Spent, Stopwatch, VERSION, score};
use crate::table::TextTable;

/// What `record.json` holds and `--json` prints: the first method's record, and everything else beside it.
#[derive(Serialize)]
struct RunRecord<'a> {
    #[serde(flatten)]
    first: Option<&'a Record>,
    table: &'a Path,
    recipe: &'a Recipe,
    read: Spent,
    generate: Spent,
    base_asked: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    base_scores: Vec<Scores>,
    methods: &'a [Record],
    arguments: Vec<String>,
}

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    let methods = args.method.iter().map(|name| method(name)).collect::<Result<Vec<_>, _>>()?;
    may_fill(&args.output, args.force)?;
    let (recipe, seed) = recipe(&args.recipe, Some(args.clusters))?;
    let compute = Compute::start(&args.compute, seed)?;
    let stopwatch = Stopwatch::start();
    let table = AnyTable::read(&args.table, compute.budget, compute.seed)?;
    let read = stopwatch.read();
    check(args, &methods, &table, &recipe, &compute)?;
    make_folder(&args.output)?;

    let stopwatch = Stopwatch::start();
    let made = compute.generate(&table, &recipe, None)?;
    let generate = stopwatch.read();
    files::write_ensemble(&args.output.join("ensemble.npz"), &made.ensemble, table.label())?;
    let (mut records, mut outcomes): (Vec<Record>, Vec<Outcome>) = Default::default();
    for method in methods.iter().take_while(|_| !interrupted()) {
        match consense(&compute, *method, args, &table, &made.ensemble, &folder_of(args, method, records.len())) {
            Ok((record, outcome)) => {
                records.push(record);
                outcomes.push(outcome);
            }
            Err(Failure::Interrupted(_)) => break,
            Err(failure) => return Err(failure),
        }
    }
    let base_scores = table.label().map(|truth| base_scores(&made.ensemble, truth)).unwrap_or_default();
    let record = RunRecord {
        first: records.first(),
        table: &args.table.table,
        recipe: &recipe,
        read,
        generate,
        base_asked: made.asked,
        base_scores,
        methods: &records,
        arguments: std::env::args().skip(1).collect(),
    };
    finish(args, &record, compute.seed)?;
    if !args.no_report {
        let record = serde_json::to_value(&record)?;
        for (place, (method, outcome)) in methods.iter().zip(&outcomes).enumerate() {
            let record = record_of(&record, method.info().name, &args.output)?;
            let found = Found {
                partition: &outcome.partition,
                certainty: &outcome.certainty,
                soft: outcome.soft.as_ref(),
                tree: outcome.dendrogram.as_ref(),
                choice: None,
            };
            let page = rendered(record, found, &made.ensemble, Some(&table), table.label())?;
            write_text(&folder_of(args, method, place).join(PAGE), &page.html)?;
        }
    }
    let (bases, asked, done) = (made.finished, made.asked, records.len());
    let folder = args.output.display();
    unless_interrupted(|| format!("{bases} of {asked} base clusterings and {done} consensus results are in {folder}"))
}

/// The first method's results lie in the folder itself, those of the others in one each.
fn folder_of(args: &RunArgs, method: &&dyn Consensus, place: usize) -> PathBuf {
    if place == 0 { args.output.clone() } else { args.output.join(method.info().name) }
}

/// Refuses what cannot work before anything is computed.
fn check(
    args: &RunArgs,
    methods: &[&dyn Consensus],
    table: &AnyTable,
    recipe: &Recipe,
    compute: &Compute,
) -> Result<(), Failure> {
    let objects = table.view().dim().0;
    recipe.check(objects)?;
    let base_clusterings = recipe.runs();
    let clusters = match args.clusters {
        Clusters::Exactly(clusters) => clusters,
        Clusters::Auto => objects.isqrt(),
    };
    let base_clusters = base_clusterings * objects.isqrt();
    let (largest_base_clustering, auto) = (objects.isqrt(), args.clusters == Clusters::Auto);
    let size = ProblemSize { objects, base_clusterings, base_clusters, largest_base_clustering, clusters, auto };
    let names: Vec<&str> = methods.iter().map(|method| method.info().name).collect();
    if let Some(of) = args.set.iter().filter_map(|text| meant_for(text)).find(|of| !names.contains(of)) {
        return Err(Failure::input(format!("--set is for '{of}', which is not among -m {}", names.join(","))));
    }
    for method in methods {
        let info = method.info();
        let wrong = |source| ConsensusError::Settings { method: info.name, source };
        let bytes = method.bytes(&settings(args, *method)?, &size).map_err(wrong)?;
        info.check_clusters(args.clusters, objects).with_context(|| args.table.table.display().to_string())?;
        compute.budget.check(info.name, bytes, info.remedy)?;
    }
    Ok(())
}

/// Refuses to write into a folder that holds something, unless told to.
fn may_fill(folder: &Path, force: bool) -> Result<(), Failure> {
    let here = folder.display();
    if folder.exists() && !folder.is_dir() {
        return Err(Failure::input(format!("{here}: is a file; name a folder")));
    }
    let holds_something = folder.read_dir().is_ok_and(|mut entries| entries.next().is_some());
    if holds_something && !force {
        return Err(Failure::input(format!("{here}: holds something already; give --force to write into it")));
    }
    Ok(())
}

fn make_folder(folder: &Path) -> Result<(), Failure> {
    std::fs::create_dir_all(folder)
        .map_err(|error| Failure::input(format!("{}: cannot be made: {error}", folder.display())))
}

/// One method on the ensemble, its result written to `folder`.
fn consense(
    compute: &Compute,
    method: &dyn Consensus,
    args: &RunArgs,
    table: &AnyTable,
    ensemble: &Ensemble,
    folder: &Path,
) -> Result<(Record, Outcome), Failure> {
    let mut problem = Problem::new(ensemble, args.clusters);
    problem.settings = settings(args, method)?;
    // Methods that read the table say so where there is none.
    if let AnyTable::Dense(table) = table {
        problem.features = Features::new(&table.columns, table.values.view()).ok();
    }
    let (outcome, mut record) = compute.consense(method, problem, &args.table.table)?;
    say_warnings(method.info().name, &outcome);
    write(&outcome, ensemble, folder)?;
    let found = outcome.partition.labels().iter().map(|&label| Some(label as usize));
    record.scores = table.label().and_then(|truth| score(found, truth));
    Ok((record, outcome))
}

/// The method that a setting names before a dot.
fn meant_for(setting: &str) -> Option<&str> {
    let name = setting.split_once('=').map_or(setting, |(name, _)| name);
    name.split_once('.').map(|(method, _)| method)
}

/// The settings that are meant for a method.
fn settings(args: &RunArgs, method: &dyn Consensus) -> Result<SettingMap, Failure> {
    let own = args.set.iter().filter_map(|text| match meant_for(text) {
        Some(of) => (of == method.info().name).then(|| &text[of.len() + 1..]),
        None => Some(text.as_str()),
    });
    Ok(SettingMap::parse(&own.collect::<Vec<_>>())?)
}

fn write(outcome: &Outcome, ensemble: &Ensemble, folder: &Path) -> Result<(), Failure> {
    make_folder(folder)?;
    let (labels, soft): (PathBuf, PathBuf) = (folder.join("labels.csv"), folder.join("soft.csv"));
    let targets = Targets { labels: Some(&labels), soft: Some(&soft) };
    write_result(&targets, ensemble.object_names(), &outcome.partition, &outcome.certainty, outcome.soft.as_ref())?;
    if outcome.soft.is_none() && soft.exists() {
        std::fs::remove_file(&soft).map_err(|error| Failure::input(format!("{}: {error}", soft.display())))?;
    }
    Ok(())
}

fn base_scores(ensemble: &Ensemble, truth: &LabelColumn) -> Vec<Scores> {
    (0..ensemble.bases().len()).filter_map(|base| score(ensemble.column(base), truth)).collect()
}

fn finish(args: &RunArgs, record: &RunRecord<'_>, seed: u64) -> Result<(), Failure> {
    let summary = summary(args, record, seed);
    write_json(&args.output.join("record.json"), record)?;
    write_text(&args.output.join("summary.txt"), &summary)?;
    if args.json { print_json(record) } else { print(&summary) }
}

/// The tables that a person reads first.
fn summary(args: &RunArgs, record: &RunRecord<'_>, seed: u64) -> String {
    let mut methods = TextTable::new(["method", "clusters", "anmi", "rounds", "stopped", "kkt gap", "seconds"]);
    record.methods.iter().for_each(|method| methods.row(method.cells()));
    let mut text = format!(
        "{}: {} base clusterings in {:.2} s (--base {} --base-k {} --subsample {} --scale {} --seed {})\n\n{}",
        args.table.table.display(),
        record.first.map_or(0, Record::base_clusterings),
        record.generate.seconds,
        record.recipe.base.iter().map(ToString::to_string).collect::<Vec<_>>().join(","),
        record.recipe.base_k,
        record.recipe.subsample,
        record.recipe.scale,
        seed,
        methods.render()
    );
    if !record.base_scores.is_empty() {
        text = format!("{text}\n{}", score_table(record).render());
    }
    format!("{text}\npartita {VERSION}; results are in {}\n", args.output.display())
}

/// One number of many.
type Score = fn(&Scores) -> f64;

/// The base clusterings' scores (mean, and the best of each) above those of the methods.
fn score_table(record: &RunRecord<'_>) -> TextTable {
    let columns: [(&str, Score); 6] = [
        ("h", |s| s.h),
        ("ari", |s| s.ari),
        ("ami", |s| s.ami),
        ("nmi max", |s| s.nmi.max),
        ("purity", |s| s.purity),
        ("f1 pairwise", |s| s.f1.pairwise),
    ];
    let mut table = TextTable::new(std::iter::once("scores").chain(columns.iter().map(|(name, _)| *name)));
    let mut row = |name: &str, value: &dyn Fn(Score) -> f64| {
        let cells = columns.iter().map(|(_, of)| format!("{:.4}", value(*of)));
        table.row(std::iter::once(name.to_owned()).chain(cells));
    };
    let base = &record.base_scores;
    row("base clusterings, mean", &|of| base.iter().map(of).sum::<f64>() / base.len() as f64);
    row("base clusterings, best", &|of| base.iter().map(of).fold(f64::NEG_INFINITY, f64::max));
    for method in record.methods {
        if let Some(scores) = &method.scores {
            row(method.name(), &|of| of(scores));
        }
    }
    table
}
