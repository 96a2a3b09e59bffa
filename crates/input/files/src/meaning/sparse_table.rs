//! Sparse tables of numbers, such as the words of documents, in the NPZ layout of `scipy.sparse.save_npz`.

use std::path::Path;

use partita_core::MemoryBudget;
use sprs::CsMat;

use super::frame::{COLUMNS, OBJECTS, label_array};
use super::label_column::LabelColumn;
use super::roles::{ColumnRole, Reason, Role, Roles};
use super::table::name_arrays;
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::format::description::Writes;
use crate::format::npz::Npz;
use crate::format::reader::{Form, Reader, first_of};
use crate::format::sparse::{limit, place_arrays, read_places};
use crate::format::writer::{Array, Contents};
use crate::format::{self, FORMATS};
use crate::typed_array::{Scalar, TypedArray};
use crate::words::{CLASS_ARRAYS, MissingCounts, MissingWords};

/// As [`Table`](crate::Table), with only the numbers that are not 0.
#[derive(Clone, Debug, PartialEq)]
pub struct SparseTable {
    /// Names of the features, d of them.
    pub columns: Vec<String>,
    /// The numbers in compressed rows, n × d, all finite.
    pub values: CsMat<f64>,
    /// What the objects are called, n names.
    pub object_names: Option<Vec<String>>,
    /// The classes, where the file has them.
    pub label: Option<LabelColumn>,
}

impl SparseTable {
    /// Which arrays hold the names of the objects and the classes.
    pub fn roles(&self) -> Roles {
        let truth = self
            .label
            .as_ref()
            .map(|label| ColumnRole::new(label.name.as_str(), Role::Truth, Reason::Name));
        let names = self
            .object_names
            .as_ref()
            .map(|_| ColumnRole::new("object", Role::Objects, Reason::Name));
        let arrays = names.into_iter().chain(truth).collect();
        Roles {
            arrays,
            objects: self.values.rows() as u64,
            ..Roles::default()
        }
    }
}

/// Whether a file holds a sparse matrix, by what it is called and what is in it.
pub fn is_sparse_table(path: &Path) -> bool {
    let archive = format::of(FORMATS, path).is_ok_and(|format| format.writes == Writes::Arrays);
    archive && Npz::open(path).is_ok_and(|archive| first_of(&archive, &["indptr"]).is_some())
}

/// Bytes of the name of a column that is called by its position, at most: the string and what it points to.
const NAME_BYTES: u64 = 48;

/// Writes a sparse table that `scipy.sparse.load_npz` reads, names and classes beside it. The same table gives the same
/// bytes.
///
/// # Errors
/// [`FileError`] for what the system refuses, and for a name that does not end in `.npz`.
///
/// # Panics
/// If names, numbers and labels differ in length.
pub fn write_sparse_table(path: &Path, table: &SparseTable) -> Result<(), FileError> {
    let SparseTable {
        columns,
        values,
        object_names,
        label,
    } = table;
    let (n, d) = values.shape();
    assert_eq!(columns.len(), d, "one name a column");
    assert!(
        object_names.as_ref().is_none_or(|names| names.len() == n),
        "one name an object"
    );
    assert!(
        label.as_ref().is_none_or(|label| label.values.len() == n),
        "one label an object"
    );
    let format = format::of_target(path, |writes| writes == Writes::Arrays)?;
    let starts = values.proper_indptr();
    let places = values.indices().iter().map(|&column| column as u32);
    let mut arrays = place_arrays((n, d), &starts, values.nnz(), places);
    arrays.push((
        "data",
        Array::floats([values.nnz()], values.data().iter().copied()),
    ));
    arrays.extend(name_arrays(
        columns,
        object_names.as_deref(),
        label.as_ref(),
    ));
    (format.write)(path, Contents::Arrays(arrays))
}

