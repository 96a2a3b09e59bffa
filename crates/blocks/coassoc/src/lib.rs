//! Pair statistics of an ensemble: how often two objects are together, and how often both are labelled.
//!
//! Pick this crate if you want the co-association of many clusterings: all of it, a row of it, or a sparse part of it.
//!
//! | what | time | memory |
//! |---|---|---|
//! | [`CoAssociation`]: all pairs | n²M / 2 byte comparisons, 32 or 64 at once | n² / 2 bytes (n² with missing labels; up to 4 times that with weights) |
//! | [`pair_histogram`]: how many pairs have which counts | n²M / 2 byte comparisons | nM, 16 M² a thread |
//! | [`EvidenceRows`]: one object with all others, when asked for | nM a row | nM |
//! | [`SparseEvidence::sample`]: pairs drawn without replacement | m (M + log m) | about 30 m bytes |
//! | [`SparseEvidence::strongest`]: the strongest neighbours of every object | n²M, or n log n for candidates | 50 n q bytes |
//! | [`copy_counts`]: every object with a copy of itself | n M | 8 n |
//! | [`Overlap`]: how many objects each pair of base clusters shares | n M² / 2 | (ΣJ)² numbers |
//! | [`vat_order`], [`heat_map`]: a picture | n²M, n M | nM |
//!
//! All of them take an [`Ensemble`](partita_core::Ensemble), or a [`WeightedEnsemble`](partita_core::WeightedEnsemble) with weights of its base clusterings.
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

#![forbid(unsafe_code)]

mod cluster_entropy;
mod copies;
mod dense;
mod eci;
mod error;
mod given;
mod nearest_neighbours;
mod overlap;
mod pair_histogram;
mod pairs;
mod rows;
mod sample;
mod soft_pairs;
mod sparse;
mod square;
mod tiles;
mod vat;
mod whole_weights;

pub use cluster_entropy::ClusterEntropy;
pub use copies::copy_counts;
pub use dense::{CoAssociation, Counts, Seen};
pub use eci::{Entropies, trusted_cluster_weights, trusted_weights_until};
pub use error::{CoassocError, most_that_fit};
pub use given::GivenPairs;
pub use nearest_neighbours::{StrongestSettings, recall};
pub use overlap::{Overlap, OverlapError, PASSES};
pub use pair_histogram::pair_histogram;
pub use rows::EvidenceRows;
pub use sample::sample_pairs;
pub use sparse::SparseEvidence;
pub use sprs;
pub use square::square;
pub use vat::{heat_map, vat_order};
pub use whole_weights::{pair_unit, whole_weights};
