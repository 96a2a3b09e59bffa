//! Words that say what a column or a value is: the only lists of them, all in small letters where nothing else is said.

use std::collections::BTreeMap;

/// Words that mean that a value is missing where nothing else is said: those of pandas' `read_csv`, and `?`, which the data
/// sets of the UCI repository use. An empty field is missing whatever the words are.
#[doc(alias = "na_values")]
pub const MISSING_WORDS: [&str; 19] = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// Labels that programs give to objects without a cluster.
pub(crate) const NO_CLUSTER: &[&str] = &[
    "-",
    "--",
    "—",
    ".",
    "..",
    "...",
    "n.a.",
    "n/d",
    "nd",
    "k.a.",
    "k. a.",
    "keine angabe",
    "not available",
    "no data",
    "missing",
    "unassigned",
    "not assigned",
    "unknown",
    "unclassified",
    "unlabeled",
    "unlabelled",
    "undefined",
    "noise",
    "outlier",
    "outliers",
];

/// Names of a column that says what the objects are called where all its values differ, and of a first column that does so whatever it
/// holds if it is among the first three. pandas leaves the name of an index empty, and calls it `Unnamed: 0` when it writes
/// again what it has read.
const OBJECTS: &[&str] = &[
    "object",
    "id",
    "name",
    "",
    "unnamed: 0",
    "cell",
    "cell_id",
    "barcode",
    "sample",
    "sample_id",
    "index",
    "object_id",
    "row",
    "gene",
    "patient",
    "subject",
    "participant",
    "respondent",
    "customer",
    "country",
    "city",
    "account",
    "konto",
    "kunde",
    "probe",
    "uuid",
    "serial",
    "key",
    "phone",
    "ean",
    "sku",
    "rownames",
    "no",
    "nr",
    "#",
];

/// How many of them are names of objects in a first column even where two values are alike.
const SURE: usize = 5;

/// How names of ids end.
const IDS: &[&str] = &["id", "number", "nummer", "nr", "no", "account", "key"];

/// Names of columns of points in time, whole or as one of several words.
const TIMES: &[&str] = &[
    "time",
    "timestamp",
    "date",
    "datetime",
    "datum",
    "zeit",
    "epoch",
    "unix",
    "unixtime",
    "elapsed",
    "year",
    "jahr",
    "month",
    "day",
    "ts",
    "created",
    "updated",
    "uptime",
    "millis",
];

/// Names of columns of numbers that stand for places and kinds, whole or as one of several words.
const CODES: &[&str] = &[
    "zip", "zipcode", "postcode", "plz", "fips", "naics", "sic", "code", "region", "district",
    "postal",
];

/// Names of a column of true classes.
pub(crate) const CLASSES: &[&str] = &["label", "truth"];

/// Names of columns that are the truth more often than not.
pub(crate) const MAYBE_CLASSES: &[&str] = &[
    "label",
    "labels",
    "truth",
    "ground_truth",
    "groundtruth",
    "ground truth",
    "gt",
    "true_label",
    "true_labels",
    "class",
    "classes",
    "target",
    "celltype",
    "cell_type",
    "cell type",
    "cell_label",
    "species",
];

/// What the classes may be called in an archive; the first is how we write them.
pub(crate) const CLASS_ARRAYS: &[&str] = &["y", "truth", "gt", "label", "target", "gnd"];

/// The column with the parts of the original data set.
pub(crate) const SPLIT: &str = "split";

/// Columns that stand beside labels and are not such.
pub(crate) const BESIDE_LABELS: &[&str] = &[SPLIT, "certainty", "confidence"];

/// Names of columns that weigh the objects more often than not.
pub(crate) const WEIGHTS: &[&str] = &[
    "weight",
    "weights",
    "object_weight",
    "object_weights",
    "sample_weight",
    "multiplicity",
    "survey_weight",
    "survey_weights",
    "design_weight",
    "freq_weight",
    "person_weight",
    "household_weight",
    "case_weight",
    "pweight",
    "fweight",
    "fnlwgt",
    "wgt",
];

/// What sums and means of columns are called in spreadsheets.
pub(crate) const SUMS: &[&str] = &[
    "total",
    "totals",
    "grand total",
    "sum",
    "mean",
    "average",
    "gesamt",
    "summe",
    "insgesamt",
    "mittelwert",
    "durchschnitt",
    "subtotal",
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

/// Whether a column is called as ids are: `id`, `patient_id`, `cellID`, `Customer ID`, `Kundennummer`.
pub(crate) fn is_id(column: &str) -> bool {
    let small = column.trim().to_lowercase();
    let parted = |end: &str| {
        let before = small.strip_suffix(end).unwrap_or("x");
        before.is_empty() || before.ends_with(['_', ' ', '.', '-']) || end.len() > 5
    };
    names_objects(&small)
        || IDS.iter().any(|end| small.ends_with(*end) && parted(end))
        || ["Id", "ID", "Nr", "No"]
            .iter()
            .any(|end| column.ends_with(end))
}

/// Whether one of the words of a name is among these.
fn has_word(column: &str, words: &[&str]) -> bool {
    let small = column.to_lowercase();
    small
        .split(|letter: char| !letter.is_alphanumeric())
        .any(|word| words.contains(&word))
}

/// Whether a column is called as points in time are.
pub(crate) fn is_time(column: &str) -> bool {
    has_word(column, TIMES)
}

/// Whether a column is called as codes are.
pub(crate) fn is_code(column: &str) -> bool {
    // The last word says what a column holds: not a `region_area`.
    let small = column.to_lowercase();
    let last = small
        .rsplit(|letter: char| !letter.is_alphanumeric())
        .next();
    last.is_some_and(|last| CODES.contains(&last))
}

/// Whether a column is called as weights of objects are; a `weight` alone is mostly that of a body.
pub(crate) fn weighs_objects(column: &str) -> bool {
    is_one_of(WEIGHTS, column) && !is_one_of(&WEIGHTS[..1], column)
}

/// Whether a column holds the classes more often than not, if they are words.
pub(crate) fn may_be_classes(column: &str) -> bool {
    is_one_of(MAYBE_CLASSES, column)
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
                &["id", "cellID", "Sample Id", "row_id"][..],
                &["humid", "grid", "x"][..],
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
