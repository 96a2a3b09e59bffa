//! Missing values in text: the words that stand for no value, and how often each was found.

use std::collections::BTreeMap;

/// Words that mean that a value is missing where nothing else is said: those of pandas' `read_csv`, and `?`, which the data
/// sets of the UCI repository use. An empty field is missing whatever the words are.
#[doc(alias = "na_values")]
pub const MISSING_WORDS: [&str; 19] = [
    "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN", "<NA>",
    "?", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
];

/// How often each word for a missing value was found.
pub(crate) type MissingCounts = BTreeMap<String, u64>;

/// The words that stand for a missing value, sorted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingWords {
    words: Vec<String>,
    longest: usize,
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
        Self { words, longest }
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
