//! A column of labels: every distinct value once, and a code a row.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::Path;

use partita_core::{BaseClustering, EnsembleError, Label, MAX_BASE_CLUSTERS};

use crate::error::{Cell, FileError, Row};
use crate::labels::LabelColumn;

/// The code of a missing value.
pub(crate) const MISSING: u32 = u32::MAX;

/// Distinct values in the order of their first appearance, the row of that, and a code for every row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Coded {
    codes: Vec<u32>,
    values: Vec<String>,
    first: Vec<Row>,
    known: HashMap<String, u32>,
}

impl Coded {
    /// Adds the value of the next row; an empty one is missing.
    pub(crate) fn push(&mut self, value: &str, row: Row) {
        let value = value.trim();
        if value.is_empty() {
            return self.codes.push(MISSING);
        }
        if let Some(&last) = self.codes.last()
            && last != MISSING
            && self.values[last as usize] == value
        {
            return self.codes.push(last);
        }
        let code = self.known.get(value).copied().unwrap_or_else(|| {
            let code = self.values.len() as u32;
            self.known.insert(value.to_owned(), code);
            self.values.push(value.to_owned());
            self.first.push(row);
            code
        });
        self.codes.push(code);
    }

    /// Adds a missing value.
    pub(crate) fn push_missing(&mut self) {
        self.codes.push(MISSING);
    }

    /// True when there are only missing values.
    pub(crate) fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The distinct values in the order of their first appearance.
    pub(crate) fn values(&self) -> &[String] {
        &self.values
    }

    /// The code of every row, [`MISSING`] where there is no value.
    pub(crate) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The column with every value spelt out.
    pub(crate) fn column(self, name: &str) -> LabelColumn {
        let value = |&code: &u32| self.values.get(code as usize).cloned();
        LabelColumn { name: name.into(), values: self.codes.iter().map(value).collect() }
    }

    /// The column as a base clustering and its stored labels. Where all values are numbers, −1 and NaN are missing
    /// and clusters are numbered in the order of the numbers; otherwise in the order of the texts.
    pub(crate) fn base(&self, path: &Path, name: &str) -> Result<(BaseClustering, Vec<u16>), FileError> {
        let numbers: Option<Vec<Number>> = self.values.iter().map(|value| Number::of(value)).collect();
        let (order, names) = match numbers {
            Some(numbers) => self.numeric(path, name, &numbers)?,
            None => self.textual(),
        };
        check_clusters(path, name, names.len())?;
        let stored = |&code: &u32| order.get(code as usize).copied().flatten().map_or(u16::MISSING, u16::of);
        let labels: Vec<u16> = self.codes.iter().map(stored).collect();
        if labels.iter().all(|&label| label == u16::MISSING) {
            let source = EnsembleError::AllMissing { name: name.into() };
            return Err(FileError::Ensemble { path: path.into(), source });
        }
        Ok((BaseClustering::new(name, names), labels))
    }

    fn numeric(&self, path: &Path, name: &str, numbers: &[Number]) -> Result<Order, FileError> {
        if let Some(bad) = numbers.iter().position(|number| *number == Number::NoLabel) {
            let cell = Cell::new(path, self.first[bad], name, self.values[bad].clone());
            return Err(FileError::NotALabel(cell));
        }
        let mut distinct: Vec<u64> = numbers.iter().filter_map(Number::label).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |number: &Number| number.label().map(|label| distinct.partition_point(|&value| value < label));
        Ok((numbers.iter().map(place).collect(), distinct.iter().map(ToString::to_string).collect()))
    }

    fn textual(&self) -> Order {
        let mut sorted: Vec<usize> = (0..self.values.len()).collect();
        sorted.sort_unstable_by_key(|&code| &self.values[code]);
        let mut order = vec![None; sorted.len()];
        sorted.iter().enumerate().for_each(|(place, &code)| order[code] = Some(place));
        (order, sorted.iter().map(|&code| self.values[code].clone()).collect())
    }
}

/// The cluster of every code, and the label of every cluster.
type Order = (Vec<Option<usize>>, Vec<String>);

/// What a number says where labels are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Number {
    Missing,
    Label(u64),
    NoLabel,
}

impl Number {
    /// What a text says, if it is a number.
    pub(crate) fn of(text: &str) -> Option<Self> {
        match text.parse::<i128>() {
            Ok(whole) => Some(Self::whole(whole)),
            Err(_) => text.parse::<f64>().ok().map(Self::float),
        }
    }

    /// A whole number: a label, or −1 for missing.
    pub(crate) fn whole(whole: i128) -> Self {
        match whole {
            -1 => Self::Missing,
            _ => u64::try_from(whole).map_or(Self::NoLabel, Self::Label),
        }
    }

