//! Ensembles in Parquet: one column a base clustering, whole numbers where all its labels are such.

use std::path::Path;

use partita_core::{BaseClustering, Ensemble};

use crate::coded::{Coded, Number, numeric_base};
use crate::columns;
use crate::ensemble::{
    EnsembleOptions, LoadedEnsemble, Role, assemble, check_budget, check_readable, roles, truth_name,
};
use crate::error::{FileError, Row};
use crate::labels::LabelColumn;
use crate::parquet_file::{self, Output, ParquetFile, Value};
use crate::table_parquet::texts;

/// Under this key lies how the ensemble was made.
const RECIPE: &str = "partita.recipe";

pub(crate) fn read(path: &Path, options: &EnsembleOptions) -> Result<LoadedEnsemble, FileError> {
    let file = ParquetFile::open(path)?;
    columns::distinct(path, file.names())?;
    let roles = roles(path, file.names(), options)?;
    let rows: usize = (0..file.groups()).map(|group| file.rows(group)).sum();
    check_budget(path, options.budget, rows as u64 * roles.len() as u64 * 4)?;
    let (mut bases, mut truth, mut objects) = (Vec::new(), None, None);
    for (at, role) in roles.iter().enumerate() {
        match role {
            Role::Base if ParquetFile::is_index(&file.names()[at]) => {}
            Role::Base => bases.push(base(path, &file, at)?),
            Role::Truth => truth = Some(column(&file, at)?),
            Role::Objects => objects = Some(texts(&file, at)?),
            Role::Skipped => {}
        }
    }
    let mut ensemble = assemble(path, rows, bases)?;
    if let Some(objects) = objects {
        let wrong = |source| FileError::Ensemble { path: path.into(), source };
        ensemble = ensemble.with_object_names(objects).map_err(wrong)?;
    }
    if let Some(recipe) = file.note(RECIPE) {
        ensemble = ensemble.with_recipe(recipe);
    }
    Ok(LoadedEnsemble { ensemble, truth })
}

/// A column as labels by their own names.
pub(crate) fn column(file: &ParquetFile<'_>, at: usize) -> Result<LabelColumn, FileError> {
    let values = texts(file, at)?.into_iter().map(|value| (!value.is_empty()).then_some(value)).collect();
    Ok(LabelColumn { name: file.names()[at].clone(), values })
}

fn base(path: &Path, file: &ParquetFile<'_>, at: usize) -> Result<(BaseClustering, Vec<u16>), FileError> {
    let name = &file.names()[at];
    let (mut numbers, mut words) = (Vec::new(), Coded::default());
    for group in 0..file.groups() {
        let column = file.column(group, at)?;
        for row in 0..column.len() {
            match column.value(row) {
                Value::Text(text) => words.push(text, Row::Row(numbers.len() as u64 + 1)),
                Value::Whole(_) | Value::Float(_) | Value::Missing => words.push_missing(),
            }
            numbers.push(match column.value(row) {
                Value::Whole(value) => Number::whole(value),
                Value::Float(value) => Number::float(value),
                Value::Text(_) | Value::Missing => Number::Missing,
            });
        }
    }
    if words.is_empty() {
        numeric_base(path, name, &numbers, |row| shown(file, at, row))
    } else {
        words.base(path, name)
    }
}

/// The value of a row, for a message.
fn shown(file: &ParquetFile<'_>, at: usize, row: usize) -> String {
    texts(file, at).ok().and_then(|texts| texts.into_iter().nth(row)).unwrap_or_default()
}

pub(crate) fn write(path: &Path, ensemble: &Ensemble, truth: Option<&LabelColumn>) -> Result<(), FileError> {
    check_readable(path, ensemble)?;
    let mut columns: Vec<(&str, Output<'_>)> = Vec::new();
    if let Some(names) = ensemble.object_names() {
        columns.push(("object", Output::Text(Box::new(names.iter().map(|name| Some(name.as_str()))))));
    }
    for (u, base) in ensemble.bases().iter().enumerate() {
        let whole: Option<Vec<i64>> = base.values().iter().map(|value| value.parse().ok()).collect();
        let output = if let Some(whole) = whole {
            Output::Whole(Box::new(ensemble.column(u).map(move |label| label.map(|cluster| whole[cluster]))))
        } else {
            let text = |label: Option<usize>| label.map(|cluster| base.values()[cluster].as_str());
            Output::Text(Box::new(ensemble.column(u).map(text)))
        };
        columns.push((base.name(), output));
    }
    if let Some(truth) = truth {
        columns.push((truth_name(truth), Output::Text(Box::new(truth.values.iter().map(Option::as_deref)))));
    }
    let recipe = ensemble.recipe().map(|recipe| (RECIPE, recipe.to_owned()));
    parquet_file::write(path, columns, recipe.into_iter().collect())
}
