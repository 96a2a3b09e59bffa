//! Why documents make no table.

/// Documents that make no table.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// There is nothing to read.
    #[error("there are no documents")]
    NoDocuments,
    /// There are documents but no words in them.
    #[error("none of {documents} documents holds a word that is kept; {remedy}")]
    NoWords {
        /// Documents read.
        documents: usize,
        /// Which setting may have taken the words out.
        remedy: &'static str,
    },
    /// No term is frequent enough.
    #[error(
        "of {terms} terms none stands in {wanted} of {documents} documents, the most frequent in {most}; \
         lower min_documents to {most} or less"
    )]
    TooRare {
        /// Terms found.
        terms: usize,
        /// Documents read.
        documents: usize,
        /// In how many documents a term must stand.
        wanted: usize,
        /// In how many the most frequent one stands.
        most: usize,
    },
    /// A table without columns was asked for.
    #[error("a table of 0 terms holds nothing; ask for at least 1")]
    NoTerms,
    /// The monitor said stop.
    #[error("stopped after {documents} documents")]
    Stopped {
        /// Documents read until then.
        documents: usize,
    },
}
