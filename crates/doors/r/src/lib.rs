//! What the R package `partita` calls.
//!
//! Pick the R package, not this crate. The crate turns R's vectors into ensembles and tables, runs experiments of `partita-app` on threads
//! of their own while R looks after interrupts, and hands results back as lists; classes, conditions and plots are R (`R/`). Names, defaults
//! and ranges of settings come from the methods, so that a new method needs no line here.
//!
//! | module | what it is |
//! |---|---|
//! | `values` | R's values to JSON and back, matrices |
//! | `call` | a computation, what it told and why it ended, as one list |
//! | `given` | labels and tables out of R |
//! | `consensus` | the consensus of labels or of a table, and what is made of it: model, report, co-association |
//! | `resamples` | base clusterings of resamples that R drew |
//! | `analysis` | the number of clusters, tests of clusters, aligned runs |
#![cfg(feature = "r")]
#![expect(
    missing_docs,
    clippy::used_underscore_binding,
    reason = "so the macros of extendr write what R calls"
)]

mod analysis;
mod call;
mod consensus;
mod given;
mod resamples;
mod values;

use extendr_api::prelude::*;

/// From now on messages are in the words of R.
#[extendr]
fn loaded() {
    partita::extend::speak_as(partita::extend::Interface::R);
}

extendr_module! {
    mod partita;
    fn loaded;
    use analysis;
    use consensus;
    use resamples;
}
