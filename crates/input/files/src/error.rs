//! What can be wrong with a file.
//!
//! What is wrong with one value is a line of [`WrongValue`]; what is wrong with a file is said where it is found, by
//! [`FileError::content`].

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use partita_core::{BudgetError, EnsembleError, on_one_line, option};

use crate::value_kind::ValueKind;

/// What is mostly given by this crate.
pub(crate) type Result<T, E = FileError> = std::result::Result<T, E>;

/// A file that cannot be read or written. Every message is one line that names the file, the row, the column
/// and the value as far as they are known, and says what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// There is no such file.
    #[error("{}: no such file; check the name and the folder", .0.display())]
    Missing(PathBuf),
    /// A folder where a file is meant.
    #[error("{} is a folder, not a file; name a file in it, or a folder of Parquet, Arrow or NPY files", .0.display())]
    Directory(PathBuf),
    /// The name ends in nothing that is known.
    #[error("{}: unknown kind of file; the name must end in {known}", .path.display())]
    Extension {
        /// The file.
        path: PathBuf,
        /// Endings that would do.
        known: String,
    },
    /// A column that was asked for is not there.
    #[error("{} has no column '{}'; {}", .path.display(), on_one_line(.column), listed(.known, "it has no named columns"))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        column: String,
        /// The columns there are, nearest name first.
        known: Vec<String>,
    },
    /// A value that cannot be what its column is taken for.
    #[error("{cell} {}", .wrong.text(&shown(&.cell.column)))]
    Value {
        /// The value.
        cell: Cell,
        /// What is wrong with it.
        wrong: WrongValue,
    },
    /// What the file holds cannot be used, or not all of it is there.
    #[error("{}{reason}", .path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the remedy, as it follows the name of the file.
        reason: String,
    },
    /// The labels do not make an ensemble.
    #[error("{}: {}", .path.display(), on_one_line(&.source.to_string()))]
    Ensemble {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: EnsembleError,
    },
    /// More memory than allowed.
    #[error("{}: {source}", .path.display())]
    Budget {
        /// The file.
        path: PathBuf,
        /// The two sizes.
        source: BudgetError,
    },
    /// The system refused.
    #[error("{}: cannot {doing}: {}", .path.display(), refusal(.source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
}

/// What is wrong with a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WrongValue {
    /// It is text where a number is meant; what people read it as, if that is a number.
    NotANumber(Option<ValueKind>),
    /// It is NaN or infinity where a number is meant.
    NotFinite,
    /// It is an empty field where a number is meant.
    Missing,
    /// It is a number that is not a label.
    NotALabel,
    /// It is a number that is not a share.
    NotAShare,
}

impl WrongValue {
    fn text(self, column: &str) -> String {
        let text = match self {
            Self::NotANumber(Some(kind)) => {
                return format!("is {kind}, not a plain number; {}", kind.remedy(column));
            }
            Self::NotANumber(None) => {
                return format!(
                    "is not a number; correct it, leave the column out ({}), or make columns of its words ({}); if it holds the \
                     classes name it with {}, if the names of the objects with {}",
                    option("skip").naming(column),
                    option("encode").to("one-hot"),
                    option("truth").naming(column),
                    option("id").naming(column)
                );
            }
            Self::NotFinite => {
                return format!(
                    "is not finite; replace it by a number, leave the row or the column out, or say that it is missing ({})",
                    option("missing")
                );
            }
            Self::Missing => {
                return format!(
                    "is missing; fill it in, take the mean of the column ({}), or leave the row or the column out",
                    option("impute").to("mean")
                );
            }
            Self::NotALabel => {
                return format!(
                    "is not a cluster number: whole numbers from 0 are labels, -1, NaN and empty fields are missing; for shares \
                     of objects in clusters say {}",
                    option("soft-bases").on()
                );
            }
            Self::NotAShare => {
                "is not a share between 0 and 1; divide rows by their sums, or give labels"
            }
        };
        text.to_owned()
    }
}

