//! What the methods are.

use partita_app::methods::{all, describe, search};
use pyo3::prelude::*;
use serde_json::{Value, json};

/// Every method and its settings as JSON: what `partita methods --json` prints.
#[pyfunction]
pub(crate) fn methods() -> String {
    all().map(describe).collect::<Value>().to_string()
}

/// Names from the literature and names of methods that have this text, as JSON: what `partita methods --search TEXT --json` prints.
#[pyfunction]
pub(crate) fn search_methods(text: &str) -> String {
    let (known, found) = search(text);
    let known = known
        .iter()
        .map(|k| json!({ "term": k.term, "methods": k.methods, "note": k.note }));
    let names = found.iter().map(|info| info.name);
    json!({ "known_as": known.collect::<Vec<_>>(), "methods": names.collect::<Vec<_>>() })
        .to_string()
}
