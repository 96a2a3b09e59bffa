//! Ensembles on disk.

use std::io::{self, Write};
use std::path::Path;

use csv::ByteRecord;
use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, Ensemble, EnsembleError, MemoryBudget};

use crate::coded::{self, Coded};
use crate::columns::{self, SPLIT};
use crate::error::{FileError, Row};
use crate::input::Format;
use crate::labels::{LabelColumn, namer};
use crate::text::{Header, TextReader};
use crate::whole::{text_writer, write_text};
use crate::{ensemble_binary, ensemble_npz, ensemble_parquet};

/// An ensemble, and the true classes where the file has them.
#[derive(Clone, Debug, PartialEq)]
pub struct LoadedEnsemble {
    /// The base clusterings.
    pub ensemble: Ensemble,
    /// The true classes of the objects.
    pub truth: Option<LabelColumn>,
}

/// How to read an ensemble.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct EnsembleOptions {
    /// The column with the true classes, by name or by position from 1. Without one, a column called `label` or
    /// `truth` is taken where there is one.
    pub truth: Option<String>,
    /// Whether the first line names the columns (text files).
    pub header: Header,
    /// What separates fields (text files); found out where not given.
    pub delimiter: Option<u8>,
    /// How much memory the labels may take.
    pub budget: MemoryBudget,
}

/// Reads an ensemble: delimited text or Parquet with one column a base clustering; NPZ, ours or any archive with an
/// array `labels` (objects × base clusterings); NPY; MATLAB v5 with `members` and `gt`.
///
/// A first column called `object`, `id` or `name` names the objects. Where all labels of a base clustering are
/// numbers they must be whole, and −1 and NaN are missing like empty fields; clusters are numbered in the order of
/// their labels.
///
/// # Errors
/// [`FileError`] names the file, the row, the column, the value, and what to do.
///
/// # Cost
/// O(n M) time; 3 bytes a label, for text 5.
pub fn read_ensemble(path: &Path, options: &EnsembleOptions) -> Result<LoadedEnsemble, FileError> {
    match Format::of(path)? {
        Format::Text => from_text(path, options),
        Format::Parquet => ensemble_parquet::read(path, options),
        Format::Npz => ensemble_npz::read(path, options),
        _ => ensemble_binary::read(path, options),
    }
}

/// Writes an ensemble by the ending of the name: `.csv` or `.tsv` (also with `.gz`), `.npz`, `.parquet`. Only NPZ
/// keeps everything; the same ensemble gives the same bytes.
///
/// # Errors
/// [`FileError::Unwritable`] if a file of this kind would read back as another ensemble (a label −1, a column called
/// `object`), [`FileError`] for what the system refuses.
///
/// # Panics
/// If the truth does not label every object.
pub fn write_ensemble(path: &Path, ensemble: &Ensemble, truth: Option<&LabelColumn>) -> Result<(), FileError> {
    assert!(truth.is_none_or(|truth| truth.values.len() == ensemble.objects()), "one true class an object");
    match Format::of_target(path)? {
        Format::Npz => ensemble_npz::write(path, ensemble, truth),
        Format::Parquet => ensemble_parquet::write(path, ensemble, truth),
        Format::Text => to_text(path, ensemble, truth),
        _ => Err(FileError::Extension { path: path.into(), known: ".csv, .tsv (also with .gz), .npz or .parquet" }),
    }
}

/// What a column is used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    Base,
    Truth,
    Objects,
    Skipped,
}

/// What every column is used for, from its name.
pub(crate) fn roles(path: &Path, names: &[String], options: &EnsembleOptions) -> Result<Vec<Role>, FileError> {
    let role = |name: &String| if name == SPLIT { Role::Skipped } else { Role::Base };
    let mut roles: Vec<Role> = names.iter().map(role).collect();
    if columns::names_objects(names) {
        roles[0] = Role::Objects;
    }
    let truth = match &options.truth {
        Some(truth) => Some(columns::find(path, names, truth)?),
        None => names.iter().position(|name| name == "label" || name == "truth"),
    };
    if let Some(truth) = truth {
        roles[truth] = Role::Truth;
    }
    if !roles.contains(&Role::Base) {
        return Err(FileError::NoBases { path: path.into(), columns: names.len() });
    }
    Ok(roles)
}

fn from_text(path: &Path, options: &EnsembleOptions) -> Result<LoadedEnsemble, FileError> {
    let mut reader = TextReader::open(path, options.header, options.delimiter)?;
    let names = reader.names();
    columns::distinct(path, &names)?;
    let mut parts = Parts::new(path, &names, roles(path, &names, options)?);
    let mut record = ByteRecord::new();
    while let Some(row) = reader.next(&mut record)? {
        for (at, field) in record.iter().enumerate() {
            parts.push(at, coded::text(path, row, &names[at], field)?, row);
        }
        parts.finish_row(options.budget)?;
    }
    parts.finish()
}

