//! Files of labels, within the memory that there is.

use std::path::Path;

use partita::MemoryBudget;
use partita::files::{self, EnsembleOptions, Labels, LoadedEnsemble};

use crate::AppError;
use crate::machine::default_budget;

/// An ensemble and its true labels. A file that takes more than the budget is refused before it is unpacked.
///
/// # Errors
/// [`AppError::File`].
pub fn read_ensemble(path: &Path, label: Option<&String>, budget: MemoryBudget) -> Result<LoadedEnsemble, AppError> {
    let mut options = EnsembleOptions::default();
    options.budget = budget;
    options.truth = label.cloned();
    Ok(files::read_ensemble(path, &options)?)
}

/// A column of labels, within the [`default_budget`].
///
/// # Errors
/// [`AppError::File`].
pub fn read_labels(path: &Path, column: Option<&str>) -> Result<Labels, AppError> {
    Ok(files::load_labels(path, column, default_budget())?.0)
}
