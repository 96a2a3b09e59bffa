//! The record of a run: what was computed from which files on which machine, and everything needed to repeat it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use partita::extend::{Objective, RowBlocks, RowOutcome, Sense, Stopped};
use partita::generate::Recipe;
use partita::metrics::{Scores, anmi};
use partita::{Ensemble, Outcome};
use partita_select::{AutoChoice, Choice};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value};

use crate::error::AppError;
use crate::experiment::description::Experiment;
use crate::experiment::description::{Input, Outputs};
use crate::input::input_file::InputFile;
use crate::machine::Host;
use crate::observer::Observer;
use crate::path_text::{self, PathText};
use crate::phases;
use crate::stopwatch::Spent;
use crate::text_files::{json_text, read_json};
use crate::version::{COMMIT, VERSION, now};

/// The version of the form of [`RunRecord`] that this library writes and reads.
pub const RECORD_VERSION: u32 = 1;

/// What a run was: complete enough to judge it and to repeat it.
///
/// In JSON the fields of the first method's record stand at the top too, for those who look at one method only.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[non_exhaustive]
pub struct RunRecord {
    /// The version of this form: [`RECORD_VERSION`].
    pub record_version: u32,
    /// What was computed.
    pub experiment: Experiment,
    /// The files that were read.
    pub inputs: Vec<InputFile>,
    /// When it began: UTC, RFC 3339.
    pub started: String,
    /// When it ended: UTC, RFC 3339.
    pub finished: String,
    /// The machine.
    pub host: Host,
    /// The commit that the program was built from, or `unknown`.
    pub commit: String,
    /// The folder that relative paths are relative to.
    #[serde(with = "path_text")]
    pub working_folder: PathBuf,
    /// The command, as people read it; nothing is read back from it.
    #[serde(default)]
    pub arguments: Vec<String>,
    /// Whether it was stopped before everything was finished.
    pub interrupted: bool,
    /// What reading the input took.
    pub read: Spent,
    /// The choice of the number of clusters, where one was chosen, without labels and curves.
    #[serde(default)]
    pub choice: Option<Choice>,
    /// The choice of base clusterings, where they were chosen: how they were made, why, and what was looked at.
    #[serde(default)]
    pub auto: Option<AutoChoice>,
    /// What that choice took.
    #[serde(default)]
    pub choose: Option<Spent>,
    /// What making base clusterings took, where some were made.
    #[serde(default)]
    pub generate: Option<Spent>,
    /// Base clusterings that the recipe asks for, where some were made.
    #[serde(default)]
    pub base_asked: Option<usize>,
    /// Base clusterings that were made, fewer after an interruption.
    #[serde(default)]
    pub base_made: Option<usize>,
    /// Scores of the base clusterings against the true labels.
    #[serde(default)]
    pub base_scores: Vec<Scores>,
    /// The methods that were finished.
    pub methods: Vec<MethodRecord>,
}

/// One consensus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MethodRecord {
    /// Name of the method.
    pub method: String,
    /// All its settings.
    pub settings: Map<String, Value>,
    /// The seed of the run.
    pub seed: u64,
    /// What it optimised, at the result.
    pub objective: Option<f64>,
    /// What that number is.
    pub objective_name: Option<String>,
    /// Whether less or more of it is better.
    #[serde(deserialize_with = "sense")]
    pub objective_sense: Option<Sense>,
    /// Iterations of the run that was kept.
    #[serde(alias = "rounds")]
    pub iterations: u64,
    /// Why it stopped.
    #[serde(deserialize_with = "stopped")]
    pub stopped: Stopped,
    /// How far the result is from a stationary point, relative.
    pub kkt_gap: Option<f64>,
    /// Clusters that have objects.
    pub clusters: usize,
    /// Objects of every cluster.
    #[serde(default)]
    pub sizes: Vec<usize>,
    /// Mean NMI with the base clusterings, by which Strehl and Ghosh compare consensus clusterings.
    pub anmi: Option<f64>,
    /// Mean agreement of all labels, which compares between methods.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agreement: Option<f64>,
    /// Wall seconds.
    pub seconds: f64,
    /// CPU seconds of all threads.
    pub cpu_seconds: f64,
    /// The most bytes that the process has held.
    pub peak_bytes: u64,
    /// Wall seconds by phase.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub phases: BTreeMap<String, f64>,
    /// Objects.
    pub n: usize,
    /// Base clusterings.
    pub base_clusterings: usize,
    /// Labels that are missing in them.
    pub missing_labels: usize,
    /// The version of the program.
    pub version: String,
    /// What to know before trusting the result.
    pub warnings: Vec<String>,
    /// Facts of the method's own.
    pub details: Map<String, Value>,
    /// The objective by iteration.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub objective_trace: Vec<f64>,
    /// Scores against the true labels.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scores: Option<Scores>,
    /// The groups in which label rows were read, where they were not held.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub row_groups: Option<usize>,
    /// The files with the labels in the order of their rows, where tasks wrote a file a part.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[serde(with = "path_text")]
    pub label_files: Vec<PathBuf>,
}

