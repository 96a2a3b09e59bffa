//! What can be wrong with a file.

use std::fmt::{self, Write as _};
use std::io;
use std::path::{Path, PathBuf};

use partita_core::{BudgetError, EnsembleError, on_one_line};

use crate::number::Short;
use crate::odd_number::OddNumber;

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
    /// Not one byte.
    #[error("{} is empty; a file needs at least one row of values", .0.display())]
    Empty(PathBuf),
    /// A header line and nothing below it.
    #[error("{} has a header line but no rows below it", .0.display())]
    NoRows(PathBuf),
    /// The name ends in nothing that is known.
    #[error("{}: unknown kind of file; the name must end in {known}", .path.display())]
    Extension {
        /// The file.
        path: PathBuf,
        /// Endings that would do.
        known: String,
    },
    /// A row is longer or shorter than the first.
    #[error(
        "{}, line {line}: {found} fields where the first line has {expected}; check delimiter and quotes (the delimiter is taken to be '{}')",
        .path.display(), .delimiter.escape_default()
    )]
    Ragged {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// Fields in this row.
        found: usize,
        /// Fields in the first row.
        expected: usize,
        /// What separates fields.
        delimiter: char,
    },
    /// A first line of one field above longer rows.
    #[error(
        "{}, line {line}: {found} fields where the first line has 1; if that is a title or a comment take it out of the file",
        .path.display()
    )]
    Title {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
        /// Fields in this row.
        found: usize,
    },
    /// A quote that is never closed.
    #[error("{}, line {line}: a quote is opened and not closed in its row; close it, or double a quote that is meant", .path.display())]
    OpenQuote {
        /// The file.
        path: PathBuf,
        /// Line number, from 1.
        line: u64,
    },
    /// One column, in which something seems to separate fields.
    #[error(
        "{}: one column, and every line holds '{found}' as often; if it separates fields give --delimiter '{found}', else \
         --delimiter ','",
        .path.display()
    )]
    OneColumn {
        /// The file.
        path: PathBuf,
        /// What may separate fields.
        found: char,
    },
    /// The first line holds labels.
    #[error(
        "{}: the first line seems to hold labels, not names ('{}' is a label of column {column} too); give --no-header, or \
         name the columns in the first line",
        .path.display(), shown(.value)
    )]
    NoHeader {
        /// The file.
        path: PathBuf,
        /// Position of the column, from 1.
        column: usize,
        /// What stands in the first line and below.
        value: String,
    },
    /// Several columns could be the labels.
    #[error("{}: which column holds the labels? Name it: FILE:COLUMN; {}", .path.display(), Known(.columns))]
    Ambiguous {
        /// The file.
        path: PathBuf,
        /// The columns that could be meant.
        columns: Vec<String>,
    },
    /// Two columns of one name.
    #[error("{}: columns {first} and {second} are both called '{}'; rename one", .path.display(), on_one_line(.name))]
    TwoColumns {
        /// The file.
        path: PathBuf,
        /// The name.
        name: String,
        /// Position of the first, from 1.
        first: usize,
        /// Position of the second, from 1.
        second: usize,
    },
    /// Text where a number is meant.
    #[error(
        "{0} is not a number; correct it, leave the column out (--skip), or make columns of its words (--encode one-hot); if it \
         holds the classes name it with --truth, if the names of the objects with --id"
    )]
    NotANumber(Cell),
    /// Dates, percents, amounts of money or numbers in another notation where a number is meant.
    #[error("{cell} is {kind}, not a plain number; {}", .kind.remedy(&shown(&.cell.column)))]
    OddNumber {
        /// The value.
        cell: Cell,
        /// What it is.
        kind: OddNumber,
    },
    /// Amounts of money, percents or numbers in another notation where labels are meant.
    #[error(
        "{}: the labels of column '{}' ('{}') are each {kind}, not clusters; {}",
        .path.display(), on_one_line(.column), shown(.value), .kind.remedy(&shown(.column))
    )]
    OddLabels {
        /// The file.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// The first of the labels.
        value: String,
        /// What they are.
        kind: OddNumber,
    },
    /// Words that become too many columns.
    #[error(
        "{}: column '{}' has {categories} different values, more than --max-categories {most}; leave it out (--skip '{}'), or allow \
         that many",
        .path.display(), on_one_line(.column), on_one_line(.column)
    )]
    TooManyCategories {
        /// The file.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// Different values.
        categories: usize,
        /// How many are allowed.
        most: usize,
    },
    /// NaN or infinity where a number is meant.
    #[error("{0} is not finite; replace it by a number or leave the row or the column out")]
    NotFinite(Cell),
    /// An empty field where a number is meant.
    #[error(
        "{0} is missing; fill it in, take the mean of the column (--impute mean), or leave the row or the column out"
    )]
    NoValue(Cell),
    /// A number that is not a label.
    #[error(
        "{0} is not a cluster number: whole numbers from 0 are labels, -1, NaN and empty fields are missing; for shares of \
         objects in clusters say --soft-bases"
    )]
    NotALabel(Cell),
    /// A number that is not a share.
    #[error("{0} is not a share between 0 and 1; divide rows by their sums, or give labels")]
    NotAShare(Cell),
    /// No feature varies.
    #[error(
        "{}: every feature is constant over all {rows} rows (column '{}' is always {}); there is nothing to cluster",
        .path.display(), on_one_line(.column), Short(*.value)
    )]
    Constant {
        /// The file.
        path: PathBuf,
        /// Rows.
        rows: usize,
        /// Name of the first feature.
        column: String,
        /// Its value.
        value: f64,
    },
    /// A table of one object.
    #[error("{} has one row; clustering needs at least two objects", .0.display())]
    OneRow(PathBuf),
    /// A table without features.
    #[error("{} has no feature: {why}", .path.display())]
    NoFeatures {
        /// The file.
        path: PathBuf,
        /// What its columns are instead.
        why: String,
    },
    /// A column that was asked for is not there.
    #[error("{} has no column '{}'; {}", .path.display(), on_one_line(.column), Known(.known))]
    NoColumn {
        /// The file.
        path: PathBuf,
        /// The column asked for.
        column: String,
        /// The columns there are, nearest name first.
        known: Vec<String>,
    },
    /// An archive holds nothing called so.
    #[error("{} has no array '{}'; {}", .path.display(), on_one_line(.array), Arrays(.known))]
    NoArray {
        /// The file.
        path: PathBuf,
        /// The array looked for.
        array: String,
        /// The arrays there are.
        known: Vec<String>,
    },
    /// Columns, but none with a base clustering.
    #[error("{} has no base clustering: its {columns} columns hold names, classes or parts", .path.display())]
    NoBases {
        /// The file.
        path: PathBuf,
        /// Columns in it.
        columns: usize,
    },
    /// The labels do not make an ensemble.
    #[error("{}: {}", .path.display(), on_one_line(&.source.to_string()))]
    Ensemble {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: EnsembleError,
    },
    /// The numbers do not make a soft partition.
    #[error(
        "{}, row {row}: the numbers sum to {} and the smallest is {}; each row must hold probabilities that sum to 1",
        .path.display(), Short(*.sum), Short(*.smallest)
    )]
    Soft {
        /// The file.
        path: PathBuf,
        /// The row, from 1.
        row: usize,
        /// Sum of the row.
        sum: f64,
        /// Smallest number of the row.
        smallest: f64,
    },
    /// The bytes are not what the name says, or not all of them are there.
    #[error("{}: {reason}", .path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// Something of another type or shape than needed.
    #[error("{}: {what} is {found}; {expected} is needed", .path.display())]
    Kind {
        /// The file.
        path: PathBuf,
        /// An array or a column.
        what: String,
        /// What it is.
        found: String,
        /// What it should be.
        expected: &'static str,
    },
    /// A column of a type that is neither numbers nor texts.
    #[error(
        "{}: column '{}' holds {found}; leave it out (--skip '{}'), or write it as numbers or texts",
        .path.display(), on_one_line(.column), on_one_line(.column)
    )]
    ColumnType {
        /// The file.
        path: PathBuf,
        /// Name of the column.
        column: String,
        /// What it holds.
        found: &'static str,
    },
    /// What is to be written cannot be read back from a file of this kind.
    #[error("{}: {reason}; write an .npz file instead", .path.display())]
    Unwritable {
        /// The file.
        path: PathBuf,
        /// What would be lost.
        reason: String,
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
    #[error("{}: cannot {doing}: {}", .path.display(), Reason(.source))]
    Io {
        /// The file.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        source: io::Error,
    },
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
            io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput if doing == READ => {
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

    pub(crate) fn damaged(path: &Path, reason: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.into(),
            reason: on_one_line(&reason.into()),
        }
    }

    /// A text where a number is meant.
    pub(crate) fn not_a_number(cell: Cell) -> Self {
        match OddNumber::of(&cell.value) {
            Some(kind) => Self::OddNumber { cell, kind },
            None => Self::NotANumber(cell),
        }
    }

    /// A column whose type is not read.
    #[cfg(any(feature = "parquet", feature = "arrow"))]
    pub(crate) fn unusual_type(path: &Path, column: &str, is_time: bool) -> Self {
        let found = if is_time {
            "dates or times"
        } else {
            "values of a nested or unusual type"
        };
        Self::ColumnType {
            path: path.into(),
            column: column.into(),
            found,
        }
    }

    pub(crate) fn kind(
        path: &Path,
        what: impl Into<String>,
        found: impl Into<String>,
        expected: &'static str,
    ) -> Self {
        Self::Kind {
            path: path.into(),
            what: on_one_line(&what.into()),
            found: on_one_line(&found.into()),
            expected,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

/// The names that exist, the first few of them.
struct Known<'a>(&'a [String]);

impl fmt::Display for Known<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0.is_empty() {
            f.write_str("it has no named columns")
        } else {
            write!(f, "it has {}", list(self.0))
        }
    }
}

