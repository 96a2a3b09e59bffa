//! `partita choose-k`: how many clusters, if any.

use std::path::Path;

use partita::files;
use partita::{Clusters, Problem, SettingMap};
use partita_select::{Choice, ChooseSettings, EnsembleChoiceSettings, choose_clusters, choose_clusters_of_ensemble};

use partita_app::{
    AppError, InputTable, SavedChoice, Stopwatch, TextTable, VERSION, methods, read_ensemble, write_json,
};

use crate::args::{ChooseArgs, Source};
use crate::compute::Compute;
use crate::failure::Failure;
use crate::output::{check_outputs, print, print_json, warn};
use crate::terminal::{Progress, Terminal, unless_interrupted};

pub(crate) fn choose_k(args: &ChooseArgs) -> Result<(), Failure> {
    check_outputs(&args.output, &[&args.table.table], args.force)?;
    let compute = Compute::start(&args.compute)?;
    let stopwatch = Stopwatch::start();
    let choice = match args.kind.unwrap_or_else(|| guess(&args.table.table)) {
        Source::Table => of_table(args, &compute)?,
        Source::Ensemble => of_ensemble(args, &compute)?,
    };
    choice.warnings.iter().for_each(|warning| warn(warning));
    let record = SavedChoice {
        choice,
        file: args.table.table.clone(),
        seconds: stopwatch.read().seconds,
        version: VERSION.to_owned(),
        arguments: std::env::args().skip(1).collect(),
    };
    if let Some(path) = &args.output {
        write_json(path, &record)?;
    }
    if args.json {
        print_json(&record)?;
    } else {
        print(&format!("{}\n{}\n", shown(&record.choice), record.choice.reason))?;
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
    let settings: ChooseSettings = SettingMap::parse(&args.set)?.apply()?;
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
    let settings: EnsembleChoiceSettings = SettingMap::parse(&args.set)?.apply()?;
    let method = methods::find(&args.method)?;
    let loaded = read_ensemble(&args.table.table, args.table.read.label.as_ref(), compute.budget)?;
    let mut problem = Problem::new(&loaded.ensemble, Clusters::Exactly(*args.clusters.start()));
    (problem.seed, problem.budget) = (compute.seed, compute.budget);
    let progress = Progress::new(methods::name_of(method));
    let found = choose_clusters_of_ensemble(method, &problem, args.clusters.clone(), &settings, &progress);
    Ok(found.map_err(|source| AppError::Select { input: args.table.table.clone(), source })?)
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