/// The form of a record in JSON.
#[derive(Serialize)]
struct Written<'a> {
    #[serde(flatten)]
    first: Option<&'a MethodRecord>,
    record_version: u32,
    table: Value,
    recipe: Option<&'a Recipe>,
    read: Spent,
    #[serde(skip_serializing_if = "Option::is_none")]
    choice: Option<&'a Choice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto: Option<&'a AutoChoice>,
    #[serde(skip_serializing_if = "Option::is_none")]
    choose: Option<Spent>,
    generate: Option<Spent>,
    base_asked: Option<usize>,
    base_made: Option<usize>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    base_scores: &'a [Scores],
    methods: &'a [MethodRecord],
    interrupted: bool,
    arguments: &'a [String],
    started: &'a str,
    finished: &'a str,
    host: &'a Host,
    commit: &'a str,
    #[serde(serialize_with = "path_text::serialize")]
    working_folder: &'a Path,
    inputs: &'a [InputFile],
    experiment: &'a Experiment,
}

impl Serialize for RunRecord {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.written(self.methods.first()).serialize(serializer)
    }
}

impl RunRecord {
    /// The record of an experiment that begins now.
    pub fn begun(experiment: &Experiment) -> Self {
        Self {
            record_version: RECORD_VERSION,
            experiment: experiment.clone(),
            inputs: Vec::new(),
            started: now(),
            finished: String::new(),
            host: Host::here(experiment.budget()),
            commit: COMMIT.to_owned(),
            working_folder: std::env::current_dir().unwrap_or_default(),
            arguments: experiment.arguments.clone(),
            interrupted: false,
            read: Spent::default(),
            choice: None,
            auto: None,
            choose: None,
            generate: None,
            base_asked: None,
            base_made: None,
            base_scores: Vec::new(),
            methods: Vec::new(),
        }
    }

    /// It ends now.
    pub fn end(&mut self, observer: &dyn Observer) {
        self.finished = now();
        self.interrupted = observer.stop_asked();
    }

    fn written<'a>(&'a self, first: Option<&'a MethodRecord>) -> Written<'a> {
        let (table, recipe) = match &self.experiment.input {
            Input::Table { table, recipe } => (Some(table.file.as_path()), Some(recipe)),
            Input::Ensemble { features, .. } => {
                (features.as_ref().map(|table| table.file.as_path()), None)
            }
        };
        Written {
            first,
            record_version: self.record_version,
            table: table.to_json(),
            recipe: self.auto.as_ref().map(|auto| &auto.recipe).or(recipe),
            read: self.read,
            choice: self.choice.as_ref(),
            auto: self.auto.as_ref(),
            choose: self.choose,
            generate: self.generate,
            base_asked: self.base_asked,
            base_made: self.base_made,
            base_scores: &self.base_scores,
            methods: &self.methods,
            interrupted: self.interrupted,
            arguments: &self.arguments,
            started: &self.started,
            finished: &self.finished,
            host: &self.host,
            commit: &self.commit,
            working_folder: &self.working_folder,
            inputs: &self.inputs,
            experiment: &self.experiment,
        }
    }

    /// Reads a `record.json`.
    ///
    /// # Errors
    /// [`AppError::Content`] for what is not a record of this version.
    pub fn open(path: &Path) -> Result<Self, AppError> {
        let saved = read_json(path, "name the record.json of a run")?;
        match saved["record_version"].as_u64() {
            Some(version) if version == u64::from(RECORD_VERSION) => {}
            found => {
                let found = found.map_or_else(|| "none".to_owned(), |found| found.to_string());
                let reason = format!(
                    "this is not the record of a run that this program can read (record_version is {found}, not \
                     {RECORD_VERSION}); run it again"
                );
                return Err(AppError::content(path, reason));
            }
        }
        serde_json::from_value(saved)
            .map_err(|error| AppError::content(path, format!("this record is damaged: {error}")))
    }

    /// The record as text, as `record.json` holds it.
    ///
    /// # Errors
    /// As [`json_text`].
    pub fn to_json(&self) -> Result<String, AppError> {
        json_text(self)
    }

    /// The record as JSON with the fields of the method at this place at the top.
    pub(crate) fn seen_from(&self, place: usize) -> Value {
        serde_json::to_value(self.written(self.methods.get(place))).unwrap_or_default()
    }

    /// The place of a method among those that were finished.
    pub(crate) fn place_of(&self, method: &str) -> Option<usize> {
        self.methods
            .iter()
            .position(|record| record.method == method)
    }

    /// Where an input file is now: in the folder that the run worked in, else in the current one.
    pub(crate) fn locate(&self, path: &Path) -> PathBuf {
        let then = self.working_folder.join(path);
        if then.exists() || !path.exists() {
            then
        } else {
            path.to_owned()
        }
    }

    /// The experiment, to be run again: its inputs where they are now, its outputs to be named anew.
    pub fn experiment_again(&self) -> Experiment {
        let mut experiment = self.experiment.clone();
        experiment
            .input_files_mut()
            .into_iter()
            .for_each(|file| *file = self.locate(file));
        experiment.outputs = Outputs {
            page: experiment.outputs.page.clone(),
            ..Outputs::default()
        };
        experiment
    }

