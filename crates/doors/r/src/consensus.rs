//! The consensus of labels or of a table, and what is made of it.

use std::path::PathBuf;
use std::sync::Arc;

use extendr_api::prelude::*;
use partita::extend::SettingMap;
use partita::files::{FrameColumns, MISSING_WORDS, Table};
use partita::generate::Recipe;
use partita::ndarray::Array2;
use partita::ssce::Predictor;
use partita::{BaseWeights, Features, ObjectWeights, Seed};
use partita_app::{
    AppError, ClustersAsked, Data, Experiment, Input, InputFile, InputTable, MethodChoice,
    PageOptions, PredictionInput, ReadOptions, RunResult, TableInput, WeightSource, co_association,
    linkage, methods, recipe_is_open, recipe_with, write_json,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::call::{Refusal, answer, answer_at_once};
use crate::given::{GivenTable, LABELS, TABLE, ensemble, view};
use crate::values::{list, matrix_of, or_null, read, robj, texts};

/// What R keeps of a result besides its values.
struct Native {
    finished: RunResult,
    table: Option<Table>,
}

/// What is asked for.
#[derive(Deserialize)]
struct Asked {
    /// As usual if absent.
    clusters: Option<String>,
    method: Option<String>,
    settings: Option<SettingMap>,
    seed: u64,
    /// A number a base clustering, or `agreement`.
    base_weights: Option<Value>,
    object_weights: Option<Vec<f64>>,
    unlabelled: Option<String>,
    /// A paper's recipe, and what is changed in it or in the default.
    preset: Option<String>,
    recipe: Option<Map<String, Value>>,
}

impl Asked {
    fn clusters(&self, table: Option<&TableInput>) -> std::result::Result<ClustersAsked, String> {
        match &self.clusters {
            Some(text) => text.parse().map_err(|error| format!("k = {text}: {error}")),
            None => Ok(table.map_or(ClustersAsked::OPEN, TableInput::usual_clusters)),
        }
    }

    fn experiment(&self, input: Input) -> std::result::Result<Experiment, String> {
        let table = match &input {
            Input::Table { table, .. } => Some(table),
            Input::Ensemble { .. } => None,
        };
        let clusters = self.clusters(table)?;
        let name = self
            .method
            .clone()
            .unwrap_or_else(|| methods::usual(clusters).to_owned());
        let settings = self.settings.clone().unwrap_or_default();
        let mut experiment = Experiment::new(
            input,
            clusters,
            vec![MethodChoice { name, settings }],
            self.seed,
        );
        if let Some(unlabelled) = &self.unlabelled {
            experiment.unlabelled = unlabelled
                .parse()
                .map_err(|error| format!("unlabelled: {error}"))?;
        }
        match &self.base_weights {
            Some(Value::String(source)) if source == "agreement" => {
                experiment.base_weights = Some(WeightSource::Agreement);
            }
            Some(Value::String(other)) => {
                return Err(format!(
                    "base_weights = \"{other}\"; write \"agreement\", or a number a base clustering"
                ));
            }
            _ => {}
        }
        Ok(experiment)
    }

    fn weights(&self) -> std::result::Result<(Option<BaseWeights>, Option<ObjectWeights>), String> {
        let of_bases = self.base_weights.as_ref().filter(|given| given.is_array());
        let of_bases = of_bases.map(|given| {
            serde_json::from_value(given.clone()).map_err(|error| format!("base_weights: {error}"))
        });
        let of_bases = of_bases
            .transpose()?
            .map(|given| BaseWeights::new(given).map_err(|error| format!("base_weights: {error}")));
        let of_objects = self.object_weights.clone().map(|given| {
            ObjectWeights::new(given).map_err(|error| format!("object_weights: {error}"))
        });
        Ok((of_bases.transpose()?, of_objects.transpose()?))
    }

    /// The recipe of base clusterings, and whether they are made as the table suggests.
    fn recipe(&self, table: &TableInput) -> std::result::Result<(Recipe, bool), Refusal> {
        let clusters = self.clusters(Some(table))?;
        let changes = self.recipe.clone().unwrap_or_default();
        let preset = self.preset.as_deref().or(table.usual_preset());
        let auto = recipe_is_open(preset, &changes, clusters);
        let recipe = recipe_with(preset, Some(clusters.clusters()), changes)?;
        Ok((recipe, auto))
    }
}

/// The consensus of labels: what `ensemble` takes, with the table behind them for methods that read one.
#[extendr]
fn native_consensus(labels: List, features: Robj, asked: Robj, how: Robj) -> Robj {
    let prepared = || {
        let asked: Asked = read(&asked)?;
        let table = list(&features)
            .map(|given| GivenTable::new(&given))
            .transpose()?;
        let file = LABELS.into();
        let behind = table.as_ref().map(GivenTable::input);
        let input = Input::Ensemble {
            file,
            more: Vec::new(),
            read: ReadOptions::default(),
            features: behind,
        };
        Ok::<_, String>((
            asked.experiment(input)?,
            asked.weights()?,
            Arc::new(ensemble(&labels)?),
            table,
        ))
    };
    let (mut experiment, (weights, object_weights), ensemble, table) = match prepared() {
        Ok(prepared) => prepared,
        Err(text) => return answer_at_once(Err(text.into())),
    };
    answer(
        &how,
        |how, observer| {
            let table = table
                .map(|table| table.open_dense(Seed::new(experiment.seed), how, observer))
                .transpose()?;
            experiment.max_memory = how.max_memory;
            let files = [LABELS]
                .into_iter()
                .chain(table.as_ref().map(|_| TABLE))
                .map(InputFile::nameless)
                .collect();
            let held = table.as_ref().map(view);
            let data = Data {
                ensemble: Some(ensemble),
                table: held,
                weights,
                object_weights,
                files,
                ..Data::default()
            };
            let finished = experiment.compute_on(data, observer)?;
            Ok(Native { finished, table })
        },
        found,
    )
}

/// The consensus of base clusterings that are made of a table.
#[extendr]
fn native_consensus_cluster(table: List, asked: Robj, how: Robj) -> Robj {
    let prepared = || {
        let asked: Asked = read(&asked)?;
        let table = GivenTable::new(&table)?;
        let input = table.input();
        let (recipe, auto) = asked.recipe(&input)?;
        let scale = recipe.scale;
        let mut experiment = asked.experiment(Input::Table {
            table: input,
            recipe,
        })?;
        experiment.auto = auto;
        Ok::<_, Refusal>((experiment, table, scale))
    };
    let (mut experiment, table, scale) = match prepared() {
        Ok(prepared) => prepared,
        Err(refusal) => return answer_at_once(Err(refusal)),
    };
    answer(
        &how,
        |how, observer| {
            let table = table.open(scale, Seed::new(experiment.seed), how, observer)?;
            let (table, other) = match table {
                InputTable::Dense(table) => (Some(table), None),
                InputTable::Sparse(table) => (None, Some(InputTable::Sparse(table))),
                InputTable::Distances(table) => (None, Some(InputTable::Distances(table))),
                InputTable::Groups(_) | InputTable::View(_) | InputTable::Graph(_) => {
                    return Err(AppError::request("the table is not held in memory"));
                }
            };
            experiment.max_memory = how.max_memory;
            let data = Data {
                table: table.as_ref().map(view).or(other),
                files: vec![InputFile::nameless(TABLE)],
                ..Data::default()
            };
            let finished = experiment.compute_on(data, observer)?;
            Ok(Native { finished, table })
        },
        found,
    )
}

/// A result as R keeps it.
fn found(native: Native) -> std::result::Result<Robj, Refusal> {
    let finished = &native.finished;
    let Some(outcome) = finished.outcomes.first() else {
        return Ok(NULL.into());
    };
    let left_out = finished.left_out.as_ref();
    let labels: Vec<Option<i32>> = outcome
        .partition
        .labels()
        .iter()
        .map(|&label| Some(label as i32 + 1))
        .collect();
    let labels = left_out.map_or_else(|| labels.clone(), |out| out.spread(&labels, None));
    let numbers = |of: &[f64]| {
        let all = left_out.map_or_else(|| of.to_vec(), |out| out.spread(of, f64::NAN));
        all.into_iter()
            .map(|of| (!of.is_nan()).then_some(of))
            .collect::<Vec<Option<f64>>>()
    };
    let soft = outcome.soft.as_ref();
    let soft: Option<Array2<f64>> =
        soft.map(|soft| left_out.map_or_else(|| soft.rows().to_owned(), |out| out.rows(soft)));
    let names = outcome.object_classes().map(|names| {
        names
            .into_iter()
            .map(|name| Some(name.to_owned()))
            .collect::<Vec<_>>()
    });
    let names =
        names.map(|names| left_out.map_or_else(|| names.clone(), |out| out.spread(&names, None)));
    let record: Value = finished
        .record
        .to_json()
        .map(|text| serde_json::from_str(&text).unwrap_or_default())?;
    let tree: Robj = outcome
        .dendrogram
        .as_ref()
        .map_or(NULL.into(), |tree| matrix_of(&linkage(tree)));
    let objects = finished
        .whole_ensemble()
        .object_names()
        .map(<[String]>::to_vec);
    Ok(list!(
        cluster = labels,
        agreement = numbers(&finished.agreements[0]),
        membership = soft.as_ref().map_or(NULL.into(), matrix_of),
        label_names = or_null(names),
        tree = tree,
        objects = or_null(objects),
        record = robj(&record),
        native = ExternalPtr::new(native)
    )
    .into())
}

/// Does `work` with the result that R kept.
fn kept<T: Send>(
    result: &Robj,
    how: &Robj,
    work: impl FnOnce(
        &Native,
        crate::call::Run,
        &dyn partita_app::Observer,
    ) -> std::result::Result<T, AppError>
    + Send,
    of_r: impl FnOnce(T) -> Robj,
) -> Robj {
    let pointer = ExternalPtr::<Native>::try_from(result);
    let native = pointer
        .as_ref()
        .ok()
        .and_then(|pointer| pointer.try_addr().ok());
    let Some(native) = native else {
        let what = "this result was saved and read again, without what models and pages are made of; call the function anew with its seed";
        return answer_at_once(Err(Refusal::Input(what.to_owned())));
    };
    answer(
        how,
        |how, observer| work(native, how, observer),
        |value| Ok(of_r(value)),
    )
}

fn features(native: &Native) -> Option<Features<'_>> {
    native
        .table
        .as_ref()
        .and_then(|table| Features::new(&table.columns, table.values.view()).ok())
}

