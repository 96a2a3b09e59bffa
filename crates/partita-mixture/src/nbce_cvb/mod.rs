//! NBCE-CVB: a Dirichlet-process mixture of label rows by collapsed variational inference of first order (CVB0).

mod collapsed;
mod memberships;
mod method;

pub use collapsed::{NbceCvbSettings, nbce_cvb};
pub use method::NBCE_CVB;
