//! Label rows in parts, passed over by tasks that share nothing but files: what Slurm arrays and workflow managers run.
//!
//! ```text
//! merge     fit.json   ─▶ round1.job          the driver: runs the method by the sums that are there, up to the first pass without
//! run_part  round1.job + part 17 ─▶ round1.17.sum                                   a worker: reads its part, once for every round
//! merge     round1.*.sum ─▶ round1.sum, round2.job     …     labels.job
//! run_part  labels.job + part 17 ─▶ labels.17.csv, labels.17.sum
//! merge     labels.*.sum ─▶ record.json, model.json, report.html
//! ```
//! Evaluation and prediction by a saved model take one round: the pairs of labels of two columns are a sum (`round1.job`), the
//! labels of a model are written as those of a fit (`labels.job`).
//!
//! A driver keeps nothing between rounds but files: it replays the method over the sums of all rounds before, so that it can die at any
//! time. What takes long between two passes, such as a search among initializations, it does once and keeps (`step1.kept`).
//! Every file says which manifest and which job it belongs to, and ends in the SHA-256 of itself.

#![forbid(unsafe_code)]

mod files_engine;
mod fit_plan;
mod fold;
mod job;
mod label_parts;
mod one_round;
mod sealed;
mod task_columns;
mod worker;

pub use files_engine::{Stage, Waiting};
pub use fit_plan::{FitPlan, PlanAsked};
pub use fold::{Fold, Folded};
pub use job::LabelEnding;
pub use one_round::{PartPredictions, predict_by_tasks, scores_by_tasks};
pub use worker::{KeptRows, PartDone, PartTask, release_rows};
