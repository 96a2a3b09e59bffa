//! Roles: what every column of a file is taken for, decided here only, from names and from what the user asked for.

use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::FileError;

/// Names of a first column that says what the objects are called; pandas leaves the name of an index empty.
const OBJECTS: [&str; 4] = ["object", "id", "name", ""];

/// The column with the parts of the original data set.
pub(crate) const SPLIT: &str = "split";

/// What a column or an array of a file was taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Role {
    /// A feature of a table, or a base clustering of an ensemble.
    Data,
    /// The true classes, or the labels that were asked for.
    Truth,
    /// Names of the objects.
    Objects,
    /// Names of the columns (an array of its own).
    ColumnNames,
    /// Left out.
    Skipped,
}

/// What every column of a file was taken for, and which arrays were read where a file holds several.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roles {
    /// The columns by name, in the order of the file.
    pub columns: Vec<(String, Role)>,
    /// The arrays that were read, by name; none in a file of columns.
    pub arrays: Vec<(String, Role)>,
}

impl Roles {
    fn of(&self, role: Role) -> impl Iterator<Item = usize> + '_ {
        self.columns.iter().enumerate().filter(move |(_, (_, own))| *own == role).map(|(at, _)| at)
    }

    /// Positions of the features or base clusterings, from 0.
    pub fn data(&self) -> Vec<usize> {
        self.of(Role::Data).collect()
    }

    /// Position of the column with the true classes, from 0.
    pub fn truth(&self) -> Option<usize> {
        self.of(Role::Truth).next()
    }

    /// Position of the column with the names of the objects, from 0.
    pub fn objects(&self) -> Option<usize> {
        self.of(Role::Objects).next()
    }
}

impl fmt::Display for Roles {
    /// Such as `3 data columns, truth 'label', objects 'id', left out 'split'`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.of(Role::Data).count();
        write!(f, "{count} data column{}", if count == 1 { "" } else { "s" })?;
        for (role, word) in [(Role::Truth, "truth"), (Role::Objects, "objects"), (Role::Skipped, "left out")] {
            let named = self.columns.iter().chain(&self.arrays).filter(|(_, own)| *own == role);
            let names: Vec<String> = named.map(|(name, _)| format!("'{name}'")).collect();
            if !names.is_empty() {
                write!(f, ", {word} {}", names.join(" "))?;
            }
        }
        Ok(())
    }
}

/// What decides about roles besides the names.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rules<'a> {
    /// The column with the true classes that was asked for.
    pub(crate) truth: Option<&'a str>,
    /// Names of columns that hold the true classes where none was asked for.
    pub(crate) truth_names: &'a [&'a str],
    /// Columns that are left out.
    pub(crate) skip: &'a [String],
}

/// What every column is used for.
pub(crate) fn assign(path: &Path, names: &[String], rules: &Rules<'_>) -> Result<Vec<Role>, FileError> {
    let role = |name: &String| if name == SPLIT { Role::Skipped } else { Role::Data };
    let mut roles: Vec<Role> = names.iter().map(role).collect();
    if names_objects(names) {
        roles[0] = Role::Objects;
    }
    for skip in rules.skip {
        roles[find(path, names, skip)?] = Role::Skipped;
    }
    let spoken = |name: &String| rules.truth_names.contains(&name.as_str());
    let truth = match rules.truth {
        Some(truth) => Some(find(path, names, truth)?),
        None => names.iter().position(spoken).filter(|&at| roles[at] != Role::Skipped),
    };
    if let Some(truth) = truth {
        roles[truth] = Role::Truth;
    }
    Ok(roles)
}

/// What every column is used for where labels are wanted: the column asked for, else `label`, else `truth`, else the
/// last one.
pub(crate) fn assign_labels(path: &Path, names: &[String], column: Option<&str>) -> Result<Vec<Role>, FileError> {
    let called = |wanted: &str| names.iter().position(|name| name == wanted);
    let at = match column {
        Some(column) => find(path, names, column)?,
        None => called("label").or_else(|| called("truth")).unwrap_or(names.len() - 1),
    };
    let mut roles = vec![Role::Skipped; names.len()];
    if names_objects(names) {
        roles[0] = Role::Objects;
    }
    roles[at] = Role::Truth;
    Ok(roles)
}

