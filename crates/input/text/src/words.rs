//! From a text to its terms.

use std::borrow::Cow;
use std::collections::BTreeSet;

use rust_stemmers::{Algorithm, Stemmer};
use stop_words::lookup;
use unicode_segmentation::UnicodeSegmentation;

use crate::TextSettings;
use crate::clean::{without_headers, without_markup};

/// The terms of a text, in its order and as often as they stand there.
///
/// Words are those of Unicode (UAX 29), cut again at ASCII signs other than the apostrophe, so that `cs.cornell.edu`
/// is three. They are compared in lower case.
///
/// ```
/// use partita_text::{TextSettings, words};
///
/// let settings = TextSettings::default();
/// assert_eq!(words("Running in www.example.org, it's 1997", &settings), ["run", "www", "exampl", "org"]);
/// ```
pub fn words(text: &str, settings: &TextSettings) -> Vec<String> {
    let reader = Reader::new(settings);
    let text = reader.clean(text);
    raw(&text).filter_map(|word| reader.term(word)).collect()
}

/// Reads texts by one set of settings.
pub(crate) struct Reader<'a> {
    settings: &'a TextSettings,
    stemmer: Option<Stemmer>,
    stop_words: BTreeSet<&'static str>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(settings: &'a TextSettings) -> Self {
        let listed = lookup("en")
            .filter(|_| settings.stop_words)
            .unwrap_or_default();
        let stemmer = settings
            .stemming
            .then(|| Stemmer::create(Algorithm::English));
        Self {
            settings,
            stemmer,
            stop_words: listed.iter().copied().collect(),
        }
    }

    /// The text without what the settings take off.
    pub(crate) fn clean<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let text = if self.settings.headers {
            without_headers(text)
        } else {
            text
        };
        if self.settings.markup {
            without_markup(text)
        } else {
            Cow::Borrowed(text)
        }
    }

    /// The term that a word counts for; none where it is dropped.
    pub(crate) fn term(&self, word: &str) -> Option<String> {
        let word = word.to_lowercase().replace('’', "'");
        let letters = self.settings.numbers || word.chars().any(char::is_alphabetic);
        if !letters
            || word.chars().count() < self.settings.min_length
            || self.stop_words.contains(word.as_str())
        {
            return None;
        }
        match &self.stemmer {
            Some(stemmer) => Some(stemmer.stem(&word).into_owned()).filter(|stem| !stem.is_empty()),
            None => Some(word),
        }
    }
}

/// Words as they stand in a cleaned text.
pub(crate) fn raw(text: &str) -> impl Iterator<Item = &str> {
    let sign = |c: char| c.is_ascii() && !c.is_ascii_alphanumeric() && c != '\'';
    text.unicode_words()
        .flat_map(move |word| word.split(sign))
        .filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stems_are_those_of_porter_two() {
        // From the vocabulary of the Snowball project, english/voc.txt and output.txt.
        let pairs = [
            ("consigned", "consign"),
            ("consolations", "consol"),
            ("knightly", "knight"),
            ("knocking", "knock"),
            ("generously", "generous"),
            ("dying", "die"),
            ("skies", "sky"),
            ("consistency", "consist"),
        ];
        for (word, stem) in pairs {
            assert_eq!(words(word, &TextSettings::default()), [stem]);
        }
    }

    #[test]
    fn each_step_can_be_left_out() {
        let text = "A: b\nC: d\n\nThe <b>Dogs’</b> 42 x86 naïve DOGS aren’t e";
        let read = |change: fn(&mut TextSettings)| {
            let mut settings = TextSettings::default();
            change(&mut settings);
            words(text, &settings).join(" ")
        };
        assert_eq!(read(|_| ()), "dog x86 naïv dog");
        assert_eq!(
            read(|s| s.headers = false),
            "dog x86 naïv dog",
            "letters alone are too short"
        );
        assert_eq!(read(|s| s.stemming = false), "dogs x86 naïve dogs");
        assert_eq!(
            read(|s| s.stop_words = false),
            "the dog x86 naïv dog aren't"
        );
        assert_eq!(read(|s| s.numbers = true), "dog 42 x86 naïv dog");
        assert_eq!(read(|s| s.min_length = 1), "dog x86 naïv dog e");
        assert_eq!(
            read(|s| (s.markup, s.min_length) = (false, 1)),
            "b dog b x86 naïv dog e"
        );
    }
}
