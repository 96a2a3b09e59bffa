//! One file a command: each turns its flags into a call and prints what comes back.

mod align;
mod choose;
mod consensus;
mod doctor;
mod evaluate;
mod generate;
mod inspect;
mod manual;
mod methods;
mod modes;
mod parts;
mod predict;
mod report;
mod run;
mod synth;
mod test;
mod text;
mod update;

pub(crate) use align::align;
pub(crate) use choose::choose_k;
pub(crate) use consensus::consensus;
pub(crate) use doctor::doctor;
pub(crate) use evaluate::evaluate;
pub(crate) use generate::{generate, merge};
pub(crate) use inspect::inspect;
pub(crate) use manual::{completions, man};
pub(crate) use methods::methods;
pub(crate) use modes::modes;
pub(crate) use parts::{merge_parts, plan, run_parts};
pub(crate) use predict::predict;
pub(crate) use report::report;
pub(crate) use run::run;
pub(crate) use synth::synth;
pub(crate) use test::test;
pub(crate) use text::text;
pub(crate) use update::update;
