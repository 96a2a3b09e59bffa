//! Pair statistics of an ensemble: how often two objects are together, and how often both are labelled.
//!
//! ```
//! use partita_coassoc::CoAssociation;
//! use partita_core::{EnsembleBuilder, MemoryBudget, Silent};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(3);
//! builder.push("a", [Some("x"), Some("x"), Some("y")])?;
//! builder.push("b", [Some(3), Some(3), None])?;
//! let counts = CoAssociation::count(&builder.finish()?, MemoryBudget::UNLIMITED, &Silent)?;
//! assert_eq!(counts.pair(0, 1), (2, 2));
//! assert_eq!(counts.pair(0, 2), (0, 1));
//! # Ok(())
//! # }
//! ```

mod dense;
mod eci;
mod error;
mod kernel;
mod pairs;
mod rows;
mod sample;
mod sparse;
mod tiles;

pub use dense::{CoAssociation, Counts, Seen};
pub use eci::{cluster_overlaps, cluster_weights};
pub use error::CoassocError;
pub use rows::EvidenceRows;
pub use sample::sample_pairs;
pub use sparse::SparseEvidence;
