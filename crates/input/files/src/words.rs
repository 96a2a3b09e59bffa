//! What the names of columns and the words in them say; the words are in [`word_lists`](crate::word_lists) and nowhere else.

use std::collections::BTreeMap;

pub(crate) use crate::word_lists::{
    BESIDE_LABELS, BESIDE_SUMS, CLASS_ARRAYS, CLASSES, SPLIT, SUMS, WEIGHTS,
};
use crate::word_lists::{
    CLUSTERINGS, CODES, DURATIONS, FREE, ID_OF, IDS, MAYBE_CLASSES, NO_CLUSTER, NO_VALUE, OBJECTS,
    OF_CLUSTERS, PHONES, SURE, TIMES,
};

/// Words that mean that a value is missing where nothing else is said: those of pandas' `read_csv`, and `?`, which the data
/// sets of the UCI repository use. An empty field is missing whatever the words are.
#[doc(alias = "na_values")]
pub const MISSING_WORDS: [&str; 19] = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// Whether a text is one of these words, whatever the case of its letters.
pub(crate) fn is_one_of(words: &[&str], text: &str) -> bool {
    words.contains(&text.trim().to_lowercase().as_str())
}

/// Whether a first column is called as names of objects are.
pub(crate) fn is_first_column_of_names(column: &str) -> bool {
    OBJECTS[..SURE].contains(&column.to_lowercase().as_str())
}

/// Whether a column is called as names of objects mostly are.
pub(crate) fn names_objects(column: &str) -> bool {
    !column.is_empty() && OBJECTS.contains(&column.to_lowercase().as_str())
}

/// Whether a column is called as ids are: `id`, `patient_id`, `cellID`, `Customer ID`, `Kundennummer`, `Pat.-Nr.`, `Telefon`.
pub(crate) fn is_id(column: &str) -> bool {
    let small = column.trim().to_lowercase();
    names_objects(&small) || IDS.contains(&&*small) || is_key(column)
}

/// Whether a column is called as ids are that stand in several rows too, such as `customer_id`.
pub(crate) fn is_key(column: &str) -> bool {
    let own = column.trim().trim_end_matches(['.', '#', ' ']);
    let small = own.to_lowercase();
    let parted = |end: &str| {
        let before = small.strip_suffix(end).unwrap_or("x");
        before.ends_with(['_', ' ', '.', '-']) || end.len() > 5 && !before.is_empty()
    };
    IDS.iter().any(|end| small.ends_with(*end) && parted(end))
        || ["Id", "ID", "Nr", "No"].iter().any(|end| {
            let before = own.strip_suffix(end);
            before.is_some_and(|before| before.ends_with(|last: char| last.is_lowercase()))
        })
        || small.len() > 1 && ID_OF.contains(&&*small)
        || small
            .strip_suffix("id")
            .is_some_and(|of| ID_OF.contains(&of))
}

/// Whether a column is called as telephone numbers are.
pub(crate) fn is_phone(column: &str) -> bool {
    is_last_word(column, PHONES)
}

/// Whether one of the words of a name is among these.
fn has_word(column: &str, words: &[&str]) -> bool {
    let small = column.to_lowercase();
    small
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|word| words.contains(&word))
}

/// Whether a column is called as points in time are; a rate such as `reviews_per_month` is none.
pub(crate) fn is_time(column: &str) -> bool {
    (has_word(column, TIMES) || is_day(column)) && !has_word(column, &["per"])
}

/// Whether a column is called a year or a period and nothing else.
pub(crate) fn is_period(column: &str) -> bool {
    const PERIODS: &[&str] = &[
        "year",
        "jahr",
        "année",
        "annee",
        "año",
        "ano",
        "anno",
        "rok",
        "time",
        "time_period",
        "period",
        "date",
    ];
    is_one_of(PERIODS, column)
}

/// Whether a column is called as days are.
pub(crate) fn is_day(column: &str) -> bool {
    let small = column.trim().to_lowercase();
    ["datum", "date", "fecha"]
        .iter()
        .any(|end| small.ends_with(end))
}

/// Whether a column is called as durations are.
pub(crate) fn is_duration(column: &str) -> bool {
    has_word(column, DURATIONS)
}

/// Whether a column is called as the labels of a clustering are: `cluster`, `leiden_0.5`, `kmeans4`, `RNA_snn_res.1`, `ward k=4` as our own
/// base clusterings.
pub(crate) fn is_clustering(column: &str) -> bool {
    let small = column.to_lowercase();
    let clusters = small.rsplit_once("k=").map(|(_, clusters)| clusters);
    if clusters.is_some_and(|clusters| clusters.parse::<u32>().is_ok()) {
        return true;
    }
    let words = || {
        let words = small.split(|letter: char| !letter.is_alphabetic());
        words.filter(|word| !word.is_empty())
    };
    words().any(|word| CLUSTERINGS.contains(&word))
        && !words().any(|word| OF_CLUSTERS.contains(&word))
}

