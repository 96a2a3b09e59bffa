//! One file a study.

mod beyond;
mod critical;
mod text;

use crate::Study;

/// All studies, in the order of the summary.
pub static STUDIES: &[&dyn Study] = &[&text::TEXT, &beyond::BEYOND];
