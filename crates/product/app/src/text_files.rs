//! Files of text and of JSON, written whole or not at all.

use std::fs;
use std::path::Path;

use partita::files;
use serde::Serialize;
use serde_json::Value;

use crate::error::AppError;

pub(crate) fn make_folder(folder: &Path) -> Result<(), AppError> {
    fs::create_dir_all(folder).map_err(|error| AppError::io(folder, "be made", error))
}

/// Writes text, beside the target and renamed.
///
/// # Errors
/// [`AppError::File`].
pub fn write_text(path: &Path, text: &str) -> Result<(), AppError> {
    Ok(files::write_whole(path, |out| {
        out.write_all(text.as_bytes())
    })?)
}

/// Writes a value as one JSON object, beside the target and renamed.
///
/// # Errors
/// [`AppError::File`].
pub fn write_json(path: &Path, value: &impl Serialize) -> Result<(), AppError> {
    write_text(path, &json_text(value)?)
}

/// A value as one indented JSON object and a line end.
///
/// # Errors
/// [`AppError::Request`] for what JSON cannot hold, such as a map whose keys are not texts.
pub fn json_text(value: &impl Serialize) -> Result<String, AppError> {
    let text = serde_json::to_string_pretty(value);
    text.map(|text| format!("{text}\n"))
        .map_err(|error| AppError::request(format!("as JSON: {error}")))
}

/// A file of JSON; `remedy` says what to do with one that is not.
///
/// # Errors
/// [`AppError::Io`] for what cannot be read, [`AppError::Content`] for what is not JSON.
pub fn read_json(path: &Path, remedy: &str) -> Result<Value, AppError> {
    let text = fs::read_to_string(path).map_err(|error| AppError::io(path, "be read", error))?;
    serde_json::from_str(&text)
        .map_err(|error| AppError::content(path, format!("this is not JSON: {error}; {remedy}")))
}
