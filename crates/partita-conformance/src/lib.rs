//! What every consensus method is held to. For tests only: a dev-dependency of the crates with methods.

/// Values that an independent implementation computed (see `fixtures/README.md`).
///
/// # Panics
/// If the stored file is damaged.
pub fn fixtures() -> serde_json::Value {
    serde_json::from_str(include_str!("../fixtures/fixtures.json")).expect("the stored fixtures are JSON")
}
