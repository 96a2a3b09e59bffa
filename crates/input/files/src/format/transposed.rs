//! Transposed arrays: rows are columns and columns are rows, as in `members × objects`.

use std::path::Path;

use partita_core::option;

use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use crate::error::{FileError, Result};
use crate::typed_array::TypedArray;

/// A file of arrays in which arrays of several rows and columns are turned.
struct Transposed(Box<dyn Reader>);

/// The same file with its arrays turned.
///
/// # Errors
/// [`FileError::Content`] for columns of one type each, which cannot be rows.
pub(super) fn open(reader: Box<dyn Reader>) -> Result<Box<dyn Reader>> {
    if reader.items().layout == Layout::Columns {
        Err(refused(reader.path()))
    } else {
        Ok(Box::new(Transposed(reader)))
    }
}

/// What is said to files of typed columns.
pub(super) fn refused(path: &Path) -> FileError {
    FileError::kind(
        path,
        format!("what {} turns", option("transpose").on()),
        "a file of typed columns",
        "text or an array",
    )
}

/// Whether an array has rows and columns to be turned.
fn turns(extent: &Extent) -> bool {
    extent.rows() > 1 && extent.columns > 1
}

impl Reader for Transposed {
    fn items(&self) -> &Items {
        self.0.items()
    }

    fn extent(&self, item: usize) -> Result<Extent> {
        let extent = self.0.extent(item)?;
        if !turns(&extent) {
            return Ok(extent);
        }
        Ok(Extent {
            groups: Some(vec![extent.columns]),
            columns: extent.rows() as usize,
            width: extent.width,
        })
    }

    fn read_one(&self, group: usize, item: usize, form: Form, limit: &Limit) -> Result<Column> {
        let extent = self.0.extent(item)?;
        if !turns(&extent) {
            return self.0.read_one(group, item, form, limit);
        }
        let cell = (extent.columns * extent.width) as u64;
        limit.check(&self.items().path, extent.rows().saturating_mul(cell))?;
        Ok(match self.0.read_whole(item, form, limit)? {
            Column::Array(array) => Column::Array(TypedArray {
                rows: array.columns,
                columns: array.rows,
                by_column: !array.by_column,
                ..array
            }),
            other => other,
        })
    }

    fn note(&self, name: &str) -> Result<Option<Vec<u8>>> {
        self.0.note(name)
    }
}
