//! The consensus of an ensemble or a table, and its result.

use std::path::PathBuf;
use std::sync::Arc;

use numpy::{IntoPyArray, PyArray1, PyArray2};
use partita::extend::{PairList, WeightError};
use partita::generate::Recipe;
use partita::ndarray::Array2;
use partita::ssce::Predictor;
use partita::{BaseWeights, ObjectWeights, Outcome, SoftPartition};
use partita_app::{
    ClustersAsked, Data, Experiment, Given, Input, InputFile, MethodChoice, RunRecord, RunResult,
    TableInput, WeightSource, json_text, linkage,
};
use pyo3::prelude::*;

use crate::arguments::{Run, clusters, settings};
use crate::call::{Done, briefly, run};
use crate::choice::{choice_of, page_of, page_options};
use crate::ensemble::NativeEnsemble;
use crate::errors::{input_error, raised};
use crate::reading::{Sparse, sparse};
use crate::tables::{IN_MEMORY, NativeTable};

/// What is asked for.
#[derive(FromPyObject)]
pub(crate) struct Asked {
    clusters: String,
    /// Names of methods, each with its settings as a JSON object.
    methods: Vec<(String, String)>,
    seed: u64,
    /// `agreement`, or nothing.
    weight_source: Option<String>,
    weights: Option<Vec<f64>>,
    /// Whether base clusterings are made as the table suggests.
    auto: bool,
    object_weights: Option<Vec<f64>>,
    /// What is done with objects that no base clustering labels.
    unlabelled: String,
    /// Probabilities to start from, n × K.
    start: Option<Vec<Vec<f64>>>,
    /// Pairs of objects, by place.
    pairs: Option<Vec<(u32, u32)>>,
    /// c and N of each pair.
    counts: Option<Vec<(u32, u32)>>,
}

impl Asked {
    fn experiment(&self, py: Python<'_>, input: Input, run: &Run) -> PyResult<Experiment> {
        let choice = |(name, own): &(String, String)| {
            Ok(MethodChoice {
                name: name.clone(),
                settings: settings(py, own)?,
            })
        };
        let methods = self.methods.iter().map(choice).collect::<PyResult<_>>()?;
        let clusters: ClustersAsked = clusters(py, &self.clusters)?;
        let mut experiment = Experiment::new(input, clusters, methods, self.seed);
        (experiment.max_memory, experiment.auto) = (run.max_memory, self.auto);
        experiment.unlabelled = self
            .unlabelled
            .parse()
            .map_err(|error| input_error(py, &format!("unlabelled: {error}")))?;
        experiment.base_weights = self.weight_source.as_ref().map(|_| WeightSource::Agreement);
        Ok(experiment)
    }
}

/// Weights of base clusterings.
pub(crate) fn base_weights(
    py: Python<'_>,
    weights: Option<Vec<f64>>,
) -> PyResult<Option<BaseWeights>> {
    let wrong = |error: WeightError| {
        input_error(
            py,
            &match error {
                WeightError::Value { place, value } => {
                    format!("base_weights[{place}] is {value}; {}", WeightError::RULE)
                }
                other => format!("base_weights: {other}"),
            },
        )
    };
    weights
        .map(|weights| BaseWeights::new(weights).map_err(wrong))
        .transpose()
}

/// Weights of objects.
pub(crate) fn object_weights(
    py: Python<'_>,
    weights: Option<Vec<f64>>,
) -> PyResult<Option<ObjectWeights>> {
    weights
        .map(|weights| {
            ObjectWeights::new(weights).map_err(|error| wrong_object_weights(py, &error))
        })
        .transpose()
}

