//! Sparse tables of numbers, such as the words of documents, in the NPZ layout of `scipy.sparse.save_npz`.

use std::path::Path;

use partita_core::MemoryBudget;
use sprs::CsMat;

use crate::archive::{self, Archive, first_of};
use crate::error::FileError;
use crate::input::Format;
use crate::labels::LabelColumn;
use crate::labels_binary::{TRUTHS, column_of};
use crate::npz::{Npz, NpzWriter};
use crate::sparse_npz::{read_places, write_places};
use crate::table_binary::{COLUMNS, OBJECTS, texts};
use crate::whole::write_whole;

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

/// Whether a file holds a sparse matrix, by what it is called and what is in it.
pub fn is_sparse_table(path: &Path) -> bool {
    let npz = Format::of(path).is_ok_and(|format| format == Format::Npz);
    npz && Npz::open(path).is_ok_and(|archive| archive.arrays().iter().any(|name| name == "indptr"))
}

/// Writes a sparse table that `scipy.sparse.load_npz` reads, names and classes beside it. The same table gives the same
/// bytes.
///
/// # Errors
/// [`FileError`] for what the system refuses, and for a name that does not end in `.npz`.
///
/// # Panics
/// If names, numbers and labels differ in length.
pub fn write_sparse_table(path: &Path, table: &SparseTable) -> Result<(), FileError> {
    let SparseTable { columns, values, object_names, label } = table;
    let (n, d) = values.shape();
    assert_eq!(columns.len(), d, "one name a column");
    assert!(object_names.as_ref().is_none_or(|names| names.len() == n), "one name an object");
    assert!(label.as_ref().is_none_or(|label| label.values.len() == n), "one label an object");
    if Format::of_target(path)? != Format::Npz {
        return Err(FileError::Extension { path: path.into(), known: ".npz" });
    }
    let starts = values.proper_indptr();
    write_whole(path, |out| {
        let mut archive = NpzWriter::new(out);
        write_places(&mut archive, (n, d), &starts, values.indices().iter().map(|&column| column as u32))?;
        archive.array("data", &[values.nnz()], values.data().iter().copied())?;
        archive.texts(COLUMNS, columns)?;
        if let Some(names) = object_names {
            archive.texts(OBJECTS, names)?;
        }
        if let Some(label) = label {
            let values: Vec<String> = label.values.iter().map(|value| value.clone().unwrap_or_default()).collect();
            archive.texts(TRUTHS[0], &values)?;
        }
        archive.finish()
    })
}

/// Reads a sparse table that [`write_sparse_table`] or `scipy.sparse.save_npz` wrote. Without names, columns are called
/// 1, 2, ….
///
/// # Errors
/// [`FileError`] when the file is no sparse matrix in compressed rows, a number is not finite, or it does not fit the
/// budget.
pub fn read_sparse_table(path: &Path, budget: MemoryBudget) -> Result<SparseTable, FileError> {
    let mut archive = Npz::open(path)?;
    let places = read_places(path, &mut archive, budget)?;
    let data = match places.array(path, &mut archive, "data")? {
        Some(array) => array.numbers(path, &[(0, "data".into())])?.into_raw_vec_and_offset().0,
        None => Vec::new(),
    };
    places.check(path, data.len())?;
    let (n, d) = places.shape;
    let indices = places.columns.into_iter().map(|column| column as usize).collect();
    let values = CsMat::new_from_unsorted((n, d), places.starts, indices, data)
        .map_err(|(_, _, _, error)| FileError::damaged(path, format!("{error}; write it again with save_npz")))?;
    let archive: &mut dyn archive::Archive = &mut archive;
    let columns = match first_of(archive, &[COLUMNS])? {
        Some(names) if names.rows() == d => texts(&names),
        _ => (1..=d).map(|position| position.to_string()).collect(),
    };
    let object_names = first_of(archive, &[OBJECTS])?.filter(|names| names.rows() == n).map(|names| texts(&names));
    let label = match first_of(archive, &TRUTHS)? {
        Some(label) => Some(column_of(path, &label, "label", Some(n))?),
        None => None,
    };
    Ok(SparseTable { columns, values, object_names, label })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> SparseTable {
        SparseTable {
            columns: ["cat", "döner", "a, b"].map(str::to_owned).to_vec(),
            values: CsMat::new((4, 3), vec![0, 2, 2, 3, 4], vec![0, 2, 1, 0], vec![0.5, -1e-300, 3.0, 7.25]),
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
        assert_eq!(read_sparse_table(&file, MemoryBudget::UNLIMITED).unwrap(), table());
        let wrong = write_sparse_table(&folder.path().join("t.csv"), &table()).unwrap_err().to_string();
        assert!(wrong.contains(".npz"), "{wrong}");
    }

    #[test]
    fn matrices_of_scipy_are_tables() {
        let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
        let table = read_sparse_table(&data.join("sparse.npz"), MemoryBudget::UNLIMITED).unwrap();
        assert_eq!((table.values.shape(), table.columns.len(), table.label), ((3, 4), 4, None));
        assert_eq!(table.values.get(0, 3), Some(&65_535.0));
        assert!(!is_sparse_table(&data.join("plain.npz")));
    }
}
