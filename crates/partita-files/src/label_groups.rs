//! Ensembles in Parquet that stay on the disk.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use partita_core::ndarray::Array2;
use partita_core::{BaseClustering, EnsembleError, Label, MAX_BASE_CLUSTERS};

use crate::coded::Number;
use crate::columns;
use crate::ensemble::{EnsembleOptions, Role, roles};
use crate::error::{Cell, FileError, Row};
use crate::input::Format;
use crate::parquet_file::{ParquetFile, Value};

/// Labels below this are small.
const SMALL: usize = 1 << 16;

/// A Parquet ensemble of whole numbers whose label rows are read group by group, when they are wanted.
///
/// Clusters are numbered in the order of their labels, −1, NaN and nulls are missing: as
/// [`read_ensemble`](crate::read_ensemble) has it. Truth and names of objects, where there are some, are left out.
#[derive(Clone, Debug)]
pub struct LabelGroups {
    path: PathBuf,
    bases: Vec<BaseClustering>,
    /// The labels of every base clustering in order.
    labels: Vec<Vec<u64>>,
    places: Vec<usize>,
    rows: Vec<usize>,
}

impl LabelGroups {
    /// Opens an ensemble and finds the clusters of every base clustering, in one pass over the file; none for a file
    /// that is no Parquet.
    ///
    /// # Cost
    /// O(n M) time; one column of the largest group in memory (16 bytes a row).
    ///
    /// # Errors
    /// [`FileError`] as [`read_ensemble`](crate::read_ensemble), and [`FileError::NotALabel`] for labels that are texts.
    pub fn open(path: &Path, options: &EnsembleOptions) -> Result<Option<Self>, FileError> {
        if Format::of(path)? != Format::Parquet {
            return Ok(None);
        }
        let file = ParquetFile::open(path)?;
        columns::distinct(path, file.names())?;
        let roles = roles(path, file.names(), options)?;
        let is_base = |at: &usize| roles[*at] == Role::Base && !ParquetFile::is_index(&file.names()[*at]);
        let places: Vec<usize> = (0..roles.len()).filter(is_base).collect();
        if places.is_empty() {
            return Err(FileError::NoBases { path: path.into(), columns: roles.len() });
        }
        let labels = places.iter().map(|&at| distinct(&file, at)).collect::<Result<Vec<_>, _>>()?;
        let base = |(&at, labels): (&usize, &Vec<u64>)| {
            BaseClustering::new(&file.names()[at], labels.iter().map(ToString::to_string).collect())
        };
        Ok(Some(Self {
            path: path.to_owned(),
            bases: places.iter().zip(&labels).map(base).collect(),
            labels,
            rows: (0..file.groups()).map(|group| file.rows(group)).collect(),
            places,
        }))
    }

    /// The base clusterings, M of them.
    pub fn bases(&self) -> &[BaseClustering] {
        &self.bases
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.rows.iter().sum()
    }

    /// Number of groups.
    pub fn groups(&self) -> usize {
        self.rows.len()
    }

    /// Objects of a group.
    pub fn rows(&self, group: usize) -> usize {
        self.rows[group]
    }

    /// The label rows of a group, rows × M: clusters, or [`u16::MAX`] where a label is missing.
    ///
    /// # Errors
    /// [`FileError`] if the file is damaged or was changed since it was opened.
    pub fn read(&self, group: usize) -> Result<Array2<u16>, FileError> {
        let file = ParquetFile::open(&self.path)?;
        let before: usize = self.rows[..group].iter().sum();
        let mut rows: Option<Array2<u16>> = None;
        for (u, (&at, labels)) in self.places.iter().zip(&self.labels).enumerate() {
            let column = file.column(group, at)?;
            // The first column is read before room is made for all: its length is then no claim but a fact.
            let rows = rows.get_or_insert_with(|| Array2::from_elem((column.len(), self.places.len()), u16::MISSING));
            if rows.nrows() != column.len() {
                return Err(changed(&self.path));
            }
            // Labels without a gap are their own numbers.
            let dense = labels.last().is_some_and(|&last| last + 1 == labels.len() as u64);
            for (row, slot) in rows.column_mut(u).iter_mut().enumerate() {
                let Some(label) = label(&file, column.value(row), at, before + row)? else { continue };
                let place = if dense {
                    (label < labels.len() as u64).then_some(label as usize)
                } else {
                    labels.binary_search(&label).ok()
                };
                *slot = u16::of(place.ok_or_else(|| changed(&self.path))?);
            }
        }
        rows.ok_or_else(|| changed(&self.path))
    }
}

fn changed(path: &Path) -> FileError {
    FileError::damaged(path, "it was changed while it was read; start again")
}

/// The different labels of a column in order.
fn distinct(file: &ParquetFile<'_>, at: usize) -> Result<Vec<u64>, FileError> {
    let name = &file.names()[at];
    // Nearly all labels are small: a flag each is much faster than a tree.
    let (mut small, mut large, mut before) = (vec![false; SMALL], BTreeSet::new(), 0);
    for group in 0..file.groups() {
        let column = file.column(group, at)?;
        for row in 0..column.len() {
            match label(file, column.value(row), at, before + row)? {
                Some(label) if label < SMALL as u64 => small[label as usize] = true,
                Some(label) => _ = large.insert(label),
                None => {}
            }
        }
        before += column.len();
    }
    let seen: Vec<u64> = (0..SMALL as u64).filter(|&label| small[label as usize]).chain(large).collect();
    let source = match seen.len() {
        0 => EnsembleError::AllMissing { name: name.clone() },
        clusters if clusters > MAX_BASE_CLUSTERS => EnsembleError::TooManyClusters { name: name.clone(), clusters },
        _ => return Ok(seen),
    };
    Err(FileError::Ensemble { path: file.path().into(), source })
}

fn label(file: &ParquetFile<'_>, value: Value<'_>, at: usize, row: usize) -> Result<Option<u64>, FileError> {
    let number = match value {
        Value::Missing => return Ok(None),
        Value::Whole(whole) => Number::whole(whole),
        Value::Float(float) => Number::float(float),
        Value::Text(_) => Number::NoLabel,
    };
    match number {
        Number::Missing => Ok(None),
        Number::Label(label) => Ok(Some(label)),
        Number::NoLabel => {
            let cell = Cell::new(file.path(), Row::Row(row as u64 + 1), &file.names()[at], value.text());
            Err(FileError::NotALabel(cell))
        }
    }
}
