//! Tables from arrays.

use std::path::Path;

use crate::archive::{self, Archive, first_of, main_array};
use crate::columns;
use crate::error::FileError;
use crate::input::Format;
use crate::labels::LabelColumn;
use crate::labels_binary::{TRUTHS, column_of};
use crate::npy;
use crate::npz::NpzWriter;
use crate::raw::RawArray;
use crate::table::{Role, Table, TableOptions, check_budget, roles};
use crate::whole::write_whole;

/// What the features may be called in an archive; the first is how we write them.
const FEATURES: [&str; 6] = ["X", "x", "data", "features", "values", "fea"];
pub(crate) const COLUMNS: &str = "columns";
pub(crate) const OBJECTS: &str = "objects";

pub(crate) fn read(path: &Path, options: &TableOptions) -> Result<Table, FileError> {
    let format = Format::of(path)?;
    from_archive(&mut *archive::open(path, format)?, options)
}

fn from_archive(archive: &mut dyn Archive, options: &TableOptions) -> Result<Table, FileError> {
    let path = archive.path().to_path_buf();
    let features = main_array(archive, &FEATURES)?;
    check_budget(&path, options.budget, features.rows() * features.columns())?;
    let named = archive.arrays();
    // A label that is an array of its own is looked for before a column of the features.
    let (label, options) = match &options.label {
        Some(label) if named.contains(label) && *label != features.name() => {
            (archive.array(label)?, &TableOptions { label: None, ..options.clone() })
        }
        Some(_) => (None, options),
        None => (first_of(archive, &TRUTHS)?, options),
    };
    let names = match first_of(archive, &[COLUMNS])? {
        Some(names) if names.rows() == features.columns() => texts(&names),
        _ => (1..=features.columns()).map(|position| position.to_string()).collect(),
    };
    let objects = first_of(archive, &[OBJECTS])?.filter(|objects| objects.rows() == features.rows());
    let mut table = from_array(&path, &features, &names, options)?;
    table.object_names = objects.map(|objects| texts(&objects)).or(table.object_names);
    if let Some(label) = label {
        table.label = Some(column_of(&path, &label, "label", Some(features.rows()))?);
    }
    Ok(table)
}

pub(crate) fn write(path: &Path, table: &Table, format: Format) -> Result<(), FileError> {
    let shape = [table.values.nrows(), table.values.ncols()];
    match format {
        Format::Npy => write_whole(path, |out| npy::write(out, &shape, table.values.iter().copied())),
        Format::Npz => write_whole(path, |out| {
            let mut archive = NpzWriter::new(out);
            archive.array(FEATURES[0], &shape, table.values.iter().copied())?;
            archive.texts(COLUMNS, &table.columns)?;
            if let Some(names) = &table.object_names {
                archive.texts(OBJECTS, names)?;
            }
            if let Some(label) = &table.label {
                let values: Vec<String> = label.values.iter().map(|value| value.clone().unwrap_or_default()).collect();
                archive.texts(TRUTHS[0], &values)?;
            }
            archive.finish()
        }),
        _ => {
            Err(FileError::Extension { path: path.into(), known: ".csv, .tsv (also with .gz), .npy, .npz or .parquet" })
        }
    }
}

pub(crate) fn texts(array: &RawArray) -> Vec<String> {
    (0..array.rows()).map(|row| array.text(row, 0)).collect()
}

fn from_array(path: &Path, array: &RawArray, names: &[String], options: &TableOptions) -> Result<Table, FileError> {
    columns::distinct(path, names)?;
    let roles = roles(path, names, options)?;
    let chosen = |wanted: Role| roles.iter().enumerate().filter(move |(_, role)| **role == wanted).map(|(at, _)| at);
    let features: Vec<(usize, String)> = chosen(Role::Feature).map(|at| (at, names[at].clone())).collect();
    let column = |at: usize| (0..array.rows()).map(move |row| array.text(row, at));
    let label = chosen(Role::Label).next().map(|at| LabelColumn {
        name: "label".into(),
        values: column(at).map(|text| (!text.is_empty()).then_some(text)).collect(),
    });
    Ok(Table {
        values: array.numbers(path, &features)?,
        columns: features.into_iter().map(|(_, name)| name).collect(),
        object_names: chosen(Role::Objects).next().map(|at| column(at).collect()),
        label,
    })
}
