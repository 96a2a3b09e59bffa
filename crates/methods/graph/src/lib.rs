//! Consensus as a cut of a graph of objects and base clusters.
//!
//! Pick this crate when there are many objects: but for [`CSPA`] and the trees, cost grows with n, not n². [`LWGP`] is the one to try first.
//!
//! | method | what it does | time | memory |
//! |---|---|---|---|
//! | [`LWGP`] | normalised cut of the bipartite graph, base clusters weighted by how far the ensemble agrees with them | O(n M² + n K²) | n (M + 8 K) bytes + a matrix of side ΣJ |
//! | [`HBGF`] | the same cut, all base clusters alike | O(n M² + n K²) | as above |
//! | [`MCLA`] | groups base clusters into balanced meta-clusters, then votes; soft | O(n M² + (ΣJ)²) | n (M + 24 K) + 48 (ΣJ)² bytes |
//! | [`LCE`] | the same cut, similar base clusters share their objects | O(n M² + n K² + (ΣJ)³) | matrices of side ΣJ |
//! | [`GP_MGLA`] | the same cut, base clusters are linked too and weighed by agreement | O(n M² + n K² + (ΣJ)³) | matrices of side ΣJ |
//! | [`ECPCS_MC`] | groups base clusters by random walks, then scores; soft | O(n M² + (ΣJ)³) | 24 n K bytes + matrices of side ΣJ |
//! | [`ECPCS_HC`], [`CTS`] | average link on similarities of base clusters; they find K | O(n² M + (ΣJ)³) | 1.4 to 4.3 n² bytes, at most 3 GiB |
//! | [`HGPA`] | balanced cut of the hypergraph whose edges are the base clusters | O(n M (K + 48)) a pass | 33 n M bytes |
//! | [`CSPA`] | balanced cut of the graph of objects, edges weigh how often two are together | O(n² M) | 40 n² bytes; 8 KiB an object beyond 8000 objects |
//!
//! The feature `metis`, on by default, has what METIS cuts: [`CSPA`], [`MCLA`] and the setting `cut=metis` of [`HBGF`]. Without
//! it nothing here is C.
//!
//! [`LWGP`], [`HBGF`], [`MCLA`], [`LCE`], [`GP_MGLA`] and [`ECPCS_MC`] are fitted by passes over rows, wherever these are.
//!
//! ```
//! use partita_core::{Clusters, EnsembleBuilder, Problem, Silent, consense};
//! use partita_graph::LWGP;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(6);
//! builder.push("a", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1)])?;
//! builder.push("b", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(2)])?;
//! builder.push("c", [Some(0), Some(0), Some(1), None, Some(1), Some(1)])?;
//! let ensemble = builder.finish()?;
//! let outcome = consense(&LWGP, &Problem::new(&ensemble, Clusters::Exactly(2)), &Silent)?;
//! assert_eq!(outcome.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod cluster_graph;
mod cluster_similarity;
#[cfg(feature = "metis")]
mod cspa;
mod ecpcs_mc;
mod error;
mod gp_mgla;
mod hbgf;
mod hgpa;
mod hypergraph;
mod lce;
mod link_method;
mod lwgp;
#[cfg(feature = "metis")]
mod mcla;
#[cfg(feature = "metis")]
mod metis;
mod pass_kinds;
mod row_kmeans;
mod rows;
mod similar_rows;
mod similarity_tree;
mod spectral;

#[cfg(feature = "metis")]
pub use cspa::{CSPA, Cspa, CspaDiagnostics, CspaSettings};
pub use ecpcs_mc::{ECPCS_MC, EcpcsMc, EcpcsMcSettings, MetaClusters};
pub use error::GraphError;
pub use gp_mgla::{GP_MGLA, GpMglaSettings};
pub use hbgf::{HBGF, Hbgf, HbgfCut, HbgfDiagnostics, HbgfSettings};
pub use hgpa::{HGPA, Hgpa, HgpaDiagnostics, HgpaSettings};
pub use hypergraph::NetObjective;
pub use lce::{LCE, LceSettings};
pub use link_method::{EmbeddedSettings, LinkMethod};
pub use lwgp::{LWGP, Lwgp, LwgpSettings, lwgp_each};
#[cfg(feature = "metis")]
pub use mcla::{MCLA, Mcla, MclaDiagnostics, MclaSettings};
pub use pass_kinds::{LABELLERS, PASSES};
pub use similarity_tree::{
    CTS, CtsSettings, ECPCS_HC, EcpcsHcSettings, SimilarityTree, SimilarityTreeDiagnostics,
};
pub use spectral::SpectralDiagnostics;
