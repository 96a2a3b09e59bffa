//! Notes about input files: what was taken for what, and what looks as if it were meant otherwise.

use std::borrow::Cow;
use std::path::Path;

use partita::files::Roles;

use crate::observer::Observer;

/// Tells the observer what nobody asked for: columns taken by themselves for names or truth, words taken for missing values,
/// and warnings.
pub fn say_roles(path: &Path, roles: &Roles, observer: &dyn Observer) {
    let file = shown(path);
    if let Some(note) = roles.note() {
        observer.note(&format!("{file}: {note}"));
    }
    roles
        .warnings
        .iter()
        .for_each(|warning| observer.warn(&format!("{file}: {warning}")));
}

/// What a line calls the object of a row, counted from 1: such as `row 2 ('c1')`.
pub(crate) fn row_name(row: usize, names: Option<&[String]>) -> String {
    match names.and_then(|names| names.get(row)) {
        Some(name) => format!("row {} ('{name}')", row + 1),
        None => format!("row {}", row + 1),
    }
}

/// What a line calls a file.
pub(crate) fn shown(path: &Path) -> Cow<'_, str> {
    path.file_name()
        .unwrap_or(path.as_os_str())
        .to_string_lossy()
}
