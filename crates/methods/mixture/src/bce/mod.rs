//! BCE: Bayesian cluster ensembles, a mixed membership for every object.

mod dirichlet;
mod inference;
mod method;
mod model;
pub(crate) mod row_fit;
mod variational_em;

pub use method::BCE;
pub use model::BceModel;
pub use row_fit::bce_rows;
pub use variational_em::{BceDiagnostics, BceSettings, bce};
