//! The papers' tables, measured anew: what `cargo xtask reproduce` runs.
//!
//! A [`Study`] is one paper (or one question). It is a list of [`Unit`]s, each a data set, a setting, a seed and the methods
//! that are measured there; the engine ([`run`]) measures what is not yet in `docs/reproduction/raw/NAME.csv.gz`, keeps
//! every unit the moment it is done, and writes `docs/reproduction/NAME.md` from that file beside the published numbers of
//! `published/NAME.csv`. [`check`] measures a sample again and fails where a value differs.
//!
//! | item | what |
//! |---|---|
//! | [`Study`], [`Unit`], [`Row`] | what is measured |
//! | [`Lab`] | data sets by name, base clusterings, consensus, CPU seconds: what a study measures with |
//! | [`Results`], [`Stat`] | what was measured, by cell |
//! | [`Published`], [`Comparison`], [`Verdict`] | the papers' numbers, and how ours stand to them |
//! | [`items`] | what the papers have besides numbers, and the command that does it |
//! | [`run`], [`check`], [`Scope`] | the engine |
//! | [`optima`] | how near methods come to the best value of their objectives: `cargo xtask bench optima` |
//!
//! # How a study is written
//! One file in `src/studies/`, one line in [`STUDIES`], and `published/NAME.csv` (columns `table,data,setting,method,measure,value,note`,
//! see [`Published::read`]) where a paper printed numbers. [`Study::units`] says what there is to measure, cheap ones first; [`Study::measure`] measures the
//! methods of one unit, in one thread, and depends on nothing but the unit; [`Study::page`] writes Markdown and has no number of its own.
//! Rows whose measure is [`SECONDS`] are CPU seconds: they are kept apart (`NAME-seconds.csv.gz`), since they differ from run to run.
//! The method `*` in [`Unit::methods`] stands for rows that belong to no single method, such as the mean of the base clusterings.

mod engine;
mod error;
mod items;
mod lab;
pub mod optima;
mod page;
mod published;
mod raw;
mod results;
mod studies;
mod study;
mod summary;
mod unit;

pub use engine::{Interrupt, Report, check, pages, run, write_pages};
pub use error::ReproduceError;
pub use items::{Item, State, items};
pub(crate) use lab::base_partition;
pub use lab::{Data, Lab, classes, standardised};
pub use page::{Grid, mean_sd};
pub use published::{Comparison, Published, PublishedCell, Sense, Verdict};
pub use results::{Results, Stat};
pub use studies::STUDIES;
pub use study::{Scope, Study};
pub use summary::{Tally, summary};
pub use unit::{Row, SECONDS, Unit};
