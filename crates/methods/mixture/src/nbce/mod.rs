//! What the three ways of inference for NBCE share: priors, truncation, hyperparameters, the likelihood of the result.

pub(crate) mod hyperparameters;
pub(crate) mod info;
pub(crate) mod likelihood;
pub(crate) mod prior;
pub(crate) mod scaled_product;
pub(crate) mod truncation;