/// An ensemble that comes row by row.
pub(crate) struct Parts<'a> {
    path: &'a Path,
    names: &'a [String],
    roles: Vec<Role>,
    labels: Vec<Coded>,
    objects: Vec<String>,
    rows: u64,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(path: &'a Path, names: &'a [String], roles: Vec<Role>) -> Self {
        Self { path, names, labels: vec![Coded::default(); roles.len()], roles, objects: Vec::new(), rows: 0 }
    }

    pub(crate) fn push(&mut self, column: usize, text: &str, row: Row) {
        match self.roles[column] {
            Role::Base | Role::Truth => self.labels[column].push(text, row),
            Role::Objects => self.objects.push(text.trim().to_owned()),
            Role::Skipped => {}
        }
    }

    pub(crate) fn finish_row(&mut self, budget: MemoryBudget) -> Result<(), FileError> {
        self.rows += 1;
        check_budget(self.path, budget, self.rows * self.roles.len() as u64 * 5)
    }

    pub(crate) fn finish(self) -> Result<LoadedEnsemble, FileError> {
        let Self { path, names, roles, labels, objects, rows } = self;
        if rows == 0 {
            return Err(FileError::NoRows(path.into()));
        }
        let named = roles.contains(&Role::Objects);
        let mut bases = Vec::new();
        let mut truth = None;
        for ((role, labels), name) in roles.iter().zip(labels).zip(names) {
            match role {
                Role::Base => bases.push(labels.base(path, name)?),
                Role::Truth => truth = Some(labels.column(name)),
                Role::Objects | Role::Skipped => {}
            }
        }
        let mut ensemble = assemble(path, rows as usize, bases)?;
        if named {
            let wrong = |source| FileError::Ensemble { path: path.into(), source };
            ensemble = ensemble.with_object_names(objects).map_err(wrong)?;
        }
        Ok(LoadedEnsemble { ensemble, truth })
    }
}

pub(crate) fn check_budget(path: &Path, budget: MemoryBudget, bytes: u64) -> Result<(), FileError> {
    budget
        .check("the ensemble", bytes, "raise the limit or read fewer base clusterings")
        .map_err(|source| FileError::Budget { path: path.into(), source })
}

/// The ensemble of these columns.
pub(crate) fn assemble(
    path: &Path,
    objects: usize,
    columns: Vec<(BaseClustering, Vec<u16>)>,
) -> Result<Ensemble, FileError> {
    let (bases, labels): (Vec<_>, Vec<_>) = columns.into_iter().unzip();
    let rows = Array2::from_shape_fn((objects, labels.len()), |(i, u)| labels[u][i]);
    Ensemble::from_words(rows, bases).map_err(|source| FileError::Ensemble { path: path.into(), source })
}

/// Names that a column of a text or Parquet file cannot have, because they mean something else.
const RESERVED: [&str; 7] = ["object", "id", "name", "", "label", "truth", SPLIT];

/// Refuses what would read back as another ensemble from a file with one column a base clustering.
pub(crate) fn check_readable(path: &Path, ensemble: &Ensemble) -> Result<(), FileError> {
    let unwritable = |reason: String| Err(FileError::Unwritable { path: path.into(), reason });
    let names: Vec<String> = ensemble.bases().iter().map(|base| base.name().to_owned()).collect();
    columns::distinct(path, &names)?;
    for base in ensemble.bases() {
        if RESERVED.contains(&base.name().to_lowercase().as_str()) {
            return unwritable(format!("a base clustering called '{}' would read back as something else", base.name()));
        }
        let mut column = Coded::default();
        base.values().iter().for_each(|value| column.push(value, Row::Row(0)));
        let readable = |(same, labels): &(BaseClustering, Vec<u16>)| {
            let value = |&label: &u16| same.values().get(usize::from(label));
            labels.iter().map(value).eq(base.values().iter().map(Some))
        };
        match column.base(path, base.name()) {
            Ok(read) if readable(&read) => {}
            Ok(_)
            | Err(FileError::NotALabel(_) | FileError::Ensemble { source: EnsembleError::AllMissing { .. }, .. }) => {
                return unwritable(format!(
                    "the labels of base clustering '{}' would read back as others",
                    base.name()
                ));
            }
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// What the truth is called in a file whose columns speak for themselves.
pub(crate) fn truth_name(truth: &LabelColumn) -> &str {
    if truth.name == "truth" { "truth" } else { "label" }
}

fn to_text(path: &Path, ensemble: &Ensemble, truth: Option<&LabelColumn>) -> Result<(), FileError> {
    check_readable(path, ensemble)?;
    let name = namer(ensemble.object_names(), ensemble.objects());
    let named = ensemble.object_names().is_some();
    write_text(path, |out| {
        let mut rows = text_writer(path, out);
        write_header(&mut rows, named, ensemble, truth)?;
        for object in 0..ensemble.objects() {
            if named {
                rows.write_field(name(object))?;
            }
            for (u, base) in ensemble.bases().iter().enumerate() {
                rows.write_field(ensemble.label(object, u).map_or("", |cluster| &base.values()[cluster]))?;
            }
            if let Some(truth) = truth {
                rows.write_field(truth.values[object].as_deref().unwrap_or_default())?;
            }
            rows.write_record(None::<&[u8]>)?;
        }
        rows.flush()
    })
}

fn write_header<W: Write>(
    rows: &mut csv::Writer<W>,
    named: bool,
    ensemble: &Ensemble,
    truth: Option<&LabelColumn>,
) -> io::Result<()> {
    let bases = ensemble.bases().iter().map(BaseClustering::name);
    rows.write_record(named.then_some("object").into_iter().chain(bases).chain(truth.map(truth_name)))?;
    Ok(())
}
