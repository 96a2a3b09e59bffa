//! What is to be computed, from which files, with which settings: everything that a result depends on.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use partita::MemoryBudget;
use partita::extend::SettingMap;
use partita::files::ReadOptions;
use partita::generate::Recipe;
use serde::{Deserialize, Serialize};

use crate::error::AppError;
use crate::experiment::clusters::ClustersAsked;
use crate::experiment::file_names::{RESULT_FILES, RUN_FILES};
use crate::machine::default_budget;
use crate::path_text;

/// The version of the form of [`Experiment`] that this library writes and reads.
pub const EXPERIMENT_VERSION: u32 = 1;

/// One experiment: from input files to the consensus of one or several methods.
///
/// The same experiment on the same files gives the same bytes of labels, whatever the number of threads. Start from
/// [`Experiment::of_table`] or [`Experiment::of_ensemble`] and set what there is.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Experiment {
    /// The version of this form: [`EXPERIMENT_VERSION`].
    pub version: u32,
    /// Where the objects come from.
    pub input: Input,
    /// How many clusters the consensus has: a number, a range to choose from, or the methods' own.
    pub clusters: ClustersAsked,
    /// The consensus methods, the one that matters most first.
    pub methods: Vec<MethodChoice>,
    /// Whether base clusterings are made as the table suggests, and the number of clusters, where it is open, is chosen with them
    /// ([`partita_select::choose_recipe`]); of the recipe counts the scaling alone.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub auto: bool,
    /// Weights of the base clusterings, for methods that take them.
    #[serde(default)]
    pub base_weights: Option<WeightSource>,
    /// Weights of the objects, for methods that take them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub object_weights: Option<ObjectWeightSource>,
    /// Probabilities to start from (`object,p0,p1,…`), for methods that can.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text")]
    pub start: Option<PathBuf>,
    /// The pairs of objects to read (`first,second`, and `together,seen` where base clusterings do not say them), for methods that read
    /// pairs.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "path_text")]
    pub pairs: Option<PathBuf>,
    /// Where all random numbers start.
    pub seed: u64,
    /// Bytes that may be held at once; three quarters of the machine's memory if absent.
    #[serde(default)]
    pub max_memory: Option<u64>,
    /// Where the label rows of an ensemble are while a consensus is found.
    #[serde(default, skip_serializing_if = "Rows::is_default")]
    pub rows: Rows,
    /// What is done with objects of an ensemble that no base clustering labels.
    #[serde(default, skip_serializing_if = "Unlabelled::is_default")]
    pub unlabelled: Unlabelled,
    /// What is written.
    #[serde(default)]
    pub outputs: Outputs,
    /// The command that asked for it, as people read it; kept in the record beside the experiment.
    #[serde(skip)]
    pub arguments: Vec<String>,
}

/// Where the label rows of an ensemble are while a consensus is found. The labels are the same bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rows {
    /// Held in memory, but for a manifest, and for so many rows in Parquet, Arrow or NPY that the method reads them block by block.
    #[default]
    Auto,
    /// Read block by block, and never held once they are decoded; where they cannot, that is an error.
    Blocks,
    /// Read by tasks, a part of a manifest each, which share nothing but files. Where this experiment is run again by one process, it
    /// reads them block by block.
    Tasks,
}

impl Rows {
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What is done with objects that no base clustering labels, such as the noise of a density method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unlabelled {
    /// They have no part in the consensus and get no label: NA in files of text, −1 in arrays.
    #[default]
    Keep,
    /// They are labelled all the same, though nothing speaks for it: by the prior of a method that has one, else with the largest cluster.
    Cluster,
    /// They are an error.
    Refuse,
}

impl FromStr for Unlabelled {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "keep" => Ok(Self::Keep),
            "cluster" => Ok(Self::Cluster),
            "refuse" => Ok(Self::Refuse),
            other => Err(format!("'{other}' is none of keep, cluster and refuse")),
        }
    }
}

impl Unlabelled {
    #[allow(
        clippy::trivially_copy_pass_by_ref,
        reason = "serde calls it with a reference"
    )]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a table of n × n numbers is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum PairsOf {
    /// Distances of all pairs of objects.
    Distances,
    /// Similarities of all pairs of objects, 1 of an object to itself.
    Similarities,
    /// A graph in place of a table: a list of edges, or the symmetric matrix of their weights.
    Graph,
    /// Features, whose columns happen to be as many as the objects.
    Features,
}

