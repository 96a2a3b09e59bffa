//! Finding columns by name or position.

use std::path::Path;

use crate::FileError;

/// Names of a first column that says what the objects are called; pandas leaves the name of an index empty.
const OBJECTS: [&str; 4] = ["object", "id", "name", ""];

/// The column with the parts of the original data set.
pub(crate) const SPLIT: &str = "split";

/// True where the first column holds the names of the objects.
pub(crate) fn names_objects(columns: &[String]) -> bool {
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

    #[test]
    fn columns_of_one_name_are_refused() {
        let columns = ["x", "y", "x"].map(String::from);
        let message = distinct(Path::new("a.csv"), &columns).unwrap_err().to_string();
        assert_eq!(message, "a.csv: columns 1 and 3 are both called 'x'; rename one");
    }
}
