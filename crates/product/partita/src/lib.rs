//! Consensus clustering: every method once, and the types to call them.
//!
//! Pick this crate if you want everything, or several families with one list of methods; pick a single component
//! (`partita-metrics`, `partita-eac`, …) if you want little. It holds no logic: a list of methods, and re-exports.
//!
//! ```
//! use partita::{EnsembleBuilder, METHODS};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Three tools clustered the same six objects; the third has nothing to say about one of them.
//! let mut ensemble = EnsembleBuilder::new(6);
//! ensemble.push("tool a", ["x", "x", "x", "y", "y", "y"].map(Some))?;
//! ensemble.push("tool b", [1, 1, 2, 2, 2, 2].map(Some))?;
//! ensemble.push("tool c", [Some(7), Some(7), Some(7), None, Some(9), Some(9)])?;
//! let ensemble = ensemble.finish()?;
//! // Every method that the features brought is called in the same way.
//! for method in METHODS.iter().filter(|method| method.info().family == "eac") {
//!     let outcome = partita::consensus(&ensemble, 2).method(method.info().name).run()?;
//!     assert_eq!(outcome.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
//! }
//! # Ok(())
//! # }
//! ```
//!
//! The names here are those of a caller; [`extend`] has what methods, sources of rows and engines are written with.
//!
//! # Features
//!
//! All are on by default. A feature adds items and never changes a result.
//!
//! | feature | what it adds |
//! |---|---|
//! | `eac`, `pcc`, `aspect`, `mixture`, `graph`, `ssce`, `median` | a family of methods: its module and its lines in [`METHODS`] |
//! | `coassoc`, `kmeans`, `linkage` | what families are built on, for itself |
//! | `generate` | base clusterings from a table |
//! | `text` | tables from documents |
//! | `synth` | synthetic tables with known clusters |
//! | `files` | tables, ensembles and labels on disk |
//! | `parquet`, `arrow` | these formats of files |
//! | `metis` | the graph methods that METIS (C code) cuts for: `cspa`, `mcla`, and `hbgf` with `cut=metis` |
//! | `rayon` | row passes ([`RowBlocks`](extend::RowBlocks)) on all threads; families that need threads have them without this |
#![forbid(unsafe_code)]

#[cfg(all(test, feature = "metis", feature = "mixture", feature = "median"))]
mod engine_tests;
pub mod extend;
mod known_as;
mod methods;
mod one_call;

use std::sync::Arc;

use partita_core::{ModelError, serde_json};

pub use methods::{METHODS, method};
pub use one_call::{CallError, ConsensusCall, consensus};
#[cfg(feature = "aspect")]
pub use partita_aspect as aspect;
#[cfg(feature = "coassoc")]
pub use partita_coassoc as coassoc;
pub use partita_core::{
    BaseWeights, Clusters, Ensemble, EnsembleBuilder, Features, MemoryBudget, Model, Monitor,
    ObjectWeights, Outcome, Partition, Seed, Silent, SoftPartition, ndarray,
};
#[cfg(feature = "eac")]
pub use partita_eac as eac;
#[cfg(feature = "files")]
pub use partita_files as files;
#[cfg(feature = "generate")]
pub use partita_generate as generate;
#[cfg(feature = "graph")]
pub use partita_graph as graph;
#[cfg(feature = "kmeans")]
pub use partita_kmeans as kmeans;
#[cfg(feature = "linkage")]
pub use partita_linkage as linkage;
#[cfg(feature = "median")]
pub use partita_median as median;
pub use partita_metrics as metrics;
#[cfg(feature = "mixture")]
pub use partita_mixture as mixture;
#[cfg(feature = "pcc")]
pub use partita_pcc as pcc;
#[cfg(feature = "ssce")]
pub use partita_ssce as ssce;
#[cfg(feature = "synth")]
pub use partita_synth as synth;
#[cfg(feature = "text")]
pub use partita_text as text;

/// Reads back a model that [`Model::to_json`] wrote; its field `format` says which kind it is.
///
/// # Errors
/// [`ModelError::Damaged`] if it is of no known format, or not as its format says.
pub fn load_model(saved: &serde_json::Value) -> Result<Arc<dyn Model>, ModelError> {
    match saved["format"].as_str() {
        #[cfg(feature = "mixture")]
        Some(mixture::RowModel::FORMAT) => Ok(Arc::new(mixture::RowModel::from_json(saved)?)),
        #[cfg(feature = "mixture")]
        Some(mixture::BceModel::FORMAT) => Ok(Arc::new(mixture::BceModel::from_json(saved)?)),
        #[cfg(feature = "ssce")]
        Some(format) if ssce::FORMATS.contains(&format) => ssce::read_model(saved),
        Some(other) => Err(ModelError::Damaged(format!(
            "its format '{other}' is unknown"
        ))),
        None => Err(ModelError::Damaged("it has no field 'format'".into())),
    }
}

/// The examples of the page that a registry shows.
#[cfg(doctest)]
#[doc = include_str!("../../../../README.md")]
struct Readme;

/// The examples of the guide.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/guide/from-rust.md")]
struct Guide;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::extend::KNOWN_AS;
    #[cfg(all(
        feature = "metis",
        feature = "mixture",
        feature = "median",
        feature = "eac"
    ))]
    #[test]
    fn names_of_the_literature_lead_to_methods() {
        // `best` is the choice among all methods, a layer above.
        let exists = |name: &&str| *name == "best" || method(name).is_ok();
        assert!(
            KNOWN_AS
                .iter()
                .all(|known| known.methods.iter().all(exists) && !known.note.is_empty())
        );
        let of = |term: &str| {
            let named = KNOWN_AS.iter().filter(|known| known.matches(term));
            named
                .flat_map(|known| known.methods.iter().copied())
                .collect::<Vec<&str>>()
        };
        let expected = [
            ("agglomerative", "eac-average"),
            ("localsearch", "median-binder"),
            ("itk", "kcc"),
            ("ecc", "kcc"),
            ("sc3", "eac-complete"),
            ("coca", "kc"),
            ("safe", "best"),
            ("SAME", "mm"),
            ("clustering aggregation", "median-binder"),
            ("gp-mgla", "gp-mgla"),
        ];
        for (term, method) in expected {
            assert!(of(term).contains(&method), "{term}");
        }
        assert!(KNOWN_AS.is_sorted_by_key(|known| known.term.to_lowercase()));
    }
}