    /// A floating-point number: a label where it is whole, NaN for missing.
    pub(crate) fn float(value: f64) -> Self {
        match value {
            value if value.is_nan() => Self::Missing,
            value if value.fract() == 0.0 && value.abs() < 1e18 => Self::whole(value as i128),
            _ => Self::NoLabel,
        }
    }

    fn label(&self) -> Option<u64> {
        if let Self::Label(label) = self { Some(*label) } else { None }
    }
}

/// The stored labels and the base clustering of a column of numbers. `shown` spells the number of a row.
pub(crate) fn numeric_base(
    path: &Path,
    name: &str,
    numbers: &[Number],
    shown: impl Fn(usize) -> String,
) -> Result<(BaseClustering, Vec<u16>), FileError> {
    if let Some(bad) = numbers.iter().position(|number| *number == Number::NoLabel) {
        return Err(FileError::NotALabel(Cell::new(path, Row::Row(bad as u64 + 1), name, shown(bad))));
    }
    let mut distinct: Vec<u64> = Vec::new();
    // Sorting all labels would cost more than all else: few values repeat many times.
    let mut seen: HashSet<u64> = HashSet::new();
    for label in numbers.iter().filter_map(Number::label) {
        if distinct.last() != Some(&label) && seen.insert(label) {
            distinct.push(label);
        }
    }
    distinct.sort_unstable();
    check_clusters(path, name, distinct.len())?;
    if distinct.is_empty() {
        return Err(FileError::Ensemble { path: path.into(), source: EnsembleError::AllMissing { name: name.into() } });
    }
    let dense = distinct.len() as u64 - 1 == distinct[distinct.len() - 1];
    let code = |label: u64| if dense { label as usize } else { distinct.partition_point(|&value| value < label) };
    let labels =
        numbers.iter().map(|number| number.label().map_or(u16::MISSING, |label| u16::of(code(label)))).collect();
    Ok((BaseClustering::new(name, distinct.iter().map(ToString::to_string).collect()), labels))
}

fn check_clusters(path: &Path, name: &str, clusters: usize) -> Result<(), FileError> {
    if clusters <= MAX_BASE_CLUSTERS {
        return Ok(());
    }
    Err(FileError::Ensemble {
        path: path.into(),
        source: EnsembleError::TooManyClusters { name: name.into(), clusters },
    })
}

/// The text of a field, or an error that says where it is no text.
pub(crate) fn text<'a>(path: &Path, row: Row, column: &str, field: &'a [u8]) -> Result<&'a str, FileError> {
    std::str::from_utf8(field).map_err(|_| {
        let value: Cow<'_, str> = String::from_utf8_lossy(field);
        let cell = Cell::new(path, row, column, value);
        FileError::damaged(&cell.path.clone(), NotUtf8(cell).to_string())
    })
}

/// A field in another encoding.
struct NotUtf8(Cell);

impl std::fmt::Display for NotUtf8 {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Cell { row, column, value, .. } = &self.0;
        let value = crate::error::shown(value);
        write!(f, "{row}, column '{column}': '{value}' is not UTF-8; save the file in UTF-8")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn coded(values: &[&str]) -> Coded {
        let mut coded = Coded::default();
        values.iter().enumerate().for_each(|(i, value)| coded.push(value, Row::Line(i as u64 + 2)));
        coded
    }

    #[test]
    fn numbers_sort_as_numbers_and_texts_as_texts() {
        let path = Path::new("a.csv");
        let (base, labels) = coded(&["10", "9", "", "-1", "nan", "9.0", " 10 "]).base(path, "u").unwrap();
        assert_eq!(base.values(), ["9", "10"]);
        assert_eq!(labels, [1, 0, u16::MAX, u16::MAX, u16::MAX, 0, 1]);
        let (base, labels) = coded(&["b10", "b9", "", "-1"]).base(path, "u").unwrap();
        assert_eq!(base.values(), ["-1", "b10", "b9"]);
        assert_eq!(labels, [1, 2, u16::MAX, 0]);
    }

    #[test]
    fn what_is_no_label_is_named_with_its_line() {
        for bad in ["-2", "1.5", "inf"] {
            let message = coded(&["1", bad, "2"]).base(Path::new("a.csv"), "u").unwrap_err().to_string();
            assert!(
                message.starts_with(&format!("a.csv, line 3, column 'u': '{bad}' is no cluster number")),
                "{message}"
            );
        }
        assert!(coded(&["-1", ""]).base(Path::new("a.csv"), "u").unwrap_err().to_string().contains("no label at all"));
    }

    #[test]
    fn arrays_of_numbers_give_the_same_as_text() {
        let numbers = [5.0, 3.0, f64::NAN, -1.0, 5.0].map(Number::float);
        let (base, labels) = numeric_base(Path::new("a"), "u", &numbers, |_| String::new()).unwrap();
        let (same, codes) = coded(&["5", "3", "", "-1", "5"]).base(Path::new("a"), "u").unwrap();
        assert_eq!((base, labels), (same, codes));
    }
}