/// Whether a column is called as codes are.
pub(crate) fn is_code(column: &str) -> bool {
    is_last_word(column, CODES)
}

/// Whether the last word of a name, which says what a column holds (not a `region_area`), is among these.
fn is_last_word(column: &str, words: &[&str]) -> bool {
    let small = column.to_lowercase();
    let mut parts = small.split(|letter: char| !letter.is_alphanumeric());
    let last = parts.rfind(|part| !part.is_empty());
    last.is_some_and(|last| words.contains(&last))
}

/// Whether a column is called as weights of objects are; a `weight` alone is mostly that of a body.
pub(crate) fn weighs_objects(column: &str) -> bool {
    let column = column.trim().replace([' ', '-', '.'], "_");
    is_one_of(WEIGHTS, &column) && !is_one_of(&WEIGHTS[..1], &column)
}

/// Whether a column holds the classes more often than not, if they are words.
pub(crate) fn may_be_classes(column: &str) -> bool {
    is_one_of(MAYBE_CLASSES, column)
}

/// Whether a column holds the classes more often than not, if they are few whole numbers.
pub(crate) fn are_classes(column: &str) -> bool {
    may_be_classes(column) && !is_one_of(&["population", "annotation"], column)
}

/// Whether a name, in small letters, gives a first line away as a header even if other columns are called by numbers.
pub(crate) fn is_header_word(small: &str) -> bool {
    names_objects(small) || CLASSES.contains(&small) || ["class", SPLIT].contains(&small)
}

/// Whether a column of a text or Parquet file cannot have this name, because it means something else.
pub(crate) fn is_reserved(column: &str) -> bool {
    let small = column.to_lowercase();
    OBJECTS[..SURE].contains(&&*small) || CLASSES.contains(&&*small) || small == SPLIT
}

/// Whether a label means elsewhere that the object has none.
pub(crate) fn means_nothing(label: &str) -> bool {
    const LONGEST: usize = 14;
    if label.len() > LONGEST || label.starts_with(|first: char| first.is_ascii_digit()) {
        return false;
    }
    let missing = |word: &&str| word.eq_ignore_ascii_case(label);
    NO_CLUSTER.contains(&label.to_lowercase().as_str()) || MISSING_WORDS.iter().any(missing)
}

/// Whether a word among numbers says that there is none.
pub(crate) fn has_no_value(word: &str) -> bool {
    const LONGEST: usize = 24;
    let flagged =
        |flag: &str| flag.trim().len() < 3 && !flag.contains(|c: char| c.is_ascii_digit());
    // Stata has 26 words for it: .a to .z.
    let letter = |rest: &str| rest.len() == 1 && rest.bytes().all(|byte| byte.is_ascii_lowercase());
    means_nothing(word)
        || word.strip_prefix(':').is_some_and(flagged)
        || word.strip_prefix('.').is_some_and(letter)
        || word.split_once(' ').is_some_and(|(nothing, unit)| {
            let missing = |word: &&str| word.eq_ignore_ascii_case(nothing);
            MISSING_WORDS.iter().any(missing) && unit.len() < 8
        })
        || word.len() <= LONGEST && is_no_value(&word.to_lowercase())
}

fn is_no_value(small: &str) -> bool {
    let letters: String = small.split(['.', ' ']).collect();
    NO_VALUE.split_whitespace().any(|known| known == letters)
}

/// Whether a number is written for a missing value by surveys, loggers and models: -9, -99, -777, 88, 9999, 999.9, -99.99, 1e20, …; or 97, 98,
/// 998, … beside these.
pub(crate) fn is_missing_code(value: f64) -> bool {
    let code = value.abs();
    let nines = |decimals: f64| {
        [999.0, 9999.0, 99_999.0]
            .iter()
            .any(|nines| (code * decimals - nines).abs() < 1e-6)
    };
    if code >= 1e20 || code.fract() != 0.0 {
        return code >= 1e20 || code > 9.98 && (nines(10.0) || nines(100.0));
    }
    [1.0, 11.0, 111.0, 1111.0, 11111.0, 111_111.0]
        .iter()
        .any(|ones| {
            let digit = code / ones;
            let alike = [7.0, 8.0, 9.0].contains(&digit);
            let below = *ones > 1.0 && [1.0, 2.0].contains(&(9.0 * ones - code));
            (alike || below) && (value < 0.0 || *ones > 1.0)
        })
}

/// Whether a word among amounts of money is a price of 0.
pub(crate) fn is_free(word: &str) -> bool {
    is_one_of(FREE, word)
}