/// Where the objects come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
#[expect(
    clippy::large_enum_variant,
    reason = "an experiment has one, which is never moved in a loop"
)]
pub enum Input {
    /// A table of numbers, of which base clusterings are made.
    Table {
        /// The table.
        table: TableInput,
        /// How the base clusterings are made.
        recipe: Recipe,
    },
    /// An ensemble that exists.
    Ensemble {
        /// Its file: one row an object, one column a base clustering.
        #[serde(with = "path_text")]
        file: PathBuf,
        /// Further files, whose base clusterings stand beside those of the first: objects are matched by their names.
        #[serde(default, skip_serializing_if = "Vec::is_empty", with = "path_text")]
        more: Vec<PathBuf>,
        /// How its columns are read.
        #[serde(flatten)]
        read: ReadOptions,
        /// The table behind the ensemble, rows in the same order, for methods and models that read one.
        #[serde(default)]
        features: Option<TableInput>,
    },
}

/// A table and how its columns and rows are read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableInput {
    /// Its file.
    #[serde(with = "path_text")]
    pub file: PathBuf,
    /// How its columns are read.
    #[serde(flatten)]
    pub read: ReadOptions,
    /// Only rows with these true labels; all if empty.
    #[serde(default)]
    pub filter_labels: Vec<String>,
    /// At most so many rows of each true label, drawn with the seed.
    #[serde(default)]
    pub max_per_label: Option<NonZeroUsize>,
    /// What a table of n × n numbers is; found out, and refused unless it is of features, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pairs: Option<PairsOf>,
}

/// A consensus method and its settings; those that are absent have their defaults.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MethodChoice {
    /// Name of the method, as `partita methods` lists it.
    pub name: String,
    /// Settings by name.
    #[serde(default)]
    pub settings: SettingMap,
}

/// Where weights of base clusterings come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WeightSource {
    /// The mean NMI of each base clustering with the others.
    Agreement,
    /// A file with the columns `name` and `weight`.
    File(#[serde(with = "path_text")] PathBuf),
}

/// Where weights of objects come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ObjectWeightSource {
    /// A column of the ensemble's file, which is then not a base clustering.
    Column(String),
    /// A file with a column `weight`, and one of the objects' names where they have names.
    File(#[serde(with = "path_text")] PathBuf),
}

/// What is written. Nothing by default.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Outputs {
    /// A folder that gets everything under its usual name: labels, probabilities, ensemble, record, summary, report.
    #[serde(with = "path_text")]
    pub folder: Option<PathBuf>,
    /// Whether the folder gets a `report.html` beside every `labels.csv`.
    pub report: bool,
    /// Where the report of the first method goes beside that.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(with = "path_text")]
    pub report_file: Option<PathBuf>,
    /// What stands in the reports.
    #[serde(skip_serializing_if = "PageOptions::is_default")]
    pub page: PageOptions,
    /// Whether base clusterings that an earlier run of the same work left in the folder are taken, not made again.
    #[serde(skip)]
    pub resume: bool,
    /// Labels of the first method (`object,label,agreement`, and `probability` where it has some).
    #[serde(with = "path_text")]
    pub labels: Option<PathBuf>,
    /// Probabilities of the first method (`object,p0,p1,…`).
    #[serde(with = "path_text")]
    pub soft: Option<PathBuf>,
    /// How the clusters of the first method overlap.
    pub relations: Option<RelationsOutput>,
    /// The overlapping clusters of the first method (`object,cluster,probability,bridgeness`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overlap: Option<RelationsOutput>,
    /// A model that labels new objects as the first method labels these.
    pub model: Option<ModelOutput>,
    /// Draws from the posterior of the first method, as an ensemble.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(with = "path_text")]
    pub draws: Option<PathBuf>,
    /// Pairs of objects that draws of the first method put together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub similarity: Option<SimilarityOutput>,
    /// The tree of the first method, in SciPy's layout.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[serde(with = "path_text")]
    pub tree: Option<PathBuf>,
}

/// What a report is called, what it calls the clusters, and what it says of them besides.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PageOptions {
    /// Its title; the name of the file if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Names of the clusters that have objects, in the order of their numbers; the numbers if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Columns of the table that say what the clusters are, but were not clustered on: by name, by position from 1, or by a pattern with
    /// `*` and `?`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub describe: Vec<String>,
}

impl PageOptions {
    /// Refuses one name for two clusters.
    pub(crate) fn check_names(&self) -> Result<(), AppError> {
        let twice = self.names.iter().enumerate();
        let twice = twice.filter(|(at, name)| self.names[..*at].contains(name));
        match twice.map(|(_, name)| name).next() {
            Some(name) => Err(AppError::request(format!(
                "two clusters are called '{name}' ({}); give each a name of its own",
                self.names.join(", ")
            ))),
            None => Ok(()),
        }
    }

    fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// These options, and those of `other` where nothing is said here.
    #[must_use]
    pub fn or(self, other: &Self) -> Self {
        let first = |own: Vec<String>, other: &Vec<String>| {
            if own.is_empty() { other.clone() } else { own }
        };
        Self {
            title: self.title.or_else(|| other.title.clone()),
            names: first(self.names, &other.names),
            describe: first(self.describe, &other.describe),
        }
    }
}

/// A table of pairs of objects that draws from a posterior put together.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SimilarityOutput {
    /// The file (`first,second,similarity`).
    #[serde(with = "path_text")]
    pub file: PathBuf,
    /// Pairs that a smaller share of the draws puts together are left out.
    pub least: f64,
}

/// A table of how clusters overlap.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RelationsOutput {
    /// The file (`cluster,objects,0,1,…` or `object,cluster,probability,bridgeness`).
    #[serde(with = "path_text")]
    pub file: PathBuf,
    /// Probabilities below this count as 0.
    #[serde(default)]
    pub threshold: f64,
}

/// A model that labels new objects.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelOutput {
    /// The file.
    #[serde(with = "path_text")]
    pub file: PathBuf,
    /// A predictor that reads a table (`ssce`, `centroid`, `knn:5`); the method's own model, or one of label rows, if
    /// absent.
    #[serde(default)]
    pub predict_with: Option<String>,
}

impl Experiment {
    /// Base clusterings of a table by a recipe, then a consensus of `clusters` by `method`; writes nothing.
    pub fn of_table(
        table: TableInput,
        recipe: Recipe,
        clusters: impl Into<ClustersAsked>,
        method: MethodChoice,
    ) -> Self {
        Self::new(Input::Table { table, recipe }, clusters, vec![method], 0)
    }

    /// The consensus of an ensemble that exists; writes nothing.
    pub fn of_ensemble(
        file: impl Into<PathBuf>,
        clusters: impl Into<ClustersAsked>,
        method: MethodChoice,
    ) -> Self {
        Self::new(
            Input::Ensemble {
                file: file.into(),
                more: Vec::new(),
                read: ReadOptions::default(),
                features: None,
            },
            clusters,
            vec![method],
            0,
        )
    }

    /// An experiment that writes nothing.
    pub fn new(
        input: Input,
        clusters: impl Into<ClustersAsked>,
        methods: Vec<MethodChoice>,
        seed: u64,
    ) -> Self {
        Self {
            version: EXPERIMENT_VERSION,
            input,
            clusters: clusters.into(),
            methods,
            auto: false,
            base_weights: None,
            object_weights: None,
            start: None,
            pairs: None,
            seed,
            max_memory: None,
            rows: Rows::Auto,
            unlabelled: Unlabelled::default(),
            outputs: Outputs::default(),
            arguments: Vec::new(),
        }
    }

    /// The memory that may be held at once.
    pub fn budget(&self) -> MemoryBudget {
        self.max_memory
            .map_or_else(default_budget, MemoryBudget::new)
    }

    /// The file that the objects come from: what messages and titles name.
    pub fn source(&self) -> &Path {
        match &self.input {
            Input::Table { table, .. } => &table.file,
            Input::Ensemble { file, .. } => file,
        }
    }

    /// Takes what its reports show. Columns that they describe are not clustered on.
    pub fn set_page(&mut self, page: PageOptions) {
        if let Input::Table { table, .. }
        | Input::Ensemble {
            features: Some(table),
            ..
        } = &mut self.input
        {
            let new = page.describe.iter();
            let new: Vec<String> = new
                .filter(|name| !table.read.skip.contains(name))
                .cloned()
                .collect();
            table.read.skip.extend(new);
        }
        self.outputs.page = page;
    }

    /// The table that it reads, if it reads one.
    pub fn table(&self) -> Option<&TableInput> {
        match &self.input {
            Input::Table { table, .. } => Some(table),
            Input::Ensemble { features, .. } => features.as_ref(),
        }
    }

    /// Whether both compute the same, wherever they write it.
    pub fn computes_as(&self, other: &Self) -> bool {
        let bare = |of: &Self| Self {
            outputs: Outputs::default(),
            arguments: Vec::new(),
            max_memory: None,
            rows: Rows::Auto,
            ..of.clone()
        };
        bare(self) == bare(other)
    }

