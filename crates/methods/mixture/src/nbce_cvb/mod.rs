//! NBCE-CVB: a Dirichlet-process mixture of label rows by collapsed variational inference of first order (CVB0).

mod collapsed;
mod counts;
mod memberships;
mod method;
mod row_fit;
pub(crate) mod row_update;

pub use collapsed::{NbceCvbSettings, nbce_cvb};
pub use method::NBCE_CVB;
pub use row_fit::nbce_cvb_rows;
