//! Labels from arrays.

use std::path::Path;

use crate::archive::{self, Archive, first_of, main_array};
use crate::error::FileError;
use crate::input::Format;
use crate::labels::{LabelColumn, Labels, label_position};
use crate::parquet_file::ParquetFile;
use crate::raw::RawArray;
use crate::table_parquet::texts;
use crate::{columns, ensemble_npz, ensemble_parquet, npz::Npz};

/// What the classes may be called in an archive; the first is how we write them.
pub(crate) const TRUTHS: [&str; 6] = ["y", "truth", "gt", "label", "target", "gnd"];

pub(crate) fn read(path: &Path, column: Option<&str>) -> Result<Labels, FileError> {
    let format = Format::of(path)?;
    if format == Format::Parquet {
        return from_parquet(path, column);
    }
    if format == Format::Npz
        && column.is_none()
        && let Some(found) = ensemble_npz::read_truth(path, &mut Npz::open(path)?)?
    {
        return Ok(found);
    }
    from_archive(&mut *archive::open(path, format)?, column)
}

fn from_parquet(path: &Path, column: Option<&str>) -> Result<Labels, FileError> {
    let file = ParquetFile::open(path)?;
    let at = label_position(path, file.names(), column)?;
    let object_names = (columns::names_objects(file.names()) && at != 0).then(|| texts(&file, 0)).transpose()?;
    Ok(Labels { object_names, column: ensemble_parquet::column(&file, at)? })
}

fn from_archive(archive: &mut dyn Archive, column: Option<&str>) -> Result<Labels, FileError> {
    let path = archive.path().to_path_buf();
    let array = match column {
        Some(column) => match first_of(archive, &[column])? {
            Some(array) => array,
            None => return from_position(&path, &main_array(archive, &[column])?, column),
        },
        None => match first_of(archive, &TRUTHS)? {
            Some(array) => array,
            None => main_array(archive, &["labels"])?,
        },
    };
    Ok(Labels { object_names: None, column: column_of(&path, &array, column.unwrap_or("label"), None)? })
}

/// A column of an array by its position from 1.
fn from_position(path: &Path, array: &RawArray, column: &str) -> Result<Labels, FileError> {
    let names: Vec<String> = (1..=array.columns()).map(|position| position.to_string()).collect();
    let at = columns::find(path, &names, column)?;
    let values = (0..array.rows()).map(|row| labelled(array.text(row, at))).collect();
    Ok(Labels { object_names: None, column: LabelColumn { name: "label".into(), values } })
}

/// The labels in an array of one row or one column.
pub(crate) fn column_of(
    path: &Path,
    array: &RawArray,
    name: &str,
    objects: Option<usize>,
) -> Result<LabelColumn, FileError> {
    let (rows, columns) = (array.rows(), array.columns());
    if rows > 1 && columns > 1 {
        let found = format!("an array of {rows} × {columns} values");
        return Err(FileError::kind(path, array.name(), found, "one column of labels"));
    }
    let length = rows * columns;
    if let Some(objects) = objects.filter(|&objects| objects != length) {
        let found = format!("{length} labels for {objects} objects");
        return Err(FileError::kind(path, array.name(), found, "one label an object"));
    }
    let text = |at: usize| if columns == 1 { array.text(at, 0) } else { array.text(0, at) };
    Ok(LabelColumn { name: name.into(), values: (0..length).map(|at| labelled(text(at))).collect() })
}

fn labelled(text: String) -> Option<String> {
    (!text.is_empty()).then_some(text)
}
