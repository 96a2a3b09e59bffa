//! Roles of columns: what every column of a file is taken for and why, decided here only, from names, from what the user
//! asked for, and from words that all differ.

use std::collections::BTreeMap;
use std::path::Path;

use partita_core::option;
use serde::{Deserialize, Serialize};

use super::read_options::{ReadOptions, Truth};
use crate::error::{FileError, Result};
use crate::value_kind::ValueKind;
use crate::words::{self, SPLIT, is_first_column_of_names};

/// What a column or an array of a file was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// A feature of a table, or a base clustering of an ensemble.
    Data,
    /// The shares of objects in one cluster of a soft base clustering.
    Share,
    /// The true classes, or the labels that were asked for.
    Truth,
    /// Names of the objects.
    Objects,
    /// Names of the columns (an array of its own).
    ColumnNames,
    /// Left out.
    Skipped,
}

/// Why a column or an array was taken for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Reason {
    /// It was asked for.
    Asked,
    /// Its name says so.
    Name,
    /// It holds words, and all of them differ.
    Distinct,
    /// The program that wrote the file says that it is an index.
    Index,
    /// The model that reads the file was not learned from it.
    Unknown,
    /// Its name says that its numbers are ids.
    Key,
    /// Its name says that it holds the labels of a clustering.
    Clustering,
    /// It counts the rows.
    Counts,
    /// It holds dates, or times in turn.
    Dates,
    /// Its name says that it holds times, and its numbers rise from row to row or are seconds since 1970.
    Time,
    /// Its name says that it weighs the objects.
    Weights,
    /// It has no value at all.
    Empty,
    /// It holds more different words than are taken for categories.
    Many,
    /// It holds more different values than clusters are expected.
    Clusters,
    /// It is data: its words are categories.
    Words,
    /// It is data: its name says that its numbers are codes, which are categories.
    Codes,
    /// It is data: all values are numbers in another notation.
    Notation(ValueKind),
    /// Nothing else was left that it could be.
    Rest,
}

/// A column or an array, and what it was taken for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ColumnRole {
    /// Its name.
    pub name: String,
    /// What it was taken for.
    pub role: Role,
    /// Why.
    pub reason: Reason,
}

impl ColumnRole {
    pub(crate) fn new(name: impl Into<String>, role: Role, reason: Reason) -> Self {
        Self {
            name: name.into(),
            role,
            reason,
        }
    }

    /// Whether it is data whose values are not read as they stand.
    pub(super) fn is_read_otherwise(&self) -> bool {
        self.role == Role::Data
            && matches!(
                self.reason,
                Reason::Words | Reason::Codes | Reason::Notation(_)
            )
    }
}

/// What every column of a file was taken for and why, which arrays were read where a file holds several, and which words
/// were taken for missing values.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    /// The columns in the order of the file.
    pub columns: Vec<ColumnRole>,
    /// The arrays that were read; none in a file of columns.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arrays: Vec<ColumnRole>,
    /// Objects, where something says that.
    #[serde(default)]
    pub objects: u64,
    /// Words that were taken for missing values, and how often each was found. Empty fields are not counted.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub missing: BTreeMap<String, u64>,
    /// Gaps that became the mean of their column.
    #[serde(default, skip_serializing_if = "none")]
    pub filled: u64,
    /// Rows of shares that did not quite sum to 1 and were divided by their sums, over all soft base clusterings.
    #[serde(default, skip_serializing_if = "none")]
    pub rescaled: u64,
    /// What looks as if it were meant otherwise, and the flag that settles it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn none(number: &u64) -> bool {
    *number == 0
}

impl Roles {
    pub(super) fn of(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        self.columns
            .iter()
            .enumerate()
            .filter(move |(_, own)| own.role == role)
            .map(|(at, _)| at)
    }

    /// Positions of the features or base clusterings, from 0.
    pub fn data(&self) -> Vec<usize> {
        self.of(Role::Data).collect()
    }

    /// Whether a column of data is called as labels of a clustering are.
    pub fn names_clusterings(&self) -> bool {
        self.of(Role::Data)
            .any(|at| words::is_clustering(&self.columns[at].name))
    }

