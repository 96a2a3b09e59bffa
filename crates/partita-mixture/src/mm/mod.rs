//! MM: a finite mixture of label rows, by expectation–maximisation.

mod em;
mod method;
mod row_fit;

pub use em::{MmDiagnostics, MmSettings, mm};
pub use method::MM;
pub use row_fit::mm_rows;
