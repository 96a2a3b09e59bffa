//! MM: a finite mixture of label rows, by expectation–maximisation.

mod em;
mod method;
mod named;
mod row_fit;
mod vocabulary;

pub use em::{MmDiagnostics, MmSettings, mm, mm_from};
pub use method::MM;
pub use named::mm_named;
pub use row_fit::mm_rows;
