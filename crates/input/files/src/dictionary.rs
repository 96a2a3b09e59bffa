//! Dictionary encoding of texts: every distinct label of a column once, and a code a row, numbered in the order of the labels.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;

use hashbrown::HashTable;
use partita_core::BaseClustering;

use crate::error::{Cell, FileError, Result, Row, WrongValue};
use crate::label_number::{LabelNumber, MISSING, check_clusters};
use crate::words::{MissingCounts, MissingWords};

/// Numbers of at most so many digits are looked up in a list.
const SHORT: usize = 4;

/// A column of texts: distinct values in the order of their first appearance, the row of that, and a code for every row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Dictionary {
    codes: Vec<u32>,
    values: Vec<String>,
    first: Vec<Row>,
    /// Codes by the hashes of the values: of wide tables the values are most of what is held.
    known: HashTable<u32>,
    hasher: RandomState,
    /// Bytes of the values with what the allocator adds.
    letters: usize,
    /// Codes of the values that are short whole numbers, by the number.
    short: Vec<u32>,
    first_missing: Option<Row>,
}

impl Dictionary {
    /// Adds the value of the next row; an empty one is missing.
    pub(crate) fn push(&mut self, value: &str, row: Row) {
        let value = value.trim();
        if value.is_empty() {
            return self.push_missing(row);
        }
        let code = self.code(value, row);
        self.codes.push(code);
    }

    /// A column of these texts.
    pub(crate) fn of_texts(texts: impl IntoIterator<Item = String>) -> Self {
        let mut dictionary = Self::default();
        texts
            .into_iter()
            .enumerate()
            .for_each(|(row, text)| dictionary.push(&text, Row::Row(row as u64 + 1)));
        dictionary
    }

    /// Adds a missing value.
    pub(crate) fn push_missing(&mut self, row: Row) {
        self.first_missing.get_or_insert(row);
        self.codes.push(MISSING);
    }

    /// Adds a value by its code, as [`code`](Self::code) gave it.
    #[cfg(any(feature = "arrow", feature = "parquet"))]
    pub(crate) fn push_code(&mut self, code: u32) {
        self.codes.push(code);
    }

    /// The code of a value, which is not empty.
    pub(crate) fn code(&mut self, value: &str, row: Row) -> u32 {
        if let Some(number) = short_number(value) {
            if number >= self.short.len() {
                self.short.resize(number + 1, MISSING);
            }
            if self.short[number] == MISSING {
                self.short[number] = self.add(value, row);
            }
            return self.short[number];
        }
        match self.codes.last() {
            Some(&last) if last != MISSING && self.values[last as usize] == value => last,
            _ => {
                let hash = self.hasher.hash_one(value);
                let is_it = |&code: &u32| self.values[code as usize] == value;
                if let Some(&code) = self.known.find(hash, is_it) {
                    return code;
                }
                let code = self.add(value, row);
                let hash_of = |&code: &u32| self.hasher.hash_one(&self.values[code as usize]);
                self.known.insert_unique(hash, code, hash_of);
                code
            }
        }
    }

    /// Bytes that are held.
    pub(crate) fn bytes(&self) -> usize {
        self.letters
            + self.values.capacity() * size_of::<String>()
            + self.first.capacity() * size_of::<Row>()
            + self.known.allocation_size()
            + (self.short.capacity() + self.codes.capacity()) * size_of::<u32>()
    }

    fn add(&mut self, value: &str, row: Row) -> u32 {
        self.values.push(value.to_owned());
        self.letters += value.len().next_multiple_of(16) + 16;
        self.first.push(row);
        self.values.len() as u32 - 1
    }

    /// Adds the rows of another column, whose codes these are, below so many rows.
    pub(crate) fn append(&mut self, other: &Self, codes: &[u32], before: u64) {
        let first_missing = other.first_missing.map(|row| row.after(before));
        self.first_missing = self.first_missing.or(first_missing);
        let mut own = vec![MISSING; other.values.len()];
        for &code in codes {
            let at = code as usize;
            if own.get(at) == Some(&MISSING) {
                own[at] = self.code(&other.values[at], other.first[at].after(before));
            }
            self.codes.push(own.get(at).copied().unwrap_or(MISSING));
        }
    }

    /// Takes the last row away, and its value if no other row has it.
    pub(crate) fn pop(&mut self) {
        let last = self.codes.pop().filter(|last| *last != MISSING);
        if let Some(last) = last.filter(|last| !self.codes.contains(last)) {
            // It was the last to appear.
            self.values.truncate(last as usize);
            self.first.truncate(last as usize);
            self.known.retain(|&mut code| code < last);
            let short = self.short.iter_mut().filter(|code| **code >= last);
            short.for_each(|code| *code = MISSING);
        }
    }

    /// The distinct values in the order of their first appearance.
    pub(crate) fn values(&self) -> &[String] {
        &self.values
    }

    /// The code of every row, [`MISSING`] where there is no value.
    pub(crate) fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// The codes, which are taken out: the values stay.
    pub(crate) fn take_codes(&mut self) -> Vec<u32> {
        std::mem::take(&mut self.codes)
    }

