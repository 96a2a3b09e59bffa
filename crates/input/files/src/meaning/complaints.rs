//! What is said of columns that are neither numbers nor words: all of a file at once.

use partita_core::option;

use super::frame::Frame;
use super::read_options::ReadOptions;
use super::role_notes::grouped;
use crate::dictionary::Dictionary;
use crate::error::{FileError, shown};
use crate::words::MissingCounts;

/// The most columns or words that one line names.
pub(super) const MOST_NAMED: usize = 5;

/// What is said of a column of numbers with words among them.
pub(super) fn complaint(
    name: &str,
    words: &MissingCounts,
    column: &Dictionary,
) -> (String, MissingCounts) {
    let mut most: Vec<(&String, &u64)> = words.iter().collect();
    most.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let more = most.len().saturating_sub(MOST_NAMED);
    let listed: Vec<String> = most
        .iter()
        .take(MOST_NAMED)
        .map(|(word, count)| {
            let row = column
                .first_row(word)
                .map_or(String::new(), |row| format!(", {row}"));
            format!("'{}' {}{row}", shown(word), times(**count))
        })
        .collect();
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    let text = format!("'{}' ({}{more})", shown(name), listed.join(", "));
    (text, words.clone())
}

/// How often, in words.
pub(super) fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{} times", grouped(count)),
    }
}

/// All columns of numbers with words among them, and the flags that settle it.
pub(super) fn refused(
    frame: &Frame,
    complaints: &[(String, MissingCounts)],
    units: &[String],
) -> FileError {
    let units = match units {
        [] => String::new(),
        units => format!(
            "numbers with different units in {}; write them in one unit, or give {} if they are categories, {} if the column is not a \
             feature",
            units.join(", "),
            option("encode").to("one-hot"),
            option("skip")
        ),
    };
    if complaints.is_empty() {
        return FileError::damaged(frame.path(), units);
    }
    let units = if units.is_empty() {
        units
    } else {
        format!("; {units}")
    };

    let texts: Vec<&str> = complaints.iter().map(|(text, _)| text.as_str()).collect();
    let mut words: Vec<String> = complaints
        .iter()
        .flat_map(|(_, words)| words.keys().cloned())
        .collect();
    words.sort();
    words.dedup();
    words.truncate(MOST_NAMED);
    words.extend(frame.roles.missing.keys().cloned());
    let hold = if texts.len() == 1 {
        "column holds"
    } else {
        "columns hold"
    };
    let reason = format!(
        "{} {hold} words among numbers: {}; if they mean that a value is missing give {}, if the words are categories {}, if a \
         column is not a feature {}{units}",
        texts.len(),
        texts.join(", "),
        option("missing").listing(words),
        option("encode").to("one-hot"),
        option("skip")
    );
    FileError::damaged(frame.path(), reason)
}

/// Words that are too many for categories.
pub(super) fn too_many(
    frame: &Frame,
    at: usize,
    different: usize,
    options: &ReadOptions,
) -> FileError {
    let name = &frame.names[at];
    let most = options.max_categories.unwrap_or(0);
    let reason = format!(
        "column '{name}' has {different} different values, more than {}; leave it out ({}), or allow that many",
        option("max-categories").to(most),
        option("skip").naming(name)
    );
    FileError::damaged(frame.path(), reason)
}
