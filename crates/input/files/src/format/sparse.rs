//! Sparse matrices in NPZ, as `scipy.sparse.save_npz` writes them: counts in compressed rows, and what other layouts share with these.

use std::borrow::Cow;
use std::path::Path;

use partita_core::MemoryBudget;

use super::npy_header::word;
use super::npz::{Npz, write_arrays};
use super::reader::{Column, Form, Limit, Reader, first_of};
use super::writer::{Array, Elements};
use crate::atomic_write::write_whole;
use crate::error::{FileError, Result};
use crate::typed_array::{Scalar, TypedArray};

/// A sparse matrix of counts in compressed rows: the values of row `i` and their columns stand at
/// `starts[i]..starts[i + 1]`. Whoever reads one checks nothing more than that.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseCounts<'a> {
    /// Rows and columns.
    pub shape: (usize, usize),
    /// Where every row starts, and where the last ends (SciPy: `indptr`); one more than the rows.
    pub starts: Cow<'a, [usize]>,
    /// The column of every value (SciPy: `indices`).
    pub columns: Cow<'a, [u32]>,
    /// The values (SciPy: `data`).
    pub values: Cow<'a, [u16]>,
    /// Arrays of any length that lie beside the matrix under names of their own, which SciPy passes over. None is empty.
    pub beside: Vec<(String, Cow<'a, [u16]>)>,
}

const FORMAT: &str = "format";
/// The member that names the layout: an array of no dimension.
pub(super) const FORMAT_MEMBER: &str = "format.npy";
const OURS: [&str; 5] = [FORMAT, "shape", "indptr", "indices", "data"];

/// Writes a sparse matrix that `scipy.sparse.load_npz` reads (unsigned values of two bytes). The same matrix gives the
/// same bytes.
///
/// # Errors
/// [`FileError::Io`] when the system refuses.
///
/// # Cost
/// O(stored values) time, no memory.
pub fn write_sparse_npz(path: &Path, matrix: &SparseCounts<'_>) -> Result<(), FileError> {
    let SparseCounts {
        shape,
        starts,
        columns,
        values,
        beside,
    } = matrix;
    write_whole(path, |out| {
        let mut arrays = place_arrays(*shape, starts, columns.len(), columns.iter().copied());
        arrays.push(("data", counts(values)));
        arrays.extend(
            beside
                .iter()
                .map(|(name, values)| (name.as_str(), counts(values))),
        );
        write_arrays(out, arrays)
    })
}

fn counts(values: &[u16]) -> Array<'_> {
    Array::new(
        [values.len()],
        Elements::U16(Box::new(values.iter().copied())),
    )
}

/// Everything of a matrix in compressed rows but its values.
pub(crate) fn place_arrays<'a>(
    shape: (usize, usize),
    starts: &'a [usize],
    stored: usize,
    columns: impl Iterator<Item = u32> + 'a,
) -> Vec<(&'a str, Array<'a>)> {
    let sides = [shape.0 as i64, shape.1 as i64];
    // SciPy wants both in the same type, and takes the shorter one where it can.
    let (indptr, indices) = if stored.max(shape.0).max(shape.1) > i32::MAX as usize {
        let starts = starts.iter().map(|&start| start as i64);
        (
            Elements::I64(Box::new(starts)),
            Elements::I64(Box::new(columns.map(i64::from))),
        )
    } else {
        let starts = starts.iter().map(|&start| start as i32);
        (
            Elements::I32(Box::new(starts)),
            Elements::I32(Box::new(columns.map(|column| column as i32))),
        )
    };
    vec![
        (FORMAT_MEMBER, Array::bytes(word("csr"))),
        (
            "shape",
            Array::new([2], Elements::I64(Box::new(sides.into_iter()))),
        ),
        ("indptr", Array::new([starts.len()], indptr)),
        ("indices", Array::new([stored], indices)),
    ]
}

/// Reads a sparse matrix of counts in compressed rows that [`write_sparse_npz`] or `scipy.sparse.save_npz` wrote.
///
/// # Errors
/// [`FileError`] when the file is not such a matrix, a value is not a whole number of 0 to 65,535, a column is out of range,
/// or the matrix does not fit the budget.
///
/// # Cost
/// O(stored values) time; the file's arrays one after the other, unpacked, and the matrix.
pub fn read_sparse_npz(
    path: &Path,
    budget: MemoryBudget,
) -> Result<SparseCounts<'static>, FileError> {
    let archive = Npz::open(path)?;
    let limit = limit(budget);
    check_format(&archive)?;
    let places = read_places(&archive, shape(&archive, &limit)?, &limit)?;
    let values: Vec<u16> = match places.array(&archive, "data", &limit)? {
        Some(data) => numbers(&archive, "data", &data)?,
        None => Vec::new(),
    };
    places.check(path, values.len())?;
    let beside = beside(&archive, &limit)?;
    let Places {
        shape,
        starts,
        columns,
    } = places;
    Ok(SparseCounts {
        shape,
        starts: starts.into(),
        columns: columns.into(),
        values: values.into(),
        beside,
    })
}

