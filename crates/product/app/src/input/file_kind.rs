//! What kind of content a file has, found by reading it: numbers, labels, a model, the record of a run, or a choice of K.

use std::path::{Path, PathBuf};

use partita::Ensemble;
use partita::extend::BaseClustering;
use partita::files::{self, Impute, LoadedEnsemble, ReadOptions, Roles};
use serde_json::Value;

use crate::error::AppError;
use crate::experiment::file_names::RECORD;
use crate::text_files::read_json;

/// What a file holds.
#[derive(Debug)]
#[non_exhaustive]
pub enum FileKind {
    /// A saved model.
    Model,
    /// The record of a run: this file, or that of the folder.
    Record(PathBuf),
    /// What `partita choose-k -o` found.
    Choice,
    /// A sparse table.
    SparseTable,
    /// A table of numbers.
    Table,
    /// Base clusterings.
    Ensemble(Box<LoadedEnsemble>, Roles),
    /// Columns of words or of whole numbers from 0 or 1 that count through, and no name that says more: features, or labels of base
    /// clusterings.
    Either(Box<LoadedEnsemble>, Roles),
}

impl FileKind {
    /// The kind of a file. Archives of arrays that hold labels are ensembles; of columns, those that are called as clusterings are.
    ///
    /// # Errors
    /// [`AppError::File`] for a file that is neither a table nor an ensemble.
    ///
    /// # Cost
    /// That of reading it as a table and, where its numbers are all whole or it has words or gaps, as an ensemble.
    pub fn of(path: &Path, options: &ReadOptions) -> Result<Self, AppError> {
        let ending = path
            .extension()
            .map(|ending| ending.to_string_lossy().to_lowercase())
            .unwrap_or_default();
        let record = path.join(RECORD);
        if path.is_dir() && record.is_file() {
            return Ok(Self::Record(record));
        }
        if ending == "json" {
            return of_json(path);
        }
        if files::is_sparse_table(path, options) {
            return Ok(Self::SparseTable);
        }
        if ending == "h5ad" {
            return Ok(Self::Table);
        }
        let archive = ending == "npz" || ending == "mat";
        if !archive && has_fractions(path, options) {
            return Ok(Self::Table);
        }
        match files::load_ensemble(path, options) {
            Err(error) if archive && files::load_table(path, options).is_err() => Err(error.into()),
            Ok((loaded, roles))
                if archive
                    || loaded.ensemble.recipe().is_some()
                    || loaded.ensemble.memberships().is_some() =>
            {
                Ok(Self::Ensemble(Box::new(loaded), roles))
            }
            // Words beside measurements.
            Ok((_, roles)) if roles.left_out_measurements() => Ok(Self::Table),
            Ok((loaded, roles)) if looks_like_labels(&loaded.ensemble) => {
                let loaded = Box::new(loaded);
                Ok(if roles.names_clusterings() {
                    Self::Ensemble(loaded, roles)
                } else {
                    Self::Either(loaded, roles)
                })
            }
            _ => Ok(Self::Table),
        }
    }
}

/// The kind of a file of JSON; a model if nothing else.
fn of_json(path: &Path) -> Result<FileKind, AppError> {
    let saved = read_json(path, "name a record, a model, or a saved choice")?;
    Ok(match () {
        () if saved.get("record_version").is_some() => FileKind::Record(path.to_owned()),
        () if saved.get("rows").is_some() && saved.get("criterion").is_some() => FileKind::Choice,
        () if is_table(&saved) => FileKind::Table,
        () => FileKind::Model,
    })
}

/// Whether JSON is a list, or has lists or objects and is none of ours.
fn is_table(saved: &Value) -> bool {
    let holds = |value: &Value| value.is_array() || value.is_object();
    let fields = saved.as_object().filter(|own| !own.contains_key("format"));
    saved.is_array() || fields.is_some_and(|own| own.values().any(holds))
}

/// Whether it is a table of numbers that are not all whole, which labels are: numbers are read much faster than labels. Means that fill
/// gaps say nothing about it.
fn has_fractions(path: &Path, options: &ReadOptions) -> bool {
    let mut options = options.clone();
    options.impute = Some(Impute::None);
    files::read_table(path, &options)
        .is_ok_and(|table| table.values.iter().any(|value| value.fract() != 0.0))
}

/// Whether some label is not a number.
fn of_words(base: &BaseClustering) -> bool {
    base.values()
        .iter()
        .any(|value| value.parse::<f64>().is_err())
}

/// Whether the labels of every base clustering are words, 0 to K − 1 or 1 to K, and clusters have two objects on average.
fn looks_like_labels(ensemble: &Ensemble) -> bool {
    let numbers = |base: &BaseClustering| {
        let values: Vec<u64> = base
            .values()
            .iter()
            .filter_map(|value| value.parse().ok())
            .collect();
        values.len() == base.clusters() && counts_through(&values)
    };
    let few = |base: &BaseClustering| are_few(base.clusters(), ensemble.objects());
    ensemble
        .bases()
        .iter()
        .all(|base| few(base) && (of_words(base) || numbers(base)))
}

/// Whether clusters have two objects on average.
pub(crate) fn are_few(clusters: usize, objects: usize) -> bool {
    2 * clusters <= objects.max(4)
}

/// Whether ascending numbers are 0 to K − 1 or 1 to K.
pub(crate) fn counts_through(values: &[u64]) -> bool {
    let first = values.first().copied().unwrap_or(2);
    first <= 1
        && values
            .iter()
            .zip(first..)
            .all(|(value, place)| *value == place)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> &'static str {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        std::fs::write(&path, text).unwrap();
        match FileKind::of(&path, &ReadOptions::default()).unwrap() {
            FileKind::Table => "table",
            FileKind::Ensemble(..) => "ensemble",
            FileKind::Either(..) => "either",
            FileKind::Model | FileKind::Record(_) | FileKind::Choice | FileKind::SparseTable => {
                "other"
            }
        }
    }

    #[test]
    fn columns_are_numbers_labels_or_both() {
        assert_eq!(kind("a,b\n0.5,1\n1.5,2\n2,3\n4,4\n"), "table");
        assert_eq!(kind("a,b\n10,1\n30,2\n10,1\n40,2\n"), "table");
        assert_eq!(kind("a,b\nx,1\nx,2\ny,1\ny,2\n"), "either");
        assert_eq!(kind("a,cluster\nx,1\nx,2\ny,1\ny,2\n"), "ensemble");
        assert_eq!(kind("a,b\nx,no\nx,yes\ny,no\ny,yes\n"), "either");
        assert_eq!(kind("a,b\nx,10\nx,30\ny,10\ny,70\n"), "table");
        assert_eq!(kind("a,b\n0,1\n0,2\n1,1\n1,2\n"), "either");
        assert_eq!(kind("a,leiden_1\n0,1\n0,2\n1,1\n1,2\n"), "ensemble");
        let rows = (0..40).map(|row| match row % 9 {
            0 => format!("p{row},,x\n"),
            _ => format!("p{row},{row}.5,{}\n", ["x", "y"][row % 2]),
        });
        let gaps = format!("id,height,colour\n{}", rows.collect::<String>());
        assert_eq!(kind(&gaps), "table");
    }
}
