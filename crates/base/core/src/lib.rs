//! The vocabulary of Partita: what an ensemble of clusterings is, what a consensus of it is, and what
//! every consensus method is held to.
//!
//! Pick this crate if you write a consensus method of your own or pass ensembles between Partita's
//! components. It opens no file, starts no thread, does no linear algebra and prints nothing.
//!
//! | type | what it is |
//! |---|---|
//! | [`Ensemble`] | n objects × M base clusterings, labels may be missing; one or two bytes a label |
//! | [`Fragments`] | the distinct label rows of an ensemble, with how often each occurs |
//! | [`Partition`], [`SoftPartition`] | a hard result; a soft one, rows on the simplex |
//! | [`Dendrogram`] | merges with heights, in the layout of SciPy |
//! | [`Method`], [`MethodInfo`], [`Capabilities`] | a method, what it is, and what can be relied upon |
//! | [`Consensus`], [`consense`] | any method, and the call that checks and runs it |
//! | [`Settings`], [`SettingMap`] | settings declared once; settings by name |
//! | [`Problem`], [`Outcome`] | what a method is given, and what it gives back |
//! | [`RowBlocks`], [`RowPass`], [`PassRunner`] | label rows wherever they are, sums over them, and who runs those |
//! | [`PassEngine`], [`PassKind`], [`LabellerKind`] | passes that other processes and machines run, as bytes |
//! | [`Model`] | a fitted consensus that labels new objects |
//! | [`Seed`], [`Monitor`], [`MemoryBudget`], [`BaseWeights`], [`ObjectWeights`] | chance, progress, memory, weights |
//!
//! The feature `methods`, on by default, has methods, settings, problems and outcomes; it brings `passes`, which has seeds and sums over
//! label rows. Without both there are ensembles and partitions alone, which is what comparisons need. The feature `rayon` runs row passes
//! on all threads. Foreign types in signatures are re-exported: [`ndarray`], [`rand`], [`serde_json`].
//!
//! ```
//! use partita_core::{Ensemble, EnsembleBuilder};
//!
//! # fn main() -> Result<(), partita_core::EnsembleError> {
//! let mut builder = EnsembleBuilder::new(4);
//! builder.push("a", [Some("x"), Some("x"), Some("y"), None])?;
//! builder.push("b", [Some(3), Some(3), Some(7), Some(7)])?;
//! let ensemble: Ensemble = builder.finish()?;
//!
//! assert_eq!(ensemble.label(3, 0), None);
//! assert_eq!(ensemble.fragments().ensemble().objects(), 3);
//! # Ok(())
//! # }
//! ```

mod advice;
mod budget;
mod builder;
#[cfg(feature = "methods")]
mod by_blocks;
#[cfg(feature = "methods")]
mod canonical;
#[cfg(feature = "methods")]
mod cluster_names;
#[cfg(feature = "methods")]
mod consense;
#[cfg(feature = "methods")]
mod consensus;
#[cfg(feature = "methods")]
mod consensus_error;
mod dendrogram;
mod ensemble;
#[cfg(feature = "methods")]
mod features;
#[cfg(feature = "methods")]
mod fit_error;
#[cfg(feature = "methods")]
mod fit_in_memory;
mod fragments;
mod growing;
mod label_start;
mod memberships;
mod message;
#[cfg(feature = "methods")]
mod method;
#[cfg(feature = "methods")]
mod method_info;
#[cfg(feature = "methods")]
mod model;
mod monitor;
#[cfg(feature = "passes")]
mod multi_start;
#[cfg(feature = "passes")]
mod objective;
#[cfg(feature = "methods")]
mod outcome;
#[cfg(feature = "methods")]
mod pair_list;
mod parallel;
mod partition;
#[cfg(feature = "methods")]
mod posterior;
#[cfg(feature = "methods")]
mod problem;
mod problem_size;
mod progress_counter;
#[cfg(feature = "methods")]
mod reduction;
#[cfg(feature = "methods")]
mod result_warnings;
#[cfg(feature = "methods")]
mod row_consensus;
mod row_hash;
#[cfg(feature = "passes")]
mod row_passes;
#[cfg(feature = "methods")]
mod rows_held;
mod seed;
#[cfg(feature = "methods")]
mod settings;
mod soft_ensemble;
mod weights;

