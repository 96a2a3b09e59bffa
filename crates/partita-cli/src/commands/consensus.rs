//! `partita consensus`: an ensemble in, labels out.

use std::path::Path;

use partita::files::{self, Table};
use partita::metrics::{Relations, agreement_weights, relations};
use partita::mixture::RowModel;
use partita::ssce::{learn, learn_soft};
use partita::{BaseClustering, BaseWeights, Ensemble, Features, Outcome, Problem, SettingMap, SoftPartition};
use serde_json::Value;

use super::common::{Compute, method, read_ensemble, read_table, unless_interrupted};
use super::stream;
use crate::args::{ConsensusArgs, TableArgs};
use crate::failure::Failure;
use crate::output::{self, Targets, may_write, print_json, print_labels, say_warnings, write_result};
use crate::record::score;
use crate::table::TextTable;

pub(crate) fn consensus(args: &ConsensusArgs) -> Result<(), Failure> {
    let method = method(&args.method)?;
    check(args, method.info())?;
    let compute = Compute::start(&args.compute, None)?;
    if let Some(rows) = stream::Rows::of(args, method, &compute)? {
        return stream::consensus(args, &rows, &compute);
    }
    let loaded = read_ensemble(&args.ensemble, args.label.as_ref())?;
    let table = args
        .features
        .clone()
        .map(|table| read_table(&TableArgs { table, label: args.features_label.clone(), ..TableArgs::default() }));
    let table = table.transpose()?;
    let mut problem = Problem::new(&loaded.ensemble, args.clusters);
    problem.settings = SettingMap::parse(&args.set)?;
    if let Some(table) = &table {
        let features = Features::new(&table.columns, table.values.view());
        problem.features = Some(features.map_err(Failure::input)?);
    }
    let weights = args.base_weights.as_deref().map(|given| base_weights(given, &loaded.ensemble)).transpose()?;
    problem.weights = weights.as_ref();
    let (outcome, mut record) = compute.consense(method, problem, &args.ensemble)?;
    say_warnings(&args.method, &outcome);
    say_table(&outcome);
    let model = model_of(args, &loaded.ensemble, table.as_ref(), &outcome)?;
    write(args, &loaded.ensemble, &outcome, model)?;
    record.scores = loaded.truth.and_then(|truth| {
        let found = outcome.partition.labels().iter().map(|&label| Some(label as usize));
        score(found, &truth)
    });
    if args.json {
        print_json(&record)?;
    }
    unless_interrupted(|| "what was written is the best so far".into())
}

/// Refuses what cannot be written before anything is computed.
fn check(args: &ConsensusArgs, info: &partita::MethodInfo) -> Result<(), Failure> {
    for path in [&args.output, &args.soft, &args.model, &args.relations].into_iter().flatten() {
        may_write(path, args.force)?;
    }
    for (flag, given) in [("--soft", args.soft.is_some()), ("--relations", args.relations.is_some())] {
        if given && !info.capabilities.soft {
            return Err(Failure::input(format!("{} gives no probabilities; leave {flag} out", info.name)));
        }
    }
    Ok(())
}

/// `agreement`, or a file with a weight for every base clustering by its name.
fn base_weights(given: &Path, ensemble: &Ensemble) -> Result<BaseWeights, Failure> {
    if given == Path::new("agreement") {
        return Ok(agreement_weights(ensemble));
    }
    let (here, read) = (given.display(), files::read_labels(given, Some("weight"))?);
    let names = read.object_names.ok_or_else(|| {
        Failure::input(format!("{here}: a column name says which base clustering a weight is for; there is none"))
    })?;
    let weight = |base: &BaseClustering| {
        let place = names.iter().position(|name| name == base.name());
        let text = place.and_then(|place| read.column.values[place].as_deref());
        let text =
            text.ok_or_else(|| Failure::input(format!("{here}: no weight for base clustering '{}'", base.name())))?;
        let number: Result<f64, _> = text.parse();
        number.map_err(|_| Failure::input(format!("{here}: the weight of '{}' is '{text}', no number", base.name())))
    };
    let weights = ensemble.bases().iter().map(weight).collect::<Result<_, _>>()?;
    BaseWeights::new(weights).map_err(|(base, value)| {
        let name = ensemble.bases()[base].name();
        Failure::input(format!("{here}: the weight of '{name}' is {value}; weights are above 0"))
    })
}

fn write(args: &ConsensusArgs, ensemble: &Ensemble, outcome: &Outcome, model: Option<Value>) -> Result<(), Failure> {
    let names = ensemble.object_names();
    let targets = Targets { labels: args.output.as_deref(), soft: args.soft.as_deref() };
    write_result(&targets, names, &outcome.partition, &outcome.certainty, outcome.soft.as_ref())?;
    if let (Some(path), Some(soft)) = (&args.relations, &outcome.soft) {
        output::write_text(path, &relations_csv(&relations(soft, args.threshold)?))?;
    }
    if let (Some(path), Some(model)) = (&args.model, model) {
        output::write_json(path, &model)?;
    }
    if args.output.is_none() && !args.json {
        print_labels(names, &outcome.partition, &outcome.certainty)?;
    }
    Ok(())
}

fn relations_csv(relations: &Relations) -> String {
    let clusters = relations.sizes.len();
    let heading = (0..clusters).map(|cluster| format!(",{cluster}")).collect::<String>();
    let line = |(cluster, size): (usize, &f64)| {
        let shares = relations.shares.row(cluster).iter().map(|share| format!(",{share}")).collect::<String>();
        format!("{cluster},{size}{shares}\n")
    };
    format!("cluster,objects{heading}\n{}", relations.sizes.iter().enumerate().map(line).collect::<String>())
}

/// What a choice among methods looked at, for people.
fn say_table(outcome: &Outcome) {
    let Some(table) = outcome.details.get("table").and_then(Value::as_array) else { return };
    let mut shown = TextTable::new(["method", "anmi", "mean ari", "clusters", "refused because"]);
    for entry in table {
        let (found, refused) = (&entry["verdict"]["found"]["agreement"], &entry["verdict"]["refused"]["reason"]);
        let number = |name: &str| found[name].as_f64().map_or_else(String::new, |value| format!("{value:.4}"));
        let clusters = found["live_clusters"].as_u64().map_or_else(String::new, |clusters| clusters.to_string());
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        shown.row([text(&entry["method"]), number("anmi"), number("ari"), clusters, text(refused)]);
    }
    output::say(&format!("{}chosen: {}", shown.render(), outcome.details["chosen"].as_str().unwrap_or_default()));
}

/// The model that was asked for: learned from the table, else that of the outcome; where the method has none, that of
/// the label rows of its clusters.
fn model_of(
    args: &ConsensusArgs,
    ensemble: &Ensemble,
    table: Option<&Table>,
    outcome: &Outcome,
) -> Result<Option<Value>, Failure> {
    if args.model.is_none() {
        return Ok(None);
    }
    if let (Some(how), Some(table)) = (args.predict_with, table) {
        let features = Features::new(&table.columns, table.values.view()).map_err(Failure::input)?;
        let model = match &outcome.soft {
            Some(soft) => learn_soft(how, &features, soft)?,
            None => learn(how, &features, &outcome.partition)?,
        };
        return Ok(Some(model.to_json()));
    }
    if let Some(model) = &outcome.model {
        return Ok(Some(model.to_json()));
    }
    let soft = outcome.soft.clone().unwrap_or_else(|| SoftPartition::of(&outcome.partition));
    Ok(Some(partita::Model::to_json(&RowModel::of_consensus(ensemble, &soft))))
}
