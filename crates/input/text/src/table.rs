//! From documents to a sparse table.

use std::collections::HashMap;

use partita_core::{Flow, Monitor};
use sprs::CsMat;

use crate::words::{Reader, raw};
use crate::{Frequency, Idf, TextError, TextSettings};

/// Documents between two questions to the monitor.
const LOOK: usize = 64;

/// A table of term weights.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Terms {
    /// Documents × terms, by rows, columns rising. A document without any kept term is a row without entries.
    pub matrix: CsMat<f64>,
    /// The term of every column, in the order of their characters.
    pub terms: Vec<String>,
    /// The number of documents that each term stands in.
    pub documents: Vec<usize>,
    /// Distinct terms of all documents, kept or not.
    pub found: usize,
}

impl Terms {
    /// The documents that hold none of the terms, by number.
    pub fn empty_documents(&self) -> Vec<usize> {
        let rows = self.matrix.outer_iterator().enumerate();
        rows.filter(|(_, row)| row.nnz() == 0)
            .map(|(document, _)| document)
            .collect()
    }
}

/// The weights of terms in documents.
///
/// ```text
/// w(i, t) = f(count of t in i) · idf(t)      then, with `unit_length`, w(i, ·) / ‖w(i, ·)‖
/// ```
/// The terms are those that stand in at least `min_documents` documents; of these the `terms` whose counts have the
/// largest variance over the documents, of equals the first in the order of characters. Variances are compared
/// exactly, so that the columns depend on nothing but the documents.
///
/// # Errors
/// [`TextError`] if there is no document, no word or no term that is frequent enough, if 0 terms are asked for, or if
/// the monitor says stop. Documents without a kept term are not an error: their rows are empty.
///
/// # Cost
/// One pass over the text; each distinct word is stemmed once.
pub fn tf_idf<T: AsRef<str>>(
    documents: impl IntoIterator<Item = T>,
    settings: &TextSettings,
    monitor: &dyn Monitor,
) -> Result<Terms, TextError> {
    if settings.terms == 0 {
        return Err(TextError::NoTerms);
    }
    let reader = Reader::new(settings);
    let documents = documents.into_iter();
    let most = documents.size_hint().1;
    let mut counts = Counts::default();
    for document in documents {
        let done = counts.rows.len();
        let total = most.unwrap_or(done).max(done);
        if done.is_multiple_of(LOOK) && monitor.tick(done as u64, total as u64) == Flow::Stop {
            return Err(TextError::Stopped { documents: done });
        }
        counts.add(&reader, document.as_ref());
    }
    let columns = counts.chosen(settings)?;
    Ok(counts.weighted(&columns, settings))
}

/// How often each term stands in each document.
#[derive(Default)]
struct Counts {
    /// The term of every word seen so far, none where it is dropped.
    known: HashMap<String, Option<u32>>,
    numbers: HashMap<String, u32>,
    terms: Vec<Tally>,
    /// (term, count) of every document, terms rising.
    rows: Vec<Vec<(u32, u32)>>,
}

/// What is known of one term.
struct Tally {
    term: String,
    documents: usize,
    sum: u64,
    squares: u64,
}

impl Counts {
    fn add(&mut self, reader: &Reader<'_>, document: &str) {
        let text = reader.clean(document);
        let mut found: Vec<u32> = raw(&text)
            .filter_map(|word| self.number(reader, word))
            .collect();
        found.sort_unstable();
        let row: Vec<(u32, u32)> = found
            .chunk_by(|a, b| a == b)
            .map(|same| (same[0], same.len() as u32))
            .collect();
        for &(number, count) in &row {
            let tally = &mut self.terms[number as usize];
            tally.documents += 1;
            tally.sum += u64::from(count);
            tally.squares += u64::from(count) * u64::from(count);
        }
        self.rows.push(row);
    }

    /// The number of the term that a word counts for.
    fn number(&mut self, reader: &Reader<'_>, word: &str) -> Option<u32> {
        if let Some(&number) = self.known.get(word) {
            return number;
        }
        let number = reader.term(word).map(|term| {
            let terms = &mut self.terms;
            *self.numbers.entry(term).or_insert_with_key(|term| {
                terms.push(Tally {
                    term: term.clone(),
                    documents: 0,
                    sum: 0,
                    squares: 0,
                });
                terms.len() as u32 - 1
            })
        });
        self.known.insert(word.to_owned(), number);
        number
    }

