//! The features of a text file: words that become columns or numbers, gaps that are filled.

use partita_core::ndarray::Array2;
use partita_core::option;

use super::frame::Frame;
use super::gaps::{column_means, fill_gaps};
use super::read_options::{Encode, ReadOptions};
use crate::dictionary::Dictionary;
use crate::error::{Cell, FileError, Result, WrongValue};
use crate::format::reader::{Column, Form, Limit};
use crate::label_number::MISSING;
use crate::value_kind::ValueKind;
use crate::words::{MissingCounts, add_counts};

/// Names and numbers of the features, whose columns were read in their order: as numbers, or as words where the first value
/// is one.
pub(crate) fn table(
    frame: &mut Frame,
    features: &[usize],
    mut columns: Vec<Column>,
    options: &ReadOptions,
    limit: &Limit,
) -> Result<(Vec<String>, Array2<f64>)> {
    let words = dictionaries(frame, features, &mut columns, options, limit)?;
    let rows = columns.first().map_or(0, Column::rows);
    let mut read = Array2::zeros((rows, features.len()));
    for (place, (column, mut target)) in columns.into_iter().zip(read.columns_mut()).enumerate() {
        match (&words[place], column) {
            (Some(words), _) if options.encode == Some(Encode::Ordinal) => {
                number(words, target.iter_mut());
            }
            (
                None,
                Column::Parsed {
                    values, missing, ..
                },
            ) => {
                target
                    .iter_mut()
                    .zip(values)
                    .for_each(|(to, value)| *to = value);
                add_counts(&mut frame.roles.missing, &missing);
            }
            _ => {}
        }
    }
    let names: Vec<String> = features.iter().map(|&at| frame.names[at].clone()).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    if options.impute.is_some() {
        fill(frame, &names, options, &mut read)?;
    }
    if options.encode == Some(Encode::OneHot) && words.iter().any(Option::is_some) {
        spread(frame, &names, &words, &read, limit)
    } else {
        Ok((names.into_iter().map(str::to_owned).collect(), read))
    }
}

/// The words of every column that holds some, without those that stand for a missing value.
fn dictionaries(
    frame: &mut Frame,
    features: &[usize],
    columns: &mut [Column],
    options: &ReadOptions,
    limit: &Limit,
) -> Result<Vec<Option<Dictionary>>> {
    let later = |column: &Column| matches!(column, Column::Parsed { words: true, .. });
    let places: Vec<usize> = (0..features.len())
        .filter(|&place| later(&columns[place]))
        .collect();
    let wanted: Vec<(usize, Form)> = places
        .iter()
        .map(|&place| (features[place], Form::Labels))
        .collect();
    if !wanted.is_empty() {
        let read = frame.reader.read(0, &wanted, limit)?;
        places
            .iter()
            .zip(read)
            .for_each(|(&place, column)| columns[place] = column);
    }
    let mut words = Vec::with_capacity(features.len());
    for (column, &feature) in columns.iter_mut().zip(features) {
        let Column::Labels(own) = column else {
            words.push(None);
            continue;
        };
        let mut own = std::mem::take(own);
        let counts = own.drop_words(&frame.missing);
        *column = Column::Parsed {
            values: vec![0.0; own.codes().len()],
            words: true,
            missing: MissingCounts::new(),
        };
        add_counts(&mut frame.roles.missing, &counts);
        check_words(frame, feature, &own, options)?;
        words.push(Some(own));
    }
    Ok(words)
}

/// Refuses words that are no categories.
fn check_words(
    frame: &Frame,
    feature: usize,
    words: &Dictionary,
    options: &ReadOptions,
) -> Result<()> {
    let path = frame.path();
    let name = &frame.names[feature];
    if let Some(row) = words.first_missing().filter(|_| options.impute.is_none()) {
        return Err(FileError::value(
            Cell::new(path, row, name, ""),
            WrongValue::Missing,
        ));
    }
    if let (Some(kind), Some((word, row))) = (ValueKind::of_all(words.values()), words.first_word())
    {
        let cell = Cell::new(path, row, name, word);
        return Err(FileError::value(cell, WrongValue::NotANumber(Some(kind))));
    }
    match options.max_categories {
        Some(most) if options.encode == Some(Encode::OneHot) && words.values().len() > most => {
            let reason = format!(
                "column '{name}' has {} different values, more than {}; leave it out ({}), or allow that many",
                words.values().len(),
                option("max-categories").to(most),
                option("skip").naming(name)
            );
            Err(FileError::damaged(path, reason))
        }
        _ => Ok(()),
    }
}

/// The place of every word among the sorted words of its column; NaN for a gap.
fn number<'a>(words: &Dictionary, column: impl Iterator<Item = &'a mut f64>) {
    let mut sorted: Vec<&String> = words.values().iter().collect();
    sorted.sort_unstable();
    let place = |word: &String| sorted.partition_point(|other| *other < word) as f64;
    let places: Vec<f64> = words.values().iter().map(place).collect();
    let number = |&code: &u32| places.get(code as usize).copied().unwrap_or(f64::NAN);
    column
        .zip(words.codes())
        .for_each(|(to, code)| *to = number(code));
}

/// As [`fill`], and counts the gaps.
pub(crate) fn fill_counted(
    frame: &mut Frame,
    names: &[String],
    options: &ReadOptions,
    read: &mut Array2<f64>,
) -> Result<()> {
    let gaps = read.iter().filter(|value| value.is_nan()).count() as u64;
    if gaps > 0 {
        add_counts(
            &mut frame.roles.missing,
            &MissingCounts::from([("NaN".to_owned(), gaps)]),
        );
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    fill(frame, &names, options, read)
}

/// Fills gaps with what is known to be the mean of their column, else with its mean here.
fn fill(
    frame: &Frame,
    names: &[&str],
    options: &ReadOptions,
    read: &mut Array2<f64>,
) -> Result<()> {
    let known: Vec<Option<f64>> = names
        .iter()
        .map(|name| options.means.get(*name).copied())
        .collect();
    let means = column_means(read.view(), &known).map_err(|column| {
        let (name, skip) = (names[column], option("skip").naming(names[column]));
        let reason =
            format!(" has no feature: column '{name}' has no value at all; leave it out ({skip})");
        FileError::content(frame.path(), reason)
    })?;
    fill_gaps(read, &means);
    Ok(())
}

/// A column of zeros and ones for every word.
fn spread(
    frame: &Frame,
    names: &[&str],
    words: &[Option<Dictionary>],
    read: &Array2<f64>,
    limit: &Limit,
) -> Result<(Vec<String>, Array2<f64>)> {
    let rows = read.nrows();
    let width: usize = words
        .iter()
        .map(|words| words.as_ref().map_or(1, |words| words.values().len()))
        .sum();
    limit.check(frame.path(), 8 * rows as u64 * width as u64)?;
    let mut columns = Vec::with_capacity(width);
    let mut spread = Array2::zeros((rows, width));
    for (place, words) in words.iter().enumerate() {
        let first = columns.len();
        let Some(words) = words else {
            spread.column_mut(first).assign(&read.column(place));
            columns.push(names[place].to_owned());
            continue;
        };
        columns.extend(
            words
                .values()
                .iter()
                .map(|word| format!("{}={word}", names[place])),
        );
        let codes = words
            .codes()
            .iter()
            .enumerate()
            .filter(|(_, code)| **code != MISSING);
        codes.for_each(|(row, &code)| spread[[row, first + code as usize]] = 1.0);
    }
    Ok((columns, spread))
}
