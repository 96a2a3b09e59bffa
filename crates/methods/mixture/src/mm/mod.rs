//! MM: a finite mixture of label rows, by expectation–maximisation.

mod em;
mod method;
mod named;
mod vocabulary;

pub use em::{MmDiagnostics, MmSettings};
pub use method::{MM, Mm, mm_from};
pub(crate) use named::{NamedLabels, SumVotes};