impl FileError {
    /// The system's answer as an error about a file.
    pub(crate) fn io(path: &Path, doing: &'static str, source: io::Error) -> Self {
        match source.kind() {
            io::ErrorKind::NotFound if doing == READ => Self::Missing(path.into()),
            io::ErrorKind::IsADirectory => Self::Directory(path.into()),
            io::ErrorKind::UnexpectedEof => {
                Self::damaged(path, "the file ends too early; copy or write it again")
            }
            // What the system refuses has a number; the rest is what decoders say.
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput | io::ErrorKind::Other
                if doing == READ && source.raw_os_error().is_none() =>
            {
                Self::damaged(
                    path,
                    format!("the file is damaged ({source}); copy or write it again"),
                )
            }
            _ => Self::Io {
                path: path.into(),
                doing,
                source,
            },
        }
    }

    /// As [`io`](Self::io), while reading.
    pub(crate) fn reading(path: &Path) -> impl Fn(io::Error) -> Self + Copy {
        move |source| Self::io(path, READ, source)
    }

    /// What is wrong with a file and the remedy, as it follows the name of the file.
    pub(crate) fn content(path: &Path, reason: impl AsRef<str>) -> Self {
        Self::Content {
            path: path.into(),
            reason: on_one_line(reason.as_ref()),
        }
    }

    /// As [`content`](Self::content), behind a colon.
    pub(crate) fn damaged(path: &Path, reason: impl AsRef<str>) -> Self {
        Self::content(path, format!(": {}", reason.as_ref()))
    }

    pub(crate) fn empty(path: &Path) -> Self {
        Self::content(path, " is empty; a file needs at least one row of values")
    }

    pub(crate) fn no_rows(path: &Path) -> Self {
        Self::content(path, " has a header line but no rows below it")
    }

    /// An archive holds nothing called so.
    pub(crate) fn no_array(path: &Path, array: &str, known: &[String]) -> Self {
        let mut known = listed(known, "it has no arrays");
        if known.contains('\'') {
            known.push_str("; rename the one that is meant");
        }
        Self::content(path, format!(" has no array '{array}'; {known}"))
    }

    /// Columns, but none with a base clustering.
    pub(crate) fn no_bases(path: &Path, columns: usize) -> Self {
        let reason =
            format!(" has no base clustering: its {columns} columns hold names, classes or parts");
        Self::content(path, reason)
    }

    /// Several columns could be the labels.
    pub(crate) fn ambiguous(path: &Path, columns: &[String]) -> Self {
        let known = listed(columns, "it has no named columns");
        let reason = format!("which column holds the labels? Name it: FILE:COLUMN; {known}");
        Self::damaged(path, reason)
    }

    /// Something of another type or shape than needed.
    pub(crate) fn kind(
        path: &Path,
        what: impl fmt::Display,
        found: impl fmt::Display,
        expected: impl fmt::Display,
    ) -> Self {
        Self::damaged(path, format!("{what} is {found}; {expected} is needed"))
    }

    /// A column whose type is not read.
    #[cfg(any(feature = "parquet", feature = "arrow"))]
    pub(crate) fn unusual_type(path: &Path, column: &str, is_time: bool) -> Self {
        let found = if is_time {
            "dates or times"
        } else {
            "values of a nested or unusual type"
        };
        Self::damaged(
            path,
            format!(
                "column '{column}' holds {found}; leave it out ({}), or write it as numbers or texts",
                option("skip").naming(column)
            ),
        )
    }

    pub(crate) fn value(cell: Cell, wrong: WrongValue) -> Self {
        Self::Value { cell, wrong }
    }

    /// A text where a number is meant.
    pub(crate) fn not_a_number(cell: Cell) -> Self {
        let wrong = WrongValue::NotANumber(ValueKind::of(&cell.value));
        Self::value(cell, wrong)
    }

