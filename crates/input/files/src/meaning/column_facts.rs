//! What is in every column of a file, what it is taken for, and the flag that changes that.

use std::path::Path;

use partita_core::option;
use serde::Serialize;

use super::read_options::ReadOptions;
use super::roles::{ColumnRole, Reason, Role, Roles, Rules, assign};
use super::values::{self, Meaning, Notation};
use crate::dictionary::Dictionary;
use crate::error::{FileError, shown};
use crate::format::description::OpenOptions;
use crate::format::reader::{Form, Layout, Limit};
use crate::format::{self, FORMATS};
use crate::label_number::MISSING;
use crate::value_kind::ValueKind;
use crate::words::CLASSES;

/// A column of a file, and what is done with it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct ColumnFacts {
    /// Its name.
    pub name: String,
    /// What its values are.
    pub values: String,
    /// Rows without a value.
    pub gaps: usize,
    /// Different values.
    pub distinct: usize,
    /// What it is taken for, and why.
    pub taken_as: String,
    /// The flag that changes that.
    pub change: String,
}

/// The names of the columns of a file; none of arrays.
///
/// # Errors
/// [`FileError`] for what cannot be read.
pub fn column_names(path: &Path, options: &ReadOptions) -> Result<Vec<String>, FileError> {
    let open_options = OpenOptions {
        labels: true,
        ..options.open_options()
    };
    let reader = format::open_reader(FORMATS, path, &open_options)?;
    Ok(reader.names().to_vec())
}

/// What is in the columns of a file whose roles these are; nothing for arrays.
///
/// # Errors
/// [`FileError`] for what cannot be read; no value of a column is an error.
///
/// # Cost
/// That of reading every column as labels.
pub fn column_facts(
    path: &Path,
    options: &ReadOptions,
    roles: &Roles,
) -> Result<Vec<ColumnFacts>, FileError> {
    let open_options = OpenOptions {
        any_width: true,
        labels: true,
        layer: None,
        obsm: None,
        ..options.open_options()
    };
    let reader = format::open_reader(FORMATS, path, &open_options)?;
    let mut columns = roles.columns.clone();
    if columns.is_empty() || !roles.arrays.is_empty() {
        // The file was refused, or is a matrix beside columns.
        columns = assign(path, reader.names(), &Rules::new(options, CLASSES))?;
    }
    if reader.items().layout != Layout::Columns || reader.names().len() != columns.len() {
        return Ok(Vec::new());
    }
    let limit = Limit::new(options.budget, "the columns", "raise the limit");
    let missing = options.missing_words();
    let facts = |mut words: Dictionary, column: &ColumnRole| {
        words.drop_words(&missing);
        let (taken_as, change) = if roles.arrays.is_empty() {
            taken(column)
        } else {
            let change = option("truth").naming(&shown(&column.name)).to_string();
            ("beside the matrix".to_owned(), change)
        };
        ColumnFacts {
            name: column.name.clone(),
            values: kind(&column.name, &words, options),
            gaps: words
                .codes()
                .iter()
                .filter(|&&code| code == MISSING)
                .count(),
            distinct: words.values().len(),
            taken_as,
            change,
        }
    };
    if !reader.items().typed {
        let wanted: Vec<(usize, Form)> = (0..columns.len()).map(|at| (at, Form::Labels)).collect();
        let read = reader.read(0, &wanted, &limit)?.into_iter();
        let pairs = read.zip(&columns);
        return Ok(pairs
            .map(|(read, column)| facts(read.into_dictionary(), column))
            .collect());
    }
    let read = |(at, column): (usize, &ColumnRole)| {
        let is_time = reader.items().times.get(at) == Some(&true);
        let form = if is_time { Form::Text } else { Form::Labels };
        let read = reader.read_whole(at, form, &limit)?;
        let mut found = facts(read.into_dictionary(), column);
        if is_time {
            found.values = Reason::Dates.to_string();
        }
        Ok(found)
    };
    columns.iter().enumerate().map(read).collect()
}

/// What the values of a column are.
fn kind(column: &str, words: &Dictionary, options: &ReadOptions) -> String {
    match values::of_words(words, Notation::new(options).of(column)) {
        Meaning::Numbers(numbers) => match numbers.kind {
            Some(kind) => format!("numbers, each {kind}"),
            None => "numbers".to_owned(),
        },
        Meaning::Categories => "words".to_owned(),
        Meaning::LeftOut(reason) => reason.to_string(),
        Meaning::Parts(..) => format!("{} each", ValueKind::Pair),
        Meaning::Units(units) => format!("numbers with units {}", units.join(", ")),
        Meaning::Mixed(words) => {
            let first = words
                .keys()
                .next()
                .map(|word| shown(word))
                .unwrap_or_default();
            format!("numbers, and words such as '{first}'")
        }
    }
}

/// What a column is taken for, and the flag that changes it.
fn taken(column: &ColumnRole) -> (String, String) {
    let name = shown(&column.name);
    let reason = column.reason;
    let skip = option("skip").naming(&name).to_string();
    let (role, change) = match (column.role, reason) {
        (Role::Data, Reason::Words) => ("data", format!("{}, {skip}", option("encode"))),
        (Role::Data, Reason::Notation(ValueKind::DecimalComma | ValueKind::Thousands)) => {
            ("data", format!("{}, {skip}", option("decimal")))
        }
        (Role::Data, _) => ("data", skip),
        (Role::Share, _) => ("shares", skip),
        (Role::Truth, _) => ("truth", option("truth").off().to_string()),
        (Role::Objects, _) => ("names of the objects", format!("{}, {skip}", option("id"))),
        (Role::ColumnNames, _) => ("names of the columns", String::new()),
        (Role::Skipped, Reason::Weights) => (
            "left out",
            option("object-weights").naming(&name).to_string(),
        ),
        (Role::Skipped, Reason::Clustering) => {
            ("left out", option("truth").naming(&name).to_string())
        }
        (Role::Skipped, Reason::Many) => ("left out", option("max-categories").to_string()),
        (Role::Skipped, _) => ("left out", option("only").naming(&name).to_string()),
    };
    let taken = match reason {
        Reason::Rest => role.to_owned(),
        reason => format!("{role} ({reason})"),
    };
    (taken, change)
}
