//! Mixture models of label rows: MM, BCE and nonparametric NBCE.

mod error;
#[cfg(test)]
mod fixture;
mod json;
mod method;
mod mm;
mod partial;
mod restarts;
mod row_model;
mod rows;
mod seeding;
mod table;

pub use error::MixtureError;
pub use mm::{MM, Mm, MmSettings, mm};
pub use row_model::RowModel;
pub use rows::Rows;
