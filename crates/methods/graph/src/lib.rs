//! Consensus as a cut of a graph of objects and base clusters.
//!
//! Pick this crate when there are many objects: but for [`cspa`] and the trees, cost grows with n, not n². [`lwgp`] is the one to try first.
//!
//! | method | what it does | time | memory |
//! |---|---|---|---|
//! | [`lwgp`] | normalised cut of the bipartite graph, base clusters weighted by how far the ensemble agrees with them | O(n M² + n K²) | n (M + 8 K) bytes + a matrix of side ΣJ |
//! | [`hbgf`] | the same cut, all base clusters alike | O(n M² + n K²) | as above |
//! | [`mcla`] | groups base clusters into balanced meta-clusters, then votes; soft | O(n M² + (ΣJ)²) | n (M + 24 K) + 48 (ΣJ)² bytes |
//! | [`lce`] | the same cut, similar base clusters share their objects | O(n M² + n K² + (ΣJ)³) | matrices of side ΣJ |
//! | [`gp_mgla`] | the same cut, base clusters are linked too and weighed by agreement | O(n M² + n K² + (ΣJ)³) | matrices of side ΣJ |
//! | [`ecpcs_mc`] | groups base clusters by random walks, then scores; soft | O(n M² + (ΣJ)³) | 24 n K bytes + matrices of side ΣJ |
//! | [`ecpcs_hc`], [`cts`] | average link on similarities of base clusters; they find K | O(n² M + (ΣJ)³) | 1.4 to 4.3 n² bytes, at most 3 GiB |
//! | [`hgpa`] | balanced cut of the hypergraph whose edges are the base clusters | O(n M (K + 48)) a pass | 33 n M bytes |
//! | [`cspa`] | balanced cut of the graph of objects, edges weigh how often two are together | O(n² M) | 40 n² bytes; 8 KiB an object beyond 8000 objects |
//!
//! The feature `metis`, on by default, has what METIS cuts: [`cspa`], [`mcla`] and the setting `cut=metis` of [`hbgf`]. Without
//! it nothing here is C.
//!
//! [`lwgp`], [`hbgf`], [`mcla`], [`lce`], [`gp_mgla`] and [`ecpcs_mc`] read label rows that are not held too ([`lwgp_rows`] and so on): so they do, by size alone, beyond
//! [`LABELS_BY_BLOCKS`](partita_core::LABELS_BY_BLOCKS) labels.
//!
//! ```
//! use partita_core::{EnsembleBuilder, Seed, Silent};
//! use partita_graph::{LwgpSettings, lwgp};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(6);
//! builder.push("a", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1)])?;
//! builder.push("b", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(2)])?;
//! builder.push("c", [Some(0), Some(0), Some(1), None, Some(1), Some(1)])?;
//! let outcome = lwgp(&builder.finish()?, 2, Seed::new(1), &LwgpSettings::default(), &Silent)?;
//! assert_eq!(outcome.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod bipartite;
mod cluster_similarity;
mod collect;
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
mod row_cut;
mod row_kmeans;
mod rows;
mod similar_rows;
mod similarity_tree;
mod soft;
mod soft_similarity;
mod spectral;

#[cfg(feature = "metis")]
pub use cspa::{CSPA, CspaDiagnostics, CspaSettings, cspa};
pub use ecpcs_mc::{ECPCS_MC, EcpcsMc, EcpcsMcSettings, MetaClusters, ecpcs_mc, ecpcs_mc_rows};
pub use error::GraphError;
pub use gp_mgla::{GP_MGLA, GpMglaSettings, gp_mgla, gp_mgla_rows};
pub use hbgf::{HBGF, HbgfCut, HbgfDiagnostics, HbgfSettings, hbgf, hbgf_rows};
pub use hgpa::{HGPA, HgpaDiagnostics, HgpaSettings, hgpa};
pub use hypergraph::NetObjective;
pub use lce::{LCE, LceSettings, lce, lce_rows};
pub use link_method::{EmbeddedSettings, LinkMethod};
pub use lwgp::{LWGP, LwgpSettings, lwgp, lwgp_each, lwgp_rows};
#[cfg(feature = "metis")]
pub use mcla::{MCLA, MclaDiagnostics, MclaSettings, mcla, mcla_rows};
pub use pass_kinds::{LABELLERS, PASSES};
pub use similarity_tree::{
    CTS, Cts, CtsSettings, ECPCS_HC, EcpcsHc, EcpcsHcSettings, SimilarityTreeDiagnostics, cts,
    ecpcs_hc,
};
pub use spectral::SpectralDiagnostics;