pub(crate) fn limit(budget: MemoryBudget) -> Limit {
    let remedy = "raise the limit or store fewer values";
    Limit::new(budget, "the sparse matrix", remedy)
}

/// Everything of a matrix in compressed rows but its values.
pub(crate) struct Places {
    pub(crate) shape: (usize, usize),
    pub(crate) starts: Vec<usize>,
    pub(crate) columns: Vec<u32>,
}

/// Rows and columns.
pub(crate) fn shape(archive: &dyn Reader, limit: &Limit) -> Result<(usize, usize)> {
    let shape = numbers::<u64>(archive, "shape", &needed(archive, "shape", limit)?)?;
    match shape[..] {
        [rows, columns] => Ok((rows as usize, columns as usize)),
        _ => Err(FileError::damaged(
            archive.path(),
            format!("'shape' has {} numbers; a matrix has two", shape.len()),
        )),
    }
}

/// Everything of a matrix in compressed rows of this shape but its values.
pub(crate) fn read_places(
    archive: &dyn Reader,
    shape: (usize, usize),
    limit: &Limit,
) -> Result<Places> {
    let path = archive.path();
    let starts: Vec<usize> = numbers(archive, "indptr", &needed(archive, "indptr", limit)?)?;
    let stored = starts.last().copied().unwrap_or(0);
    limit.check(
        path,
        (8 * starts.len() as u64).saturating_add((stored as u64).saturating_mul(14)),
    )?;
    let mut places = Places {
        shape,
        starts,
        columns: Vec::new(),
    };
    if let Some(indices) = places.array(archive, "indices", limit)? {
        places.columns = numbers(archive, "indices", &indices)?;
    }
    Ok(places)
}

impl Places {
    /// An array of one element a stored value; none where nothing is stored, which no other reader of arrays takes.
    pub(crate) fn array(
        &self,
        archive: &dyn Reader,
        name: &str,
        limit: &Limit,
    ) -> Result<Option<TypedArray>> {
        let found = needed(archive, name, limit);
        if self.starts.last().is_none_or(|&stored| stored == 0)
            && found.is_err()
            && first_of(archive, &[name]).is_some()
        {
            return Ok(None);
        }
        found.map(Some)
    }

    /// Refuses arrays that do not fit together.
    pub(crate) fn check(&self, path: &Path, values: usize) -> Result<()> {
        let Self {
            shape,
            starts,
            columns,
        } = self;
        let stored = starts.last().copied().unwrap_or(0);
        let starts_fit =
            starts.len().checked_sub(1) == Some(shape.0) && starts[0] == 0 && starts.is_sorted();
        if !starts_fit || columns.len() != stored || values != stored {
            return Err(FileError::damaged(
                path,
                "its arrays do not fit together; write it again with save_npz",
            ));
        }
        if u32::try_from(shape.1).is_err() {
            let message = format!(
                "it claims {} columns, more than are read (2³² − 1); write it again with save_npz",
                shape.1
            );
            return Err(FileError::damaged(path, message));
        }
        match columns.iter().find(|&&column| column as usize >= shape.1) {
            Some(column) => Err(FileError::damaged(
                path,
                format!("a value stands in column {column} of {}", shape.1),
            )),
            None => Ok(()),
        }
    }
}

/// Refuses what is not in compressed rows.
fn check_format(archive: &dyn Reader) -> Result<()> {
    match layout_word(archive)? {
        Some(word) if word == "csr" => Ok(()),
        Some(word) => Err(FileError::kind(
            archive.path(),
            "the sparse matrix",
            format!("in the layout '{word}'"),
            "compressed rows (matrix.tocsr())",
        )),
        None => Err(FileError::no_array(archive.path(), FORMAT, archive.names())),
    }
}

/// The layout of a sparse matrix, as SciPy names it; none where an archive is something else.
pub(crate) fn layout_word(archive: &dyn Reader) -> Result<Option<String>> {
    let Some(bytes) = archive.note(FORMAT_MEMBER)? else {
        return Ok(None);
    };
    // One word of bytes or of characters of four bytes, after a header that ends in a line break.
    let text = bytes
        .iter()
        .rposition(|&byte| byte == b'\n')
        .map_or(&bytes[..], |end| &bytes[end + 1..]);
    let word: Vec<u8> = text.iter().copied().filter(|&byte| byte != 0).collect();
    Ok(Some(String::from_utf8_lossy(&word).into_owned()))
}

/// An array that has to be there.
pub(crate) fn needed(archive: &dyn Reader, name: &str, limit: &Limit) -> Result<TypedArray> {
    let missing = || FileError::no_array(archive.path(), name, archive.names());
    let item = first_of(archive, &[name]).ok_or_else(missing)?;
    match archive.read_whole(item, Form::Text, limit)? {
        Column::Array(array) => Ok(array),
        _ => Err(missing()),
    }
}

