//! The seam between file formats and what files mean: named columns or arrays, in groups of rows, as typed columns.

use std::path::{Path, PathBuf};

use partita_core::MemoryBudget;

use crate::dictionary::Dictionary;
use crate::error::{FileError, Result};
use crate::typed_array::{ArrayClaim, TypedArray};
use crate::words::MissingCounts;

/// What the names of columns and of objects are called among arrays.
pub(crate) const COLUMNS: &str = "columns";
pub(crate) const OBJECTS: &str = "objects";

/// What the named items of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Layout {
    /// Columns of one table: all have the same rows, and every item is one column.
    Columns,
    /// Arrays that need not fit together, each of one or more columns.
    Arrays,
}

/// The named items of a file.
#[derive(Clone, Debug)]
pub(crate) struct Items {
    pub(crate) path: PathBuf,
    pub(crate) layout: Layout,
    /// Names of the columns or arrays in the order of the file. The one array of a file may have the name "".
    pub(crate) names: Vec<String>,
    /// Whether the file gives these names; otherwise they are positions from 1.
    pub(crate) named: bool,
    /// Whether the file tells numbers from texts.
    pub(crate) typed: bool,
    /// Which items hold words, as far as is known before they are read: by their type, or by their first value.
    pub(crate) words: Vec<bool>,
    /// Which items hold dates or times by their type.
    pub(crate) times: Vec<bool>,
    /// What looks as if it were meant otherwise, and the flag that settles it.
    pub(crate) remarks: Vec<String>,
    /// Semicolons separate the fields of a text, as where commas separate decimals.
    pub(crate) semicolons: bool,
}

impl Items {
    /// Items of a file that gives their names, and tells numbers from texts.
    pub(crate) fn new(path: &Path, layout: Layout, names: Vec<String>) -> Self {
        Self {
            path: path.into(),
            layout,
            names,
            named: true,
            typed: true,
            words: Vec::new(),
            times: Vec::new(),
            remarks: Vec::new(),
            semicolons: false,
        }
    }

    /// What to call an item in a message.
    pub(crate) fn call(&self, item: usize) -> String {
        match (self.layout, self.names[item].as_str()) {
            (Layout::Columns, name) => format!("column '{name}'"),
            (Layout::Arrays, "") => "the array".into(),
            (Layout::Arrays, name) => format!("array '{name}'"),
        }
    }
}

/// The size of an item, as the file claims.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Extent {
    /// Rows of every group; none where only reading tells (text): then there is one group.
    pub(crate) groups: Option<Vec<usize>>,
    pub(crate) columns: usize,
    /// Bytes of one value in memory.
    pub(crate) width: usize,
}

impl Extent {
    /// The size of one column of a file of columns.
    pub(crate) fn of_column(groups: Option<Vec<usize>>) -> Self {
        Self {
            groups,
            columns: 1,
            width: 8,
        }
    }

    /// The size of an array as one group.
    pub(crate) fn of_array(claim: &ArrayClaim, path: &Path) -> Result<Self> {
        let (rows, columns) = claim.matrix(path)?;
        Ok(Self {
            groups: Some(vec![rows as usize]),
            columns: columns as usize,
            width: claim.dtype.size(),
        })
    }

    /// Number of groups.
    pub(crate) fn count(&self) -> usize {
        self.groups.as_ref().map_or(1, Vec::len)
    }

    /// Rows of all groups; 0 where they are not known.
    pub(crate) fn rows(&self) -> u64 {
        self.groups
            .iter()
            .flatten()
            .fold(0, |all: u64, &rows| all.saturating_add(rows as u64))
    }

    /// Bytes of the largest group in memory.
    pub(crate) fn largest(&self) -> u64 {
        let largest = self
            .groups
            .iter()
            .flatten()
            .max()
            .map_or(0, |&rows| rows as u64);
        largest
            .saturating_mul(self.columns as u64)
            .saturating_mul(self.width as u64)
    }
}

