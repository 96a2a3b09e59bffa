//! Options of reading: which columns are what, which words are missing values, how text is laid out, what becomes of words
//! and gaps. Tables, ensembles and labels are read with the same options.

use std::collections::BTreeMap;

use partita_core::MemoryBudget;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::format::Header;
use crate::format::description::OpenOptions;
use crate::words::MissingWords;

/// The most columns that `--encode one-hot` makes of one column where nothing else is said.
const MOST_CATEGORIES: usize = 50;

/// Where the true classes are. In JSON: null, the name of a column, or false.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Truth {
    /// In a column called `label` (in ensembles and labels also `truth`) where there is one.
    #[default]
    ByName,
    /// In this column, by name or by position from 1, or array.
    Column(String),
    /// Nowhere: a column called `label` is data like any other.
    None,
}

impl Truth {
    /// The column that was asked for.
    pub fn column(&self) -> Option<&str> {
        if let Self::Column(column) = self {
            Some(column)
        } else {
            None
        }
    }
}

impl<S: Into<String>> From<Option<S>> for Truth {
    fn from(column: Option<S>) -> Self {
        column.map_or(Self::ByName, |column| Self::Column(column.into()))
    }
}

impl Serialize for Truth {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::ByName => serializer.serialize_none(),
            Self::Column(column) => serializer.serialize_str(column),
            Self::None => serializer.serialize_bool(false),
        }
    }
}

impl<'de> Deserialize<'de> for Truth {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Written {
            Column(String),
            Whether(bool),
        }
        match Option::<Written>::deserialize(deserializer)? {
            None => Ok(Self::ByName),
            Some(Written::Column(column)) => Ok(Self::Column(column)),
            Some(Written::Whether(false)) => Ok(Self::None),
            Some(Written::Whether(true)) => Err(de::Error::custom(
                "the truth is null, the name of a column, or false",
            )),
        }
    }
}

/// What becomes of columns that hold words. Where nothing is said those of a text are [`OneHot`](Self::OneHot) if they have no more
/// different words than [`ReadOptions::max_categories`], else left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Encode {
    /// A column of zeros and ones of every word, called `column=word`.
    OneHot,
    /// The number of the word in alphabetical order. This makes neighbours of words that are not; it is what some papers did.
    Ordinal,
    /// They are refused.
    None,
}

/// What becomes of missing numbers. Where nothing is said those of a text become the [`Mean`](Self::Mean), those of other files are
/// refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Impute {
    /// The mean of the column; a missing word gets the shares of the words.
    Mean,
    /// They are refused.
    None,
}

/// How a file is read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ReadOptions {
    /// Where the true classes are; for labels, where they are.
    #[serde(default, alias = "label")]
    pub truth: Truth,
    /// The column with the names of the objects, by name or by position from 1. Without one, a first column called
    /// `object`, `id` or `name` or not called at all, else a column of words that all differ.
    #[serde(default)]
    #[doc(alias = "index_col")]
    pub id: Option<String>,
    /// Columns to leave out, by name, by position from 1, or by a pattern with `*` and `?`.
    #[serde(default)]
    pub skip: Vec<String>,
    /// Columns that are data, by name, by position from 1, or by a pattern with `*` and `?`; others are left out. All are if there
    /// are none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[doc(alias = "usecols")]
    pub only: Vec<String>,
    /// Columns by name that are data and never names of objects, whatever they hold: those that a model was learned from. Other data
    /// is left out; nothing is if there are none.
    #[serde(skip)]
    pub data: Vec<String>,
    /// Words that mean that a value is missing; [`MISSING_WORDS`](crate::MISSING_WORDS) if absent. Empty fields and NaN among
    /// numbers are missing whatever is said here.
    #[serde(default)]
    #[doc(alias = "na_values")]
    pub missing: Option<Vec<String>>,
    /// Whether the first line names the columns (text).
    #[serde(default)]
    pub header: Header,
    /// What separates fields (text), an ASCII character; found out if absent.
    #[serde(default)]
    #[doc(alias = "sep")]
    pub delimiter: Option<char>,
    /// The encoding of a text such as `windows-1252`; found out if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The mark before the decimals of numbers, a point or a comma; found out if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub decimal: Option<char>,
    /// Every row below the header of a text is an object; without it titles, comments, units, sums, notes and blank rows are not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub all_rows: bool,
    /// Rows are columns and columns are rows: one row a base clustering or a feature (text and arrays).
    #[serde(default)]
    pub transpose: bool,
    /// The sheet of a spreadsheet; the first if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sheet: Option<String>,
    /// The layer of an AnnData that is the table, in place of its matrix `X`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub layer: Option<String>,
    /// The array in `obsm` of an AnnData that is the table, in place of its matrix `X`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub obsm: Option<String>,
    /// All columns of an ensemble are shares of objects in clusters: those called `name.p0`, `name.p1`, … of the soft base
    /// clustering `name`, others of one called like the file. Without it columns are shares if their names and values say so.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub soft_bases: bool,
    /// The most shares of an object in one soft base clustering that are kept; the largest are, and divided by their sum.
    #[serde(default = "most_shares", skip_serializing_if = "is_most_shares")]
    pub most_shares: usize,
    /// Soft base clusterings become hard: every object is in the cluster of its largest share.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub harden: bool,
    /// What becomes of columns that hold words (tables of text).
    #[serde(default)]
    pub encode: Option<Encode>,
    /// What becomes of missing numbers (tables that fit memory).
    #[serde(default)]
    pub impute: Option<Impute>,
    /// Means of columns by name that [`Impute::Mean`] takes instead of those of the file: of the table that a model was
    /// learned from.
    #[serde(skip)]
    pub means: BTreeMap<String, f64>,
    /// The most columns that [`Encode::OneHot`] makes of one column; any number if absent.
    #[serde(default)]
    pub max_categories: Option<usize>,
    /// Refuse tables that cannot be clustered: a single row, or columns that are all constant.
    #[serde(skip, default = "yes")]
    pub clusterable: bool,
    /// How much memory the numbers or labels may take.
    #[serde(skip)]
    pub budget: MemoryBudget,
}

