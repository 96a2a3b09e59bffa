//! What every method does at the door.

use partita_core::{ConsensusError, Problem};
use serde::{Serialize, de::DeserializeOwned};

use crate::MixtureError;

pub(crate) fn settings<S: Serialize + DeserializeOwned + Default>(
    problem: &Problem<'_>,
    method: &'static str,
) -> Result<S, ConsensusError> {
    problem.settings.apply().map_err(|source| ConsensusError::Settings { method, source })
}

pub(crate) fn error(method: &'static str) -> impl Fn(MixtureError) -> ConsensusError {
    move |source| ConsensusError::Method { method, source: Box::new(source) }
}
