//! Why nothing was tested.

use partita_core::BudgetError;

/// Why nothing was tested.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SignificanceError {
    /// Labels of another number of rows.
    #[error(
        "there are {labels} labels and the table has {rows} rows; give one label for every row"
    )]
    Rows {
        /// Labels given.
        labels: usize,
        /// Rows of the table.
        rows: usize,
    },
    /// A table without columns.
    #[error("the table has no columns; give at least one column of numbers")]
    NoColumns,
    /// More rows than row numbers reach.
    #[error("the table has {rows} rows; {} are tested at most, draw some of them", u32::MAX - 1)]
    TooManyRows {
        /// Rows of the table.
        rows: usize,
    },
    /// An infinite number.
    #[error("row {row}, column {column} is {value}; write it as missing, or leave out the column")]
    Infinite {
        /// Row from 1.
        row: usize,
        /// Column from 1.
        column: usize,
        /// What is there.
        value: f64,
    },
    /// Nothing to compare.
    #[error(
        "there are {clusters} clusters with rows that have no missing value; a test compares at least 2"
    )]
    OneCluster {
        /// Clusters with rows.
        clusters: usize,
    },
    /// A setting outside its range.
    #[error("{setting} is {value}; it must be {range}")]
    Setting {
        /// Its name.
        setting: &'static str,
        /// Its value.
        value: f64,
        /// What it may be.
        range: &'static str,
    },
    /// More memory than there is.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// The monitor asked to stop.
    #[error("stopped before all clusters were tested")]
    Interrupted,
}