/// What the method starts from and which pairs it reads.
fn given(py: Python<'_>, objects: usize, asked: &Asked) -> PyResult<Given> {
    let start = asked.start.as_ref().map(|rows| {
        let columns = rows.first().map_or(0, Vec::len);
        let start = Array2::from_shape_vec((rows.len(), columns), rows.concat())
            .map_err(|_| "start: rows of different lengths".to_owned())?;
        SoftPartition::new(start).map_err(|error| format!("start: {error}"))
    });
    let pairs = asked.pairs.as_ref().map(|pairs| {
        PairList::new(objects, pairs, asked.counts.as_deref())
            .map_err(|error| format!("pairs[{}]: {}", error.row, error.reason))
    });
    let wrong = |error: String| input_error(py, &error);
    Ok(Given {
        start: start.transpose().map_err(wrong)?,
        pairs: pairs.transpose().map_err(wrong)?,
    })
}

pub(crate) fn wrong_object_weights(py: Python<'_>, error: &WeightError) -> PyErr {
    input_error(py, &format!("object_weights: {error}"))
}

/// The results of the methods that were finished, in the order in which they were named, and the exception that cut them short, if one did.
type Results = (Vec<NativeResult>, Option<Py<PyAny>>);

/// Finds the consensus of an ensemble, with the table behind it for methods that read one; or of a table, by a recipe in JSON.
#[pyfunction]
pub(crate) fn consensus(
    py: Python<'_>,
    ensemble: Option<PyRef<'_, NativeEnsemble>>,
    table: Option<PyRef<'_, NativeTable>>,
    recipe: Option<&str>,
    asked: Asked,
    how: Run,
) -> PyResult<Results> {
    let of_table = TableInput::new(IN_MEMORY);
    let (input, mut files) = match (&ensemble, recipe) {
        (Some(ensemble), _) => {
            let read = ensemble
                .origin
                .as_ref()
                .map(|(_, read)| read.clone())
                .unwrap_or_default();
            let (files, features) = (ensemble.inputs(), table.as_ref().map(|_| of_table));
            let more = files.iter().skip(1).map(|file| file.path.clone()).collect();
            (
                Input::Ensemble {
                    file: ensemble.source().into(),
                    more,
                    read,
                    features,
                },
                files,
            )
        }
        (None, Some(recipe)) => (
            Input::Table {
                table: of_table,
                recipe: read_recipe(py, recipe)?,
            },
            Vec::new(),
        ),
        (None, None) => return Err(input_error(py, "there is neither an ensemble nor a recipe")),
    };
    files.extend(table.as_ref().map(|_| InputFile::nameless(IN_MEMORY)));
    let experiment = asked.experiment(py, input, &how)?;
    let held = table.as_ref().map(|table| table.hold(py)).transpose()?;
    let data = Data {
        ensemble: ensemble
            .as_ref()
            .map(|ensemble| Arc::clone(&ensemble.ensemble)),
        table: table
            .as_ref()
            .zip(held.as_ref())
            .map(|(table, held)| table.input(held)),
        weights: base_weights(py, asked.weights.clone())?,
        object_weights: object_weights(py, asked.object_weights.clone())?,
        given: given(
            py,
            ensemble.as_ref().map_or(0, |of| of.ensemble.objects()),
            &asked,
        )?,
        files,
    };
    results(
        py,
        run(py, &how, |observer| experiment.compute_on(data, observer))?,
    )
}

fn results(py: Python<'_>, done: Done<RunResult>) -> PyResult<Results> {
    let finished = Arc::new(done.value);
    let count = finished.outcomes.len();
    let error = done.stopped_by.map(|error| error.into_value(py).into_any());
    if let (Some(error), 0) = (&error, count) {
        return Err(PyErr::from_value(error.bind(py).clone()));
    }
    Ok((
        (0..count)
            .map(|place| NativeResult {
                finished: Arc::clone(&finished),
                place,
            })
            .collect(),
        error,
    ))
}

