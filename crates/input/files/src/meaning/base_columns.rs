//! Which columns are base clusterings: of files, and of frames that a program holds.

use std::path::Path;

use super::roles::{find_all, of_many_values};
use crate::error::Result;

/// So many times the square root of the number of objects are the most clusters of a base clustering that nobody asked for.
const MOST_CLUSTERS: f64 = 3.0;

/// Whether a column has more different values than clusters are expected.
pub(crate) fn has_many_values(values: usize, objects: usize) -> bool {
    values as f64 > MOST_CLUSTERS * (objects as f64).sqrt()
}

/// A frame that a program holds.
#[derive(Clone, Copy, Debug)]
pub struct FrameColumns<'a> {
    /// What messages call it.
    pub called: &'a Path,
    /// Names of its columns.
    pub names: &'a [String],
    /// How many different values each has.
    pub values: &'a [usize],
    /// Its rows.
    pub objects: usize,
}

impl FrameColumns<'_> {
    /// The columns that are base clusterings, and what is said of those that are not: as of the columns of a file.
    ///
    /// # Errors
    /// [`FileError::NoColumn`](crate::FileError::NoColumn) for what is called and is not there.
    pub fn bases(&self, only: &[String], skip: &[String]) -> Result<(Vec<usize>, Option<String>)> {
        let skip = find_all(self.called, self.names, skip)?;
        let only = find_all(self.called, self.names, only)?;
        let left = (0..self.names.len()).filter(|at| !skip.contains(at));
        if !only.is_empty() {
            return Ok((left.filter(|at| only.contains(at)).collect(), None));
        }
        let is_many = |at: &usize| has_many_values(self.values[*at], self.objects);
        let (many, bases): (Vec<usize>, Vec<usize>) = left.partition(is_many);
        if bases.is_empty() || many.is_empty() {
            return Ok((many.into_iter().chain(bases).collect(), None));
        }
        let said = many.iter().map(|&at| {
            let name = &self.names[at];
            format!("'{name}' ({})", of_many_values(name))
        });
        let said = format!("left out {}", said.collect::<Vec<_>>().join(", "));
        Ok((bases, Some(said)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_many_values_are_taken_where_they_are_asked_for() {
        let names = ["leiden_1", "leiden_2", "depth"].map(str::to_owned);
        let frame = FrameColumns {
            called: Path::new("frame"),
            names: &names,
            values: &[3, 4, 90],
            objects: 100,
        };
        let bases = |only: &[&str], skip: &[&str]| {
            let owned = |list: &[&str]| {
                list.iter()
                    .map(|&name| name.into())
                    .collect::<Vec<String>>()
            };
            frame.bases(&owned(only), &owned(skip)).unwrap()
        };
        let (kept, said) = bases(&[], &[]);
        assert_eq!(kept, [0, 1]);
        assert!(said.unwrap().contains("--only 'depth'"));
        assert_eq!(bases(&["depth"], &[]), (vec![2], None));
        assert_eq!(bases(&["leiden*"], &["*_2"]), (vec![0], None));
        assert_eq!(bases(&[], &["leiden*"]), (vec![2], None));
    }
}
