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
    /// A run without a cluster.
    #[error("'{name}' has no column; a run has the shares of its objects in at least one cluster")]
    NoColumns {
        /// The run.
        name: String,
    },
    /// Runs of different objects.
    #[error(
        "'{first}' has {objects} objects, '{other}' has {others}; runs are of the same objects in the same order"
    )]
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
}
