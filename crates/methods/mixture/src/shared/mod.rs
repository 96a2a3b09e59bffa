//! What the mixtures share: passes, sufficient statistics, initialization, multi-start, saved models.

pub(crate) mod expectation;
#[cfg(test)]
pub(crate) mod fixture;
pub(crate) mod greedy_merges;
pub(crate) mod held_rows;
pub(crate) mod info;
pub(crate) mod initialization;
pub(crate) mod layout;
pub(crate) mod log_mean;
pub(crate) mod log_probabilities;
pub(crate) mod match_bases;
pub(crate) mod memory;
pub(crate) mod multi_start;
pub(crate) mod row_model;
pub(crate) mod row_passes;
pub(crate) mod saved_model;
pub(crate) mod shares;
pub(crate) mod small_cluster_moves;
pub(crate) mod sufficient_statistics;
pub(crate) mod trigamma;