/// The arrays that exist, the first few of them.
struct Arrays<'a>(&'a [String]);

impl fmt::Display for Arrays<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            [] => f.write_str("it has no arrays"),
            names => write!(f, "it has {}; rename the one that is meant", list(names)),
        }
    }
}

fn list(names: &[String]) -> String {
    const MANY: usize = 8;
    let mut text = names
        .iter()
        .take(MANY)
        .map(|name| format!("'{}'", shown(name)))
        .collect::<Vec<_>>()
        .join(", ");
    if names.len() > MANY {
        let _ = write!(text, " and {} more", names.len() - MANY);
    }
    text
}

/// What the system said, without its error number.
struct Reason<'a>(&'a io::Error);

impl fmt::Display for Reason<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.kind() {
            io::ErrorKind::PermissionDenied => {
                f.write_str("no permission; choose another place or change its mode")
            }
            io::ErrorKind::StorageFull => {
                f.write_str("the disk is full; free some space or choose another disk")
            }
            io::ErrorKind::ReadOnlyFilesystem => {
                f.write_str("the disk is read-only; choose another place")
            }
            io::ErrorKind::NotFound => f.write_str("the folder does not exist; make it first"),
            _ => f.write_str(&on_one_line(&self.0.to_string())),
        }
    }
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
        let message = FileError::NotANumber(cell).to_string();
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