    /// Whether a column was left out because it has more different values than clusters are expected.
    pub fn left_out_measurements(&self) -> bool {
        self.of(Role::Skipped)
            .any(|at| self.columns[at].reason == Reason::Clusters)
    }

    /// Positions of the columns of soft base clusterings, from 0.
    pub(crate) fn shares(&self) -> Vec<usize> {
        self.of(Role::Share).collect()
    }

    /// Position of the column with the true classes, from 0.
    pub fn truth(&self) -> Option<usize> {
        self.of(Role::Truth).next()
    }

    /// Position of the column with the names of the objects, from 0.
    pub fn objects(&self) -> Option<usize> {
        self.of(Role::Objects).next()
    }

    /// The same without the features or base clusterings, which may be thousands: what a record keeps.
    #[must_use]
    pub fn brief(&self) -> Self {
        let mut brief = self.clone();
        brief.columns.retain(|column| {
            !matches!(column.role, Role::Data | Role::Share) || column.is_read_otherwise()
        });
        brief
    }

    /// The line for people, where something was decided that nobody asked for: a column taken by itself for something, or
    /// words taken for missing values. A first column called `object` is what we write ourselves, and needs no word.
    pub fn note(&self) -> Option<String> {
        let said = |column: &&ColumnRole| match column.role {
            Role::ColumnNames => false,
            Role::Data => column.is_read_otherwise(),
            Role::Objects => column.name != "object" || column.reason != Reason::Name,
            Role::Truth | Role::Skipped | Role::Share => true,
        };
        let by_itself =
            |column: &ColumnRole| !matches!(column.reason, Reason::Asked | Reason::Rest);
        let columns = self.columns.iter().chain(&self.arrays);
        let any =
            columns.filter(said).any(by_itself) || !self.missing.is_empty() || self.filled > 0;
        any.then(|| self.to_string())
    }

    /// Takes a column of words that all differ for the names of the objects, or leaves it out where there are names already; one that is
    /// called as ids are goes before others. The last column that is left is data whatever it holds.
    pub(crate) fn take_distinct(&mut self, column: usize) {
        // From the end: columns are looked at from the first on, and those before this one may all be left out.
        let data = self.columns.iter().rev();
        if data.filter(|own| own.role == Role::Data).take(2).count() < 2 {
            return;
        }
        let is_id = |own: &ColumnRole| words::is_id(&own.name);
        if is_id(&self.columns[column]) {
            let doubtful = self.objects().filter(|&at| {
                let own = &self.columns[at];
                own.reason == Reason::Distinct && !is_id(own)
            });
            if let Some(at) = doubtful {
                self.columns[at].role = Role::Skipped;
            }
        }
        let role = if self.has_names() {
            Role::Skipped
        } else {
            Role::Objects
        };
        (self.columns[column].role, self.columns[column].reason) = (role, Reason::Distinct);
    }

    pub(crate) fn has_names(&self) -> bool {
        self.columns
            .iter()
            .chain(&self.arrays)
            .any(|column| column.role == Role::Objects)
    }
}

/// The base clustering and the cluster that a column of shares is called after: `name.p0`, `name.p1`, …
pub(crate) fn share_of(column: &str) -> Option<(&str, &str)> {
    let (name, share) = column.rsplit_once(".p")?;
    (!name.is_empty() && !share.is_empty() && share.bytes().all(|byte| byte.is_ascii_digit()))
        .then_some((name, share))
}

/// What decides about roles besides the names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules<'a> {
    /// The column with the true classes that was asked for.
    pub(crate) truth: Option<&'a str>,
    /// Names of columns that hold the true classes where none was asked for; none if there is no truth.
    pub(crate) truth_names: &'a [&'a str],
    /// The column with the names of the objects that was asked for.
    pub(crate) id: Option<&'a str>,
    /// Columns that are left out.
    pub(crate) skip: &'a [String],
    /// Columns that are data, and no others; none if all are.
    pub(crate) only: &'a [String],
}

