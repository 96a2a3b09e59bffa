//! What every method does at the door.

use partita_core::{ConsensusError, Problem, ProblemSize};
use serde::{Serialize, de::DeserializeOwned};

use crate::MixtureError;

pub(crate) fn settings<S: Serialize + DeserializeOwned + Default>(
    problem: &Problem<'_>,
    method: &'static str,
) -> Result<S, ConsensusError> {
    problem.settings.apply().map_err(|error| error.of(method))
}

pub(crate) fn error(method: &'static str) -> impl Fn(MixtureError) -> ConsensusError {
    move |error| match error {
        MixtureError::Settings(error) => error.of(method),
        MixtureError::Budget(error) => error.into(),
        other => ConsensusError::Method { method, source: Box::new(other) },
    }
}

/// Bytes of a climb: distinct rows, memberships of the result three times over, and the partial sums and models of
/// starts that may all run at once.
pub(crate) fn bytes_of_rounds(size: &ProblemSize, restarts: u64) -> u64 {
    let [n, bases, clusters, labels] =
        [size.objects, size.base_clusterings, size.clusters, size.base_clusters].map(|number| number as u64);
    let parts = n.div_ceil(1024).min(64) + 5;
    n * (2 * bases + 24 * clusters + 40) + restarts * parts * 8 * (labels + bases + 1) * clusters
}