/// Computes what the record of a run says once more: from the files that it names, which must be as they were unless they `may_differ`.
/// Of several methods only these, where some are named.
#[pyfunction]
pub(crate) fn repeat(
    py: Python<'_>,
    record: PathBuf,
    methods: Option<Vec<String>>,
    may_differ: bool,
    how: Run,
) -> PyResult<Results> {
    let record = RunRecord::open(&record).map_err(|error| raised(py, &error))?;
    let mut experiment = record.experiment_again();
    let names: Vec<&str> = record
        .experiment
        .methods
        .iter()
        .map(|method| &*method.name)
        .collect();
    let asked = methods.unwrap_or_default();
    if let Some(other) = asked.iter().find(|name| !names.contains(&name.as_str())) {
        return Err(input_error(
            py,
            &format!(
                "method={other} is not in the record, which has {}",
                names.join(", ")
            ),
        ));
    }
    match (asked.is_empty(), names.len()) {
        (false, _) => experiment
            .methods
            .retain(|method| asked.contains(&method.name)),
        (true, 1) => {}
        (true, _) => {
            let names = names.join(", ");
            let what =
                format!("name one of the record's methods, or several in a list: method= {names}");
            return Err(input_error(py, &what));
        }
    }
    experiment.max_memory = how.max_memory.or(experiment.max_memory);
    let done = run(py, &how, |observer| {
        if !may_differ {
            record.check_inputs()?;
        }
        experiment.compute(observer)
    })?;
    results(py, done)
}

/// A recipe in JSON.
pub(crate) fn read_recipe(py: Python<'_>, json: &str) -> PyResult<Recipe> {
    serde_json::from_str(json).map_err(|error| input_error(py, &format!("the recipe: {error}")))
}

/// Expected objects of every cluster, K, and shares of them that are in every other, K × K.
type Overlaps<'py> = (Bound<'py, PyArray1<f64>>, Bound<'py, PyArray2<f64>>);

/// The result of a method.
#[pyclass(frozen, name = "NativeResult", module = "partita._partita")]
pub(crate) struct NativeResult {
    /// The results of all methods of the call.
    finished: Arc<RunResult>,
    /// The place of this one among them.
    place: usize,
}

impl NativeResult {
    fn outcome(&self) -> &Outcome {
        // There is no result without an outcome.
        &self.finished.outcomes[self.place]
    }

    /// Values of all objects, `none` of those that no base clustering labels.
    fn of_all<T: Clone>(&self, values: Vec<T>, none: T) -> Vec<T> {
        match &self.finished.left_out {
            Some(out) => out.spread(&values, none),
            None => values,
        }
    }

    /// Probabilities of all objects, NaN of those that no base clustering labels.
    fn rows_of_all(&self, soft: &SoftPartition) -> Array2<f64> {
        match &self.finished.left_out {
            Some(out) => out.rows(soft),
            None => soft.rows().to_owned(),
        }
    }
}

