//! Errors of modes and alignments.

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ModesError {
    /// The monitor asked to stop.
    #[error("stopped before there was a result")]
    Interrupted,
    /// No runs.
    #[error("there are no runs to align; give at least one")]
    NoRuns,
    /// Runs of different objects.
    #[error("'{first}' has {objects} objects, '{other}' has {others}; runs are of the same objects in the same order")]
    Objects {
        /// Name of the first run.
        first: String,
        /// Its objects.
        objects: usize,
        /// Name of the run that differs.
        other: String,
        /// Its objects.
        others: usize,
    },
    /// A row that is not a distribution.
    #[error("'{run}', row {}: the shares sum to {sum}, not to 1; {remedy}", .row + 1)]
    Shares {
        /// Name of the run.
        run: String,
        /// The row, from 0.
        row: usize,
        /// The sum of its shares.
        sum: f64,
        /// What to do.
        remedy: &'static str,
    },
    /// A share that is not between 0 and 1.
    #[error("'{run}', row {}, column {}: {value} is not a share between 0 and 1", .row + 1, .column + 1)]
    Share {
        /// Name of the run.
        run: String,
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// The value.
        value: f64,
    },
}
