//! The features of a text file: words that become columns or numbers, gaps that are filled.

use partita_core::ndarray::Array2;

use super::frame::Frame;
use crate::error::{Cell, FileError};
use crate::format::reader::{Column, Form, Limit};
use crate::label_encoder::{Dictionary, MISSING};

/// What becomes of words and gaps.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Words {
    /// Every word becomes a column of zeros and ones; otherwise words become their places in order.
    pub(crate) one_hot: bool,
    /// Whether gaps are filled; otherwise a gap among words is an error.
    pub(crate) fill: bool,
}

/// Names and numbers of the features, whose columns were read as numbers in their order.
pub(crate) fn table(
    frame: &Frame,
    features: &[usize],
    columns: Vec<Column>,
    how: Words,
    limit: &Limit,
) -> Result<(Vec<String>, Array2<f64>), FileError> {
    let with_words: Vec<bool> =
        columns.iter().map(|column| matches!(column, Column::Parsed { words: true, .. })).collect();
    let words = dictionaries(frame, features, &with_words, how, limit)?;
    let rows = columns.first().map_or(0, Column::rows);
    let mut read = Array2::zeros((rows, features.len()));
    for (place, (column, mut target)) in columns.into_iter().zip(read.columns_mut()).enumerate() {
        match (&words[place], column) {
            (Some(words), _) if !how.one_hot => number(words, target.iter_mut()),
            (None, Column::Parsed { values, .. }) => target.iter_mut().zip(values).for_each(|(to, value)| *to = value),
            _ => {}
        }
    }
    let names: Vec<&str> = features.iter().map(|&at| frame.names[at].as_str()).collect();
    if how.fill {
        fill(frame, &names, &mut read)?;
    }
    if how.one_hot && with_words.contains(&true) {
        spread(frame, &names, &words, &read, limit)
    } else {
        Ok((names.into_iter().map(str::to_owned).collect(), read))
    }
}

/// The words of every column that holds some.
fn dictionaries(
    frame: &Frame,
    features: &[usize],
    with_words: &[bool],
    how: Words,
    limit: &Limit,
) -> Result<Vec<Option<Dictionary>>, FileError> {
    let mut words: Vec<Option<Dictionary>> = features.iter().map(|_| None).collect();
    let places: Vec<usize> = (0..features.len()).filter(|&place| with_words[place]).collect();
    if places.is_empty() {
        return Ok(words);
    }
    let wanted: Vec<(usize, Form)> = places.iter().map(|&place| (features[place], Form::Labels)).collect();
    for (&place, column) in places.iter().zip(frame.reader.read(0, &wanted, limit)?) {
        let Column::Labels(dictionary) = column else { continue };
        if let Some(row) = dictionary.first_missing().filter(|_| !how.fill) {
            let cell = Cell::new(frame.path(), row, &frame.names[features[place]], "");
            return Err(FileError::NoValue(cell));
        }
        words[place] = Some(dictionary);
    }
    Ok(words)
}

/// The place of every word among the sorted words of its column; NaN for a gap.
fn number<'a>(words: &Dictionary, column: impl Iterator<Item = &'a mut f64>) {
    let mut sorted: Vec<&String> = words.values().iter().collect();
    sorted.sort_unstable();
    let place = |word: &String| sorted.partition_point(|other| *other < word) as f64;
    let places: Vec<f64> = words.values().iter().map(place).collect();
    let number = |&code: &u32| places.get(code as usize).copied().unwrap_or(f64::NAN);
    column.zip(words.codes()).for_each(|(to, code)| *to = number(code));
}

/// Fills gaps with the mean of their column.
fn fill(frame: &Frame, names: &[&str], read: &mut Array2<f64>) -> Result<(), FileError> {
    for (mut column, name) in read.columns_mut().into_iter().zip(names) {
        let there = column.iter().filter(|value| !value.is_nan());
        let (count, sum) = there.fold((0.0, 0.0), |(count, sum), value| (count + 1.0, sum + value));
        if count == 0.0 {
            let why = format!("column '{name}' has no value at all; leave it out");
            return Err(FileError::NoFeatures { path: frame.path().into(), why });
        }
        column.mapv_inplace(|value| if value.is_nan() { sum / count } else { value });
    }
    Ok(())
}

/// A column of zeros and ones for every word.
fn spread(
    frame: &Frame,
    names: &[&str],
    words: &[Option<Dictionary>],
    read: &Array2<f64>,
    limit: &Limit,
) -> Result<(Vec<String>, Array2<f64>), FileError> {
    let rows = read.nrows();
    let width: usize = words.iter().map(|words| words.as_ref().map_or(1, |words| words.values().len())).sum();
    limit.check(frame.path(), 8 * rows as u64 * width as u64)?;
    let (mut columns, mut spread) = (Vec::with_capacity(width), Array2::zeros((rows, width)));
    for (place, words) in words.iter().enumerate() {
        let first = columns.len();
        let Some(words) = words else {
            spread.column_mut(first).assign(&read.column(place));
            columns.push(names[place].to_owned());
            continue;
        };
        columns.extend(words.values().iter().map(|word| format!("{}={word}", names[place])));
        let codes = words.codes().iter().enumerate().filter(|(_, code)| **code != MISSING);
        codes.for_each(|(row, &code)| spread[[row, first + code as usize]] = 1.0);
    }
    Ok((columns, spread))
}
