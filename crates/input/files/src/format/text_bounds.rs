//! Where the table of a text begins and ends: titles, comments and units above its rows, notes and sums below them.

use std::collections::HashSet;

use csv::ByteRecord;

use super::text_layout::{filled, first_line};
use crate::amount::amount;
use crate::calendar::is_date;
use crate::words::{BESIDE_SUMS, MissingWords, SUMS, has_no_value, is_one_of};

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

/// Whether a row holds a number or a date in any notation.
fn has_value(row: &ByteRecord) -> bool {
    let mut own = row.iter().map(text);
    own.any(|field| is_number(field) || is_date(field))
}

/// Fields of a row that are not empty.
pub(super) fn worded(row: &ByteRecord) -> usize {
    row.iter().filter(|field| !text(field).is_empty()).count()
}

/// The most rows of another width above a table.
const MOST_ABOVE: usize = 8;

/// How many of the first rows are comments or titles above the table.
pub(super) fn above(rows: &[ByteRecord]) -> usize {
    let begins = |first: &[u8]| first.starts_with(b"#") || first.starts_with(b"!");
    let is_comment = |row: &&ByteRecord| row.get(0).is_some_and(begins);
    let comments = rows.iter().take_while(is_comment).count();
    if comments > 0 {
        let widest = rows.iter().map(filled).max().unwrap_or(0);
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
    let wider = of_another_width(rows);
    wider + titles(&rows[wider..])
}

/// How many of the first rows are wider or narrower than nearly all others, such as what a logger says of itself.
fn of_another_width(rows: &[ByteRecord]) -> usize {
    let Some(last) = rows.get(rows.len() / 2).map(ByteRecord::len) else {
        return 0;
    };
    let differs = |row: &&ByteRecord| row.len().abs_diff(last) > 1;
    let wider = rows.iter().take_while(differs).count();
    let rest = &rows[wider..];
    // One line that is narrower may be a header.
    let some = wider > 1 || rows[0].len() > last;
    if some
        && (1..=MOST_ABOVE).contains(&wider)
        && rest.len() > 2
        && rest.iter().all(|row| row.len() == last)
    {
        wider
    } else {
        0
    }
}

/// How many of the first rows are titles: of one or two fields where others have more.
fn titles(rows: &[ByteRecord]) -> usize {
    let widest = rows.iter().map(filled).max().unwrap_or(0);
    let is_title = |row: &&ByteRecord| {
        let fields = filled(row);
        let first = row.get(0).map(text).unwrap_or_default();
        let says = !first.is_empty() && (!is_number(first) || widest > fields + 1);
        fields == 0 || fields < widest && fields <= NOTE && says
    };
    let titles = rows.iter().take_while(is_title).count();
    let (Some(last), Some(next)) = (rows[..titles].last(), rows.get(titles)) else {
        return 0;
    };
    let numbered = |row: &ByteRecord| row.get(0).map(text).is_some_and(is_number);
    // R gives the column with the names of the rows no name; and what stands above values may name some of the columns.
    let may_be_header = filled(last) >= NOTE || filled(last) + 1 == widest;
    // Of rows that all look like a header, with numbers in turn, none is one.
    let is_header = |row: &ByteRecord, below| first_line(row, below).is_header;
    let below = rows.get(titles + 1);
    // Words alone, above the first row with an amount or a date.
    let above_values =
        |row: &ByteRecord| has_value(row) && !has_value(next) && filled(next) == widest;
    let named = is_header(next, below)
        && below.is_some_and(|row| !is_header(row, None) || above_values(row));
    if !named && rows[..titles].iter().any(numbered) {
        return 0;
    }
    titles - usize::from(may_be_header && !named)
}

/// The names of columns out of two rows, if the first names groups of columns and leaves the place above the second and further columns of
/// a group empty, as merged cells do.
pub(super) fn grouped_names(groups: &ByteRecord, rows: &[ByteRecord]) -> Option<ByteRecord> {
    let (names, below) = rows.split_first()?;
    let is_named = |row: &ByteRecord| row.get(0).is_some_and(|first| !text(first).is_empty());
    let some_empty = || {
        let mut pairs = groups.iter().zip(names).skip(1);
        pairs.any(|(group, name)| text(group).is_empty() && !text(name).is_empty())
    };
    let all_words = || !names.iter().map(text).any(is_number);
    // The row below may name the index alone.
    let first = below.iter().find(|row| worded(row) > 1)?;
    // Below the name of the first column stands nothing, but in all rows of objects; or there are words alone.
    let beside = is_named(groups) && !is_named(names) && below.iter().all(is_named);
    let above =
        all_words() && 2 * worded(groups) <= worded(names) && worded(names) + 1 >= first.len();
    // A group stands above each of its columns.
    let both = || groups.iter().zip(names).skip(1);
    let repeated = || {
        let groups: HashSet<&[u8]> = both().map(|(group, _)| group).collect();
        let pairs: HashSet<(&[u8], &[u8])> = both().collect();
        groups.len() + 1 < names.len() && pairs.len() + 1 == names.len() && all_words()
    };
    let fits = groups.len() == names.len()
        && worded(groups) > 0
        && (some_empty() && (beside || above) || repeated())
        && first.iter().map(text).any(is_number);
    let mut group = "";
    let joined = groups.iter().zip(names).map(|(above, name)| {
        if !text(above).is_empty() {
            group = text(above);
        }
        format!("{} {}", group, text(name)).trim().to_owned()
    });
    fits.then(|| joined.collect::<Vec<_>>().into())
}

/// The most rows of units, descriptions and ids of columns below a header.
const MOST_UNITS: usize = 3;

/// How many of the first rows below the header hold no number in any column that holds numbers further down, but units or other
/// words about the columns.
pub(super) fn units(rows: &[ByteRecord], missing: &MissingWords) -> usize {
    let most = MOST_UNITS.min(rows.len().saturating_sub(2));
    let fits = |&count: &usize| {
        let (above, below) = rows.split_at(count);
        // Notes below the table are short.
        let width = above.iter().map(ByteRecord::len).min().unwrap_or(0);
        let columns = (0..width).filter(|&column| is_numeric(below, column, missing));
        let columns: Vec<usize> = columns.collect();
        above.iter().all(|row| {
            if is_rule(row) || is_index_name(row, below) || are_types(row, below) {
                return true;
            }
            let own = columns.iter().map(|&column| text(&row[column]));
            let worded = own.filter(|field| !field.is_empty());
            let is_word = |field: &str| !missing.contains(field) && !has_no_value(field);
            // A row of questions below ids has no id, and words that no row below has.
            let is_below = |(column, field): (usize, &[u8])| {
                !field.is_empty() && below.iter().any(|other| other.get(column) == Some(field))
            };
            let without_id = columns.first() == Some(&0)
                && text(&row[0]).is_empty()
                && !row.iter().enumerate().any(is_below);
            worded.clone().all(is_word)
                && (worded.count() > 0 || without_id)
                && !row.iter().map(text).any(is_number)
        })
    };
    (1..=most).rev().find(fits).unwrap_or(0)
}

/// Whether a row has nothing but the name of the first column, as pandas gives an index, above rows with more.
fn is_index_name(row: &ByteRecord, below: &[ByteRecord]) -> bool {
    let begins = row
        .get(0)
        .map(text)
        .is_some_and(|first| !first.is_empty() && !is_number(first));
    begins && worded(row) == 1 && row.len() > 2 && below.iter().all(|row| worded(row) > 1)
}

/// Whether a row has the widths and types of columns, such as 5s and 14n, and no row below has such a field.
fn are_types(row: &ByteRecord, below: &[ByteRecord]) -> bool {
    let is_type = |field: &[u8]| {
        let field = text(field);
        let width = field.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        width.len() + 1 == field.len() && width.len() < 4 && width.parse::<u16>().is_ok()
    };
    worded(row) > 1 && row.iter().all(is_type) && !below.iter().any(|row| row.iter().any(is_type))
}

/// Whether a row is a line below a header, as of a table in Markdown.
fn is_rule(row: &ByteRecord) -> bool {
    let is_line = |field: &str| field.bytes().all(|byte| b"-=:+".contains(&byte));
    worded(row) > 0 && row.iter().map(text).all(is_line)
}

/// Whether a column holds numbers and gaps.
fn is_numeric(rows: &[ByteRecord], column: usize, missing: &MissingWords) -> bool {
    let fields = rows
        .iter()
        .map(|row| row.get(column).map(text).unwrap_or_default());
    let is_gap = |field: &str| field.is_empty() || missing.contains(field) || has_no_value(field);
    let mut fields = fields.filter(|field| !is_gap(field)).peekable();
    fields.peek().is_some() && fields.all(is_number)
}

/// What a line of notes begins with.
const NOTES: [&str; 17] = [
    "*",
    "#",
    "!",
    "__",
    "--",
    "==",
    "©",
    "—",
    "source",
    "quelle",
    "note",
    "anmerkung",
    "fuente",
    "remarque",
    "stand:",
    "data from",
    "(c)",
];

/// What a row may be if it stands at the end and is not an object; `after` is what the row before it was.
pub(super) fn may_be_below(
    row: &ByteRecord,
    fields: usize,
    after: Option<&'static str>,
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
    // A second table, or the numbered notes below their header.
    if row.len() != fields && matches!(after, Some("blank" | "notes")) {
        return Some("notes");
    }
    if begins && more < NOTE && more + 1 < fields && (!is_number(first) || first.contains(' ')) {
        let short = row.len() < fields;
        let small = first.to_lowercase();
        let says = first.contains(": ")
            || first.ends_with(':')
            || NOTES.iter().any(|begin| small.starts_with(begin));
        if short || more == 0 && (after.is_some() || says) {
            return Some("notes");
        }
    }
    let beside = |field: &str| after == Some("sums") && is_one_of(BESIDE_SUMS, field);
    let is_beside = |row: &ByteRecord| row.iter().take(2).map(name_of_sum).any(beside);
    (is_sum(row) || is_beside(row)).then_some("sums")
}

fn name_of_sum(field: &[u8]) -> &str {
    text(field).trim_end_matches([':', '.'])
}

/// What sums of a part of the rows begin with.
const SUBTOTAL: &str = "subtotal";

/// Whether a row is called as sums and means are; US Total is one.
pub(super) fn is_sum(row: &ByteRecord) -> bool {
    let is_total = |name: &str| {
        let last = name.rsplit_once(' ').map(|(_, last)| last);
        // Such as Total: Account, or Subtotal North.
        let first = name.split_once(':').map_or(name, |(first, _)| first);
        is_one_of(SUMS, first)
            || last.is_some_and(|last| is_one_of(&SUMS[..2], last))
            || name
                .get(..SUBTOTAL.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(SUBTOTAL))
    };
    row.iter().take(2).map(name_of_sum).any(is_total)
}