/// Labels of new objects in a file of text, by the model that is written beside it.
#[extendr]
fn native_predict(result: Robj, predict_with: Robj, model: &str, input: &str, how: Robj) -> Robj {
    let predictor = match predict_with
        .as_str()
        .map(str::parse::<Predictor>)
        .transpose()
    {
        Ok(predictor) => predictor,
        Err(error) => return answer_at_once(Err(Refusal::Input(error.to_string()))),
    };
    let (model, input) = (PathBuf::from(model), PathBuf::from(input));
    kept(
        &result,
        &how,
        |native, _, observer| {
            let of_table = matches!(native.finished.record.experiment.input, Input::Table { .. });
            if of_table && native.table.is_none() {
                let reason = "a model reads a dense table of features; cluster as.matrix(x) in place of sparse numbers or distances";
                return Err(AppError::request(reason));
            }
            let made =
                native
                    .finished
                    .model_with_reading(0, predictor, features(native).as_ref())?;
            write_json(&model, &made)?;
            PredictionInput {
                model,
                input,
                ..PredictionInput::default()
            }
            .predict(observer)
        },
        |found| {
            let labels: Vec<i32> = found
                .partition
                .labels()
                .iter()
                .map(|&label| label as i32 + 1)
                .collect();
            list!(
                cluster = labels,
                membership = matrix_of(&found.soft.rows().to_owned()),
                objects = or_null(found.object_names)
            )
            .into()
        },
    )
}