    /// In how many rows each value is.
    pub(crate) fn counts(&self) -> Vec<u64> {
        let mut counts = vec![0; self.values.len()];
        for &code in &self.codes {
            if let Some(count) = counts.get_mut(code as usize) {
                *count += 1;
            }
        }
        counts
    }

    /// Whether every row has a value that no other has.
    pub(crate) fn all_differ(&self) -> bool {
        self.values.len() == self.codes.len() && !self.values.is_empty()
    }

    /// Whether every row has a word that no other has. Numbers are not words, but among more words; the code 0E0 is one beside a tenth.
    pub(crate) fn all_words_differ(&self) -> bool {
        let is_code = |value: &str| {
            value.split_once(['e', 'E']).is_some_and(|(own, power)| {
                let digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
                digits(own) && digits(power)
            })
        };
        let (numbers, words): (Vec<&String>, Vec<&String>) = self
            .values
            .iter()
            .partition(|value| value.parse::<f64>().is_ok());
        let numbers = numbers.iter().filter(|value| !is_code(value)).count();
        self.all_differ()
            && 10 * words.len() >= self.values.len()
            && 2 * numbers < self.values.len()
    }

    /// Whether every row has a whole number that no other has.
    pub(crate) fn all_whole_numbers_differ(&self) -> bool {
        self.all_differ() && self.values.iter().all(|value| value.parse::<i64>().is_ok())
    }

    /// Whether all values have as many letters.
    pub(crate) fn have_one_length(&self) -> bool {
        let mut lengths = self.values.iter().map(String::len);
        let first = lengths.next();
        lengths.all(|length| Some(length) == first)
    }

    /// Whether this value occurs.
    pub(crate) fn contains(&self, value: &str) -> bool {
        self.values.iter().any(|known| known == value)
    }

    /// The first row with a value.
    pub(crate) fn first_row(&self, value: &str) -> Option<Row> {
        let at = self.values.iter().position(|known| known == value)?;
        self.first.get(at).copied()
    }

    /// The first word and its row.
    pub(crate) fn first_word(&self) -> Option<(&str, Row)> {
        self.values
            .first()
            .map(|value| (value.as_str(), self.first[0]))
    }

    /// Makes words for missing values missing, and counts them.
    pub(crate) fn drop_words(&mut self, missing: &MissingWords) -> MissingCounts {
        let dropped: Vec<bool> = self
            .values
            .iter()
            .map(|value| missing.contains(value))
            .collect();
        let mut counts = MissingCounts::new();
        if !dropped.contains(&true) {
            return counts;
        }
        let old = std::mem::take(self);
        let mut order = vec![MISSING; old.values.len()];
        for (code, (value, &row)) in old.values.iter().zip(&old.first).enumerate() {
            if !dropped[code] {
                order[code] = self.code(value, row);
            }
        }
        let found = old.counts();
        self.codes = old
            .codes
            .iter()
            .map(|&code| order.get(code as usize).copied().unwrap_or(MISSING))
            .collect();
        let rows = (0..dropped.len())
            .filter(|&code| dropped[code])
            .map(|code| old.first[code]);
        self.first_missing = rows.chain(old.first_missing).min_by_key(|row| row.number());
        for code in (0..dropped.len()).filter(|&code| dropped[code]) {
            counts.insert(old.values[code].clone(), found[code]);
        }
        counts
    }

    /// Gives all rows without a value this one.
    pub(crate) fn fill_missing(&mut self, value: &str) {
        if let Some(row) = self.first_missing.take() {
            let filled = self.code(value, row);
            let missing = self.codes.iter_mut().filter(|code| **code == MISSING);
            missing.for_each(|code| *code = filled);
        }
    }

    /// The first row without a value.
    pub(crate) fn first_missing(&self) -> Option<Row> {
        self.first_missing
    }

    /// Every value spelt out.
    pub(crate) fn into_values(self) -> Vec<Option<String>> {
        self.codes
            .iter()
            .map(|&code| self.values.get(code as usize).cloned())
            .collect()
    }

    /// The column as a base clustering, and the cluster of every code. Where all values are numbers, −1 and NaN are
    /// missing and clusters are numbered in the order of the numbers; otherwise in the order of the texts.
    pub(crate) fn base(
        &self,
        path: &Path,
        name: &str,
        missing: &MissingWords,
    ) -> Result<(BaseClustering, Vec<Option<usize>>)> {
        let numbers = self.values.iter().map(|value| LabelNumber::of_text(value));
        let free = |value: &String| missing.is_empty() && value.parse() == Ok(-1.0);
        let labels: Vec<Option<(u64, String)>> = match numbers.collect::<Option<Vec<_>>>() {
            Some(numbers) => {
                let bad = |number: &LabelNumber| *number == LabelNumber::NotALabel;
                if let Some(bad) = numbers.iter().position(bad) {
                    let cell = Cell::new(path, self.first[bad], name, self.values[bad].clone());
                    return Err(FileError::value(cell, WrongValue::NotALabel));
                }
                let labels = numbers.iter().zip(&self.values);
                labels
                    .map(|(label, value)| match label.label() {
                        None if free(value) => Some((0, "-1".to_owned())),
                        label => label.map(|label| (label.saturating_add(1), label.to_string())),
                    })
                    .collect()
            }
            None => self
                .values
                .iter()
                .map(|value| Some((0, value.clone())))
                .collect(),
        };
        let mut distinct: Vec<&(u64, String)> = labels.iter().flatten().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let place = |label: &Option<(u64, String)>| {
            let label = label.as_ref()?;
            Some(distinct.partition_point(|&other| other < label))
        };
        let order = labels.iter().map(place).collect();
        let names: Vec<String> = distinct.iter().map(|(_, name)| name.clone()).collect();
        check_clusters(path, name, names.len())?;
        Ok((BaseClustering::new(name, names), order))
    }
}

