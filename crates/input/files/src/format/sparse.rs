//! Sparse matrices in NPZ, as `scipy.sparse.save_npz` writes them: where their values stand.

use std::path::Path;

use partita_core::MemoryBudget;

use super::npy_header::word;
use super::reader::{Column, Form, Limit, Reader, first_of};
use super::writer::{Array, Elements};
use crate::error::{FileError, Result};
use crate::typed_array::{Scalar, TypedArray};

/// The member that names the layout: an array of no dimension.
pub(super) const FORMAT_MEMBER: &str = "format.npy";
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