/// The form in which text is wanted. What is a number already keeps its type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Form {
    /// Every value spelt out.
    Text,
    /// Every distinct value once.
    Labels,
    /// As [`Labels`](Self::Labels), or as [`Column::Codes`] where that is quicker.
    Codes,
    /// Numbers. Where gaps or words are not allowed, the first one is an error.
    Numbers { gaps: bool, words: bool },
}

impl Form {
    /// Numbers without gaps.
    pub(crate) const NUMBERS: Self = Self::Numbers {
        gaps: false,
        words: false,
    };

    /// What a row takes at least, in bytes, without the letters of its text.
    fn least_bytes(self) -> u64 {
        match self {
            Self::Text => size_of::<String>() as u64,
            Self::Labels | Self::Codes => size_of::<u32>() as u64,
            Self::Numbers { .. } => 1,
        }
    }
}

/// How much may be held of rows whose number only reading tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limit {
    pub(crate) budget: MemoryBudget,
    /// What is being read, for the message.
    pub(crate) what: &'static str,
    pub(crate) remedy: &'static str,
    pub(crate) bytes_per_row: u64,
}

impl Limit {
    /// A limit for what knows its rows before they are read.
    pub(crate) fn new(budget: MemoryBudget, what: &'static str, remedy: &'static str) -> Self {
        Self {
            budget,
            what,
            remedy,
            bytes_per_row: 0,
        }
    }

    /// Refuses more than the budget allows.
    pub(crate) fn check(&self, path: &Path, bytes: u64) -> Result<()> {
        let fits = self.budget.check(self.what, bytes, self.remedy);
        fits.map_err(|source| FileError::Budget {
            path: path.into(),
            source,
        })
    }

    /// Refuses rows that in this form take more than the budget allows, whatever they hold.
    pub(crate) fn check_claim(&self, path: &Path, rows: u64, form: Form) -> Result<()> {
        self.check(path, rows.saturating_mul(form.least_bytes()))
    }

    /// Refuses more rows than the budget allows.
    pub(crate) fn check_rows(&self, path: &Path, rows: u64) -> Result<()> {
        self.check(path, rows.saturating_mul(self.bytes_per_row))
    }
}

/// What has been read of one item.
#[derive(Clone, Debug)]
pub(crate) enum Column {
    /// Texts, empty where there is none.
    Text(Vec<String>),
    /// Texts, every distinct one once.
    Labels(Dictionary),
    /// Numbers out of text: NaN for gaps and words; whether there were words other than those for missing values.
    Parsed {
        values: Vec<f64>,
        words: bool,
        missing: MissingCounts,
        /// A whole number has zeros before it, as codes have.
        padded: bool,
    },
    /// Labels below 255 as they are, 255 for −1 and for nothing.
    #[cfg_attr(
        not(feature = "parquet"),
        expect(dead_code, reason = "no other format gives them")
    )]
    Codes(Vec<u8>),
    /// Numbers or texts of a fixed width in the type that the file has, of one or more columns.
    Array(TypedArray),
}

impl Column {
    pub(crate) fn rows(&self) -> usize {
        match self {
            Self::Text(texts) => texts.len(),
            Self::Labels(labels) => labels.codes().len(),
            Self::Parsed { values, .. } => values.len(),
            Self::Codes(codes) => codes.len(),
            Self::Array(array) => array.rows,
        }
    }

    /// Every value of the first column as it would be printed.
    pub(crate) fn into_texts(self) -> Vec<String> {
        match self {
            Self::Text(texts) => texts,
            Self::Labels(labels) => labels
                .into_values()
                .into_iter()
                .map(Option::unwrap_or_default)
                .collect(),
            Self::Parsed { values, .. } => values
                .iter()
                .map(|&value| crate::number::Short(value).to_string())
                .collect(),
            Self::Codes(codes) => codes
                .iter()
                .map(|&code| match code {
                    u8::MAX => String::new(),
                    label => label.to_string(),
                })
                .collect(),
            Self::Array(array) => array.texts(0).collect(),
        }
    }

    /// The values of the first column, every distinct one once.
    pub(crate) fn into_dictionary(self) -> Dictionary {
        match self {
            Self::Labels(labels) => labels,
            // One text at a time: of many rows texts take ten times what codes take.
            Self::Array(array) => Dictionary::of_texts(array.texts(0)),
            other => Dictionary::of_texts(other.into_texts()),
        }
    }

