//! What all computing functions take: threads, seed, memory, who looks on.

use partita::MemoryBudget;
use partita::extend::SettingMap;
use partita_app::{ClustersAsked, default_budget};
use pyo3::prelude::*;
use serde_json::{Map, Value};

use crate::errors::input_error;

/// How a computation is run: nothing that a result depends on.
#[derive(FromPyObject)]
pub(crate) struct Run {
    /// Threads; 0 is all cores.
    pub(crate) threads: usize,
    /// Bytes that may be held at once; three quarters of the machine's memory if absent.
    pub(crate) max_memory: Option<u64>,
    /// Called with what is done, how much of it is finished, and of how much.
    pub(crate) progress: Option<Py<PyAny>>,
    /// Called with whether it is a warning, and a text.
    pub(crate) say: Option<Py<PyAny>>,
}

impl Run {
    pub(crate) fn budget(&self) -> MemoryBudget {
        self.max_memory
            .map_or_else(default_budget, MemoryBudget::new)
    }
}

/// Settings out of a JSON object.
pub(crate) fn settings(py: Python<'_>, json: &str) -> PyResult<SettingMap> {
    object(py, json).map(SettingMap::from)
}

/// A JSON object.
pub(crate) fn object(py: Python<'_>, json: &str) -> PyResult<Map<String, Value>> {
    serde_json::from_str(json).map_err(|error| input_error(py, &format!("as JSON: {error}")))
}

/// A number of clusters, a range, `auto` or `method`.
pub(crate) fn clusters(py: Python<'_>, text: &str) -> PyResult<ClustersAsked> {
    text.parse()
        .map_err(|error: String| input_error(py, &format!("n_clusters={text}: {error}")))
}
