//! What every consensus method is held to. For tests only.
//!
//! [`check`] draws ensembles and holds a method to the guarantees in its info; [`fixtures`] are values that an
//! independent implementation computed; [`race`] measures contestants side by side. The tests of `partita` go
//! through the list of all methods.
//!
//! | guarantee | how it is tried |
//! |---|---|
//! | the info | settings explained, K out of range, K = auto, missing labels, memory budget, as the info says |
//! | settings | unknown ones, negative ones and the largest that can be written are refused or do their work, also for K = 1 |
//! | a unanimous ensemble | comes back as it is |
//! | weights | refused with the reason; or proportions or copies count, and a weight of 2 does about what a copy does ([`twice`]: just that) |
//! | labels of two bytes | give an outcome of the right shape |
//! | the same seed | gives the same bits with one thread and with two |
//! | order | of objects, base clusterings and label names changes neither partition nor probabilities |
//! | identical label rows | get the same label |
//! | label rows by blocks | however they are cut and read, in memory or not, give the same bits |
//! | progress | never falls |
//! | a stop, at several moments | is answered with a result or with "interrupted" |
//!
//! ```no_run
//! # fn example(method: &dyn partita_core::Consensus) {
//! assert!(partita_conformance::check(method) > 500);
//! # }
//! ```

mod checks;
mod copies;
mod counting;
mod draw;
mod progress;
pub mod race;
mod rows;
mod shape;
mod shapes;
mod soft;
mod weights;

pub use checks::{Deadline, check, check_with};
pub use copies::{ROUNDING, Twice, twice};
pub use counting::Counting;
pub use draw::{Drawn, draw, duplicated, ensemble, many_clusters, planted, shuffled};
pub use progress::progress;
pub use shape::{same_bits, shape};
pub use shapes::shapes;
pub use soft::{DrawnShares, check_soft, draw_shares, ensemble_of_shares};

/// Values that an independent implementation computed: 24 objects in the plane, 12 base clusterings with
/// missing labels, and what the methods make of them (`fixtures/README.md`).
///
/// # Panics
/// If the stored file is damaged.
pub fn fixtures() -> serde_json::Value {
    serde_json::from_str(include_str!("../fixtures/fixtures.json"))
        .expect("the stored fixtures are JSON")
}