    /// Names of the files that its folder gets, but for those of further methods.
    pub fn folder_files(&self) -> &'static [&'static str] {
        match self.input {
            Input::Table { .. } => &RUN_FILES,
            Input::Ensemble { .. } => &RESULT_FILES,
        }
    }

    /// All files that it reads, the one that the objects come from first.
    pub fn input_files(&self) -> Vec<&Path> {
        let mut files = vec![self.source()];
        if let Input::Ensemble { more, features, .. } = &self.input {
            files.extend(
                more.iter()
                    .chain(features.iter().map(|table| &table.file))
                    .map(PathBuf::as_path),
            );
        }
        if let Some(WeightSource::File(file)) = &self.base_weights {
            files.push(file);
        }
        if let Some(ObjectWeightSource::File(file)) = &self.object_weights {
            files.push(file);
        }
        files.extend(self.start.iter().chain(&self.pairs).map(PathBuf::as_path));
        files
    }

    /// The same, to be changed.
    pub(crate) fn input_files_mut(&mut self) -> Vec<&mut PathBuf> {
        let mut files = match &mut self.input {
            Input::Table { table, .. } => vec![&mut table.file],
            Input::Ensemble {
                file,
                more,
                features,
                ..
            } => std::iter::once(file)
                .chain(more)
                .chain(features.as_mut().map(|table| &mut table.file))
                .collect(),
        };
        if let Some(WeightSource::File(file)) = &mut self.base_weights {
            files.push(file);
        }
        if let Some(ObjectWeightSource::File(file)) = &mut self.object_weights {
            files.push(file);
        }
        files.extend(self.start.iter_mut().chain(&mut self.pairs));
        files
    }
}

impl TableInput {
    /// A table whose columns are all numbers.
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            ..Self::default()
        }
    }

    /// How it is read within this memory.
    pub(crate) fn options(&self, budget: MemoryBudget) -> ReadOptions {
        self.read.clone().within(budget)
    }

    /// Whether some rows are left out.
    pub(crate) fn filters_rows(&self) -> bool {
        !self.filter_labels.is_empty() || self.max_per_label.is_some()
    }

    /// Whether it has distances or similarities of all pairs, or a graph, in place of columns.
    pub fn of_pairs(&self) -> bool {
        self.pairs.is_some_and(|pairs| pairs != PairsOf::Features)
    }

    /// The number of clusters where nobody says it: it is looked for among columns, where there are some.
    pub fn usual_clusters(&self) -> ClustersAsked {
        if self.of_pairs() {
            ClustersAsked::Method
        } else {
            ClustersAsked::OPEN
        }
    }

    /// The preset of base clusterings where nobody says how they are made; none for the default recipe.
    pub fn usual_preset(&self) -> Option<&'static str> {
        match self.pairs? {
            PairsOf::Distances | PairsOf::Similarities => Some("distances"),
            PairsOf::Graph => Some("graph"),
            PairsOf::Features => None,
        }
    }
}

impl MethodChoice {
    /// A method with its default settings.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            settings: SettingMap::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use partita::Clusters;

    use super::*;

    #[test]
    fn an_experiment_survives_json() {
        let settings = SettingMap::parse(&["restarts = 3", "initialization=greedy"]).unwrap();
        let method = MethodChoice {
            name: "pcc-kl".into(),
            settings,
        };
        let mut experiment = Experiment::of_table(
            TableInput::new("t.csv"),
            Recipe::default(),
            Clusters::Exactly(3),
            method,
        );
        experiment.seed = u64::MAX;
        let text = serde_json::to_string(&experiment).unwrap();
        assert!(
            text.contains(r#""clusters":3"#) && text.contains(r#""restarts":3"#),
            "{text}"
        );
        assert_eq!(
            serde_json::from_str::<Experiment>(&text).unwrap(),
            experiment
        );
        // Former records say label where we say truth; what is unknown is refused.
        let old = text.replace(r#""truth":null"#, r#""label":"y""#);
        let Input::Table { table, .. } = &serde_json::from_str::<Experiment>(&old).unwrap().input
        else {
            unreachable!()
        };
        assert_eq!(table.read.truth.column(), Some("y"));
        assert!(
            serde_json::from_str::<Experiment>(&text.replace(r#""skip""#, r#""skipp""#)).is_err()
        );
        let auto =
            Experiment::of_ensemble("e.npz", Clusters::Auto, MethodChoice::new("eac-average"));
        let text = serde_json::to_string(&auto).unwrap();
        assert!(text.contains(r#""clusters":"method""#), "{text}");
        assert_eq!(serde_json::from_str::<Experiment>(&text).unwrap(), auto);
    }
}
