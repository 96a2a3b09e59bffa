//! `partita choose-k`: how many clusters, if any.

use std::num::NonZeroU32;

use partita::Clusters;
use partita::extend::{Problem, SettingMap};
use partita_select::{Choice, ChooseSettings, EnsembleChoiceSettings};

use partita_app::{
    ClustersAsked, FileKind, InputTable, SavedChoice, Stopwatch, choice_table, choose_of_ensemble,
    choose_of_table, methods, read_ensemble, seeds, write_json,
};

use crate::args::{ChooseArgs, Source, arguments};
use crate::compute::Compute;
use crate::failure::Failure;
use crate::output::{answer, check_outputs, say, warn};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn choose_k(args: &ChooseArgs) -> Result<(), Failure> {
    check_outputs(&args.output, [&args.table.table], args.out.force)?;
    let compute = Compute::start(&args.compute)?;
    let stopwatch = Stopwatch::start();
    let choice = match args.kind.map_or_else(|| source(args, &compute), Ok)? {
        Source::Table => of_table(args, &compute)?,
        Source::Ensemble => of_ensemble(args, &compute)?,
    };
    choice.warnings.iter().for_each(|warning| warn(warning));
    let mut record = SavedChoice::of(choice, &args.table.table, stopwatch.read().seconds);
    record.arguments = arguments();
    if let Some(path) = &args.output {
        write_json(path, &record)?;
    }
    let table = choice_table(&record.choice).render();
    let text = format!("{table}\n{}\n", record.choice.reason);
    answer(args.out.json, &record, &text)?;
    unless_interrupted(|| "some numbers of clusters or references are missing".into())
}

/// What the file holds; columns that may be labels or numbers are taken as numbers, as by `run`, and that is said.
fn source(args: &ChooseArgs, compute: &Compute) -> Result<Source, Failure> {
    let file = &args.table.table;
    let read = args.table.input().read.within(compute.budget);
    match FileKind::of(file, &read)? {
        FileKind::Ensemble(..) => Ok(Source::Ensemble),
        FileKind::Either(..) => {
            let here = file.display();
            say(&format!(
                "note: {here}: the columns are taken as features, as by run; --kind ensemble takes them as labels"
            ));
            Ok(Source::Table)
        }
        _ => Ok(Source::Table),
    }
}

fn of_table(args: &ChooseArgs, compute: &Compute) -> Result<Choice, Failure> {
    let settings = table_settings(args)?;
    let file = &args.table.table;
    let table = InputTable::read(&args.table.input(), compute.budget, compute.seed, &Terminal)?;
    let scale = settings.scale.parse().ok();
    if let Some(warning) = scale.and_then(|scale| table.scale_warning(scale)) {
        warn(&format!("{}: {warning}", file.display()));
    }
    Ok(choose_of_table(
        &table,
        args.clusters,
        &settings,
        compute.seed,
        compute.budget,
        file,
        &Terminal,
    )?
    .choice)
}

/// The settings that --set and the flags of base clusterings name. The choice makes its own base clusterings, with the K
/// that is looked at, of the principal components.
fn table_settings(args: &ChooseArgs) -> Result<ChooseSettings, Failure> {
    let wrong = |error| {
        Failure::input(format!(
            "--set: {error}; this is a table, --kind ensemble has other settings"
        ))
    };
    let mut settings: ChooseSettings = SettingMap::parse(&args.set)?.apply().map_err(wrong)?;
    let recipe = &args.recipe;
    let refused = [
        (
            "--base-k",
            recipe.base_k.is_some(),
            "base clusterings have the number of clusters that is looked at, see -k",
        ),
        (
            "--features",
            recipe.features.is_some(),
            "principal components are clustered, not columns",
        ),
        (
            "--projection",
            recipe.projection.is_some(),
            "principal components are clustered, not projections",
        ),
        (
            "--replacement",
            recipe.replacement,
            "objects are drawn without replacement; take --subsample",
        ),
        (
            "--preset",
            recipe.preset.is_some(),
            "give its --base, --subsample and --scale",
        ),
        (
            "--recipe",
            recipe.recipe.is_some(),
            "give its --base, --subsample and --scale",
        ),
    ];
    if let Some((flag, _, why)) = refused.iter().find(|(_, given, _)| *given) {
        return Err(Failure::input(format!("{flag} is not for choose-k: {why}")));
    }
    match recipe.base.as_ref().map(|base| base.0.as_slice()) {
        None => {}
        Some([base]) => {
            settings.base = base.kind.name().into();
            settings.runs = u32::try_from(base.runs)
                .ok()
                .and_then(NonZeroU32::new)
                .unwrap_or(NonZeroU32::MAX);
        }
        Some(several) => {
            let reason = format!(
                "--base names {} kinds; choose-k takes one, such as kmeans:100",
                several.len()
            );
            return Err(Failure::input(reason));
        }
    }
    settings.subsample = recipe.subsample.unwrap_or(settings.subsample);
    settings.scale = recipe
        .scale
        .map_or(settings.scale, |scale| scale.to_string());
    Ok(settings)
}

fn of_ensemble(args: &ChooseArgs, compute: &Compute) -> Result<Choice, Failure> {
    let file = &args.table.table;
    if args.recipe.given() {
        let reason = "is an ensemble, whose base clusterings are made; leave out --base, --scale and the like";
        return Err(Failure::input(format!("{}: {reason}", file.display())));
    }
    let wrong = |error| {
        Failure::input(format!(
            "--set: {error}; this is an ensemble, --kind table has other settings"
        ))
    };
    let settings: EnsembleChoiceSettings = SettingMap::parse(&args.set)?.apply().map_err(wrong)?;
    let method = methods::find(&args.method)?;
    let loaded = read_ensemble(
        file,
        &args.table.read.read.options(compute.budget),
        &Terminal,
    )?;
    let mut problem = Problem::new(&loaded.ensemble, Clusters::Exactly(args.clusters.0));
    (problem.seed, problem.budget) = (seeds::choice(compute.seed), compute.budget);
    Ok(choose_of_ensemble(
        method,
        &problem,
        ClustersAsked::range_of_labels(args.clusters.0, args.clusters.1),
        &settings,
        file,
        &Terminal,
    )?)
}