/// True where the first column holds the names of the objects.
fn names_objects(columns: &[String]) -> bool {
    columns.len() > 1 && OBJECTS.contains(&columns[0].to_lowercase().as_str())
}

/// The position of a column called by name or, where no column has that name, by its position from 1.
pub(crate) fn find(path: &Path, columns: &[String], wanted: &str) -> Result<usize, FileError> {
    if let Some(at) = columns.iter().position(|name| name == wanted) {
        return Ok(at);
    }
    match wanted.parse::<usize>() {
        Ok(position) if (1..=columns.len()).contains(&position) => Ok(position - 1),
        _ => {
            Err(FileError::NoColumn { path: path.into(), column: wanted.into(), known: nearest_first(columns, wanted) })
        }
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
pub(crate) fn distinct(path: &Path, columns: &[String]) -> Result<(), FileError> {
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by_key(|&at| &columns[at]);
    match order.windows(2).find(|pair| columns[pair[0]] == columns[pair[1]]) {
        None => Ok(()),
        Some(pair) => Err(FileError::TwoColumns {
            path: path.into(),
            name: columns[pair[0]].clone(),
            first: pair[0] + 1,
            second: pair[1] + 1,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_goes_before_a_position() {
        let columns = ["2".to_owned(), "x".into(), "lable".into()];
        let at = |wanted| find(Path::new("a.csv"), &columns, wanted);
        assert_eq!((at("2").unwrap(), at("3").unwrap(), at("x").unwrap()), (0, 2, 1));
        let message = at("label").unwrap_err().to_string();
        assert_eq!(message, "a.csv has no column 'label'; it has 'lable', '2', 'x'");
        assert!(at("4").is_err() && at("0").is_err());
    }

    fn roles(names: &[&str], rules: &Rules<'_>) -> Roles {
        let names: Vec<String> = names.iter().map(ToString::to_string).collect();
        let roles = assign(Path::new("a.csv"), &names, rules).unwrap();
        Roles { columns: names.into_iter().zip(roles).collect(), arrays: Vec::new() }
    }

    #[test]
    fn roles_go_by_name_and_by_what_was_asked_for() {
        let names = ["ID", "x", "label", "split", "truth", "y"];
        let by_name = roles(&names, &Rules { truth_names: &["label", "truth"], ..Rules::default() });
        assert_eq!((by_name.objects(), by_name.truth(), by_name.data()), (Some(0), Some(2), vec![1, 4, 5]));
        assert_eq!(by_name.to_string(), "3 data columns, truth 'label', objects 'ID', left out 'split'");
        let skip = ["label".to_owned(), "ID".into()];
        let asked = roles(&names, &Rules { truth: Some("6"), truth_names: &["label"], skip: &skip });
        assert_eq!((asked.objects(), asked.truth(), asked.data()), (None, Some(5), vec![1, 4]));
        assert_eq!(roles(&["label"], &Rules::default()).data(), [0]);
    }

    #[test]
    fn labels_are_looked_for_by_name_and_last() {
        let at = |names: &[&str], column| {
            let names: Vec<String> = names.iter().map(ToString::to_string).collect();
            let roles = assign_labels(Path::new("a.csv"), &names, column).unwrap();
            (roles.iter().position(|role| *role == Role::Truth), roles[0] == Role::Objects)
        };
        assert_eq!(at(&["object", "truth", "label"], None), (Some(2), true));
        assert_eq!(at(&["object", "truth", "x"], None), (Some(1), true));
        assert_eq!(at(&["a", "x"], None), (Some(1), false));
        assert_eq!(at(&["object", "x"], Some("1")), (Some(0), false));
    }

    #[test]
    fn columns_of_one_name_are_refused() {
        let columns = ["x", "y", "x"].map(String::from);
        let message = distinct(Path::new("a.csv"), &columns).unwrap_err().to_string();
        assert_eq!(message, "a.csv: columns 1 and 3 are both called 'x'; rename one");
    }
}