/// Reads a sparse table that [`write_sparse_table`] or `scipy.sparse.save_npz` wrote. Without names, columns are called
/// 1, 2, ….
///
/// # Errors
/// [`FileError`] when the file is not a sparse matrix in compressed rows, a number is not finite, or it does not fit the
/// budget.
pub fn read_sparse_table(path: &Path, budget: MemoryBudget) -> Result<SparseTable, FileError> {
    let archive: &dyn Reader = &Npz::open(path)?;
    let places = read_places(archive, budget)?;
    let limit = limit(budget);
    let data = match places.array(archive, "data", &limit)? {
        Some(array) => finite(path, &array)?,
        None => Vec::new(),
    };
    places.check(path, data.len())?;
    let (n, d) = places.shape;
    // A name a column, which the file need not have any bytes for.
    limit.check(path, (d as u64).saturating_mul(NAME_BYTES))?;
    let indices = places
        .columns
        .into_iter()
        .map(|column| column as usize)
        .collect();
    let values = CsMat::new_from_unsorted((n, d), places.starts, indices, data).map_err(
        |(_, _, _, error)| {
            FileError::damaged(path, format!("{error}; write it again with save_npz"))
        },
    )?;
    let texts = |name| match first_of(archive, &[name]) {
        Some(item) => Ok(Some(
            archive.read_whole(item, Form::Text, &limit)?.into_texts(),
        )),
        None => Ok(None),
    };
    let columns = texts(COLUMNS)?.filter(|names| names.len() == d);
    let columns = columns.unwrap_or_else(|| (1..=d).map(|position| position.to_string()).collect());
    let object_names = texts(OBJECTS)?.filter(|names| names.len() == n);
    let label = match first_of(archive, CLASS_ARRAYS) {
        Some(item) => {
            let missing = MissingWords::default();
            let mut counts = MissingCounts::new();
            let values = label_array(archive, item, Some(n as u64), &missing, &mut counts, &limit)?;
            Some(LabelColumn {
                name: "label".into(),
                values,
            })
        }
        None => None,
    };
    Ok(SparseTable {
        columns,
        values,
        object_names,
        label,
    })
}

/// The values of an array of numbers, all finite.
fn finite(path: &Path, array: &TypedArray) -> Result<Vec<f64>> {
    if array.is_text() {
        return Err(FileError::kind(
            path,
            "array 'data'",
            "an array of texts",
            "an array of numbers",
        ));
    }
    let value = |row: usize| match array.scalar(row, 0).map(Scalar::float) {
        Some(value) if value.is_finite() => Ok(value),
        _ => {
            let cell = Cell::new(path, Row::Row(row as u64 + 1), "data", array.text(row, 0));
            Err(FileError::value(cell, WrongValue::NotFinite))
        }
    };
    (0..array.rows).map(value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_says, stored};

    fn matrix(columns: usize) -> CsMat<f64> {
        let data = vec![0.5, -1e-300, 3.0, 7.25];
        CsMat::new((4, columns), vec![0, 2, 2, 3, 4], vec![0, 2, 1, 0], data)
    }

    fn table() -> SparseTable {
        SparseTable {
            columns: ["cat", "döner", "a, b"].map(str::to_owned).to_vec(),
            values: matrix(3),
            object_names: Some(["a", "b", "c", "d"].map(str::to_owned).to_vec()),
            label: Some(LabelColumn {
                name: "label".into(),
                values: vec![Some("x".into()), None, None, Some("y".into())],
            }),
        }
    }

    #[test]
    fn tables_read_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.npz");
        write_sparse_table(&file, &table()).unwrap();
        assert!(is_sparse_table(&file));
        let read = read_sparse_table(&file, MemoryBudget::UNLIMITED);
        assert_eq!(read.unwrap(), table());
        let wrong = write_sparse_table(&folder.path().join("t.csv"), &table());
        assert_says(wrong.unwrap_err(), &[".npz"]);
        let note = "names from 'object' (by its name); truth 'label' (by its name; --no-truth leaves it out)";
        assert_eq!(table().roles().note().unwrap(), note);
        let label = None;
        let bare = SparseTable { label, ..table() };
        assert_eq!(bare.roles().note(), None);
    }

    #[test]
    fn columns_that_are_only_claimed_are_refused_before_they_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("t.npz");
        for (columns, fits) in [
            (1 << 10, true),
            (1 << 30, false),
            (1 << 50, false),
            (usize::MAX, false),
        ] {
            let values = matrix(columns);
            let places = values.indices().iter().map(|&column| column as u32);
            let starts = values.proper_indptr();
            let mut arrays = place_arrays((4, columns), &starts, values.nnz(), places);
            let data = Array::floats([values.nnz()], values.data().iter().copied());
            arrays.push(("data", data));
            let format = format::of_target(&file, |writes| writes == Writes::Arrays).unwrap();
            (format.write)(&file, Contents::Arrays(arrays)).unwrap();
            match read_sparse_table(&file, MemoryBudget::new(1 << 30)) {
                Ok(read) => assert!(fits && read.columns.len() == columns),
                Err(error) => {
                    let budget = matches!(error, FileError::Budget { .. });
                    assert!(!fits && budget == (columns == 1 << 30), "{error}");
                }
            }
        }
    }

    #[test]
    fn matrices_of_scipy_are_tables() {
        let read = read_sparse_table(&stored("sparse.npz"), MemoryBudget::UNLIMITED);
        let table = read.unwrap();
        assert_eq!(table.values.shape(), (3, 4));
        assert_eq!((table.columns.len(), table.label), (4, None));
        assert_eq!(table.values.get(0, 3), Some(&65_535.0));
        assert!(!is_sparse_table(&stored("plain.npz")));
    }
}
