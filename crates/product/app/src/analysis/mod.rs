//! What is asked of ensembles, labels and models besides a consensus.

pub(crate) mod agreement;
pub(crate) mod align;
pub(crate) mod choice;
pub(crate) mod clusters_fit;
pub(crate) mod co_association;
pub(crate) mod evaluation;
pub(crate) mod model;
pub(crate) mod modes;
pub(crate) mod paired_columns;
pub(crate) mod prediction;
pub(crate) mod row_predictor;
pub(crate) mod support;
pub(crate) mod update;
