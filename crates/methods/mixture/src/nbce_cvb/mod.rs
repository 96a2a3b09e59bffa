//! NBCE-CVB: a Dirichlet-process mixture of label rows by collapsed variational inference of first order (CVB0) or second.

mod collapsed;
mod counts;
mod method;
mod second_order;
mod update;

pub use collapsed::NbceCvbSettings;
pub use method::{NBCE_CVB, NbceCvb};
pub use second_order::CvbOrder;
pub(crate) use update::{Collapsed, Update};
