//! Where the table of a text begins and ends: titles, comments and units above its rows, notes and sums below them.

use csv::ByteRecord;

use super::text_layout::{filled, first_line};
use crate::value_kind::amount;
use crate::words::{MissingWords, SUMS, is_one_of, means_nothing};

/// The most fields of a line that is a title or a note: a key and its value.
const NOTE: usize = 2;

fn text(field: &[u8]) -> &str {
    std::str::from_utf8(field).unwrap_or_default().trim()
}

fn is_number(text: &str) -> bool {
    ['.', ',']
        .iter()
        .any(|&decimal| amount(text, decimal).is_some())
}

/// How many of the first rows are comments or titles above the table.
pub(super) fn above(rows: &[ByteRecord]) -> usize {
    let widest = rows.iter().map(filled).max().unwrap_or(0);
    let is_comment = |row: &&ByteRecord| row.get(0).is_some_and(|first| first.starts_with(b"#"));
    let comments = rows.iter().take_while(is_comment).count();
    if comments > 0 {
        // The last may hold the names of the columns behind its #.
        let names = rows.get(comments).is_some_and(|next| {
            filled(next) == filled(&rows[comments - 1])
                && (comments == rows.len() - 1 || next.iter().map(text).any(is_number))
                && filled(next) == widest
                && widest > 1
        });
        let comments = comments - usize::from(names);
        return comments + if names { 0 } else { above(&rows[comments..]) };
    }
    let is_title = |row: &&ByteRecord| {
        let fields = filled(row);
        let first = row.get(0).map(text).unwrap_or_default();
        fields == 0 || fields < widest && fields <= NOTE && !first.is_empty() && !is_number(first)
    };
    let titles = rows.iter().take_while(is_title).count();
    let (Some(last), Some(next)) = (rows[..titles].last(), rows.get(titles)) else {
        return 0;
    };
    // R gives the column with the names of the rows no name; and what stands above values may name some of the columns.
    let may_be_header = filled(last) >= NOTE || filled(last) + 1 == widest;
    // Of rows that all look like a header, with numbers in turn, none is one.
    let is_header = |row: &ByteRecord| first_line(row).is_header;
    let named = is_header(next) && rows.get(titles + 1).is_some_and(|row| !is_header(row));
    titles - usize::from(may_be_header && !named)
}

/// The most rows of units, descriptions and ids of columns below a header.
const MOST_UNITS: usize = 3;

/// How many of the first rows below the header hold no number in any column that holds numbers further down, but units or other
/// words about the columns.
pub(super) fn units(rows: &[ByteRecord], missing: &MissingWords) -> usize {
    let most = MOST_UNITS.min(rows.len().saturating_sub(2));
    let fits = |&count: &usize| {
        let (above, below) = rows.split_at(count);
        let width = rows.iter().map(ByteRecord::len).min().unwrap_or(0);
        let columns = (0..width).filter(|&column| is_numeric(below, column, missing));
        let columns: Vec<usize> = columns.collect();
        above.iter().all(|row| {
            let own = columns.iter().map(|&column| text(&row[column]));
            let worded = own.filter(|field| !field.is_empty());
            let is_word = |field: &str| !missing.contains(field) && !means_nothing(field);
            worded.clone().all(is_word)
                && worded.count() > 0
                && !row.iter().map(text).any(is_number)
        })
    };
    (1..=most).find(fits).unwrap_or(0)
}

/// Whether a column holds numbers and gaps.
fn is_numeric(rows: &[ByteRecord], column: usize, missing: &MissingWords) -> bool {
    let fields = rows
        .iter()
        .map(|row| row.get(column).map(text).unwrap_or_default());
    let is_gap = |field: &str| field.is_empty() || missing.contains(field) || means_nothing(field);
    let mut fields = fields.filter(|field| !is_gap(field)).peekable();
    fields.peek().is_some() && fields.all(is_number)
}

/// What a row may be if it stands at the end and is not an object.
pub(super) fn may_be_below(
    row: &ByteRecord,
    fields: usize,
    after_blank: bool,
) -> Option<&'static str> {
    let mut own = row.iter().map(text).filter(|field| !field.is_empty());
    let Some(first) = own.next() else {
        return Some("blank");
    };
    let more = own.count();
    let begins = row.get(0).map(text) == Some(first);
    if fields == 1 {
        return None;
    }
    if begins && more < NOTE && more + 1 < fields && !is_number(first) {
        let short = row.len() < fields;
        let says = first.contains(": ") || first.ends_with(':') || first.starts_with(['*', '#']);
        if short || more == 0 && (after_blank || says) {
            return Some("notes");
        }
    }
    let sums = |field: &str| is_one_of(SUMS, field.trim_end_matches(':'));
    row.iter().take(2).map(text).any(sums).then_some("sums")
}