#[pymethods]
impl NativeResult {
    /// Labels, n numbers from 0.
    fn labels<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let labels = self.outcome().partition.labels().iter();
        let labels: Vec<i32> = labels.map(|&label| label as i32).collect();
        self.of_all(labels, -1).into_pyarray(py)
    }

    fn agreement<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.of_all(self.finished.agreements[self.place].clone(), f64::NAN)
            .into_pyarray(py)
    }

    fn probability<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray1<f64>>> {
        let probability = self.outcome().probability()?;
        Some(self.of_all(probability, f64::NAN).into_pyarray(py))
    }

    /// Probabilities, n × K, where the method has some.
    fn probabilities<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        self.outcome()
            .soft
            .as_ref()
            .map(|soft| self.rows_of_all(soft).into_pyarray(py))
    }

    /// How the clusters overlap: expected objects, and K × K shares.
    fn relations<'py>(&self, py: Python<'py>, threshold: f64) -> PyResult<Overlaps<'py>> {
        let found = briefly(py, || self.finished.relations(self.place, threshold))?
            .map_err(|error| raised(py, &error))?;
        Ok((found.sizes.into_pyarray(py), found.shares.into_pyarray(py)))
    }

    /// What every object is called, where labels of base clusterings name classes.
    fn label_names(&self) -> Option<Vec<Option<String>>> {
        let names = self.outcome().object_classes()?.into_iter();
        Some(self.of_all(names.map(|name| Some(name.to_owned())).collect(), None))
    }

    /// Draws from the posterior, draws × n numbers from 0, where the method samples one.
    fn draws<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<i32>>> {
        let draws = self.outcome().posterior.as_ref()?.draws();
        let objects = draws.first()?.objects();
        let label = |(s, i): (usize, usize)| draws[s].labels()[i] as i32;
        Some(Array2::from_shape_fn((draws.len(), objects), label).into_pyarray(py))
    }

    /// The tree in SciPy's layout, (n − 1) × 4, where the method has one.
    fn tree<'py>(&self, py: Python<'py>) -> Option<Bound<'py, PyArray2<f64>>> {
        Some(linkage(self.outcome().dendrogram.as_ref()?).into_pyarray(py))
    }

    /// Clusters that labels may name.
    fn clusters(&self) -> usize {
        self.outcome().partition.clusters()
    }

    fn ensemble(&self) -> NativeEnsemble {
        NativeEnsemble::shared(Arc::clone(self.finished.whole_ensemble()))
    }

    /// The record as JSON: of this method, or of all of the call.
    fn record(&self, py: Python<'_>, all: bool) -> PyResult<String> {
        let json = if all {
            self.finished.record.to_json()
        } else {
            self.finished
                .record_of(self.place)
                .and_then(|record| record.to_json())
        };
        json.map_err(|error| raised(py, &error))
    }

    /// Pairs of objects that draws from the posterior put together, as compressed rows, where the method samples one.
    fn similarity<'py>(&self, py: Python<'py>, least: f64) -> PyResult<Option<Sparse<'py>>> {
        let found = briefly(py, || self.finished.similarity(self.place, least))?
            .map_err(|error| raised(py, &error))?;
        Ok(found.map(|found| sparse(py, found)))
    }

    /// The page about the result, with what was found of the number of clusters (as JSON); its figures go into a folder, where one is named.
    fn report(
        &self,
        py: Python<'_>,
        table: Option<PyRef<'_, NativeTable>>,
        choice: Option<&str>,
        figures: Option<PathBuf>,
        page: &str,
    ) -> PyResult<String> {
        let choice = choice_of(py, choice)?;
        let options = page_options(py, page)?;
        let held = table.as_ref().map(|table| table.hold(py)).transpose()?;
        let input = table
            .as_ref()
            .zip(held.as_ref())
            .map(|(table, held)| table.input(held));
        let features = input.as_ref().and_then(partita_app::InputTable::features);
        let page = briefly(py, || {
            page_of(
                self.finished
                    .report(self.place, features, choice.as_ref(), options)?,
                figures.as_deref(),
            )
        })?;
        page.map_err(|error| raised(py, &error))
    }

    /// The model that labels new objects as JSON: the method's own or one of label rows, or one that reads the table.
    fn model(
        &self,
        py: Python<'_>,
        predictor: Option<&str>,
        table: Option<PyRef<'_, NativeTable>>,
    ) -> PyResult<String> {
        let predictor = predictor.map(str::parse::<Predictor>).transpose();
        let predictor = predictor.map_err(|error| input_error(py, &error.to_string()))?;
        let held = table
            .as_ref()
            .map(|table| table.hold_dense(py))
            .transpose()?;
        let input = table
            .as_ref()
            .zip(held.as_ref())
            .map(|(table, held)| table.input(held));
        let features = input.as_ref().and_then(partita_app::InputTable::features);
        let model = briefly(py, || {
            self.finished
                .model(self.place, predictor, features.as_ref())
        })?;
        model
            .and_then(|model| json_text(&model))
            .map_err(|error| raised(py, &error))
    }

    /// Writes the folder of a run, of this method or of all of the call, and gives its record.
    fn write_run(&self, py: Python<'_>, folder: PathBuf, all: bool) -> PyResult<String> {
        let only = (!all).then_some(self.place);
        let written = briefly(py, || self.finished.write_run(&folder, only)?.to_json())?;
        written.map_err(|error| raised(py, &error))
    }
}