/// The page about a result.
#[extendr]
fn native_report(result: Robj, called: Robj, how: Robj) -> Robj {
    let options = match read::<Option<PageOptions>>(&called) {
        Ok(options) => options.unwrap_or_default(),
        Err(reason) => return answer_at_once(Err(Refusal::Input(reason))),
    };
    kept(
        &result,
        &how,
        |native, _, _| {
            let page = native.finished.report(0, features(native), None, options)?;
            Ok(page.html)
        },
        Robj::from,
    )
}

/// The share of the base clusterings that put two objects together, n × n.
#[extendr]
fn native_co_association(result: Robj, how: Robj) -> Robj {
    kept(
        &result,
        &how,
        |native, how, observer| {
            co_association(native.finished.whole_ensemble(), how.budget(), observer)
        },
        |shares| matrix_of(&shares),
    )
}

/// The same of labels: what `ensemble` takes.
#[extendr]
fn native_label_co_association(labels: List, how: Robj) -> Robj {
    match ensemble(&labels) {
        Ok(ensemble) => answer(
            &how,
            |how, observer| co_association(&ensemble, how.budget(), observer),
            |shares| Ok(matrix_of(&shares)),
        ),
        Err(text) => answer_at_once(Err(text.into())),
    }
}

/// Every method and its settings, or those that a text is found in.
#[extendr]
fn native_methods(search: Robj) -> Robj {
    let of_search = search.as_str().map(|text| methods::search(text).1);
    let listed = methods::all().filter(|method| {
        of_search.as_ref().is_none_or(|found| {
            found
                .iter()
                .any(|info| info.name == methods::name_of(*method))
        })
    });
    let listed: Vec<Value> = listed.map(methods::describe).collect();
    answer_at_once(Ok(List::from_values(listed.iter().map(robj)).into()))
}

/// The columns of a frame that are base clusterings (from 1), and what is said of the others.
#[extendr]
fn native_base_columns(
    names: Vec<String>,
    different: Vec<f64>,
    objects: f64,
    only: Robj,
    skip: Robj,
) -> Robj {
    let values: Vec<usize> = different.iter().map(|&count| count as usize).collect();
    let frame = FrameColumns {
        called: LABELS.as_ref(),
        names: &names,
        values: &values,
        objects: objects as usize,
    };
    let found = frame
        .bases(
            &texts(&only).unwrap_or_default(),
            &texts(&skip).unwrap_or_default(),
        )
        .map_err(AppError::from);
    answer_at_once(found.map_err(Refusal::from).map(|(columns, said)| {
        let columns: Vec<i32> = columns.into_iter().map(|at| at as i32 + 1).collect();
        list!(columns = columns, said = or_null(said)).into()
    }))
}

/// Words that mean that a label is missing, as in files.
#[extendr]
fn native_missing_words() -> Robj {
    MISSING_WORDS.to_vec().into()
}

extendr_module! {
    mod consensus;
    fn native_missing_words;
    fn native_consensus;
    fn native_consensus_cluster;
    fn native_predict;
    fn native_report;
    fn native_co_association;
    fn native_label_co_association;
    fn native_methods;
    fn native_base_columns;
}
