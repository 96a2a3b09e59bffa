//! What k-means refuses.

/// A table, weights or centres that k-means cannot work with, or a stop before it was done.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum KMeansError {
    /// No cluster was asked for.
    #[error("a clustering needs at least 1 cluster, asked for 0")]
    NoClusters,
    /// More clusters than there are rows.
    #[error("asked for {clusters} clusters of {objects} objects; lower the number of clusters")]
    TooManyClusters {
        /// Clusters asked for.
        clusters: usize,
        /// Rows that a run sees.
        objects: usize,
    },
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
    /// No row or no column.
    #[error(
        "a table of {rows} rows and {columns} columns cannot be clustered; it needs at least 1 row and 1 column"
    )]
    TooSmall {
        /// Rows of the table.
        rows: usize,
        /// Columns of the table.
        columns: usize,
    },
    /// Weights, starting centres or objects of a run of a wrong shape or value.
    #[error("{0}")]
    Shape(String),
    /// The monitor said stop before a run was finished.
    #[error("stopped before all of {asked} runs of k-means were finished")]
    Interrupted {
        /// Runs asked for.
        asked: usize,
    },
}