/// An array beside the matrix.
type Named<'a> = (String, Cow<'a, [u16]>);

fn beside(archive: &dyn Reader, limit: &Limit) -> Result<Vec<Named<'static>>> {
    let others = archive
        .names()
        .iter()
        .filter(|name| !OURS.contains(&name.as_str()));
    let read = |name: &String| {
        let values: Vec<u16> = numbers(archive, name, &needed(archive, name, limit)?)?;
        Ok((name.clone(), values.into()))
    };
    others.map(read).collect()
}

/// A column of whole numbers that fit the type.
pub(crate) fn numbers<T: TryFrom<u64>>(
    archive: &dyn Reader,
    name: &str,
    array: &TypedArray,
) -> Result<Vec<T>> {
    // Whole numbers up to 2^53 are exact.
    let number = |row: usize| {
        let value = array.scalar(row, 0).map(Scalar::float);
        let whole = value.filter(|&value| (0.0..9e15).contains(&value) && value.fract() == 0.0);
        whole
            .and_then(|value| T::try_from(value as u64).ok())
            .ok_or_else(|| {
                let text = array.text(row, 0);
                let reason = format!(
                    "value {} of array '{name}' is {text}; counts are whole numbers to 65535",
                    row + 1
                );
                FileError::damaged(archive.path(), reason)
            })
    };
    (0..array.rows).map(number).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::testing::{assert_says, stored};

    fn small() -> SparseCounts<'static> {
        SparseCounts {
            shape: (3, 4),
            starts: vec![0, 2, 2, 3].into(),
            columns: vec![0, 3, 1].into(),
            values: vec![7, 65_535, 0].into(),
            beside: vec![("seen".into(), vec![9, 65_535, 1].into())],
        }
    }

    fn read(path: &Path) -> Result<SparseCounts<'static>> {
        read_sparse_npz(path, MemoryBudget::UNLIMITED)
    }

    #[test]
    fn matrices_read_back_and_repeat_byte_by_byte() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["a.npz", "b.npz"].map(|name| folder.path().join(name));
        for file in &files {
            write_sparse_npz(file, &small()).unwrap();
            assert_eq!(read(file).unwrap(), small());
        }
        assert_eq!(fs::read(&files[0]).unwrap(), fs::read(&files[1]).unwrap());
        let empty = SparseCounts {
            starts: vec![0; 4].into(),
            columns: Cow::default(),
            values: Cow::default(),
            beside: vec![],
            ..small()
        };
        write_sparse_npz(&files[0], &empty).unwrap();
        assert_eq!(read(&files[0]).unwrap(), empty);
    }

    #[test]
    fn matrices_of_scipy_are_read() {
        let expected = SparseCounts {
            beside: Vec::new(),
            ..small()
        };
        assert_eq!(read(&stored("sparse.npz")).unwrap(), expected);
        for (name, expected) in [
            ("sparse-columns.npz", "'csc'; compressed rows"),
            ("sparse-halves.npz", "value 1 of array 'data' is 0.5"),
            ("plain.npz", "has no array 'format'"),
        ] {
            assert_says(read(&stored(name)).unwrap_err(), &[expected]);
        }
    }

    #[test]
    fn what_does_not_fit_together_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.npz");
        let with = |starts: &[usize]| SparseCounts {
            starts: starts.to_vec().into(),
            ..small()
        };
        let narrow = SparseCounts {
            shape: (3, 3),
            ..small()
        };
        for (matrix, budget, expected) in [
            (with(&[0, 2, 1, 3]), u64::MAX, "do not fit together"),
            (with(&[1, 2, 2, 3]), u64::MAX, "do not fit together"),
            (with(&[0, 2, 3]), u64::MAX, "do not fit together"),
            (with(&[0, 2, 2, 4]), u64::MAX, "do not fit together"),
            (with(&[0, 0, 0, 0]), u64::MAX, "do not fit together"),
            (narrow, u64::MAX, "column 3 of 3"),
            (small(), 10, "memory budget is 10 bytes; raise the limit"),
        ] {
            write_sparse_npz(&file, &matrix).unwrap();
            let refused = read_sparse_npz(&file, MemoryBudget::new(budget));
            assert_says(refused.unwrap_err(), &[expected]);
        }
    }

    #[test]
    fn no_bytes_make_the_reader_panic() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("a.npz");
        let whole = fs::read(stored("sparse.npz")).unwrap();
        for at in (0..whole.len()).step_by(5) {
            let flipped = [&whole[..at], &[whole[at] ^ 0x41], &whole[at + 1..]].concat();
            for bytes in [&whole[..at], &flipped] {
                fs::write(&file, bytes).unwrap();
                if let Err(error) = read(&file) {
                    assert!(!error.to_string().contains('\n'), "{error}");
                }
            }
        }
    }
}
