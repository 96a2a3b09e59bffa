//! NBCE-VB: a Dirichlet-process mixture of label rows by mean-field variational inference.

mod method;
mod posterior;
mod row_fit;
mod variational;

pub use method::NBCE_VB;
pub use row_fit::nbce_vb_rows;
pub use variational::{NbceVbSettings, nbce_vb};
