//! `partita consensus`: an ensemble in, labels out.

use std::io::{BufWriter, stdout};

use partita::MemoryBudget;
use partita::extend::SettingMap;
use partita::files::LabelFormat;
use partita_app::{
    AppError, Experiment, Input, MethodChoice, ModelOutput, ObjectWeightSource, Outputs,
    ReadOptions, RelationsOutput, Rows, SimilarityOutput, TableInput, TextTable,
};
use serde_json::{Map, Value};

use crate::args::{ConsensusArgs, arguments};
use crate::compute::start_threads;
use crate::failure::Failure;
use crate::output::{
    WholeOutput, check_outputs, check_outputs_beside, is_folder, may_fill, print, say,
};
use crate::streams::is_stream;
use crate::terminal::{Terminal, unless_interrupted};

pub(crate) fn consensus(args: &ConsensusArgs) -> Result<(), Failure> {
    let mut experiment = experiment(args)?;
    check_places(args, &experiment)?;
    start_threads(&args.compute.machine.threads)?;
    let record = if args.out.json {
        experiment.run(&Terminal)?
    } else if let Some(format) = args.read.read.file.format.filter(|f| f.is_output())
        && args.output.as_deref().is_none_or(is_stream)
    {
        let whole = WholeOutput::new(format)?;
        experiment.outputs.labels = Some(whole.path());
        let record = experiment.run(&Terminal)?;
        whole.print()?;
        record
    } else {
        experiment.run_to(&mut BufWriter::new(stdout().lock()), &Terminal)?
    };
    // One method was asked for, and there is no run without a result.
    say_table(&record.methods[0].details);
    if record.choice.is_some() {
        say(record.choice_text().trim_end());
    }
    say(&record.methods[0].one_line());
    if args.out.json {
        print(&record.to_json()?)?;
    }
    unless_interrupted(|| "what was written is the best so far".into())
}

/// The experiment that the flags describe.
fn experiment(args: &ConsensusArgs) -> Result<Experiment, AppError> {
    let choice = MethodChoice {
        name: args.method.clone(),
        settings: SettingMap::parse(&args.set)?,
    };
    let features = args.features.as_ref().map(|file| TableInput {
        file: file.clone(),
        read: features_options(args),
        ..TableInput::default()
    });
    let mut read = args.read.options(MemoryBudget::default());
    let object_weights = args.weights.of_objects();
    if let Some(ObjectWeightSource::Column(column)) = &object_weights {
        read.skip.push(column.clone());
    }
    let input = Input::Ensemble {
        file: args.ensemble.clone(),
        more: args.more.clone(),
        read,
        features,
    };
    let mut experiment = Experiment::new(
        input,
        args.asked_clusters()?,
        vec![choice],
        args.compute.seed.unwrap_or(0),
    );
    experiment.base_weights = args.weights.of_bases();
    experiment.object_weights = object_weights;
    experiment.start.clone_from(&args.start);
    experiment.pairs.clone_from(&args.pairs);
    experiment.max_memory = args
        .compute
        .machine
        .max_memory
        .map(partita::MemoryBudget::bytes);
    if args.stream {
        experiment.rows = Rows::Blocks;
    }
    experiment.unlabelled = args.unlabelled;
    experiment.outputs = outputs(args);
    experiment.set_page(args.page.options());
    experiment.arguments = arguments();
    Ok(experiment)
}

/// How the table behind the ensemble is read.
fn features_options(args: &ConsensusArgs) -> ReadOptions {
    let mut options = ReadOptions::default();
    options.truth = args.features_label.clone().into();
    options.missing.clone_from(&args.read.read.file.missing);
    options
}

/// Refuses places that cannot be written to before anything is read.
fn check_places(args: &ConsensusArgs, experiment: &Experiment) -> Result<(), Failure> {
    let inputs = experiment.input_files();
    let labels = args
        .output
        .as_ref()
        .filter(|path| !is_folder(path) && !is_stream(path));
    let outputs = [
        labels,
        args.report.as_ref(),
        args.soft.as_ref(),
        args.model.as_ref(),
        args.relations.as_ref(),
        args.overlap.as_ref(),
        args.draws.as_ref(),
        args.similarity.as_ref(),
        args.tree.as_ref(),
    ];
    let outputs = outputs.into_iter().flatten();
    if let Some(folder) = args.output.as_deref().filter(|path| is_folder(path)) {
        may_fill(folder, args.out.force)?;
        return check_outputs_beside(
            folder,
            experiment.folder_files(),
            outputs,
            &inputs,
            args.out.force,
        );
    }
    check_outputs(outputs, &inputs, args.out.force)?;
    labels.map(|path| LabelFormat::of(path)).transpose()?;
    Ok(())
}

fn outputs(args: &ConsensusArgs) -> Outputs {
    let threshold = args.threshold.unwrap_or(0.0);
    let predict_with = args.predict_with.map(|how| how.to_string());
    let (folder, labels) =
        args.output
            .clone()
            .filter(|path| !is_stream(path))
            .map_or((None, None), |path| {
                if is_folder(&path) {
                    (Some(path), None)
                } else {
                    (None, Some(path))
                }
            });
    Outputs {
        report: folder.is_some() && !args.no_report,
        report_file: args.report.clone(),
        folder,
        labels,
        soft: args.soft.clone(),
        relations: args
            .relations
            .clone()
            .map(|file| RelationsOutput { file, threshold }),
        overlap: args
            .overlap
            .clone()
            .map(|file| RelationsOutput { file, threshold }),
        model: args
            .model
            .clone()
            .map(|file| ModelOutput { file, predict_with }),
        draws: args.draws.clone(),
        similarity: args.similarity.clone().map(|file| SimilarityOutput {
            file,
            least: args.min_similarity,
        }),
        tree: args.tree.clone(),
        ..Outputs::default()
    }
}

/// What a choice among methods looked at, for people.
fn say_table(details: &Map<String, Value>) {
    let Some(table) = details.get("table").and_then(Value::as_array) else {
        return;
    };
    let mut shown = TextTable::new([
        "method",
        "ari with others",
        "anmi",
        "mean ari",
        "clusters",
        "refused because",
    ]);
    for entry in table {
        let (found, refused) = (
            &entry["verdict"]["found"],
            &entry["verdict"]["refused"]["reason"],
        );
        let number = |value: &Value| {
            value
                .as_f64()
                .map_or_else(String::new, |value| format!("{value:.4}"))
        };
        let [anmi, ari, clusters] =
            ["anmi", "ari", "live_clusters"].map(|name| &found["agreement"][name]);
        let clusters = clusters
            .as_u64()
            .map_or_else(String::new, |clusters| clusters.to_string());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        shown.row([
            text(&entry["method"]),
            number(&found["others"]),
            number(anmi),
            number(ari),
            clusters,
            text(refused),
        ]);
    }
    say(&format!(
        "{}chosen: {}",
        shown.render(),
        details["chosen"].as_str().unwrap_or_default()
    ));
}
