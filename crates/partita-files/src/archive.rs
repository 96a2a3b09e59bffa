//! Files of named arrays: NPZ and MAT alike, and NPY as an archive of one.

use std::path::Path;

use crate::error::FileError;
use crate::input::{self, Format};
use crate::mat::Mat;
use crate::npy;
use crate::npz::Npz;
use crate::raw::RawArray;

/// Named arrays.
pub(crate) trait Archive {
    /// The file.
    fn path(&self) -> &Path;

    /// Names of the arrays, in the order of the file.
    fn arrays(&self) -> Vec<String>;

    /// The array of this name, if there is one.
    fn array(&mut self, name: &str) -> Result<Option<RawArray>, FileError>;
}

/// The archive in a file of this format.
pub(crate) fn open<'a>(path: &'a Path, format: Format) -> Result<Box<dyn Archive + 'a>, FileError> {
    Ok(match format {
        Format::Npz => Box::new(Npz::open(path)?),
        Format::Mat => Box::new(Mat::open(path)?),
        _ => Box::new(Npy(path)),
    })
}

/// A file with one array, which has no name.
struct Npy<'a>(&'a Path);

impl Archive for Npy<'_> {
    fn path(&self) -> &Path {
        self.0
    }

    fn arrays(&self) -> Vec<String> {
        vec![String::new()]
    }

    fn array(&mut self, _name: &str) -> Result<Option<RawArray>, FileError> {
        let (mut file, length) = input::open(self.0)?;
        npy::read(self.0, "the array", &mut file, length).map(Some)
    }
}

/// The array called by the first of the names that exists.
pub(crate) fn first_of(archive: &mut dyn Archive, names: &[&str]) -> Result<Option<RawArray>, FileError> {
    let found = archive.arrays();
    match names.iter().find(|name| found.iter().any(|found| found == **name)) {
        Some(name) => archive.array(name),
        None => Ok(None),
    }
}

/// The array called by the first of the names that exists, or the only one there is.
pub(crate) fn main_array(archive: &mut dyn Archive, names: &[&str]) -> Result<RawArray, FileError> {
    if let Some(array) = first_of(archive, names)? {
        return Ok(array);
    }
    let known = archive.arrays();
    if let [only] = &known[..]
        && let Some(array) = archive.array(only)?
    {
        return Ok(array);
    }
    let column = names.first().copied().unwrap_or_default().to_owned();
    Err(FileError::NoArray { path: archive.path().into(), array: column, known })
}