pub use advice::{Advice, Interface, command, option, speak_as};
pub use budget::{BudgetError, MemoryBudget};
pub use builder::{EnsembleBuilder, SharesLeftOut};
pub use dendrogram::{Dendrogram, Merge};
pub use ensemble::{
    BaseClustering, Ensemble, EnsembleError, Label, LabelRows, MAX_BASE_CLUSTERS, StoredLabels,
};
pub use fragments::Fragments;
pub use label_start::LabelStart;
pub use memberships::{Memberships, ROUNDED_SHARES, Shares, SharesError};
pub use message::{on_one_line, visible};
pub use monitor::{Flow, Monitor, Silent, chunks, tick_open_ended};
pub use parallel::map_parallel;
pub use partition::{Partition, PartitionError, SoftPartition};
pub use problem_size::{Clusters, ClustersError, ProblemSize};
pub use progress_counter::{ProgressCounter, ProgressPart};
pub use seed::Seed;
pub use weights::{
    BaseWeights, LEAF_WEIGHTS, ObjectWeights, WeightError, WeightedEnsemble, WeightsError,
    whole_multiplicities,
};
#[cfg(feature = "methods")]
pub use {
    by_blocks::{FitAndSettings, LABELS_BY_BLOCKS, are_read_by_blocks, consensus_bytes},
    canonical::{CanonicalOrder, Weighting},
    cluster_names::{ClusterNames, Confusion, Unnamed},
    consense::consense,
    consensus::Consensus,
    consensus_error::ConsensusError,
    features::Features,
    fit_error::FitError,
    fit_in_memory::{fit_each_in_memory, fit_in_memory_bytes},
    method::{Method, fit_in_memory},
    method_info::{Capabilities, MethodInfo, MissingLabels, Reads, SoftBases, Weights},
    model::{Model, ModelError, ModelInput, ModelReads, Unread},
    outcome::Outcome,
    pair_list::{PairList, PairListError},
    posterior::{Bound, CredibleBall, Posterior, shares_of_clusters},
    problem::{Problem, RowProblem},
    row_consensus::{LabelSink, RowOutcome, consense_rows, fit_rows},
    row_passes::{
        Assigned, LabelCounts, LabelJob, LabelledMap, Labeller, LabellerKind, RowFit, RowLabeller,
    },
    rows_held::LABELLERS,
    settings::{
        SettingInfo, SettingMap, SettingRange, SettingType, SettingValues, Settings, SettingsError,
    },
};
#[cfg(feature = "passes")]
pub use {
    multi_start::MultiStart,
    objective::{Objective, Sense, Stopped},
    row_passes::{
        AnyBlock, BLOCK_ROWS, EnsembleRows, Entry, GroupRows, MergeTree, Mergeable, PASSES,
        PIECE_ROWS, PassEngine, PassError, PassJob, PassKind, PassRunner, Row, RowBlock, RowBlocks,
        RowData, RowKey, RowMap, RowPass, RowSample, ShareRow, ShareRows, SourceError, StoredRows,
        TakePart, sums_under_way,
    },
};

pub use ndarray;
#[cfg(feature = "methods")]
pub use partita_derive::SettingChoice;
/// Settings of our methods are `#[non_exhaustive]`: start from `default()` and change public fields, so that a new field breaks
/// nobody.
///
/// ```
/// use partita_core::{Clusters, EnsembleBuilder, ProblemSize, SettingMap, Settings};
/// use serde::{Deserialize, Serialize};
///
/// #[derive(Clone, Debug, Serialize, Deserialize, Settings)]
/// #[serde(default)]
/// #[non_exhaustive]
/// pub struct ToySettings {
///     /// Independent initializations; the best is kept.
///     #[setting(range = 1..=1000, alias = "n_init")]
///     pub restarts: u32,
///     /// Stop when an iteration gains at most this share.
///     #[setting(range = 0.0..)]
///     pub tolerance: f64,
/// }
///
/// impl Default for ToySettings {
///     fn default() -> Self {
///         Self { restarts: 10, tolerance: 1e-6 }
///     }
/// }
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// // From Rust: a struct like any other, checked by the declared ranges.
/// let mut settings = ToySettings::default();
/// settings.restarts = 0;
/// let mut ensemble = EnsembleBuilder::new(3);
/// ensemble.push("a", ["x", "x", "y"].map(Some))?;
/// let ensemble = ensemble.finish()?;
/// let error = settings.validate(&ProblemSize::of(&ensemble, Clusters::Exactly(2))).unwrap_err();
/// assert_eq!(error.to_string(), "setting 'restarts' is 0; it must be a whole number from 1 to 1000");
///
/// // By name: from a command line, JSON or keywords.
/// let settings: ToySettings = SettingMap::parse(&["restarts=20"])?.apply()?;
/// assert_eq!((settings.restarts, settings.tolerance), (20, 1e-6));
/// let error = SettingMap::parse(&["n_init=20"])?.apply::<ToySettings>().unwrap_err().to_string();
/// assert!(error.contains("restarts"), "{error}");
/// # Ok(())
/// # }
/// ```
#[cfg(feature = "methods")]
pub use partita_derive::Settings;
#[cfg(feature = "passes")]
pub use rand;
#[cfg(feature = "methods")]
pub use serde_json;

// The derive macros name this crate from outside.
#[cfg(all(test, feature = "methods"))]
extern crate self as partita_core;
