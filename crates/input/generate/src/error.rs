//! Errors of recipes and of the tables they are given.

use partita_core::{BudgetError, EnsembleError, option};
use partita_kmeans::KMeansError;
use partita_leiden::GraphError;
use partita_linkage::LinkageError;
use partita_spectral::SpectralError;

/// What is mostly given by this crate.
pub(crate) type Result<T, E = GenerateError> = std::result::Result<T, E>;

/// A recipe or a table that makes no ensemble.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum GenerateError {
    /// No such base clusterer.
    #[error("there is no base clusterer '{name}'; choose from {known}")]
    UnknownBase {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// No such preset.
    #[error("there is no preset '{name}'; choose from {known}")]
    UnknownPreset {
        /// The name given.
        name: String,
        /// The names that exist.
        known: String,
    },
    /// A base clusterer without a usable number of runs.
    #[error("'{text}' says no number of runs; write for example {name}:20")]
    Runs {
        /// The text given.
        text: String,
        /// The base clusterer it names.
        name: String,
    },
    /// More base clusterings than anybody can mean.
    #[error("the recipe asks for {runs} base clusterings; ask for at most {most}")]
    TooManyRuns {
        /// Base clusterings asked for.
        runs: usize,
        /// The most.
        most: usize,
    },
    /// Another process appends to the part file.
    #[error(
        "{path}: another process is making these base clusterings; wait for it, or name another file"
    )]
    InUse {
        /// The part file.
        path: String,
    },
    /// The recipe holds no base clusterer.
    #[error("the recipe asks for no base clustering; write for example kmeans:100")]
    NoBase,
    /// Not a way to say how many clusters.
    #[error("'{0}' says no number of clusters; write 10, 4..20, 4,6,8 or sqrt")]
    BaseK(String),
    /// A range that ends before it starts.
    #[error("the range of clusters {first}..{last} is reversed; write {last}..{first}")]
    Reversed {
        /// First value of the range.
        first: usize,
        /// Last value of the range.
        last: usize,
    },
    /// A base clustering cannot have no cluster.
    #[error("a base clustering needs at least 1 cluster, asked for 0")]
    NoClusters,
    /// More clusters than there are objects.
    #[error(
        "asked for base clusterings of up to {clusters} clusters of {objects} objects; lower {}",
        option("base-k")
    )]
    TooManyClusters {
        /// The most clusters asked for.
        clusters: usize,
        /// Objects of the table.
        objects: usize,
    },
    /// More clusters than a subsample has objects.
    #[error(
        "asked for base clusterings of up to {clusters} clusters of {rows} objects (a share of {share} of {objects}); \
         lower {} or raise the share ({})",
        option("base-k"),
        option("subsample")
    )]
    TooManyForSubsample {
        /// The most clusters asked for.
        clusters: usize,
        /// Objects in a subsample.
        rows: usize,
        /// Share of the objects in a subsample.
        share: f64,
        /// Objects of the table.
        objects: usize,
    },
    /// Not a share.
    #[error("{what} {share} is not a share; write a number above 0 and up to 1")]
    Share {
        /// Share of what.
        what: &'static str,
        /// The number given.
        share: f64,
    },
    /// Not limits of a Gini index.
    #[error(
        "{gini:?} are not limits of the Gini index; write one or several numbers from 0 to 1, such as 0.1,0.3,0.5,0.7"
    )]
    Gini {
        /// The limits given.
        gini: Vec<f64>,
    },
    /// Not resolutions.
    #[error("'{0}' says no resolutions; write 1, or a range of numbers above 0 such as 0.1..2")]
    Resolutions(String),
    /// More clusters than labels can tell apart.
    #[error(
        "a base clustering has {clusters} clusters at resolution {resolution}, and {most} are the most; lower {}, or leave out objects \
         without neighbours",
        option("resolution")
    )]
    TooManyFound {
        /// Clusters found.
        clusters: usize,
        /// Its resolution.
        resolution: f64,
        /// The most.
        most: usize,
    },
    /// A base clusterer or a step that no graph can be given to.
    #[error("{what} cannot be made of a graph; take leiden")]
    OfGraph {
        /// The base clusterer, or the step.
        what: String,
    },
    /// A graph without an edge.
    #[error(
        "the graph of {vertices} vertices has no edge between two of them: there is nothing to cluster"
    )]
    NoEdges {
        /// Vertices of the graph.
        vertices: usize,
    },
    /// Neighbours make no graph.
    #[error(transparent)]
    Graph(#[from] GraphError),
    /// A projection to nothing.
    #[error("a random projection needs at least 1 column")]
    Projection,
    /// No such scaling.
    #[error("there is no scaling '{0}'; choose from none, zscore, minmax, mixed, auto")]
    Scale(String),
    /// A number that is not finite.
    #[error("row {row} has {value} in column {column}; every feature must be a finite number")]
    NotFinite {
        /// Index of the row, from 0.
        row: usize,
        /// Index of the column, from 0.
        column: usize,
        /// The value there.
        value: f64,
    },
    /// A number whose squares cannot be summed.
    #[error(
        "row {row} has {value} in column {column}, whose square is not a finite number; divide the column by a power of ten, or leave it out"
    )]
    TooLarge {
        /// Index of the row, from 0.
        row: usize,
        /// Index of the column, from 0.
        column: usize,
        /// The value there.
        value: f64,
    },
    /// Too small a table.
    #[error(
        "a table of {} and {} cannot be clustered; it needs at least 2 rows and 1 column",
        counted(*rows, "row"),
        counted(*columns, "column")
    )]
    TooSmall {
        /// Rows of the table.
        rows: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// All rows are equal.
    #[error("every column is constant: all {rows} rows are equal and there is nothing to cluster")]
    Constant {
        /// Rows of the table.
        rows: usize,
    },
    /// The monitor said stop before the first base clustering was finished.
    #[error("stopped before the first of {asked} base clusterings was finished")]
    NothingFinished {
        /// Base clusterings asked for.
        asked: usize,
    },
    /// Not a recipe.
    #[error("this is not a recipe: {0}")]
    Recipe(String),
    /// A table that is read in groups of rows cannot be read.
    #[error("{0}")]
    Read(String),
    /// A base clusterer that needs the whole table in memory.
    #[error(
        "the table is read in groups of rows, since it does not fit the memory limit; {kind} needs all of it: take \
         k-means kinds without scaling, replacement, projection or a share of the columns, or raise the limit"
    )]
    NeedsWhole {
        /// The base clusterer, or the step.
        kind: &'static str,
    },
    /// Numbers that are not dissimilarities of all pairs.
    #[error(
        "these are no distances of all pairs: {reason}; they are symmetric, not negative, and 0 of an object to itself (rows count from 0)"
    )]
    NoDistances {
        /// What is wrong.
        reason: String,
    },
    /// No such dissimilarity.
    #[error("there is no dissimilarity '{name}'; choose from euclidean, pearson, spearman")]
    UnknownDissimilarity {
        /// The name given.
        name: String,
    },
    /// A base clusterer that does not take resamples of others.
    #[error("{name} does not cluster given resamples; trees, pam and kmeans do")]
    NotOfResamples {
        /// Its name.
        name: &'static str,
    },
    /// A resample whose objects, columns or starts are not there, or that has fewer objects than clusters.
    #[error(
        "a resample of {objects} objects for up to {clusters} clusters names objects, columns or starts that are not there, or too few"
    )]
    Resample {
        /// Its objects.
        objects: usize,
        /// The most clusters asked for.
        clusters: usize,
    },
    /// A centre that is nearest to no object.
    #[error(
        "a cluster of {clusters} is empty at its start; take other starting centres or fewer clusters"
    )]
    EmptyStart {
        /// Clusters asked for.
        clusters: usize,
    },
    /// A base clusterer or a step that needs columns, for which there are distances.
    #[error("{what} needs the columns of a table, and there are distances; take {known}")]
    NeedsColumns {
        /// The base clusterer, or the step.
        what: String,
        /// What reads distances.
        known: String,
    },
    /// A part file cannot be made, read or written.
    #[error("{path}: {reason}")]
    PartFile {
        /// The file.
        path: String,
        /// What the system said.
        reason: String,
        /// The same as a kind, which tells a full disk from a wrong name.
        kind: std::io::ErrorKind,
    },
    /// A part file of another recipe, seed, version, table or part.
    #[error(
        "{path} belongs to other work: its recipe, seed, version, table or part differ; take another file"
    )]
    OtherWork {
        /// The file.
        path: String,
    },
    /// A part file that was altered.
    #[error("{path} is damaged: {what}; delete it and start again")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong with it.
        what: String,
    },
    /// No such part of the work.
    #[error("there is no part {index} of {of}, counted from 0")]
    Part {
        /// The part asked for, from 0.
        index: u32,
        /// Into how many the work is cut.
        of: u32,
    },
    /// The computation does not fit the memory budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A table that k-means cannot work with.
    #[error(transparent)]
    KMeans(#[from] KMeansError),
    /// Distances make no tree.
    #[error(transparent)]
    Linkage(#[from] LinkageError),
    /// A graph has no usable eigenvectors.
    #[error(transparent)]
    Spectral(#[from] SpectralError),
    /// The base clusterings make no ensemble.
    #[error(transparent)]
    Ensemble(#[from] EnsembleError),
}

/// Such as `1 row` and `2 rows`.
fn counted(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}