/// How often each word for a missing value was found.
pub(crate) type MissingCounts = BTreeMap<String, u64>;

/// The words that stand for a missing value, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingWords {
    words: Vec<String>,
    longest: usize,
    /// Whether one of the words is a number.
    numbers: bool,
}

impl Default for MissingWords {
    fn default() -> Self {
        Self::new(None)
    }
}

impl MissingWords {
    /// The words that were asked for, or [`MISSING_WORDS`].
    pub(crate) fn new(asked: Option<&[String]>) -> Self {
        let mut words: Vec<String> = match asked {
            Some(asked) => asked
                .iter()
                .map(|word| word.trim().to_owned())
                .filter(|word| !word.is_empty())
                .collect(),
            None => MISSING_WORDS.map(str::to_owned).to_vec(),
        };
        words.sort_unstable();
        let longest = words.iter().map(String::len).max().unwrap_or(0);
        let is_number = |word: &String| word.parse().is_ok_and(f64::is_finite);
        let numbers = words.iter().any(is_number);
        Self {
            words,
            longest,
            numbers,
        }
    }

    /// Whether a number, such as −999, stands for a missing value.
    pub(crate) fn has_numbers(&self) -> bool {
        self.numbers
    }

    /// Whether nothing but an empty field and NaN is missing, so that −1 is a label.
    pub(crate) fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Whether this text is one of the words.
    pub(crate) fn contains(&self, text: &str) -> bool {
        text.len() <= self.longest
            && self
                .words
                .binary_search_by(|word| word.as_str().cmp(text))
                .is_ok()
    }

    /// The labels of a column by their own names; none where a text is empty or one of the words.
    pub(crate) fn labels(
        &self,
        texts: Vec<String>,
        counts: &mut MissingCounts,
    ) -> Vec<Option<String>> {
        let label = |text: String| match text.trim() {
            "" => None,
            word if self.contains(word) => {
                *counts.entry(word.to_owned()).or_default() += 1;
                None
            }
            _ => Some(text),
        };
        texts.into_iter().map(label).collect()
    }
}

/// Adds the counts of another column.
pub(crate) fn add_counts(all: &mut MissingCounts, more: &MissingCounts) {
    for (word, count) in more {
        *all.entry(word.clone()).or_default() += count;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_say_what_a_column_is() {
        type Test = fn(&str) -> bool;
        for (is, yes, no) in [
            (
                is_id as Test,
                &[
                    "id",
                    "cellID",
                    "Sample Id",
                    "row_id",
                    "Pat.-Nr.",
                    "userid",
                    "InvoiceNo",
                ][..],
                &["humid", "grid", "x", "piano"][..],
            ),
            (
                is_key,
                &["CustomerID", "Kundennummer", "subject"],
                &["id", "number", "row", "index"],
            ),
            (
                is_clustering,
                &[
                    "cluster",
                    "leiden_0.5",
                    "kmeans4",
                    "RNA_snn_res.1",
                    "genie-3 k=11",
                ],
                &["cluster_size", "distance_to_cluster_1_dist", "x", "k=v"],
            ),
            (names_objects, &["Barcode", "sample_id"], &["", "x"]),
            (
                is_first_column_of_names,
                &["", "Unnamed: 0", "ID"],
                &["cell"],
            ),
            (is_header_word, &["cell", "label", "split"], &["", "x"]),
            (is_reserved, &["Label", "", "split"], &["cell"]),
            (
                means_nothing,
                &["na", "Unassigned", "-"],
                &["b", "1", "#DIV/0!"],
            ),
        ] {
            assert!(yes.iter().all(|name| is(name)), "{yes:?}");
            assert!(!no.iter().any(|name| is(name)), "{no:?}");
        }
    }

    #[test]
    fn the_words_asked_for_replace_the_usual_ones() {
        let usual = MissingWords::default();
        assert!(
            MISSING_WORDS.iter().all(|word| usual.contains(word))
                && !usual.contains("na")
                && !usual.contains("")
        );
        let asked = MissingWords::new(Some(&["unassigned".into(), " unknown".into()]));
        assert!(asked.contains("unassigned") && asked.contains("unknown") && !asked.contains("NA"));
        assert!(!MissingWords::new(Some(&[String::new()])).contains("NA"));
    }

    #[test]
    fn words_are_counted() {
        let mut counts = MissingCounts::new();
        let texts = ["a", "NA", "", "NA", "nan"].map(str::to_owned).to_vec();
        let labels = MissingWords::default().labels(texts, &mut counts);
        assert_eq!(labels, [Some("a".to_owned()), None, None, None, None]);
        assert_eq!(
            counts.into_iter().collect::<Vec<_>>(),
            [("NA".to_owned(), 2), ("nan".to_owned(), 1)]
        );
    }
}
