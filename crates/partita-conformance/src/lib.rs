//! What every consensus method is held to. For tests only: a dev-dependency of the crates with methods.
//!
//! [`check`] draws ensembles and holds a method to the promises on its card; [`fixtures`] are values that an
//! independent implementation computed; [`race`] measures contestants side by side.
//!
//! | promise | how it is tried |
//! |---|---|
//! | the card | settings explained, K out of range, K = auto, missing labels, memory budget, as the card says |
//! | a unanimous ensemble | comes back as it is |
//! | the same seed | gives the same bits with one thread and with two |
//! | order | of objects, base clusterings and label names changes neither partition nor certainty |
//! | identical label rows | get the same label |
//! | a stop | is answered with a result or with "interrupted" |
//!
//! ```no_run
//! # fn example(method: &dyn partita_core::Consensus) {
//! assert!(partita_conformance::check(method) > 500);
//! # }
//! ```

#![forbid(unsafe_code)]

mod checks;
mod draw;
pub mod race;

pub use checks::{check, check_with};
pub use draw::{Drawn, draw, ensemble, shuffled};

/// Values that an independent implementation computed: 24 objects in the plane, 12 base clusterings with
/// missing labels, and what the methods make of them (`fixtures/README.md`).
///
/// # Panics
/// If the stored file is damaged.
pub fn fixtures() -> serde_json::Value {
    serde_json::from_str(include_str!("../fixtures/fixtures.json")).expect("the stored fixtures are JSON")
}