    /// What an ensemble lacks that was read from a file.
    pub(crate) fn ensemble(path: &Path) -> impl Fn(EnsembleError) -> Self {
        move |source| Self::Ensemble {
            path: path.into(),
            source,
        }
    }
}

/// What `doing` says while reading.
pub(crate) const READ: &str = "read";
/// What `doing` says while writing.
pub(crate) const WRITE: &str = "write";

/// One value and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Cell {
    /// The file.
    pub path: PathBuf,
    /// The row.
    pub row: Row,
    /// Name of the column.
    pub column: String,
    /// The value as it is written.
    pub value: String,
}

impl Cell {
    pub(crate) fn new(path: &Path, row: Row, column: &str, value: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            row,
            column: column.into(),
            value: value.into(),
        }
    }
}

/// Where a row is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Row {
    /// Line of a text file, from 1, header included.
    Line(u64),
    /// Row of an array or a table, from 1.
    Row(u64),
}

impl Row {
    /// The line or the row.
    pub(crate) fn number(self) -> u64 {
        match self {
            Self::Line(number) | Self::Row(number) => number,
        }
    }
}

impl Row {
    /// The same row of a table below so many others; lines are those of the file.
    pub(crate) fn after(self, rows: u64) -> Self {
        match self {
            Self::Line(_) => self,
            Self::Row(row) => Self::Row(rows + row),
        }
    }
}

impl fmt::Display for Row {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Row(row) => write!(f, "row {row}"),
        }
    }
}

impl fmt::Display for Cell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{}, {}, column '{}': '{}'",
            self.path.display(),
            self.row,
            on_one_line(&self.column),
            shown(&self.value)
        )
    }
}

/// A value on one line, cut where it gets long.
pub(crate) fn shown(value: &str) -> String {
    const LONG: usize = 40;
    let mut text: String = value
        .chars()
        .take(LONG)
        .flat_map(char::escape_debug)
        .collect();
    if value.chars().nth(LONG).is_some() {
        text.push('…');
    }
    text
}

/// The names that exist, the first few of them, or that there is none.
fn listed(names: &[String], none: &str) -> String {
    const MANY: usize = 8;
    if names.is_empty() {
        return none.to_owned();
    }
    let first = names.iter().take(MANY);
    let first: Vec<String> = first.map(|name| format!("'{}'", shown(name))).collect();
    let mut text = format!("it has {}", first.join(", "));
    if names.len() > MANY {
        let _ = write!(text, " and {} more", names.len() - MANY);
    }
    text
}

/// What the system said, without its error number.
fn refusal(source: &io::Error) -> String {
    let known = match source.kind() {
        io::ErrorKind::PermissionDenied => "no permission; choose another place or change its mode",
        io::ErrorKind::StorageFull => "the disk is full; free some space or choose another disk",
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only; choose another place",
        io::ErrorKind::NotFound => "the folder does not exist; make it first",
        _ => return on_one_line(&source.to_string()),
    };
    known.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_stay_on_one_line() {
        let cell = Cell::new(
            Path::new("a.csv"),
            Row::Line(7),
            "x",
            format!("two\nlines {}", "z".repeat(60)),
        );
        let message = FileError::not_a_number(cell).to_string();
        assert!(
            message.starts_with("a.csv, line 7, column 'x': 'two\\nlines zzz"),
            "{message}"
        );
        assert!(!message.contains('\n') && message.contains("…' is not a number; "));
    }

    #[test]
    fn the_nearest_column_comes_first_and_long_lists_are_cut() {
        let known: Vec<String> = (0..10).map(|i| format!("f{i}")).collect();
        let error = FileError::NoColumn {
            path: "a.csv".into(),
            column: "f".into(),
            known,
        };
        assert!(
            error
                .to_string()
                .ends_with("it has 'f0', 'f1', 'f2', 'f3', 'f4', 'f5', 'f6', 'f7' and 2 more")
        );
    }
}
