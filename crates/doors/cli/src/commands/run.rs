//! `partita run`: an experiment from a table to labels, described by flags or by the record of an earlier run.

use std::path::{Path, PathBuf};

use partita::extend::SettingMap;
use partita_app::{
    AppError, ClustersAsked, Experiment, Input, MethodChoice, ModelOutput, Outputs, RECORD,
    RunRecord, methods,
};

use crate::args::{RunArgs, arguments, recipe};
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{check_outputs_beside, may_fill, print, say};
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn run(args: &RunArgs) -> Result<(), Failure> {
    args.compute.machine.budget();
    may_fill(&args.output, args.out.force || args.resume)?;
    let mut experiment = match &args.from {
        Some(record) => recorded(record, args.allow_changed_input)?,
        None => described(args)?,
    };
    let inputs = [
        experiment.input_files(),
        args.recipe.recipe.iter().map(PathBuf::as_path).collect(),
    ]
    .concat();
    check_outputs_beside(
        &args.output,
        experiment.folder_files(),
        &args.model,
        &inputs,
        args.out.force,
    )?;
    experiment.max_memory = args
        .compute
        .machine
        .max_memory
        .map(partita::MemoryBudget::bytes)
        .or(experiment.max_memory);
    let predict_with = Some(args.predict_with.to_string());
    let model = args.model.clone();
    let page = args.page.options().or(&experiment.outputs.page);
    experiment.outputs = Outputs {
        folder: Some(args.output.clone()),
        report: !args.no_report,
        model: model.map(|file| ModelOutput { file, predict_with }),
        resume: args.resume,
        ..Outputs::default()
    };
    experiment.set_page(page);
    if args.resume && is_finished(&experiment, &args.output)? {
        say(&format!(
            "{} is finished; there is nothing left to do",
            args.output.display()
        ));
        return Ok(());
    }
    experiment.arguments = arguments();
    start_threads(&args.compute.machine.threads)?;
    let record = experiment.run(&Terminal)?;
    if args.out.json {
        print(&record.to_json()?)?;
    } else {
        print(&record.summary())?;
    }
    unless_interrupted(|| kept(&record, &args.output))
}

/// Whether a folder holds all of this run already.
///
/// # Errors
/// If it holds another one.
fn is_finished(experiment: &Experiment, folder: &Path) -> Result<bool, Failure> {
    let path = folder.join(RECORD);
    if !path.exists() {
        return Ok(false);
    }
    let record = RunRecord::open(&path)?;
    if !record.experiment.computes_as(experiment) {
        let here = path.display();
        return Err(Failure::input(format!(
            "{here}: is of another run; give its flags, or --force to replace it"
        )));
    }
    Ok(!record.interrupted)
}

/// What there is after Ctrl-C.
fn kept(record: &RunRecord, folder: &Path) -> String {
    let made = record.base_made.unwrap_or(0);
    let asked = record.base_asked.unwrap_or(0);
    let done = record.methods.len();
    let folder = folder.display();
    format!(
        "{made} of {asked} base clusterings and {done} consensus results are in {folder}; the same command with --resume goes on"
    )
}

/// The experiment of a record, its inputs unchanged unless they may have.
fn recorded(record: &Path, allow_changed_input: bool) -> Result<Experiment, AppError> {
    let record = RunRecord::open(record)?;
    if !allow_changed_input {
        record.check_inputs()?;
    }
    Ok(record.experiment_again())
}

/// The experiment that the flags describe.
fn described(args: &RunArgs) -> Result<Experiment, AppError> {
    // The flags ask for a table where there is no record.
    let table = args.table.clone().unwrap_or_default();
    let table = args.read.input(&table);
    let clusters = args.clusters.unwrap_or_else(|| table.usual_clusters());
    let of_pairs = table.of_pairs();
    let preset = table.usual_preset();
    let (recipe, seed) = recipe(&args.recipe, Some(clusters.clusters()), preset)?;
    let methods = if args.method.is_empty() {
        vec![methods::usual(clusters).to_owned()]
    } else {
        args.method.clone()
    };
    let input = Input::Table { table, recipe };
    let asked = args.compute.seed;
    let seed = asked.or(seed.map(partita::Seed::number)).unwrap_or(0);
    let mut experiment =
        Experiment::new(input, clusters, method_choices(&methods, &args.set)?, seed);
    experiment.auto =
        !of_pairs && !args.recipe.more_than_scale() && clusters != ClustersAsked::Method;
    Ok(experiment)
}

/// The methods, each with the settings that are for all and those that name it before a dot.
fn method_choices(methods: &[String], settings: &[String]) -> Result<Vec<MethodChoice>, AppError> {
    if let Some(of) = settings
        .iter()
        .filter_map(|text| meant_for(text))
        .find(|of| !methods.iter().any(|m| m == of))
    {
        let reason = format!(
            "--set is for '{of}', which is not among -m {}",
            methods.join(",")
        );
        return Err(AppError::request(reason));
    }
    let choice = |name: &String| {
        let own = settings.iter().filter_map(|text| match meant_for(text) {
            Some(of) => (of == name).then(|| &text[of.len() + 1..]),
            None => Some(text.as_str()),
        });
        Ok(MethodChoice {
            name: name.clone(),
            settings: SettingMap::parse(&own.collect::<Vec<_>>())?,
        })
    };
    methods.iter().map(choice).collect()
}

/// The method that a setting names before a dot.
fn meant_for(setting: &str) -> Option<&str> {
    let name = setting.split_once('=').map_or(setting, |(name, _)| name);
    name.split_once('.').map(|(method, _)| method)
}
