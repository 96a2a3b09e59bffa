//! The objects of two inputs: matched by their names where both have names, else by their places.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::AppError;

/// The objects of a file.
#[derive(Clone, Copy)]
pub(crate) struct Objects<'a> {
    pub(crate) file: &'a Path,
    pub(crate) count: usize,
    pub(crate) names: Option<&'a [String]>,
}

/// Where the objects of one file are in another.
pub(crate) struct ObjectRows {
    /// The row of each object of the first in the second, if it is there.
    pub(crate) rows: Vec<Option<usize>>,
    /// Objects of the second that the first has not.
    pub(crate) unknown: Vec<usize>,
    /// What to know about how they were matched.
    pub(crate) note: Option<String>,
}

impl<'a> Objects<'a> {
    pub(crate) fn new(file: &'a Path, count: usize, names: Option<&'a [String]>) -> Self {
        Self { file, count, names }
    }

    /// Where these are in another file: none where names are lacking and the numbers of objects differ.
    ///
    /// # Errors
    /// [`AppError::Content`] for names that stand twice in the other.
    pub(crate) fn rows_in(&self, other: &Objects<'_>) -> Result<Option<ObjectRows>, AppError> {
        let (Some(own), Some(others)) = (self.names, other.names) else {
            return Ok(self.by_place(other));
        };
        let there = other.places()?;
        let here: HashSet<&String> = own.iter().collect();
        let rows = own.iter().map(|name| there.get(name.as_str()).copied());
        let unknown = (0..).zip(others);
        Ok(Some(ObjectRows {
            rows: rows.collect(),
            unknown: unknown
                .filter(|(_, name)| !here.contains(name))
                .map(|(row, _)| row)
                .collect(),
            note: None,
        }))
    }

    /// As [`rows_in`](Self::rows_in), whatever the names.
    pub(crate) fn by_place(&self, other: &Objects<'_>) -> Option<ObjectRows> {
        let nameless = match (self.has_own_names(), other.has_own_names()) {
            (true, false) => Some(other.file),
            (false, true) => Some(self.file),
            _ => None,
        };
        let note = nameless.map(|file| {
            format!(
                "objects are matched by their order, since {} has no names",
                file.display()
            )
        });
        (self.count == other.count).then(|| ObjectRows {
            rows: (0..self.count).map(Some).collect(),
            unknown: Vec::new(),
            note,
        })
    }

    /// Whether they have names, and others than 0, 1, 2, …: nobody but us calls objects so.
    pub(crate) fn has_own_names(&self) -> bool {
        self.names.is_some_and(|names| {
            let mut numbered = names.iter().enumerate();
            !numbered.all(|(row, name)| *name == row.to_string())
        })
    }

    /// The row of every name; refuses names that stand twice.
    pub(crate) fn places(&self) -> Result<HashMap<&'a str, usize>, AppError> {
        let names = self.names.unwrap_or_default();
        let mut places = HashMap::with_capacity(names.len());
        for (row, name) in names.iter().enumerate() {
            if let Some(before) = places.insert(name.as_str(), row) {
                let reason = format!(
                    "objects {} and {} are both called '{name}'; give each its own name",
                    before + 1,
                    row + 1
                );
                return Err(AppError::content(self.file, reason));
            }
        }
        Ok(places)
    }
}
