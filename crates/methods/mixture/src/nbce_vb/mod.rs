//! NBCE-VB: a Dirichlet-process mixture of label rows by mean-field variational inference.

mod method;
mod posterior;
mod variational;

pub use method::{NBCE_VB, NbceVb};
pub use variational::NbceVbSettings;