fn yes() -> bool {
    true
}

/// Shares of an object in a soft base clustering that are kept where nothing is said.
pub(crate) const MOST_SHARES: usize = 8;

fn most_shares() -> usize {
    MOST_SHARES
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_most_shares(shares: &usize) -> bool {
    *shares == MOST_SHARES
}

impl Default for ReadOptions {
    fn default() -> Self {
        Self {
            truth: Truth::default(),
            id: None,
            skip: Vec::new(),
            only: Vec::new(),
            data: Vec::new(),
            missing: None,
            header: Header::default(),
            delimiter: None,
            encoding: None,
            decimal: None,
            all_rows: false,
            transpose: false,
            sheet: None,
            layer: None,
            obsm: None,
            soft_bases: false,
            most_shares: MOST_SHARES,
            harden: false,
            encode: None,
            impute: None,
            means: BTreeMap::new(),
            max_categories: Some(MOST_CATEGORIES),
            clusterable: true,
            budget: MemoryBudget::default(),
        }
    }
}

impl ReadOptions {
    /// The defaults, with the true classes or the labels in this column, by name or by position from 1.
    pub fn of_column(column: impl Into<String>) -> Self {
        Self {
            truth: Truth::Column(column.into()),
            ..Self::default()
        }
    }

    /// The same within this memory.
    #[must_use]
    pub fn within(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The words that mean that a value is missing.
    pub(crate) fn missing_words(&self) -> MissingWords {
        MissingWords::new(self.missing.as_deref())
    }

    /// What a format is told when it opens a file.
    pub(crate) fn open_options(&self) -> OpenOptions {
        OpenOptions {
            header: self.header,
            delimiter: self.delimiter,
            transpose: self.transpose,
            sheet: self.sheet.clone(),
            layer: self.layer.clone(),
            obsm: self.obsm.clone(),
            labels: false,
            missing: self.missing_words(),
            encoding: self.encoding.clone(),
            all_rows: self.all_rows,
            keep_blank: false,
            budget: self.budget,
            any_width: false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_survive_json_and_old_names_are_read() {
        let mut options = ReadOptions::of_column("kind");
        (options.missing, options.delimiter, options.max_categories) =
            (Some(vec!["x".into()]), Some('|'), None);
        for truth in [Truth::Column("kind".into()), Truth::None, Truth::ByName] {
            options.truth = truth;
            let text = serde_json::to_string(&options).unwrap();
            assert_eq!(
                serde_json::from_str::<ReadOptions>(&text).unwrap(),
                options,
                "{text}"
            );
        }
        let old: ReadOptions =
            serde_json::from_str(r#"{"label": "y", "encode": "one-hot"}"#).unwrap();
        assert_eq!(
            (old.truth.column(), old.encode, old.max_categories),
            (Some("y"), Some(Encode::OneHot), None)
        );
        assert!(serde_json::from_str::<ReadOptions>(r#"{"truth": true}"#).is_err());
    }
}
