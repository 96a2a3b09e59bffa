//! What the methods are.

use partita_app::methods::{all, describe};
use pyo3::prelude::*;
use serde_json::Value;

/// Every method and its settings as JSON: what `partita methods --json` prints.
#[pyfunction]
pub(crate) fn methods() -> String {
    all().map(describe).collect::<Value>().to_string()
}
