//! Files of labels, within the memory that there is.

use std::path::Path;

use partita::files::{self, Labels, LoadedEnsemble, ReadOptions, Roles};

use crate::error::AppError;
use crate::input::input_notes::say_roles;
use crate::observer::Observer;

/// An ensemble and its true labels; the observer hears what was taken for what. A file that takes more than the budget is
/// refused before it is unpacked.
///
/// # Errors
/// [`AppError::File`].
pub fn read_ensemble(
    path: &Path,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<LoadedEnsemble, AppError> {
    load_ensemble(path, options, observer).map(|(loaded, _)| loaded)
}

/// As [`read_ensemble`], and what every column was taken for.
///
/// # Errors
/// As [`read_ensemble`].
pub fn load_ensemble(
    path: &Path,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<(LoadedEnsemble, Roles), AppError> {
    let (loaded, roles) = files::load_ensemble(path, options)?;
    say_roles(path, &roles, observer);
    Ok((loaded, roles))
}

/// A column of labels and the names of the objects; the observer hears what was taken for what.
///
/// # Errors
/// [`AppError::File`].
pub fn read_labels(
    path: &Path,
    options: &ReadOptions,
    observer: &dyn Observer,
) -> Result<Labels, AppError> {
    let (labels, roles) = files::load_labels(path, options)?;
    say_roles(path, &roles, observer);
    Ok(labels)
}
