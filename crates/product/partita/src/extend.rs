//! What methods, sources of rows and engines are written with: everything that [`consensus`](crate::consensus) stands on.
//!
//! [`Problem`] and [`consense`] are the call in full; [`Method`] is what a method implements; [`RowBlocks`] and [`PassEngine`] are rows
//! that are elsewhere and those who sum them.

pub use partita_core::{
    AnyBlock, Assigned, BLOCK_ROWS, BaseClustering, BaseWeights, Bound, BudgetError,
    CanonicalOrder, Capabilities, ClusterNames, Clusters, ClustersError, Confusion, Consensus,
    ConsensusError, CredibleBall, Dendrogram, Ensemble, EnsembleBuilder, EnsembleError,
    EnsembleRows, Entry, Features, FitAndSettings, FitError, Flow, Fragments, GroupRows, Interface,
    LABELS_BY_BLOCKS, LEAF_WEIGHTS, Label, LabelCounts, LabelJob, LabelRows, LabelSink, LabelStart,
    LabelledMap, Labeller, LabellerKind, MAX_BASE_CLUSTERS, Memberships, MemoryBudget, Merge,
    MergeTree, Mergeable, Method, MethodInfo, MissingLabels, Model, ModelError, ModelInput,
    ModelReads, Monitor, MultiStart, ObjectWeights, Objective, Outcome, PIECE_ROWS, PairList,
    PairListError, Partition, PartitionError, PassEngine, PassError, PassJob, PassKind, PassRunner,
    Posterior, Problem, ProblemSize, ProgressCounter, ProgressPart, ROUNDED_SHARES, Reads, Row,
    RowBlock, RowBlocks, RowData, RowFit, RowKey, RowLabeller, RowMap, RowOutcome, RowPass,
    RowProblem, RowSample, Seed, Sense, SettingChoice, SettingInfo, SettingMap, SettingRange,
    SettingType, SettingValues, Settings, SettingsError, ShareRow, ShareRows, Shares, SharesError,
    SharesLeftOut, Silent, SoftBases, SoftPartition, SourceError, Stopped, StoredLabels,
    StoredRows, TakePart, Unnamed, Unread, WeightError, WeightedEnsemble, Weighting, Weights,
    WeightsError, are_read_by_blocks, chunks, command, consense, consense_rows, consensus_bytes,
    fit_each_in_memory, fit_in_memory, fit_in_memory_bytes, fit_rows, map_parallel, ndarray,
    on_one_line, option, rand, serde_json, shares_of_clusters, speak_as, sums_under_way,
    tick_open_ended, visible, whole_multiplicities,
};

pub use crate::known_as::{KNOWN_AS, KnownAs};
pub use crate::methods::{DEFAULT_METHOD, MethodError};

/// The features that this crate was built with.
pub fn features() -> Vec<&'static str> {
    macro_rules! list {
        ($($name:literal)*) => { [$(($name, cfg!(feature = $name))),*] };
    }
    let all = list!("eac" "pcc" "aspect" "mixture" "graph" "ssce" "median" "generate" "synth" "text" "files" "parquet" "arrow" "metis" "rayon");
    let built = all.into_iter().filter(|(_, built)| *built);
    built.map(|(name, _)| name).collect()
}

/// The passes over label rows, by crate.
pub(crate) const PASS_LISTS: &[&[PassKind]] = &[
    partita_core::PASSES,
    partita_metrics::PASSES,
    #[cfg(feature = "coassoc")]
    partita_coassoc::PASSES,
    #[cfg(feature = "kmeans")]
    partita_kmeans::labels::PASSES,
    #[cfg(feature = "mixture")]
    partita_mixture::PASSES,
    #[cfg(feature = "graph")]
    partita_graph::PASSES,
    #[cfg(feature = "median")]
    partita_median::PASSES,
];

/// What labels rows after a fit, by crate.
pub(crate) const LABELLER_LISTS: &[&[LabellerKind]] = &[
    partita_core::LABELLERS,
    #[cfg(feature = "mixture")]
    partita_mixture::LABELLERS,
    #[cfg(feature = "graph")]
    partita_graph::LABELLERS,
    #[cfg(feature = "median")]
    partita_median::LABELLERS,
];

/// The pass of this name, for a worker who has it as bytes ([`PassJob`]).
pub fn pass_kind(name: &str) -> Option<PassKind> {
    let passes = PASS_LISTS.iter().copied().flatten().copied();
    passes
        .chain(
            LABELLER_LISTS
                .iter()
                .copied()
                .flatten()
                .map(LabellerKind::counts),
        )
        .find(|kind| kind.name() == name)
}

/// The labeller of this name, for a worker who has it as bytes ([`LabelJob`]).
pub fn labeller_kind(name: &str) -> Option<LabellerKind> {
    LABELLER_LISTS
        .iter()
        .copied()
        .flatten()
        .copied()
        .find(|kind| kind.name() == name)
}
