//! Evidence accumulation: a tree over how often objects are together, cut into the consensus.
//!
//! Pick this crate for a consensus that needs no number of clusters, no start and no tuning, up to some 100,000 objects: time grows with
//! their square, memory stays within 3 GiB.
//!
//! | method | what it is | time | memory |
//! |---|---|---|---|
//! | [`EAC_AVERAGE`] | average link on 1 − c/N | n²M | 1.4 n² bytes, at most 3 GiB |
//! | [`EAC_SINGLE`] | single link on 1 − c/N | n²M | nM |
//! | [`EAC_COMPLETE`], [`EAC_WARD`] | the other linkages on 1 − c/N | n²M | 1.4 to 4.3 n² bytes, at most 3 GiB |
//! | [`EAC_CENTROID`] | centroid link on 1 − c/N | n²M | 2.7 n² bytes |
//! | [`EAC_SPARSE`] | single link on every object's strongest neighbours | nM + n log n beyond 30,000 objects | nM |
//! | [`LWEA`] | average link, with base clusters weighted by how whole the others leave them | n²M + nM² | 2.8 to 4.3 n² bytes, at most 3 GiB |
//! | [`EAC_FUZZY`] | fuzzy k-means or k-medoids on the co-association; memberships | n²M + n² K · iterations | 8 n² bytes |
//!
//! n counts distinct label rows: objects that no base clustering tells apart are one weighted object.
//!
//! ```
//! use partita_core::{Clusters, EnsembleBuilder, Problem, Silent, consense};
//! use partita_eac::EAC_AVERAGE;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(4);
//! builder.push("a", [Some(0), Some(0), Some(1), Some(1)])?;
//! builder.push("b", [Some(0), Some(0), Some(0), Some(1)])?;
//! builder.push("c", [Some(0), None, Some(1), Some(1)])?;
//! let ensemble = builder.finish()?;
//! let outcome = consense(&EAC_AVERAGE, &Problem::new(&ensemble, Clusters::Auto), &Silent)?;
//! assert_eq!(outcome.partition.by_appearance().labels(), [0, 0, 1, 1]);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod eac;
mod error;
mod evidence;
mod fuzzy;
mod lwea;
mod moves;
mod pooled_evidence;
mod sparse;

pub use eac::{
    EAC_AVERAGE, EAC_CENTROID, EAC_COMPLETE, EAC_SINGLE, EAC_WARD, EacSettings, TreeDiagnostics,
    bytes, eac,
};
pub use error::EacError;
pub use fuzzy::{EAC_FUZZY, EacFuzzySettings, Prototypes};
pub use lwea::{LWEA, LweaDiagnostics, LweaSettings, lwea, lwea_bytes};
pub use sparse::{
    EAC_SPARSE, EacSparseSettings, SparseDiagnostics, eac_sparse, eac_strongest, sparse_bytes,
};
