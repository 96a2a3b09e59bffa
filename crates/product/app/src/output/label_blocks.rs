//! Labels that are written block by block: to a file, or to whoever reads along.

use std::io::{self, Write};
use std::path::Path;

use partita::files::{self, LabelBlocks};

use crate::error::AppError;

/// Takes the number of the first of some consecutive objects, their labels, and their numbers; an error ends the work.
pub type PushLabels<'a> = dyn FnMut(u64, &[u32], &[&[f64]]) -> Result<(), String> + 'a;

/// What an error calls the place that is not a file.
const STDOUT: &str = "stdout";

/// The error of labels that go to no file.
pub(crate) fn refused_by_reader(error: io::Error) -> AppError {
    AppError::io(Path::new(STDOUT), "be written", error)
}

/// Writes the labels of so many rows as `fill` hands them over: to a file, else as CSV to `out`. Where `fill` fails there is no file; where
/// the place refuses something, that is what failed.
///
/// # Errors
/// Those of `fill`; [`AppError`] for a place that cannot be written to.
pub fn write_label_rows<T>(
    file: Option<&Path>,
    rows: u64,
    numbers: &[&str],
    out: &mut dyn Write,
    fill: impl FnOnce(&mut PushLabels<'_>) -> Result<T, AppError>,
) -> Result<T, AppError> {
    let mut filled = None;
    let fill = |out: &mut LabelBlocks<'_>| {
        let mut refused = None;
        let found = fill(&mut |first, labels, numbers| {
            out.push(first, labels, numbers)
                .map_err(|error| refused.insert(error).to_string())
        });
        if let Some(error) = refused {
            return Err(error);
        }
        let found = filled.insert(found);
        found
            .as_ref()
            .map(|_| ())
            .map_err(|_| io::Error::other("no labels"))
    };
    let written = if let Some(path) = file {
        files::write_label_blocks(path, rows, numbers, fill).map_err(AppError::from)
    } else {
        let written = fill(&mut LabelBlocks::csv(out, numbers));
        written
            .and_then(|()| out.flush())
            .map_err(refused_by_reader)
    };
    match filled {
        Some(Ok(found)) => written.map(|()| found),
        Some(failure) => failure,
        None => written.and_then(|()| Err(AppError::request("no labels were written"))),
    }
}
