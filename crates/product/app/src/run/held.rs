//! Runs an experiment: read, refuse what cannot work, choose the number of clusters where it is open, make base
//! clusterings, find the consensus of every method, write.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use partita::extend::{Consensus, ProblemSize, WeightedEnsemble, option};
use partita::files::{self, LabelColumn, Table};
use partita::generate::{Durable, GenerateError, Recipe};
use partita::metrics::Scores;
use partita::{BaseWeights, Ensemble, MemoryBudget, ObjectWeights, Outcome, Seed};
use partita_select::Choice;

use crate::analysis::agreement::{agreement_of, mean};
use crate::analysis::choice;
use crate::analysis::choice::curves;
use crate::analysis::model::check_table_model;
use crate::error::{AppError, Fault};
use crate::experiment::clusters::ClustersAsked;
use crate::experiment::description::{EXPERIMENT_VERSION, Input, Unlabelled};
use crate::experiment::description::{Experiment, ObjectWeightSource};
use crate::experiment::file_names::{ENSEMBLE, PART, REPORT, folder_of};
use crate::input::data::Data;
use crate::input::generate::make_ensemble;
use crate::input::given::Given;
use crate::input::input_notes::shown;
use crate::input::inputs::Inputs;
use crate::input::left_out::LeftOut;
use crate::input::matching::score;
use crate::input::table::InputTable;
use crate::input::weights::{base_weights, object_weights};
use crate::methods;
use crate::observer::Observer;
use crate::output::outputs::{self, is_held};
use crate::output::page::{Shown, page, with_fitting_names};
use crate::output::record::{MethodRecord, RunRecord};
use crate::output::result_files::MethodResult;
use crate::run::consensus::Shared;
use crate::run::number_of_clusters::Number;
use crate::run::row_source::RowSource;
use crate::stopwatch::{Spent, Stopwatch};
use crate::text_files::{make_folder, write_text};

/// An experiment that was run: the record, and the results in memory.
#[derive(Debug)]
#[non_exhaustive]
pub struct RunResult {
    /// What was done.
    pub record: RunRecord,
    /// The base clusterings.
    pub ensemble: Arc<Ensemble>,
    /// The results of the methods that were finished, in the order of the record.
    pub outcomes: Vec<Outcome>,
    /// The agreement of all labels of these results, n numbers each, which compare between methods.
    pub agreements: Vec<Vec<f64>>,
    /// The weights of the base clusterings, from wherever they came, where there are some.
    pub base_weights: Option<BaseWeights>,
    /// The weights of the objects, likewise.
    pub object_weights: Option<ObjectWeights>,
    /// What methods started from and which pairs they read, of all objects.
    pub given: Given,
    /// Objects that no base clustering labels, where some were left out of all of these.
    pub left_out: Option<LeftOut>,
}

/// The base clusterings, and what it took to make them if they were made.
struct Bases {
    ensemble: Arc<Ensemble>,
    spent: Option<Spent>,
    asked: usize,
    scores: Vec<Scores>,
}

/// What the methods found that were finished, in their order.
#[derive(Default)]
struct Results {
    outcomes: Vec<Outcome>,
    /// The agreement of every label.
    agreements: Vec<Vec<f64>>,
    records: Vec<MethodRecord>,
    base_weights: Option<BaseWeights>,
    object_weights: Option<ObjectWeights>,
}

impl Experiment {
    /// Runs the experiment and writes its outputs.
    ///
    /// When the observer asks to stop, what is finished is written and [`RunRecord::interrupted`] says so.
    ///
    /// # Errors
    /// [`AppError`]; its [`fault`](AppError::fault) says what has to change. All outputs are then as they were; finished base clusterings
    /// are kept to go on with.
    ///
    /// # Cost
    /// That of reading, of the recipe's base clusterings, and of the methods. Memory is checked before it is taken.
    pub fn run(&self, observer: &dyn Observer) -> Result<RunRecord, AppError> {
        self.run_to(&mut io::sink(), observer)
    }

    /// As [`run`](Self::run); where no output names a place for the labels of the first method, they go to `labels` as CSV.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`AppError::Io`] where `labels` refuses something.
    pub fn run_to(
        &self,
        labels: &mut dyn Write,
        observer: &dyn Observer,
    ) -> Result<RunRecord, AppError> {
        let methods = self.found_methods()?;
        if let Some(rows) = RowSource::of(self, methods[0])? {
            return self.run_by_blocks(methods[0], &rows, labels, observer);
        }
        let finished = self.compute(observer)?;
        if self.outputs.folder.is_none() && self.outputs.labels.is_none() {
            finished.print_labels(labels)?;
        }
        Ok(finished.record)
    }

