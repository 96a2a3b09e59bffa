//! What columns of a text become: numbers side by side, words as zeros and ones, gaps with the means of their columns.

use std::collections::BTreeMap;

use partita_core::ndarray::Array2;
use partita_core::option;

use super::frame::Frame;
use super::gaps;
use super::read_options::ReadOptions;
use crate::dictionary::Dictionary;
use crate::error::{FileError, Result, shown};
use crate::format::reader::Limit;
use crate::label_number::MISSING;
use crate::words::add_counts;

/// A column of a text while it is decided what it is.
pub(super) enum Feature {
    Numbers(Vec<f64>),
    Words(Dictionary),
    /// Several columns of numbers.
    Parts(Vec<Vec<f64>>),
    LeftOut,
}

/// What the columns are called that a column of several numbers becomes.
pub(super) const PARTS: [&str; 3] = ["first", "second", "third"];

impl Feature {
    /// Values that are missing.
    pub(super) fn gaps(&self) -> u64 {
        let missing = |values: &[f64]| values.iter().filter(|value| value.is_nan()).count();
        let gaps = match self {
            Self::Numbers(values) => missing(values),
            Self::Parts(parts) => parts.iter().map(|values| missing(values)).sum(),
            Self::Words(words) => words
                .codes()
                .iter()
                .filter(|code| **code == MISSING)
                .count(),
            Self::LeftOut => 0,
        };
        gaps as u64
    }
}

/// The place of every word among the sorted words of its column; NaN for a gap.
pub(super) fn numbered(words: &Dictionary) -> Vec<f64> {
    let mut sorted: Vec<&String> = words.values().iter().collect();
    sorted.sort_unstable();
    let place = |word: &String| sorted.partition_point(|other| *other < word) as f64;
    let places: Vec<f64> = words.values().iter().map(place).collect();
    let number = |&code: &u32| places.get(code as usize).copied().unwrap_or(f64::NAN);
    words.codes().iter().map(number).collect()
}

/// Fills the gaps of all columns, and counts them.
pub(crate) fn fill_counted(
    frame: &mut Frame,
    names: &[String],
    options: &ReadOptions,
    read: &mut Array2<f64>,
) -> Result<()> {
    let gaps = fill(frame.path(), names, options, read)?.len() as u64;
    if gaps > 0 {
        add_counts(
            &mut frame.roles.missing,
            &BTreeMap::from([("NaN".to_owned(), gaps)]),
        );
    }
    Ok(())
}

/// Fills gaps with what is known to be the means of their columns, else with their means here; where they were.
pub(super) fn fill(
    path: &std::path::Path,
    names: &[String],
    options: &ReadOptions,
    values: &mut Array2<f64>,
) -> Result<Vec<(u32, u32)>> {
    let mut gaps = Vec::new();
    for (at, (mut column, name)) in values.columns_mut().into_iter().zip(names).enumerate() {
        if !column.iter().any(|value| value.is_nan()) {
            continue;
        }
        let known = options.means.get(name).copied();
        let Some(mean) = gaps::mean(column.iter().copied(), known) else {
            let reason = format!(
                " has no feature: column '{name}' has no value at all; leave it out ({})",
                option("skip").naming(name)
            );
            return Err(FileError::content(path, reason));
        };
        for (row, value) in column.iter_mut().enumerate() {
            if value.is_nan() {
                *value = mean;
                gaps.push((row as u32, at as u32));
            }
        }
    }
    gaps.sort_unstable();
    Ok(gaps)
}

/// The columns side by side: words as a column of zeros and ones each.
pub(super) fn spread(
    frame: &Frame,
    names: &[&str],
    features: &[&Feature],
    limit: &Limit,
) -> Result<(Vec<String>, Array2<f64>)> {
    let rows = match features.first() {
        Some(Feature::Numbers(values)) => values.len(),
        Some(Feature::Words(words)) => words.codes().len(),
        Some(Feature::Parts(parts)) => parts.first().map_or(0, Vec::len),
        _ => 0,
    };
    let width: usize = features
        .iter()
        .map(|feature| match feature {
            Feature::Words(words) => words.values().len(),
            Feature::Parts(parts) => parts.len(),
            _ => 1,
        })
        .sum();
    limit.check(frame.path(), 8 * rows as u64 * width as u64)?;
    let mut columns = Vec::with_capacity(width);
    let mut spread = Array2::zeros((rows, width));
    for (name, feature) in names.iter().zip(features) {
        match feature {
            Feature::Words(words) => {
                let first = columns.len();
                let categories = words.values().iter();
                columns.extend(categories.map(|word| format!("{name}={word}")));
                for (row, &code) in words.codes().iter().enumerate() {
                    if code == MISSING {
                        (first..columns.len()).for_each(|column| spread[[row, column]] = f64::NAN);
                    } else {
                        spread[[row, first + code as usize]] = 1.0;
                    }
                }
            }
            Feature::Numbers(values) => {
                put(&mut spread, columns.len(), values);
                columns.push((*name).to_owned());
            }
            Feature::Parts(parts) => {
                for (part, values) in PARTS.iter().zip(parts) {
                    put(&mut spread, columns.len(), values);
                    columns.push(format!("{name}={part}"));
                }
            }
            Feature::LeftOut => {}
        }
    }
    Ok((columns, spread))
}

fn put(table: &mut Array2<f64>, column: usize, values: &[f64]) {
    let cells = table.column_mut(column).into_iter().zip(values);
    cells.for_each(|(to, &value)| *to = value);
}

/// What is said of rows without a value in any feature, such as the title of a group of rows.
pub(super) fn without_value(
    gaps: &[(u32, u32)],
    features: usize,
    names: Option<&[String]>,
) -> Option<String> {
    let rows = gaps.chunk_by(|a, b| a.0 == b.0);
    let mut empty = rows.filter(|own| own.len() == features);
    let first = empty.next()?[0].0 as usize;
    let name = names.and_then(|names| names.get(first));
    let name = name.map_or(String::new(), |name| format!(", '{}'", shown(name)));
    Some(format!(
        "objects without a value in any feature: {}, the first is {}{name}; their labels say nothing, take the rows out of the file",
        empty.count() + 1,
        first + 1
    ))
}

/// Fills the empty half of a table of all pairs of objects with the other; none of other tables.
pub(super) fn mirror_half(found: &mut [Feature]) -> Option<String> {
    let mut columns: Vec<&mut Vec<f64>> = found
        .iter_mut()
        .filter_map(|feature| match feature {
            Feature::Numbers(values) => Some(values),
            _ => None,
        })
        .collect();
    let n = columns.len();
    let is_half = |lower: bool| {
        let fits = |(at, column): (usize, &&mut Vec<f64>)| {
            let mut rows = column.iter().enumerate();
            column.len() == n
                && rows.all(|(row, value)| row == at || value.is_nan() == ((row < at) == lower))
        };
        n > 2 && columns.iter().enumerate().all(fits)
    };
    let lower = is_half(true);
    if !lower && !is_half(false) {
        return None;
    }
    for at in 0..n {
        for row in 0..at {
            let (from, to) = if lower {
                ((row, at), (at, row))
            } else {
                ((at, row), (row, at))
            };
            columns[to.0][to.1] = columns[from.0][from.1];
        }
        if columns[at][at].is_nan() {
            columns[at][at] = 0.0;
        }
    }
    Some(
        "one half of the table is empty, as of pairs of objects; it is filled with the other half"
            .to_owned(),
    )
}
