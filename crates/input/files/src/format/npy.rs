//! NumPy arrays (NPY) as files of one array, read in blocks of rows.

use std::io::{self, BufReader};
use std::path::Path;

use super::description::{Format, OpenOptions, Writes, unfit};
use super::npy_header::{MAGIC, read_header, write};
use super::reader::{Column, Extent, Form, Items, Layout, Limit, Reader};
use super::writer::Contents;
use crate::atomic_write::write_whole;
use crate::error::{FileError, Result};
use crate::open_file::FileCursor;
use crate::typed_array::{ArrayClaim, Dtype, TypedArray, Values};

pub(crate) const FORMAT: Format = Format {
    name: "NPY",
    endings: &[".npy"],
    packed: false,
    magic: &[MAGIC],
    grouped: true,
    open,
    writes: Writes::Tables,
    write: write_contents,
};

/// Bytes of a block of rows.
const BLOCK: usize = 1 << 22;

struct Npy {
    file: FileCursor,
    items: Items,
    claim: ArrayClaim,
    /// Where the values begin.
    start: u64,
    rows: usize,
    columns: usize,
}

fn open(path: &Path, _options: &OpenOptions) -> Result<Box<dyn Reader>> {
    let file = FileCursor::open(path)?;
    let (claim, start) = read_header(path, "the array", &mut BufReader::new(file.clone()))?;
    claim.bytes(path, file.length().saturating_sub(start))?;
    let (rows, columns) = claim.matrix(path)?;
    let rows = rows as usize;
    let columns = columns as usize;
    Ok(Box::new(Npy {
        file,
        items: Items::new(path, Layout::Arrays, vec![String::new()]),
        claim,
        start,
        rows,
        columns,
    }))
}

impl Npy {
    /// Rows of a full block.
    fn block(&self) -> usize {
        (BLOCK / (self.columns * self.claim.dtype.size())).max(1)
    }

    /// The values of so many cells from a cell on.
    fn values(&self, first: usize, count: usize) -> io::Result<Values> {
        let dtype = self.claim.dtype;
        dtype.read(
            &mut self.file.from(self.start + (first * dtype.size()) as u64),
            count,
        )
    }

    fn rows_of(&self, group: usize) -> io::Result<TypedArray> {
        let first = group * self.block();
        let rows = self.block().min(self.rows - first);
        let values = if self.claim.by_column && rows < self.rows {
            let columns =
                (0..self.columns).map(|column| self.values(column * self.rows + first, rows));
            join(self.claim.dtype, columns)?
        } else {
            self.values(first * self.columns, rows * self.columns)?
        };
        Ok(TypedArray {
            values,
            rows,
            columns: self.columns,
            by_column: self.claim.by_column,
            present: None,
        })
    }
}

/// All values one after the other.
fn join(dtype: Dtype, parts: impl Iterator<Item = io::Result<Values>>) -> io::Result<Values> {
    let mut all = dtype.read(&mut io::empty(), 0)?;
    for part in parts {
        all.extend(part?);
    }
    Ok(all)
}

impl Reader for Npy {
    fn items(&self) -> &Items {
        &self.items
    }

    fn extent(&self, _item: usize) -> Result<Extent> {
        let block = self.block();
        let rows = (0..self.rows)
            .step_by(block)
            .map(|first| block.min(self.rows - first));
        Ok(Extent {
            groups: Some(rows.collect()),
            columns: self.columns,
            width: self.claim.dtype.size(),
        })
    }

    fn read_one(&self, group: usize, _item: usize, _form: Form, _limit: &Limit) -> Result<Column> {
        self.rows_of(group)
            .map(Column::Array)
            .map_err(FileError::reading(&self.items.path))
    }
}

fn write_contents(path: &Path, contents: Contents<'_>) -> Result<()> {
    match contents {
        Contents::Arrays(arrays) => match arrays.into_iter().next() {
            Some((_, array)) => write_whole(path, |out| write(out, array)),
            None => Err(FileError::no_rows(path)),
        },
        Contents::Columns { .. } => Err(unfit(path)),
    }
}
