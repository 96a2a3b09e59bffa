//! Columns of numbers of files that know their rows.

use partita_core::ndarray::Array2;
use rayon::prelude::*;

use super::frame::{Frame, Place};
use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::format::reader::{Column, Form, Limit};
use crate::number::Short;
use crate::typed_array::{Number, Scalar, TypedArray, each_number};

/// The features of a file that knows its rows; NaN for gaps, where there may be some.
pub(crate) fn numbers(
    frame: &Frame,
    features: &[usize],
    gaps: bool,
    limit: &Limit,
) -> Result<Array2<f64>> {
    let cells = frame
        .rows()
        .unwrap_or(0)
        .saturating_mul(features.len() as u64);
    limit.check(
        frame.path(),
        cells.saturating_mul(8).saturating_add(frame.transient()),
    )?;
    let groups: Vec<usize> = (0..frame.extent.count()).collect();
    let mut values: Vec<f64> = Vec::new();
    // A few groups at a time: what is read is then a fact instead of a claim before memory is taken for the next.
    for some in groups.chunks(2 * rayon::current_num_threads()) {
        let read: Vec<_> = some
            .par_iter()
            .map(|&group| group_numbers(frame, group, features, gaps, limit))
            .collect();
        for block in read {
            let block = block?;
            if values.is_empty() && groups.len() == some.len() && some.len() == 1 {
                values = block;
                continue;
            }
            let left = (cells as usize).saturating_sub(values.len());
            if left > values.capacity() - values.len() && values.try_reserve_exact(left).is_err() {
                return Err(FileError::damaged(
                    frame.path(),
                    "it claims more values than memory can hold",
                ));
            }
            values.extend(block);
        }
    }
    let shape = (values.len() / features.len(), features.len());
    Ok(Array2::from_shape_vec(shape, values).expect("every row has every feature"))
}

/// The features of one group, row by row.
pub(crate) fn group_numbers(
    frame: &Frame,
    group: usize,
    features: &[usize],
    gaps: bool,
    limit: &Limit,
) -> Result<Vec<f64>> {
    let before = frame
        .extent
        .groups
        .iter()
        .flatten()
        .take(group)
        .map(|&rows| rows as u64)
        .sum();
    let mut values: Vec<f64> = Vec::new();
    let mut held: Option<(usize, Column)> = None;
    let mut first_bad: Option<(usize, usize)> = None;
    for (place, &feature) in features.iter().enumerate() {
        let Place { item, inside } = frame.place(feature);
        if held.as_ref().is_none_or(|(found, _)| *found != item) {
            held = Some((
                item,
                frame.reader.read_one(group, item, Form::NUMBERS, limit)?,
            ));
        }
        let Some((_, column)) = &held else { continue };
        let rows = column.rows();
        values.resize(rows * features.len(), 0.0);
        let bad = match column {
            Column::Array(array) if !array.is_text() => {
                let first = put(array, inside, &mut values, features.len(), place);
                let wrong = || {
                    (0..array.rows).find(|&row| array.scalar(row, inside).is_some_and(is_infinite))
                };
                if gaps && first.is_some() {
                    let column = values
                        .iter_mut()
                        .skip(place)
                        .step_by(features.len())
                        .enumerate();
                    let missing = column.filter(|(row, _)| array.scalar(*row, inside).is_none());
                    missing.for_each(|(_, value)| *value = f64::NAN);
                    wrong()
                } else {
                    first
                }
            }
            Column::Array(_) => {
                let found = "an array of texts";
                return Err(FileError::kind(
                    frame.path(),
                    frame.call(feature),
                    found,
                    "an array of numbers",
                ));
            }
            Column::Parsed { values: parsed, .. } => {
                parsed
                    .iter()
                    .enumerate()
                    .for_each(|(row, &value)| values[row * features.len() + place] = value);
                parsed.iter().position(|value| {
                    if gaps {
                        value.is_infinite()
                    } else {
                        !value.is_finite()
                    }
                })
            }
            Column::Text(_) | Column::Labels(_) | Column::Codes(_) => Some(0),
        };
        if let Some(row) = bad.filter(|&row| first_bad.is_none_or(|(first, _)| row < first)) {
            first_bad = Some((row, place));
            // Columns of their own are told in their order, those of an array in the order of the rows.
            if rows == 0
                || frame.place(features[0]).item != frame.place(features[features.len() - 1]).item
            {
                return Err(not_finite(frame, column, feature, row, before));
            }
        }
    }
    match (first_bad, held) {
        (Some((row, place)), Some((_, column))) => {
            Err(not_finite(frame, &column, features[place], row, before))
        }
        _ => Ok(values),
    }
}

fn is_infinite(number: Scalar) -> bool {
    number.float().is_infinite()
}

/// Puts a column of an array into a place of every row; the first row whose value is missing or not finite.
fn put(
    array: &TypedArray,
    column: usize,
    values: &mut [f64],
    width: usize,
    place: usize,
) -> Option<usize> {
    let (start, step) = array.stride(column);
    let rows = values.chunks_exact_mut(width).map(|row| &mut row[place]);
    let mut finite = true;
    each_number!(&array.values, numbers => {
        let numbers = numbers[start..].iter().step_by(step);
        for (value, number) in rows.zip(numbers) {
            *value = number.scalar().float();
            finite &= value.is_finite();
        }
    }, text => {});
    if finite && array.present.is_none() {
        return None;
    }
    (0..array.rows).find(|&row| {
        array
            .scalar(row, column)
            .is_none_or(|number| !number.float().is_finite())
    })
}

/// Why a value is not a feature.
fn not_finite(
    frame: &Frame,
    column: &Column,
    feature: usize,
    row: usize,
    before: u64,
) -> FileError {
    let cell = |value: String| {
        Cell::new(
            frame.path(),
            Row::Row(before + row as u64 + 1),
            &frame.names[feature],
            value,
        )
    };
    match column {
        Column::Array(array) => match array.scalar(row, frame.place(feature).inside) {
            Some(number) => FileError::value(
                cell(Short(number.float()).to_string()),
                WrongValue::NotFinite,
            ),
            None => FileError::value(cell(String::new()), WrongValue::Missing),
        },
        other => match other.clone().into_texts().swap_remove(row) {
            text if text.is_empty() => FileError::value(cell(text), WrongValue::Missing),
            text => FileError::not_a_number(cell(text)),
        },
    }
}
