//! Files of text and of JSON, written whole or not at all.

use std::io::{BufRead, BufReader, Seek};
use std::path::Path;

use partita::extend::option;
use partita::files;
use partita::files::disk::{File, create_dir_all};
use serde::Serialize;
use serde_json::Value;

use crate::error::AppError;
use crate::machine::default_budget;

pub(crate) fn make_folder(folder: &Path) -> Result<(), AppError> {
    create_dir_all(folder).map_err(|error| AppError::io(folder, "be made", error))
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

/// Bytes that a value of JSON takes at most besides its text: itself, its name, and the room that a list or an object grows by.
const JSON_VALUE: u64 = 200;

/// A file of JSON; `remedy` says what to do with one that is not.
///
/// # Errors
/// [`AppError::Io`] for what cannot be read, [`AppError::Content`] for what is not JSON, [`AppError::Budget`] for more values than
/// [`default_budget`] has room for.
pub fn read_json(path: &Path, remedy: &str) -> Result<Value, AppError> {
    let failed = |error| AppError::io(path, "be read", error);
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    // There is a comma, a colon or a bracket for every value.
    let mut needed = 0;
    loop {
        let text = file.fill_buf().map_err(failed)?;
        let length = text.len();
        if length == 0 {
            break;
        }
        let values = text.iter().filter(|byte| b",:[{".contains(byte)).count();
        needed += length as u64 + JSON_VALUE * values as u64;
        file.consume(length);
    }
    default_budget().check(
        &path.display().to_string(),
        needed,
        &format!("raise {}", option("max-memory")),
    )?;
    file.rewind().map_err(failed)?;
    serde_json::from_reader(file)
        .map_err(|error| AppError::content(path, format!("this is not JSON: {error}; {remedy}")))
}
