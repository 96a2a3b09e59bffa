//! BCE: Bayesian cluster ensembles, a mixed membership for every object.

mod dirichlet;
mod method;
mod model;
mod variational_em;

pub use method::BCE;
pub use model::BceModel;
pub use variational_em::{BceDiagnostics, BceSettings, bce};
