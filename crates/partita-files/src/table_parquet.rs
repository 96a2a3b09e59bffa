//! Tables in Parquet.

use std::path::Path;

use partita_core::ndarray::Array2;

use crate::columns;
use crate::error::{Cell, FileError, Row};
use crate::labels::LabelColumn;
use crate::number::Short;
use crate::parquet_file::{self, Output, ParquetFile, Value};
use crate::table::{Role, Table, TableOptions, check_budget, roles};

pub(crate) fn read(path: &Path, options: &TableOptions) -> Result<Table, FileError> {
    let file = ParquetFile::open(path)?;
    columns::distinct(path, file.names())?;
    let mut roles = roles(path, file.names(), options)?;
    skip_index(&file, &mut roles);
    let features = positions(&roles, Role::Feature);
    let mut numbers = Vec::new();
    for group in 0..file.groups() {
        check_budget(path, options.budget, numbers.len() + file.rows(group) * features.len())?;
        append(&file, group, &features, &mut numbers)?;
    }
    let texts = |role| positions(&roles, role).first().map(|&at| texts(&file, at)).transpose();
    let label = texts(Role::Label)?.map(|values| LabelColumn {
        name: file.names()[positions(&roles, Role::Label)[0]].clone(),
        values: values.into_iter().map(|value| (!value.is_empty()).then_some(value)).collect(),
    });
    let shape = (numbers.len() / features.len(), features.len());
    Ok(Table {
        columns: features.iter().map(|&at| file.names()[at].clone()).collect(),
        values: Array2::from_shape_vec(shape, numbers).expect("every row has every feature"),
        object_names: texts(Role::Objects)?,
        label,
    })
}

/// An index that pandas stored is no feature, unless it was asked for by name.
fn skip_index(file: &ParquetFile<'_>, roles: &mut [Role]) {
    for (name, role) in file.names().iter().zip(roles) {
        if ParquetFile::is_index(name) && *role == Role::Feature {
            *role = Role::Skipped;
        }
    }
}

fn positions(roles: &[Role], wanted: Role) -> Vec<usize> {
    roles.iter().enumerate().filter(|(_, role)| **role == wanted).map(|(at, _)| at).collect()
}

/// Adds the rows of a group, row by row.
fn append(file: &ParquetFile<'_>, group: usize, features: &[usize], numbers: &mut Vec<f64>) -> Result<(), FileError> {
    let start = numbers.len();
    for (place, &at) in features.iter().enumerate() {
        // The first column is read before room is made for all: its length is then no claim but a fact.
        let column = file.column(group, at)?;
        numbers.resize(start + column.len() * features.len(), 0.0);
        for row in 0..column.len() {
            let before = (start / features.len() + row) as u64 + 1;
            let number = finite(file, column.value(row), at, before)?;
            numbers[start + row * features.len() + place] = number;
        }
    }
    Ok(())
}

fn finite(file: &ParquetFile<'_>, value: Value<'_>, column: usize, row: u64) -> Result<f64, FileError> {
    let cell = || Cell::new(file.path(), Row::Row(row), &file.names()[column], value.text());
    match value {
        Value::Whole(value) => Ok(value as f64),
        Value::Float(value) if value.is_finite() => Ok(value),
        Value::Float(value) => Err(FileError::NotFinite(Cell { value: Short(value).to_string(), ..cell() })),
        Value::Missing => Err(FileError::NoValue(cell())),
        Value::Text(_) => Err(FileError::NotANumber(cell())),
    }
}

/// A whole column as texts, empty where there is no value.
pub(crate) fn texts(file: &ParquetFile<'_>, at: usize) -> Result<Vec<String>, FileError> {
    let mut texts = Vec::new();
    for group in 0..file.groups() {
        let column = file.column(group, at)?;
        texts.extend((0..column.len()).map(|row| column.value(row).text()));
    }
    Ok(texts)
}

pub(crate) fn write(path: &Path, table: &Table) -> Result<(), FileError> {
    let mut columns: Vec<(&str, Output<'_>)> = Vec::new();
    if let Some(names) = &table.object_names {
        columns.push(("object", Output::Text(Box::new(names.iter().map(|name| Some(name.as_str()))))));
    }
    for (name, values) in table.columns.iter().zip(table.values.columns()) {
        columns.push((name, Output::Float(Box::new(values.into_iter().copied()))));
    }
    if let Some(label) = &table.label {
        columns.push(("label", Output::Text(Box::new(label.values.iter().map(Option::as_deref)))));
    }
    parquet_file::write(path, columns, Vec::new())
}