/// The number that a text such as "0" or "412" spells, which no other text spells in this way.
fn short_number(text: &str) -> Option<usize> {
    let digits = text.as_bytes();
    if digits.len() > SHORT
        || (digits[0] == b'0' && digits.len() > 1)
        || !digits.iter().all(u8::is_ascii_digit)
    {
        return None;
    }
    Some(
        digits
            .iter()
            .fold(0, |number, digit| number * 10 + usize::from(digit - b'0')),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dictionary(values: &[&str]) -> Dictionary {
        from_line(2, values)
    }

    fn from_line(first: u64, values: &[&str]) -> Dictionary {
        let mut dictionary = Dictionary::default();
        for (value, line) in values.iter().zip(first..) {
            dictionary.push(value, Row::Line(line));
        }
        dictionary
    }

    #[test]
    fn numbers_sort_as_numbers_and_texts_as_texts() {
        for (values, names, clusters) in [
            (
                &["10", "9", "", "-1", "nan", "9.0", " 10 "][..],
                &["9", "10"][..],
                &[Some(1), Some(0), None, None, None, Some(0), Some(1)][..],
            ),
            (
                &["b10", "b9", "", "-1", "07", "7"],
                &["-1", "07", "7", "b10", "b9"],
                &[Some(3), Some(4), None, Some(0), Some(1), Some(2)],
            ),
        ] {
            let column = dictionary(values);
            let (base, order) = column
                .base(Path::new("a.csv"), "u", &MissingWords::default())
                .unwrap();
            assert_eq!(base.values(), names);
            let cluster = |&code: &u32| order.get(code as usize).copied().flatten();
            let found: Vec<_> = column.codes().iter().map(cluster).collect();
            assert_eq!(found, clusters);
        }
        for bad in ["-2", "1.5", "inf"] {
            let refused = dictionary(&["1", bad, "2"]).base(
                Path::new("a.csv"),
                "u",
                &MissingWords::default(),
            );
            let expected = format!("a.csv, line 3, column 'u': '{bad}' is not a cluster number");
            crate::testing::assert_says(refused.unwrap_err(), &[&expected]);
        }
    }

    #[test]
    fn words_for_missing_values_are_dropped_and_counted() {
        let mut column = dictionary(&["7", "NA", "10", "NA", "", "nan"]);
        let counts = column.drop_words(&MissingWords::default());
        assert_eq!(counts, [("NA".to_owned(), 2), ("nan".to_owned(), 1)].into());
        assert_eq!(column.values(), ["7", "10"]);
        assert_eq!(column.first_missing(), Some(Row::Line(3)));
        assert_eq!(column.codes(), [0, MISSING, 1, MISSING, MISSING, MISSING]);
        column.append(&dictionary(&["10"]), &[0], 0);
        assert_eq!(column.codes().last(), Some(&1));
    }

    #[test]
    fn names_are_words_that_differ() {
        assert!(dictionary(&["a", "b1", "-"]).all_words_differ());
        assert!(dictionary(&["0E0", "1E51", "7E1", "3D2"]).all_words_differ());
        for values in [&["a", "a"][..], &["a", ""], &["a", "1"], &["1", "2"], &[]] {
            assert!(!dictionary(values).all_words_differ(), "{values:?}");
        }
    }

    #[test]
    fn a_value_that_was_taken_away_is_new_again() {
        let mut column = dictionary(&["x", "412", "sum"]);
        column.pop();
        column.pop();
        for value in ["y", "sum", "412", "y"] {
            column.push(value, Row::Line(9));
        }
        assert_eq!(column.codes(), [0, 1, 2, 3, 1]);
        assert_eq!(column.values(), ["x", "y", "sum", "412"]);
    }

    #[test]
    fn columns_in_pieces_are_the_whole_column() {
        let values = ["x", "3", "", "x", "y", "3", "412", "412", "00"];
        let mut whole = dictionary(&values[..4]);
        let rest = from_line(6, &values[4..]);
        whole.append(&rest, rest.codes(), 4);
        let expected = dictionary(&values);
        assert_eq!(whole.codes(), expected.codes());
        assert_eq!(whole.values(), expected.values());
        assert_eq!(whole.first, expected.first);
    }
}
