//! What becomes of a text.

use partita_core::{SettingChoice, Settings};
use serde::{Deserialize, Serialize};

/// What the count of a term in a document is worth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum Frequency {
    /// The count.
    Count,
    /// 1 + ln count.
    Log,
}

/// What the rarity of a term is worth; n documents, the term in df of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum Idf {
    /// ln(n / df): a term of all documents is worth nothing.
    Plain,
    /// ln((1 + n) / (1 + df)) + 1, as scikit-learn has it by default.
    Smooth,
    /// 1 for every term.
    None,
}

/// Settings of [`tf_idf`](crate::tf_idf) and [`words`](crate::words). Start from `default()`, or from
/// [`TextSettings::peace`], and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct TextSettings {
    /// Take off a block of message headers: two or more lines `Name: value`, then an empty one.
    pub headers: bool,
    /// Take out tags, comments, scripts and styles of documents that have an end tag or a doctype.
    pub markup: bool,
    /// Take out English stop words.
    pub stop_words: bool,
    /// Reduce words to their stems (Snowball's English stemmer, Porter2).
    pub stemming: bool,
    /// Keep words without a letter.
    pub numbers: bool,
    /// Fewest characters of a word.
    #[setting(alias = "shortest")]
    pub min_length: usize,
    /// Fewest documents that a term stands in.
    #[setting(alias = "min_df", alias = "least_documents")]
    pub min_documents: usize,
    /// Most terms kept: those whose counts have the largest variance over the documents.
    #[setting(alias = "max_features")]
    pub terms: usize,
    /// What counts are worth: count, or log for 1 + ln count.
    pub frequency: Frequency,
    /// What rarity is worth: plain (a term of all documents is worth nothing), smooth, or none.
    pub idf: Idf,
    /// Bring every document to length 1.
    pub unit_length: bool,
}

impl Default for TextSettings {
    fn default() -> Self {
        Self {
            headers: true,
            markup: true,
            stop_words: true,
            stemming: true,
            numbers: false,
            min_length: 2,
            min_documents: 5,
            terms: 1000,
            frequency: Frequency::Count,
            idf: Idf::Plain,
            unit_length: true,
        }
    }
}

impl TextSettings {
    /// What the PEACE paper (2013) did with its newsgroups: terms of at least 40 documents, of these the 500 whose
    /// counts vary most. For its university pages it kept 335.
    ///
    /// The paper is silent on headers, markup and the formula of tf-idf. Headers and markup go; counts count by their logarithm,
    /// with which its method agrees better with the classes than with the counts.
    pub fn peace() -> Self {
        Self {
            min_documents: 40,
            terms: 500,
            frequency: Frequency::Log,
            ..Self::default()
        }
    }
}
