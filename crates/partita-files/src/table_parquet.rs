//! Tables in Parquet.

use std::path::{Path, PathBuf};

use partita_core::ndarray::Array2;

use crate::columns;
use crate::error::{Cell, FileError, Row};
use crate::input::Format;
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
        append(&file, group, &features, numbers.len() / features.len(), &mut numbers)?;
    }
    let (object_names, label) = words(&file, &roles)?;
    let shape = (numbers.len() / features.len(), features.len());
    Ok(Table {
        columns: features.iter().map(|&at| file.names()[at].clone()).collect(),
        values: Array2::from_shape_vec(shape, numbers).expect("every row has every feature"),
        object_names,
        label,
    })
}

/// A Parquet table whose numbers are read group by group, when they are wanted.
#[derive(Clone, Debug)]
pub struct TableGroups {
    path: PathBuf,
    /// Names of the features, d of them.
    pub columns: Vec<String>,
    /// What the objects are called, n names.
    pub object_names: Option<Vec<String>>,
    /// The classes, where the file has them.
    pub label: Option<LabelColumn>,
    places: Vec<usize>,
    rows: Vec<usize>,
}

impl TableGroups {
    /// Opens a table; none for a file that is no Parquet.
    ///
    /// # Errors
    /// [`FileError`] as [`read_table`](crate::read_table), but for numbers, which are not read yet.
    pub fn open(path: &Path, options: &TableOptions) -> Result<Option<Self>, FileError> {
        if Format::of(path)? != Format::Parquet {
            return Ok(None);
        }
        let file = ParquetFile::open(path)?;
        columns::distinct(path, file.names())?;
        let mut roles = roles(path, file.names(), options)?;
        skip_index(&file, &mut roles);
        let places = positions(&roles, Role::Feature);
        let (object_names, label) = words(&file, &roles)?;
        Ok(Some(Self {
            path: path.to_owned(),
            columns: places.iter().map(|&at| file.names()[at].clone()).collect(),
            object_names,
            label,
            rows: (0..file.groups()).map(|group| file.rows(group)).collect(),
            places,
        }))
    }

    /// Rows and columns.
    pub fn dim(&self) -> (usize, usize) {
        (self.rows.iter().sum(), self.columns.len())
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.rows.len()
    }

    /// The numbers of a group, its rows × d.
    ///
    /// # Errors
    /// [`FileError`] names the row, the column and the value that is no finite number.
    pub fn read(&self, group: usize) -> Result<Array2<f64>, FileError> {
        let file = ParquetFile::open(&self.path)?;
        let mut numbers = Vec::new();
        append(&file, group, &self.places, self.rows[..group].iter().sum(), &mut numbers)?;
        let shape = (numbers.len() / self.places.len(), self.places.len());
        Ok(Array2::from_shape_vec(shape, numbers).expect("every row has every feature"))
    }
}

/// Names of the objects, and their classes.
type Words = (Option<Vec<String>>, Option<LabelColumn>);

fn words(file: &ParquetFile<'_>, roles: &[Role]) -> Result<Words, FileError> {
    let texts = |role| positions(roles, role).first().map(|&at| texts(file, at)).transpose();
    let label = texts(Role::Label)?.map(|values| LabelColumn {
        name: file.names()[positions(roles, Role::Label)[0]].clone(),
        values: values.into_iter().map(|value| (!value.is_empty()).then_some(value)).collect(),
    });
    Ok((texts(Role::Objects)?, label))
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

/// Adds the rows of a group, which so many of the table stand before, row by row.
fn append(
    file: &ParquetFile<'_>,
    group: usize,
    features: &[usize],
    before: usize,
    numbers: &mut Vec<f64>,
) -> Result<(), FileError> {
    let start = numbers.len();
    for (place, &at) in features.iter().enumerate() {
        // The first column is read before room is made for all: its length is then no claim but a fact.
        let column = file.column(group, at)?;
        numbers.resize(start + column.len() * features.len(), 0.0);
        for row in 0..column.len() {
            let number = finite(file, column.value(row), at, (before + row) as u64 + 1)?;
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
