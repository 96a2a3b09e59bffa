//! Mixture models of label rows: MM, BCE and nonparametric NBCE.

mod error;
#[cfg(test)]
mod fixture;
mod hyper;
mod json;
mod method;
mod mm;
mod nbce;
mod nbce_cvb;
mod nbce_vb;
mod partial;
mod prior;
mod product;
mod restarts;
mod row_model;
mod rows;
mod seeding;
mod table;

pub use error::MixtureError;
pub use mm::{MM, Mm, MmSettings, mm};
pub use nbce_cvb::{NBCE_CVB, NbceCvb, NbceCvbSettings, nbce_cvb};
pub use nbce_vb::{NBCE_VB, NbceVb, NbceVbSettings, nbce_vb};
pub use prior::NbcePrior;
pub use row_model::RowModel;
pub use rows::Rows;
