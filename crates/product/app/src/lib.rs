//! An experiment from input files to results and a record: the layer between the library and its command line, Python
//! module and services.
//!
//! Pick this crate to run what `partita run` runs from a program: it owns the order of the steps (read, make base
//! clusterings, find the consensus, score, report), the derivation of seeds, the default memory budget, weights of base
//! clusterings, the record of a run. It parses no flags and prints nothing; progress and notes go to an [`Observer`].
//!
//! | item | what it is | time | memory |
//! |---|---|---|---|
//! | [`Experiment`] | input, recipe, methods with settings, K, seed, budget, outputs: all that a result depends on | | |
//! | [`Experiment::run`] | runs it and writes its outputs | that of its steps | within its budget |
//! | [`Experiment::compute_on`] | the same on data that a program holds ([`Data`]) | | |
//! | [`RunRecord`] | what was done, from which files, on which machine; it can be run again | O(record) | |
//! | [`RunFolder`] | the folder of a run; its report | O(n M + n log n) | O(n M) |
//! | [`choose_of_table`], [`choose_of_ensemble`] | how many clusters, if any | that of the choice | checked before it is taken |
//! | [`make_ensemble`] | base clusterings of a table | that of the recipe | checked before it is taken |
//! | [`PredictionInput::predict`] | labels of new objects by a saved model | the model's, O(n M K) | O(n M + n K) |
//! | [`UpdateInput::update`] | base clusterings or objects added to an ensemble, overlaps and labels that go on | O(n M), the overlaps O(n M M') | O(n M + (ΣJ)²) |
//! | [`EvaluationInput::scores`] | labels of a file against the truth of another | O(n log n) | O(n) |
//! | [`SupportInput::support`] | what an ensemble says of given labels | O(n M) | the ensemble |
//! | [`ClusterTestInput::test`] | which clusters of labels are real, tested on their table | that of `gap_test` | the table, and that of `gap_test` |
//! | [`co_association`], [`strong_pairs`] | how often two objects are together: of all pairs, of those that are often | O(n² M) | n² numbers, or a pair's |
//! | [`run_watched`] | a computation on threads of its own, while the calling thread looks after interrupts | that of the work | |
//! | [`inspect()`] | what a file holds | that of reading it | the file |
//! | [`methods`] | the consensus methods by name | | |
//! | [`seeds`] | how the seeds of all steps are derived | | |
//!
//! ```
//! use partita::Clusters;
//! use partita::generate::Recipe;
//! use partita_app::{Experiment, MethodChoice, NoObserver, RunRecord, TableInput};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let folder = tempfile::tempdir()?;
//! let table = folder.path().join("points.csv");
//! std::fs::write(&table, "x,y\n0,0\n0,1\n1,0\n9,9\n9,8\n8,9\n")?;
//!
//! let mut recipe = Recipe::default();
//! recipe.base_k = "2..3".parse()?;
//! let mut experiment =
//!     Experiment::of_table(TableInput::new(&table), recipe, Clusters::Exactly(2), MethodChoice::new("lwgp"));
//! experiment.outputs.folder = Some(folder.path().join("out"));
//! let record = experiment.run(&NoObserver)?;
//! assert_eq!(record.methods[0].clusters, 2);
//!
//! // The record holds the experiment; it gives the same labels again.
//! let saved = RunRecord::open(&folder.path().join("out/record.json"))?;
//! saved.check_inputs()?;
//! let again = saved.experiment_again().compute(&NoObserver)?;
//! assert_eq!(again.outcomes[0].partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod analysis;
mod csv_text;
mod error;
mod experiment;
mod input;
mod inspect;
mod machine;
pub mod methods;
mod observer;
mod output;
mod path_text;
pub mod phases;
mod run;
pub mod seeds;
mod stopwatch;
mod text_files;
mod text_table;
mod version;
mod watched;