    /// Refuses input files that have other bytes than when they were recorded.
    ///
    /// # Errors
    /// [`AppError::ChangedInput`] for the first, [`AppError::Io`] for one that cannot be read.
    pub fn check_inputs(&self) -> Result<(), AppError> {
        let recorded = |file: &Path| self.inputs.iter().any(|input| input.path == file);
        let mut read = self.experiment.input_files().into_iter();
        if let Some(file) = read.find(|file| !recorded(file)) {
            let reason =
                "the record names it among what is read, but not its SHA-256; allow changed inputs";
            return Err(AppError::content(file, reason));
        }
        self.inputs
            .iter()
            .try_for_each(|input| input.check(&self.locate(&input.path)))
    }
}

impl MethodRecord {
    /// The record of an outcome that took as long as `spent` says.
    pub fn new(
        method: &str,
        seed: u64,
        ensemble: &Ensemble,
        outcome: &Outcome,
        spent: Spent,
    ) -> Self {
        let mut record = Self::empty(method, seed, spent);
        record.say_objective(outcome.objective.as_ref());
        record.settings.clone_from(&outcome.settings);
        record.iterations = outcome.iterations;
        record.stopped = outcome.stopped;
        record.kkt_gap = outcome.kkt_gap;
        record.clusters = outcome.partition.live_clusters();
        record.sizes = outcome.partition.sizes();
        record.anmi = anmi(&outcome.partition, ensemble).ok();
        record.n = ensemble.objects();
        record.base_clusterings = ensemble.bases().len();
        record.missing_labels = ensemble.missing();
        record.warnings.clone_from(&outcome.warnings);
        record.details.clone_from(&outcome.details);
        record
    }

    /// The record of an outcome over rows that are not held.
    pub fn of_rows(
        method: &str,
        seed: u64,
        rows: &dyn RowBlocks,
        outcome: &RowOutcome,
        spent: Spent,
    ) -> Self {
        let mut record = Self::empty(method, seed, spent);
        record.say_objective(outcome.objective.as_ref());
        record.settings.clone_from(&outcome.settings);
        record.iterations = outcome.iterations;
        record.stopped = outcome.stopped;
        record.clusters = outcome.sizes.iter().filter(|size| **size > 0).count();
        record.sizes = outcome.sizes.iter().map(|&size| size as usize).collect();
        record.n = rows.rows() as usize;
        record.base_clusterings = rows.bases().len();
        record.row_groups = Some(rows.groups());
        record.warnings.clone_from(&outcome.warnings);
        record.details.clone_from(&outcome.details);
        record
    }

    fn empty(method: &str, seed: u64, spent: Spent) -> Self {
        Self {
            method: method.to_owned(),
            settings: Map::new(),
            seed,
            objective: None,
            objective_name: None,
            objective_sense: None,
            iterations: 0,
            stopped: Stopped::Exact,
            kkt_gap: None,
            clusters: 0,
            sizes: Vec::new(),
            anmi: None,
            agreement: None,
            seconds: spent.seconds,
            cpu_seconds: spent.cpu_seconds,
            peak_bytes: spent.peak_bytes,
            phases: phases::taken()
                .into_iter()
                .map(|(name, seconds)| (name.to_owned(), seconds))
                .collect(),
            n: 0,
            base_clusterings: 0,
            missing_labels: 0,
            version: VERSION.to_owned(),
            warnings: Vec::new(),
            details: Map::new(),
            objective_trace: Vec::new(),
            scores: None,
            row_groups: None,
            label_files: Vec::new(),
        }
    }

    fn say_objective(&mut self, objective: Option<&Objective>) {
        self.objective = objective.map(|objective| objective.value);
        self.objective_name = objective.map(|objective| objective.name.to_owned());
        self.objective_sense = objective.map(|objective| objective.sense);
        self.objective_trace = objective.map_or_else(Vec::new, |objective| objective.trace.clone());
    }
}

fn stopped<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Stopped, D::Error> {
    let text = String::deserialize(deserializer)?;
    // The second is how records said it before.
    let text = text.replace("round-limit", "iteration-limit");
    let all = [
        Stopped::Converged,
        Stopped::Exact,
        Stopped::IterationLimit,
        Stopped::Interrupted,
    ];
    let found = all.into_iter().find(|stopped| stopped.to_string() == text);
    found.ok_or_else(|| serde::de::Error::custom(format!("'{text}' is not a reason to stop")))
}

fn sense<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<Sense>, D::Error> {
    match Option::<String>::deserialize(deserializer)?.as_deref() {
        None => Ok(None),
        Some("minimise") => Ok(Some(Sense::Minimise)),
        Some("maximise") => Ok(Some(Sense::Maximise)),
        Some(other) => Err(serde::de::Error::custom(format!(
            "'{other}' is neither minimise nor maximise"
        ))),
    }
}
