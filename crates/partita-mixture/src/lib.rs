//! Mixture models of label rows: MM, BCE and nonparametric NBCE.

mod error;
mod json;
mod partial;
mod row_model;
mod table;

pub use error::MixtureError;
pub use partial::Rows;
pub use row_model::RowModel;