pub use analysis::agreement::{label_numbers, numbers_of};
pub use analysis::align::{AlignInput, AlignedRuns};
pub use analysis::choice::{
    SavedChoice, TableChoice, choice_table, choose_of_ensemble, choose_of_table, curves,
};
pub use analysis::clusters_fit::ClustersFit;
pub use analysis::co_association::{
    CoAssociationOutput, co_association, strong_pairs, write_agreement,
};
pub use analysis::evaluation::{EvaluationInput, file_and_column};
pub use analysis::model::{load_model, model_facts, model_json, model_of, with_origin};
pub use analysis::modes::{FoundModes, ModesInput};
pub use analysis::prediction::{Prediction, PredictionInput, RowPrediction};
pub use error::{AppError, Fault, fault_of_system};
pub use experiment::clusters::ClustersAsked;
pub use experiment::description::{
    EXPERIMENT_VERSION, Experiment, Input, MethodChoice, ModelOutput, ObjectWeightSource, Outputs,
    PageOptions, PairsOf, RelationsOutput, Rows, SimilarityOutput, TableInput, Unlabelled,
    WeightSource,
};
pub use experiment::file_names::{RECORD, REPORT};
pub use experiment::recipes::{preset, recipe_from, recipe_is_open, recipe_with};
pub use input::data::Data;
pub use input::file_kind::FileKind;
pub use input::generate::{Labelled, Merged, hold_out, make_ensemble, merge_files, parse_part};
pub use input::given::Given;
pub use input::input_file::InputFile;
pub use input::input_notes::say_roles;
pub use input::joined::load_ensembles;
pub use input::label_files::{load_ensemble, read_ensemble, read_labels};
pub use input::left_out::LeftOut;
pub use input::matching::{
    Matched, NamedSoft, match_objects, match_rows, match_soft, score, score_objects,
};
pub use input::objects::{JointObjects, Objects};
pub use inspect::{TakenAs, inspect};
pub use machine::{Host, default_budget, limit_memory};
pub use observer::{NoObserver, Observer};
pub use output::label_blocks::{PushLabels, write_label_rows};
pub use output::page::figure_files;
pub use output::record::{MethodRecord, RECORD_VERSION, RunRecord};
pub use partita::files::{Encode, Impute, ReadOptions, Truth};

pub use analysis::row_predictor::{PredictedSink, UnknownValues};
pub use analysis::support::{Judge, Support, SupportInput};
pub use analysis::update::{Adding, UpdateInput, UpdatePair, Updated};
pub use input::graph::NamedGraph;
pub use input::table::{GroupedTable, InputTable, TableInMemory};
pub use input::weights::{base_weights, base_weights_from, base_weights_of_rows, object_weights};
pub use output::tree_file::linkage;
pub use run::folder::RunFolder;
pub use run::held::RunResult;
pub use run::significance::{ClusterTestInput, TestedClusters};
pub use stopwatch::{Spent, Stopwatch, set_clock};
pub use text_files::{json_text, read_json, write_json, write_text};
pub use text_table::TextTable;
pub use version::{COMMIT, VERSION, written_at};
pub use watched::{News, NoValue, Watched, run_briefly, run_watched};

/// What label rows in parts need of a run: for `partita-distributed`, and as changeable as that.
#[doc(hidden)]
pub mod tasks {
    pub use crate::analysis::agreement::Agreeing;
    pub use crate::analysis::evaluation::{base_of, check_pair, scores_of_counts};
    pub use crate::analysis::model::{clusters_of, columns_of};
    pub use crate::analysis::paired_columns::{Column, PairedColumns, most_held};
    pub use crate::analysis::row_predictor::{PredictedCounts, RowPredictor};
    pub use crate::output::outputs::write_record;
    pub use crate::output::row_report::{Drawn, ReportRows, ShownRows, WithDrawn};
    pub use crate::run::row_consensus::{agreement_of_counts, missing_labels};
}