    /// The terms that become columns, in the order of their characters.
    fn chosen(&self, settings: &TextSettings) -> Result<Vec<u32>, TextError> {
        let documents = self.rows.len();
        if documents == 0 {
            return Err(TextError::NoDocuments);
        }
        if self.terms.is_empty() {
            let remedy = "look at the settings headers, markup, stop_words, numbers and min_length";
            return Err(TextError::NoWords { documents, remedy });
        }
        let tally = |number: u32| &self.terms[number as usize];
        let frequent = |&number: &u32| tally(number).documents >= settings.min_documents;
        let mut chosen: Vec<u32> = (0..self.terms.len() as u32).filter(frequent).collect();
        if chosen.is_empty() {
            let most = self.terms.iter().map(|tally| tally.documents).max();
            return Err(TextError::TooRare {
                terms: self.terms.len(),
                documents,
                wanted: settings.min_documents,
                most: most.unwrap_or(0),
            });
        }
        chosen.sort_by(|&a, &b| {
            let a = tally(a);
            let b = tally(b);
            b.spread(documents)
                .cmp(&a.spread(documents))
                .then_with(|| a.term.cmp(&b.term))
        });
        chosen.truncate(settings.terms);
        chosen.sort_by(|&a, &b| tally(a).term.cmp(&tally(b).term));
        Ok(chosen)
    }

    fn weighted(&self, columns: &[u32], settings: &TextSettings) -> Terms {
        let n = self.rows.len();
        let tallies: Vec<&Tally> = columns
            .iter()
            .map(|&number| &self.terms[number as usize])
            .collect();
        let rarities: Vec<f64> = tallies
            .iter()
            .map(|tally| settings.idf.of(n, tally.documents))
            .collect();
        let mut place = vec![usize::MAX; self.terms.len()];
        for (column, &number) in columns.iter().enumerate() {
            place[number as usize] = column;
        }
        let mut ends = vec![0];
        let mut indices = Vec::new();
        let mut data = Vec::new();
        for row in &self.rows {
            let mut kept: Vec<(usize, f64)> = Vec::new();
            for &(number, count) in row {
                let column = place[number as usize];
                if let Some(rarity) = rarities.get(column) {
                    kept.push((column, settings.frequency.of(count) * rarity));
                }
            }
            kept.retain(|&(_, weight)| weight != 0.0);
            kept.sort_unstable_by_key(|&(column, _)| column);
            let squares: f64 = kept.iter().map(|(_, weight)| weight * weight).sum();
            let scale = if settings.unit_length {
                squares.sqrt()
            } else {
                1.0
            };
            indices.extend(kept.iter().map(|&(column, _)| column));
            data.extend(kept.iter().map(|&(_, weight)| weight / scale));
            ends.push(indices.len());
        }
        let matrix = CsMat::new((n, columns.len()), ends, indices, data);
        let terms = tallies.iter().map(|tally| tally.term.clone()).collect();
        let documents = tallies.iter().map(|tally| tally.documents).collect();
        Terms {
            matrix,
            terms,
            documents,
            found: self.terms.len(),
        }
    }
}

impl Tally {
    /// n² times the variance of the counts over n documents.
    fn spread(&self, documents: usize) -> u128 {
        documents as u128 * u128::from(self.squares) - u128::from(self.sum) * u128::from(self.sum)
    }
}

impl Frequency {
    fn of(self, count: u32) -> f64 {
        match self {
            Self::Count => f64::from(count),
            Self::Log => 1.0 + f64::from(count).ln(),
        }
    }
}

impl Idf {
    fn of(self, n: usize, documents: usize) -> f64 {
        match self {
            Self::Plain => (n as f64 / documents as f64).ln(),
            Self::Smooth => ((1.0 + n as f64) / (1.0 + documents as f64)).ln() + 1.0,
            Self::None => 1.0,
        }
    }
}
