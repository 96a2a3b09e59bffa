//! NBCE-CVB: a Dirichlet-process mixture of label rows by collapsed variational inference of first order (CVB0).

mod collapsed;
mod counts;
mod method;
mod update;

pub use collapsed::NbceCvbSettings;
pub use method::{NBCE_CVB, NbceCvb};
pub(crate) use update::{Collapsed, Update};
