//! What is said of a file format in the table of formats.

use std::path::Path;

use partita_core::MemoryBudget;

use super::reader::Reader;
use super::text_layout::Header;
use super::writer::Contents;
use crate::error::{FileError, Result};
use crate::open_file::Compression;
use crate::words::MissingWords;

/// How to open a file. Formats that say so themselves need none of it.
#[derive(Clone, Debug, Default)]
pub(crate) struct OpenOptions {
    /// Whether the first line names the columns.
    pub(crate) header: Header,
    /// What separates fields.
    pub(crate) delimiter: Option<char>,
    /// Whether rows are columns and columns are rows.
    pub(crate) transpose: bool,
    /// The sheet of a spreadsheet; the first if absent.
    pub(crate) sheet: Option<String>,
    /// The layer that is read in place of the matrix of an AnnData.
    pub(crate) layer: Option<String>,
    /// The array of `obsm` that is read in place of the matrix of an AnnData.
    pub(crate) obsm: Option<String>,
    /// The columns that stand beside a matrix are wanted, in place of the matrix.
    #[cfg_attr(
        not(feature = "h5ad"),
        expect(dead_code, reason = "no other format has both")
    )]
    pub(crate) labels: bool,
    /// The words that stand for a missing value.
    pub(crate) missing: MissingWords,
    /// The encoding of a text; found out if absent.
    pub(crate) encoding: Option<String>,
    /// Whether every row below the header of a text is an object.
    pub(crate) all_rows: bool,
    /// Whether rows of a text without any value are objects.
    pub(crate) keep_blank: bool,
    /// What may be held while it is found out what the file is.
    pub(crate) budget: MemoryBudget,
    /// Rows may have any number of fields: what is in a file is described, not read.
    pub(crate) any_width: bool,
}

/// What can be written in a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    Nothing,
    /// Tables only.
    Tables,
    /// Tables and ensembles, one column each for what they hold.
    Columns,
    /// Tables, sparse tables and ensembles, as named arrays.
    Arrays,
}

/// Writes contents to a target that has this path, in pieces.
pub(crate) type WriteFn = fn(&Path, Contents<'_>) -> Result<()>;

/// Opens a file.
pub(crate) type OpenFn = fn(&Path, &OpenOptions) -> Result<Box<dyn Reader>>;

/// A file format.
#[derive(Clone, Copy)]
pub(crate) struct Format {
    /// What it is called.
    pub(crate) name: &'static str,
    /// How names of such files end, in lower case.
    pub(crate) endings: &'static [&'static str],
    /// Whether `.gz` or `.zst` may follow.
    pub(crate) packed: bool,
    /// The first bytes of every such file, where all begin alike.
    pub(crate) magic: &'static [&'static [u8]],
    /// Whether groups of rows can be read one at a time, in any order.
    pub(crate) grouped: bool,
    pub(crate) open: OpenFn,
    pub(crate) writes: Writes,
    pub(crate) write: WriteFn,
}

impl Format {
    pub(crate) fn fits(&self, name: &str) -> bool {
        let plain = if self.packed {
            Compression::plain_name(name)
        } else {
            name
        };
        self.endings.iter().any(|ending| plain.ends_with(ending))
    }

    pub(crate) fn begins(&self, bytes: &[u8]) -> bool {
        self.magic.iter().any(|magic| bytes.starts_with(magic))
    }
}

/// What a writer says to contents that are not for it; the callers look at [`Format::writes`] first.
pub(crate) fn unfit(path: &Path) -> FileError {
    FileError::damaged(
        path,
        "a file of this format cannot hold this; let the name end in .npz",
    )
}

/// The writer of a format that is only read.
pub(crate) fn write_nothing(path: &Path, _contents: Contents<'_>) -> Result<()> {
    Err(unfit(path))
}