    /// As [`run`](Self::run), with the rows and the results in memory.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn compute(&self, observer: &dyn Observer) -> Result<RunResult, AppError> {
        let record = RunRecord::begun(self);
        self.found_methods()?;
        let inputs = Inputs::read(self, self.budget(), observer)?;
        self.compute_from(inputs, record, observer)
    }

    /// Computes from inputs that were read or given.
    fn compute_from(
        &self,
        inputs: Inputs<'_>,
        record: RunRecord,
        observer: &dyn Observer,
    ) -> Result<RunResult, AppError> {
        self.outputs
            .as_one(|| self.compute_and_write(inputs, record, observer))
    }

    fn compute_and_write(
        &self,
        mut inputs: Inputs<'_>,
        mut record: RunRecord,
        observer: &dyn Observer,
    ) -> Result<RunResult, AppError> {
        let (methods, budget) = (self.found_methods()?, self.budget());
        inputs.leave_out(self.unlabelled, observer)?;
        self.check(&methods, &inputs, budget)?;
        let number = self.number_of_clusters(&methods, &inputs, budget, observer)?;
        let recipe = number.auto.as_ref().map(|auto| &auto.recipe);
        let bases = self.base_clusterings(recipe, &mut inputs, budget, observer)?;
        let Results {
            outcomes,
            agreements,
            records,
            base_weights,
            object_weights,
        } = self.consensus(&methods, &number, &inputs, &bases.ensemble, observer)?;
        if outcomes.is_empty() && self.outputs.folder.is_none() {
            return Err(AppError::nothing_finished());
        }
        record.inputs.clone_from(&inputs.files);
        record.read = inputs.spent;
        record.choice = number.choice.as_ref().map(choice::brief);
        record.choose = number.spent;
        record.auto.clone_from(&number.auto);
        record.generate = bases.spent;
        record.base_asked = bases.spent.map(|_| bases.asked);
        record.base_made = bases.spent.map(|_| bases.ensemble.bases().len());
        record.base_scores = bases.scores;
        record.methods = records;
        record.end(observer);
        outputs::write_record(&record)?;
        self.write_choice(&number)?;
        let ensemble = bases.ensemble;
        let finished = RunResult {
            record,
            ensemble,
            outcomes,
            agreements,
            base_weights,
            object_weights,
            given: std::mem::take(&mut inputs.given),
            left_out: inputs.left_out.take(),
        };
        self.write_reports(&finished, &inputs, number.choice.as_ref(), observer)?;
        if let Some(folder) = &self.outputs.folder
            && !finished.record.interrupted
        {
            files::remove_whole(&folder.join(PART))?;
        }
        Ok(finished)
    }

    /// As [`compute`](Self::compute), with data that a program holds in place of the files that [`input`](Self::input) names: messages
    /// and the record call the data by these names.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn compute_on(
        &self,
        data: Data<'_>,
        observer: &dyn Observer,
    ) -> Result<RunResult, AppError> {
        self.compute_from(Inputs::of(data), RunRecord::begun(self), observer)
    }

    /// The methods by name.
    fn found_methods(&self) -> Result<Vec<&'static dyn Consensus>, AppError> {
        if self.version != EXPERIMENT_VERSION {
            let reason = format!(
                "the experiment has version {}; this program runs {EXPERIMENT_VERSION}",
                self.version
            );
            return Err(AppError::request(reason));
        }
        let found: Vec<&dyn Consensus> = self
            .methods
            .iter()
            .map(|choice| methods::find(&choice.name))
            .collect::<Result<_, _>>()?;
        let first = found
            .first()
            .ok_or_else(|| AppError::request("an experiment needs at least one method"))?;
        outputs::check(&self.outputs, *first)?;
        self.check_page()?;
        Ok(found)
    }

    /// Refuses names that are not as many as the clusters asked for or not distinct, and columns of no table.
    fn check_page(&self) -> Result<(), AppError> {
        let page = &self.outputs.page;
        page.check_names()?;
        if let (ClustersAsked::Exactly(clusters), names @ 1..) = (self.clusters, page.names.len())
            && names != clusters
        {
            let reason = format!(
                "{names} names ({}) are given for {clusters} clusters; give a name for each, in the order of their numbers",
                page.names.join(", ")
            );
            return Err(AppError::request(reason));
        }
        if !page.describe.is_empty() && self.table().is_none() {
            let reason = format!(
                "columns are described ({}) of a table, and there is none; name one ({})",
                page.describe.join(", "),
                option("features").called("X")
            );
            return Err(AppError::request(reason));
        }
        Ok(())
    }

    /// Refuses what cannot work before anything is computed.
    fn check(
        &self,
        methods: &[&'static dyn Consensus],
        inputs: &Inputs<'_>,
        budget: MemoryBudget,
    ) -> Result<(), AppError> {
        let size = self.size(inputs)?;
        let learned = self
            .outputs
            .model
            .as_ref()
            .is_some_and(|model| model.predict_with.is_some());
        if let Some(table) = self.table().filter(|_| learned) {
            check_table_model(table, inputs.features().as_ref())?;
        }
        let bases = inputs
            .ensemble
            .as_ref()
            .map_or(&[][..], |ensemble| ensemble.bases());
        for (method, choice) in methods.iter().zip(&self.methods) {
            methods::check(*method, &choice.settings, (&size, bases), budget).map_err(
                |source| AppError::Consensus {
                    input: self.source().into(),
                    source,
                },
            )?;
        }
        Ok(())
    }

    /// The size of the problem: that of the ensemble, or what the recipe leads one to expect.
    fn size(&self, inputs: &Inputs<'_>) -> Result<ProblemSize, AppError> {
        if let Some(ensemble) = &inputs.ensemble {
            return Ok(ProblemSize::of(
                ensemble,
                self.clusters.most(ensemble.objects()),
            ));
        }
        let objects = inputs.objects();
        let mut size = ProblemSize::of_bases(objects, &[], self.clusters.most(objects));
        if let Input::Table { recipe, .. } = &self.input {
            recipe.check(size.objects)?;
            size.base_clusterings = recipe.runs();
            // Of base clusterings that are still to be chosen nothing is known; what they need is checked once they are there.
            size.largest_base_clustering = if self.auto { 2 } else { size.objects.isqrt() };
            size.base_clusters = size.base_clusterings * size.largest_base_clustering;
        }
        Ok(size)
    }

    /// Makes the base clusterings, or takes those that were read.
    fn base_clusterings(
        &self,
        chosen: Option<&Recipe>,
        inputs: &mut Inputs<'_>,
        budget: MemoryBudget,
        observer: &dyn Observer,
    ) -> Result<Bases, AppError> {
        self.outputs.folder.as_deref().map_or(Ok(()), make_folder)?;
        let (Input::Table { recipe, .. }, Some(table)) = (&self.input, &inputs.table) else {
            let ensemble = inputs
                .ensemble
                .take()
                .ok_or_else(|| AppError::request("there is no ensemble"))?;
            return Ok(Bases {
                ensemble,
                spent: None,
                asked: 0,
                scores: Vec::new(),
            });
        };
        let stopwatch = Stopwatch::start();
        let recipe = chosen.unwrap_or(recipe);
        // A browser's tab that was closed leaves nothing to go on with.
        let durable = !cfg!(target_family = "wasm");
        let kept = self
            .outputs
            .folder
            .as_deref()
            .filter(|_| durable)
            .map(|folder| self.part_file(folder))
            .transpose()?;
        let made = make_ensemble(
            table,
            recipe,
            Seed::new(self.seed),
            kept.as_ref(),
            budget,
            observer,
        )?;
        if made.resumed > 0 {
            observer.note(&format!(
                "{} of {} base clusterings are from before",
                made.resumed, made.asked
            ));
        }
        let spent = stopwatch.read();
        if let Some(folder) = &self.outputs.folder {
            files::write_ensemble(
                &folder.join(ENSEMBLE),
                &made.ensemble,
                inputs.truth.as_ref(),
            )?;
        }
        let scores = inputs
            .truth
            .as_ref()
            .map(|truth| base_scores(&made.ensemble, truth))
            .unwrap_or_default();
        Ok(Bases {
            ensemble: Arc::new(made.ensemble),
            spent: Some(spent),
            asked: made.asked,
            scores,
        })
    }

    /// The file that keeps finished base clusterings until the run is finished: that of the run to go on with, or a new one.
    fn part_file(&self, folder: &Path) -> Result<Durable, AppError> {
        let path = folder.join(PART);
        if path.exists() && !self.outputs.resume {
            if is_held(&path) {
                let path = path.display().to_string();
                return Err(GenerateError::InUse { path }.into());
            }
            std::fs::remove_file(&path)
                .map_err(|error| AppError::io(&path, "be removed", error))?;
        }
        let mut kept = Durable::new(&path);
        kept.resume = path.exists();
        Ok(kept)
    }

    /// The consensus of every method, written as each is finished.
    fn consensus(
        &self,
        methods: &[&'static dyn Consensus],
        number: &Number,
        inputs: &Inputs<'_>,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Results, AppError> {
        let weights = self
            .base_weights
            .as_ref()
            .map(|source| base_weights(source, ensemble))
            .transpose()?;
        let weights = weights.or_else(|| inputs.weights.clone());
        let object_weights = self.weights_of_objects(inputs, ensemble, observer)?;
        let object_weights = match self.unlabelled {
            Unlabelled::Cluster => without_unlabelled(object_weights, ensemble, observer)?,
            Unlabelled::Keep | Unlabelled::Refuse => object_weights,
        };
        let mut found = Results {
            base_weights: weights.clone(),
            object_weights: object_weights.clone(),
            ..Results::default()
        };
        let (features, source, object_weights) =
            (inputs.features(), self.source(), object_weights.as_ref());
        let (weights, seed, budget) = (weights.as_ref(), self.seed, self.budget());
        let given = inputs.given.of_left(inputs.left_out.as_ref());
        let shared = Shared {
            ensemble,
            features,
            weights,
            object_weights,
            given: &given,
            clusters: number.clusters,
            tested: number.tested.as_ref().map(|table| table.view()),
            seed,
            budget,
            source,
        };
        for (place, (method, choice)) in methods.iter().zip(&self.methods).enumerate() {
            if observer.stop_asked() {
                break;
            }
            let (outcome, mut record) = match shared.consensus(*method, choice, observer) {
                Err(error) if error.fault() == Fault::Interrupted => break,
                other => other?,
            };
            let labels = outcome
                .partition
                .labels()
                .iter()
                .map(|&label| Some(label as usize));
            record.scores = inputs.truth.as_ref().and_then(|truth| score(labels, truth));
            let weighted = WeightedEnsemble {
                ensemble,
                base_weights: weights,
                object_weights,
            };
            let agreement = agreement_of(weighted, &outcome.partition);
            record.agreement = mean(&agreement);
            record
                .warnings
                .extend(inputs.left_out.as_ref().map(LeftOut::warning));
            let result = MethodResult {
                outcome: &outcome,
                agreement: &agreement,
                left_out: inputs.left_out.as_ref(),
            };
            let table = self.table();
            outputs::write_result(
                &self.outputs,
                place,
                &choice.name,
                &result,
                ensemble,
                features.as_ref(),
                table,
            )?;
            found.outcomes.push(outcome);
            found.agreements.push(agreement);
            found.records.push(record);
        }
        Ok(found)
    }

    /// The weights of the objects, where there are some; the observer hears where they come from.
    fn weights_of_objects(
        &self,
        inputs: &Inputs<'_>,
        ensemble: &Ensemble,
        observer: &dyn Observer,
    ) -> Result<Option<ObjectWeights>, AppError> {
        let (source, Input::Ensemble { file, read, .. }) = (&self.object_weights, &self.input)
        else {
            return match &self.object_weights {
                None => Ok(inputs.object_weights.clone()),
                Some(_) => Err(AppError::request(
                    "weights of objects go with an ensemble that exists",
                )),
            };
        };
        let Some(source) = source else {
            return Ok(inputs.object_weights.clone());
        };
        if let (ObjectWeightSource::Column(column), Input::Ensemble { more, .. }) =
            (source, &self.input)
            && !more.is_empty()
        {
            let reason = format!(
                "a column of weights ('{column}') goes with one file; of several, give the weights as a file"
            );
            return Err(AppError::request(reason));
        }
        let (objects, names) = match &inputs.left_out {
            Some(out) => (out.objects(), out.names()),
            None => (ensemble.objects(), ensemble.object_names()),
        };
        let weights = object_weights(source, (file, read), objects, names)?;
        let from = match source {
            ObjectWeightSource::Column(column) => {
                format!("column '{column}', which is not a base clustering")
            }
            ObjectWeightSource::File(file) => shown(file).into_owned(),
        };
        observer.note(&format!(
            "{}: weights of the objects from {from}; they add up to {}",
            shown(self.source()),
            (weights.sum() * 1e6).round() / 1e6
        ));
        match &inputs.left_out {
            Some(out) => out.weights(&weights).map(Some),
            None => Ok(Some(weights)),
        }
    }

    /// The columns that the pages describe. What was found is not lost where they cannot be read.
    fn described(&self, finished: &RunResult, observer: &dyn Observer) -> Option<Table> {
        let columns = &self.outputs.page.describe;
        let table = self.table().filter(|_| !columns.is_empty())?;
        let left_out = finished.left_out.as_ref();
        let objects = left_out.map_or(finished.ensemble.objects(), LeftOut::objects);
        let seed = Seed::new(self.seed);
        let read = InputTable::described(table, columns, objects, self.budget(), seed);
        if let Err(error) = &read {
            observer.warn(&format!("{error}; the report goes without them"));
        }
        let read = read.ok()?;
        Some(match left_out {
            Some(out) => read.select(&out.places()),
            None => read,
        })
    }

    /// A page beside the labels of every method and in a file, where these are asked for.
    fn write_reports(
        &self,
        finished: &RunResult,
        inputs: &Inputs<'_>,
        choice: Option<&Choice>,
        observer: &dyn Observer,
    ) -> Result<(), AppError> {
        let (folder, file) = (
            self.outputs.folder.as_ref().filter(|_| self.outputs.report),
            &self.outputs.report_file,
        );
        let pages = match (folder, file) {
            (Some(_), _) => finished.outcomes.len(),
            (None, Some(_)) => 1,
            (None, None) => return Ok(()),
        };
        let all = finished.labels_of_all();
        let described = self.described(finished, observer);
        for (place, outcome) in finished.outcomes.iter().enumerate().take(pages) {
            let result = MethodResult {
                outcome,
                agreement: &finished.agreements[place],
                left_out: None,
            };
            let shown = Shown::of(
                &result,
                &finished.ensemble,
                inputs.features(),
                inputs.truth.as_ref(),
            );
            let shown = shown.beside(all.clone()).describing(described.as_ref());
            let choice = choice.map(|choice| curves(choice, finished.ensemble.objects()));
            let record = with_fitting_names(&finished.record, place, observer);
            let page = page(&record, place, &shown, choice)?;
            let method = &finished.record.methods[place].method;
            let beside = folder.map(|folder| folder_of(folder, method, place).join(REPORT));
            let alone = file.iter().filter(|_| place == 0).cloned();
            beside
                .into_iter()
                .chain(alone)
                .try_for_each(|path| write_text(&path, &page.html))?;
        }
        Ok(())
    }
}

/// Objects that no base clustering labels count as nothing, and are labelled all the same.
fn without_unlabelled(
    weights: Option<ObjectWeights>,
    ensemble: &Ensemble,
    observer: &dyn Observer,
) -> Result<Option<ObjectWeights>, AppError> {
    let unlabelled = ensemble.unlabelled();
    if unlabelled.is_empty() {
        return Ok(weights);
    }
    let (have, are, them) = match unlabelled.len() {
        1 => ("has", "is", "it"),
        _ => ("have", "are", "them"),
    };
    observer.note(&format!(
        "{} of {} objects {have} no label in any base clustering and {are} labelled all the same: {} leaves {them} without",
        unlabelled.len(),
        ensemble.objects(),
        option("unlabelled").to("keep")
    ));
    let mut all = weights.map_or_else(
        || vec![1.0; ensemble.objects()],
        |weights| weights.as_slice().to_vec(),
    );
    for object in unlabelled {
        all[object as usize] = 0.0;
    }
    ObjectWeights::new(all)
        .map(Some)
        .map_err(|error| AppError::request(error.to_string()))
}

fn base_scores(ensemble: &Ensemble, truth: &LabelColumn) -> Vec<Scores> {
    (0..ensemble.bases().len())
        .filter_map(|base| score(ensemble.column(base), truth))
        .collect()
}
