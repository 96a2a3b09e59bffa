//! Columns that hold one word or nothing, such as the crosses of a questionnaire: what is empty there is an answer.

use partita_core::option;

use super::complaints::MOST_NAMED;
use super::values::FEWEST_OBJECTS;
use crate::dictionary::Dictionary;
use crate::error::shown;
use crate::label_number::MISSING;
use crate::words;

/// What an empty field of such a column is called.
const EMPTY: &str = "empty";

/// A mark is in at most so many times more rows than nothing is; else the others are gaps.
const MOST_MARKED: usize = 4;

fn is_marked(present: usize, rows: usize) -> bool {
    rows >= FEWEST_OBJECTS && present > 1 && present <= MOST_MARKED * (rows - present)
}

/// Whether numbers are ones or nothing.
pub(super) fn are_ones(values: &[f64]) -> bool {
    let ones = values.iter().filter(|value| **value == 1.0).count();
    let gaps = values.iter().filter(|value| value.is_nan()).count();
    ones + gaps == values.len() && is_marked(ones, values.len())
}

/// Makes what is empty a word, if a column holds one word or nothing; whether it does.
pub(super) fn fill(column: &mut Dictionary) -> bool {
    let codes = column.codes();
    let present = codes.iter().filter(|&&code| code != MISSING).count();
    let is_mark = matches!(column.values(), [word] if !words::means_nothing(word))
        && is_marked(present, codes.len());
    if is_mark {
        column.fill_missing(EMPTY);
    }
    is_mark
}

/// What is said of such columns; nothing without any.
pub(super) fn remark(columns: &[String]) -> Option<String> {
    let named = columns.iter().take(MOST_NAMED);
    let named: Vec<String> = named.map(|name| format!("'{}'", shown(name))).collect();
    let more = match columns.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let first = columns.first()?;
    let (column, hold) = if columns.len() == 1 {
        ("column", "holds")
    } else {
        ("columns", "hold")
    };
    Some(format!(
        "{column} {}{more} {hold} one word or nothing: what is empty is a category of its own; if a column is not a feature give {}",
        named.join(", "),
        option("skip").naming(&shown(first))
    ))
}
