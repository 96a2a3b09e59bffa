//! The objects of two inputs: matched by their names where both have names, else by their places.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::error::AppError;
use crate::observer::Observer;

/// The objects of a file, or of what a program holds.
#[derive(Clone, Copy, Debug)]
pub struct Objects<'a> {
    pub(crate) file: &'a Path,
    pub(crate) count: usize,
    pub(crate) names: Option<&'a [String]>,
}

/// The objects of several inputs: every one once.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct JointObjects {
    /// Their names, where there are some.
    pub names: Option<Vec<String>>,
    /// For every input and object its row, if the input has the object.
    pub rows: Vec<Vec<Option<usize>>>,
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
    /// The objects of a file, or of what messages call so.
    pub fn new(file: &'a Path, count: usize, names: Option<&'a [String]>) -> Self {
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

    /// The names, and the numbers of the rows where there are none.
    fn names_or_numbers(&self) -> Vec<String> {
        self.names.map_or_else(
            || (0..self.count).map(|row| row.to_string()).collect(),
            <[String]>::to_vec,
        )
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

impl JointObjects {
    /// Brings the objects of several inputs into one order: by their names where they have some of their own (what an input lacks has no
    /// row, and the observer is warned), else by place. `remedy` says how objects get other names.
    ///
    /// # Errors
    /// [`AppError::Content`] for names that stand twice, an input that has no object of the others, and inputs of different lengths
    /// that cannot be matched by name.
    pub fn of(
        inputs: &[Objects<'_>],
        remedy: &str,
        observer: &dyn Observer,
    ) -> Result<Self, AppError> {
        let first = inputs.first().and_then(|first| first.names);
        if first.is_some() && inputs.iter().all(|input| input.names == first) {
            return Ok(Self::in_place(inputs, first));
        }
        if !by_name(inputs) {
            return Self::by_place(inputs, remedy, observer);
        }
        let names: Vec<Vec<String>> = inputs.iter().map(Objects::names_or_numbers).collect();
        let mut all: Vec<&String> = Vec::new();
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (input, names) in inputs.iter().zip(&names) {
            input.places()?;
            if !known.is_empty() && !names.iter().any(|name| known.contains_key(name.as_str())) {
                let (first, name) = (inputs[0].file.display(), &names[0]);
                let reason =
                    format!("none of its objects, such as '{name}', is in {first}; {remedy}");
                return Err(AppError::content(input.file, reason));
            }
            for name in names {
                known.entry(name).or_insert_with(|| {
                    all.push(name);
                    all.len() - 1
                });
            }
        }
        let mut rows = vec![vec![None; all.len()]; inputs.len()];
        for (rows, (input, names)) in rows.iter_mut().zip(inputs.iter().zip(&names)) {
            for (row, name) in names.iter().enumerate() {
                rows[known[name.as_str()]] = Some(row);
            }
            if names.len() < all.len() {
                let (file, own, total) = (input.file.display(), names.len(), all.len());
                observer.warn(&format!(
                    "{file}: has {own} of the {total} objects of all; what it lacks is missing"
                ));
            }
        }
        let names = Some(all.into_iter().cloned().collect());
        Ok(Self { names, rows })
    }

    /// Rows in the order of the inputs, which all have as many.
    fn by_place(
        inputs: &[Objects<'_>],
        remedy: &str,
        observer: &dyn Observer,
    ) -> Result<Self, AppError> {
        let Some(first) = inputs.first() else {
            return Ok(Self::in_place(inputs, None));
        };
        if let Some(other) = inputs.iter().find(|input| input.count != first.count) {
            let reason = format!(
                "{} objects where {} has {}, and not all name their objects; {remedy}",
                other.count,
                first.file.display(),
                first.count
            );
            return Err(AppError::content(other.file, reason));
        }
        let named = inputs.iter().find(|input| input.has_own_names());
        if let Some(named) = named {
            let what = "objects are matched by their order, since not all name them";
            // Some names are numbers of rows elsewhere: they may be meant so.
            if named
                .names
                .is_some_and(|names| names.iter().any(|name| is_row(name, first.count)))
            {
                observer.warn(&format!("{what}; {remedy}"));
            } else {
                observer.note(what);
            }
        }
        let named = named.or_else(|| inputs.iter().find(|input| input.names.is_some()));
        Ok(Self::in_place(inputs, named.and_then(|named| named.names)))
    }

    fn in_place(inputs: &[Objects<'_>], names: Option<&[String]>) -> Self {
        let count = inputs.first().map_or(0, |first| first.count);
        let rows: Vec<Option<usize>> = (0..count).map(Some).collect();
        Self {
            names: names.map(<[String]>::to_vec),
            rows: vec![rows; inputs.len()],
        }
    }
}

/// Whether a name is the number of one of the first rows.
fn is_row(name: &str, rows: usize) -> bool {
    name.parse::<usize>()
        .is_ok_and(|row| row < rows && row.to_string() == *name)
}

/// Whether objects are matched by their names. Names 0, 1, 2, … in this order, and none, are places: they are names where those of the
/// others are all among them, as in a column that was shuffled.
pub(crate) fn by_name(inputs: &[Objects<'_>]) -> bool {
    let (own, counted): (Vec<&Objects<'_>>, Vec<&Objects<'_>>) =
        inputs.iter().partition(|input| input.has_own_names());
    let Some(least) = counted.iter().map(|input| input.count).min() else {
        return true;
    };
    let named = inputs.iter().all(|input| input.names.is_some());
    if own.is_empty() {
        return named;
    }
    let differ = inputs.iter().any(|input| input.count != inputs[0].count);
    let mut names = own.iter().filter_map(|input| input.names).flatten();
    named && differ || names.all(|name| is_row(name, least))
}
