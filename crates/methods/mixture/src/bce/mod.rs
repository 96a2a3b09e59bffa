//! BCE: Bayesian cluster ensembles, a mixed membership for every object.

mod annealed;
mod dirichlet;
mod inference;
mod method;
mod model;
mod passes;
mod variational_em;

pub use method::{BCE, Bce};
pub use model::BceModel;
pub(crate) use passes::RowInference;
pub use variational_em::{BceDiagnostics, BceSettings};