impl<'a> Rules<'a> {
    pub(crate) fn new(options: &'a ReadOptions, truth_names: &'a [&'a str]) -> Self {
        let truth_names = if options.truth == Truth::None {
            &[]
        } else {
            truth_names
        };
        Self {
            truth: options.truth.column(),
            truth_names,
            id: options.id.as_deref(),
            skip: &options.skip,
            only: &options.only,
        }
    }
}

/// What every column is used for, and why: the first rule that fits decides.
pub(crate) fn assign(path: &Path, names: &[String], rules: &Rules<'_>) -> Result<Vec<ColumnRole>> {
    let asked = |column: Option<&str>| column.map(|column| find(path, names, column)).transpose();
    let skip = find_all(path, names, rules.skip)?;
    let only = find_all(path, names, rules.only)?;
    let id = asked(rules.id)?;
    let truth = asked(rules.truth)?;
    let is_truth = |name: &String| rules.truth_names.contains(&name.as_str());
    let truth_by_name = names.iter().position(is_truth).filter(|_| truth.is_none());
    let names_first = names.len() > 1 && is_first_column_of_names(&names[0]);
    // Where other names are asked for, those of the first column are still names.
    let first = id.map_or(Role::Objects, |_| Role::Skipped);
    let role = |(at, name): (usize, &String)| {
        let table = [
            (truth == Some(at), Role::Truth, Reason::Asked),
            (id == Some(at), Role::Objects, Reason::Asked),
            (skip.contains(&at), Role::Skipped, Reason::Asked),
            (only.contains(&at), Role::Data, Reason::Asked),
            (truth_by_name == Some(at), Role::Truth, Reason::Name),
            (names_first && at == 0, first, Reason::Name),
            (name == SPLIT, Role::Skipped, Reason::Name),
            (!only.is_empty(), Role::Skipped, Reason::Asked),
        ];
        let fits = table.into_iter().find(|(fits, ..)| *fits);
        let (_, role, reason) = fits.unwrap_or((true, Role::Data, Reason::Rest));
        ColumnRole::new(name, role, reason)
    };
    Ok(names.iter().enumerate().map(role).collect())
}

/// The position of a column called by name or, where no column has that name, by its position from 1.
pub(crate) fn find(path: &Path, columns: &[String], wanted: &str) -> Result<usize> {
    if let Some(at) = columns.iter().position(|name| name == wanted) {
        return Ok(at);
    }
    match wanted.parse::<usize>() {
        Ok(position) if (1..=columns.len()).contains(&position) => Ok(position - 1),
        _ => Err(FileError::NoColumn {
            path: path.into(),
            column: wanted.into(),
            known: nearest_first(columns, wanted),
        }),
    }
}

/// Why a column with more different values than clusters are expected is left out.
pub(crate) fn of_many_values(name: &str) -> String {
    format!(
        "more different values than 3 √n, which are no clusters; {} takes it",
        option("only").naming(name)
    )
}

/// The positions of columns that are called by name, by position or by a pattern with * and ?.
pub(crate) fn find_all(path: &Path, columns: &[String], wanted: &[String]) -> Result<Vec<usize>> {
    let mut found = Vec::new();
    for wanted in wanted {
        let pattern = wanted.contains(['*', '?']) && !columns.contains(wanted);
        let fits = |at: &usize| pattern && matches(wanted.as_bytes(), columns[*at].as_bytes());
        let before = found.len();
        found.extend((0..columns.len()).filter(fits));
        if found.len() == before {
            found.push(find(path, columns, wanted)?);
        }
    }
    Ok(found)
}

/// Whether a name fits a pattern, in which * stands for any letters and ? for one.
fn matches(pattern: &[u8], name: &[u8]) -> bool {
    match (pattern, name) {
        ([], []) => true,
        ([b'*', rest @ ..], _) => (0..=name.len()).any(|from| matches(rest, &name[from..])),
        ([b'?', pattern @ ..], [_, name @ ..]) => matches(pattern, name),
        ([a, pattern @ ..], [b, name @ ..]) => a == b && matches(pattern, name),
        _ => false,
    }
}

/// The names, the most similar first.
fn nearest_first(columns: &[String], wanted: &str) -> Vec<String> {
    let wanted = wanted.to_lowercase();
    let mut names = columns.to_vec();
    names.sort_by_cached_key(|name| strsim::damerau_levenshtein(&name.to_lowercase(), &wanted));
    names
}

/// Refuses two columns of one name.
pub(crate) fn distinct(path: &Path, columns: &[String]) -> Result<()> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&at| &columns[at]);
    match order
        .windows(2)
        .find(|pair| columns[pair[0]] == columns[pair[1]])
    {
        None => Ok(()),
        Some(pair) => {
            let [first, second] = [pair[0] + 1, pair[1] + 1];
            let name = &columns[pair[0]];
            let reason =
                format!("columns {first} and {second} are both called '{name}'; rename one");
            Err(FileError::damaged(path, reason))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn roles(names: &[&str], rules: &Rules<'_>) -> Roles {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        Roles {
            columns: assign(Path::new("a.csv"), &names, rules).unwrap(),
            objects: 1234,
            ..Roles::default()
        }
    }

    #[test]
    fn roles_go_by_name_and_by_what_was_asked_for() {
        let names = ["ID", "x", "label", "split", "truth", "y"];
        let skip = ["label".to_owned(), "ID".into()];
        let none = Rules::default();
        let by_name = Rules {
            truth_names: &["label", "truth"],
            ..none
        };
        let asked = Rules {
            truth: Some("6"),
            truth_names: &["label"],
            skip: &skip,
            id: None,
            only: &[],
        };
        let named = Rules {
            id: Some("y"),
            truth: Some("x"),
            ..asked
        };
        for (rules, objects, truth, data) in [
            (&by_name, Some(0), Some(2), &[1, 4, 5][..]),
            (&asked, None, Some(5), &[1, 4]),
            (&named, Some(5), Some(1), &[4]),
            (&none, Some(0), None, &[1, 2, 4, 5]),
        ] {
            let found = roles(&names, rules);
            assert_eq!((found.objects(), found.truth()), (objects, truth));
            assert_eq!(found.data(), data);
        }
        let line = "names from 'ID' (by its name); truth 'label' (by its name; --no-truth makes it data); left out 'split' \
                    (by its name)";
        assert_eq!(roles(&names, &by_name).note().unwrap(), line);
        let alone = roles(&["label"], &none);
        assert_eq!((alone.data(), alone.note()), (vec![0], None));
        assert_eq!(alone.to_string(), "1 data column");
    }

    #[test]
    fn words_that_all_differ_are_names_once() {
        let mut found = roles(&["a", "cell", "barcode"], &Rules::default());
        [1, 2, 0].into_iter().for_each(|at| found.take_distinct(at));
        assert_eq!((found.objects(), found.data()), (Some(1), vec![0]));
        found.missing = [("NA".to_owned(), 1000), ("nan".to_owned(), 1)].into();
        let line = "names from 'cell' (all 1,234 values differ); left out 'barcode' (all 1,234 values differ); 1,001 missing \
                    values (NA, nan)";
        assert_eq!(found.note().unwrap(), line);
        assert_eq!(found.brief().columns.len(), 2);
    }

    #[test]
    fn a_name_goes_before_a_position() {
        let columns = ["2".to_owned(), "x".into(), "lable".into()];
        let at =
            |wanted| find(Path::new("a.csv"), &columns, wanted).map_err(|error| error.to_string());
        for (wanted, expected) in [
            ("2", Some(0)),
            ("3", Some(2)),
            ("x", Some(1)),
            ("4", None),
            ("0", None),
        ] {
            assert_eq!(at(wanted).ok(), expected, "{wanted}");
        }
        let message = at("label").unwrap_err();
        assert_eq!(
            message,
            "a.csv has no column 'label'; it has 'lable', '2', 'x'"
        );
        let twice = ["x", "y", "x"].map(String::from);
        let message = distinct(Path::new("a.csv"), &twice)
            .unwrap_err()
            .to_string();
        assert_eq!(
            message,
            "a.csv: columns 1 and 3 are both called 'x'; rename one"
        );
    }
}
