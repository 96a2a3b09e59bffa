//! Tables from documents: words, stems, and how much each says about a document.
//!
//! Pick this crate to cluster texts: it turns them into the sparse table of numbers that `kmeans-cosine` and its
//! neighbours read. Nothing here knows what a clustering is, and nothing here opens a file.
//!
//! | function | what it does | time | memory |
//! |---|---|---|---|
//! | [`tf_idf`] | documents to a sparse table of term weights | one pass over the text | distinct words, and 8 bytes for each term of each document |
//! | [`words`] | the terms of one text, in its order | one pass | the terms |
//!
//! The steps are those of Manning, Raghavan and Schütze (2008), each of them a field of [`TextSettings`]: message
//! headers and HTML go, words are found and made lower case, stop words go, the rest is stemmed, terms that stand in
//! few documents go, of the others those whose counts vary most stay, and counts are weighted by tf-idf.
//!
//! Stems are those of Snowball's `English` stemmer, also known as Porter2: Porter's own revision of his algorithm of
//! 1980, from which it differs in some endings (`generously` is `generous` here and `gener` there). Stop words are
//! the English list of NLTK, 198 of them.
//!
//! ```
//! use partita_core::Silent;
//! use partita_text::{TextSettings, tf_idf, words};
//!
//! # fn main() -> Result<(), partita_text::TextError> {
//! let mut settings = TextSettings::default();
//! assert_eq!(words("The cats don't sleep!", &settings), ["cat", "sleep"]);
//!
//! settings.min_documents = 2;
//! let table = tf_idf(["Cats sleep.", "A cat eats.", "Dogs eat."], &settings, &Silent)?;
//! assert_eq!(table.terms, ["cat", "eat"]);
//! assert_eq!(table.matrix.shape(), (3, 2));
//! assert!((table.matrix.get(1, 0).copied().unwrap_or(0.0) - 0.5f64.sqrt()).abs() < 1e-15);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod clean;
mod error;
mod settings;
mod table;
mod words;

pub use error::TextError;
pub use settings::{Frequency, Idf, TextSettings};
pub use sprs;
pub use table::{Terms, tf_idf};
pub use words::words;