    /// One value as it would be printed.
    pub(crate) fn into_text(self, row: usize, column: usize) -> String {
        match self {
            Self::Array(array) => array.text(row, column),
            other => other.into_texts().into_iter().nth(row).unwrap_or_default(),
        }
    }

    /// Adds the rows of the next group, which begins at row `start`.
    pub(crate) fn append(&mut self, path: &Path, next: Self, start: usize) -> Result<()> {
        match (self, next) {
            (Self::Text(all), Self::Text(more)) => all.extend(more),
            (Self::Labels(all), Self::Labels(more)) => {
                all.append(&more, more.codes(), start as u64);
            }
            (Self::Array(all), Self::Array(more)) => return all.append(path, more),
            _ => {
                let reason = "the type of a column changes between groups; write the file again";
                return Err(FileError::damaged(path, reason));
            }
        }
        Ok(())
    }
}

/// A file that is open: what is in it is known, its values are read when they are wanted, by any number of threads.
///
/// A format is one file beside this one with a reader, and one line in [`FORMATS`](super::FORMATS).
pub(crate) trait Reader: Send + Sync {
    /// What is known of the file before its values are read.
    fn items(&self) -> &Items;

    /// The size that the file claims for an item, which is no more than the file can hold.
    ///
    /// # Errors
    /// [`FileError`] for an item that cannot be read.
    fn extent(&self, item: usize) -> Result<Extent>;

    /// One item of one group of rows. Nothing is allocated on the word of the file alone.
    ///
    /// # Errors
    /// [`FileError`] names what is damaged, and for text the line, the column and the value that cannot be taken.
    fn read_one(&self, group: usize, item: usize, form: Form, limit: &Limit) -> Result<Column>;

    /// Items of one group of rows, one answer each.
    ///
    /// # Errors
    /// As [`read_one`](Self::read_one).
    fn read(&self, group: usize, wanted: &[(usize, Form)], limit: &Limit) -> Result<Vec<Column>> {
        wanted
            .iter()
            .map(|&(item, form)| self.read_one(group, item, form, limit))
            .collect()
    }

    /// An array of any dimensions as one column, in the order of the file.
    ///
    /// # Errors
    /// As [`read_one`](Self::read_one).
    fn flat(&self, item: usize, limit: &Limit) -> Result<Column> {
        self.read_one(0, item, Form::NUMBERS, limit)
    }

    /// What only reading to the end has shown, beside the [remarks](Items::remarks) made before.
    fn late_remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What lies beside columns and arrays under this name, if anything.
    ///
    /// # Errors
    /// [`FileError`] if it is damaged.
    fn note(&self, _name: &str) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }
}

impl dyn Reader + '_ {
    pub(crate) fn path(&self) -> &Path {
        &self.items().path
    }

    /// Names of the columns or arrays in the order of the file.
    pub(crate) fn names(&self) -> &[String] {
        &self.items().names
    }

    /// Whether a column holds words, as far as is known before it is read.
    pub(crate) fn is_text(&self, item: usize) -> bool {
        self.items().words.get(item).is_some_and(|&words| words)
    }

    /// One item of all groups.
    ///
    /// # Errors
    /// As [`read_one`](Self::read_one).
    pub(crate) fn read_whole(&self, item: usize, form: Form, limit: &Limit) -> Result<Column> {
        let extent = self.extent(item)?;
        if extent.groups.is_some() {
            limit.check_claim(self.path(), extent.rows(), form)?;
        }
        let mut whole = self.read_one(0, item, form, limit)?;
        for group in 1..extent.count() {
            let start = whole.rows();
            whole.append(self.path(), self.read_one(group, item, form, limit)?, start)?;
        }
        Ok(whole)
    }
}

/// The first of the names that a file has.
pub(crate) fn first_of(reader: &dyn Reader, names: &[&str]) -> Option<usize> {
    names
        .iter()
        .find_map(|name| reader.names().iter().position(|found| found == name))
}
