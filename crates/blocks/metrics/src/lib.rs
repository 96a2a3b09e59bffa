//! Comparison of clusterings: external indices, soft comparison, optimal matching and alignment.
//!
//! Pick this crate to score a clustering against a known one, to measure how well clusterings agree, or to give
//! the clusters of several clusterings common names. It knows no algorithm.
//!
//! | item | what it is | time |
//! |---|---|---|
//! | [`Contingency`] | one table of two clusterings; every index below is a method of it | O(n) |
//! | [`accuracy`](Contingency::accuracy) | share of objects under the best one-to-one matching (the papers' H or CI) | a matching |
//! | [`ari`](Contingency::ari), [`fowlkes_mallows`](Contingency::fowlkes_mallows), [`f1_pairwise`](Contingency::f1_pairwise) | count pairs of objects | O(cells) |
//! | [`nmi`](Contingency::nmi), [`vi`](Contingency::vi) | mutual information by named normalisation; its distance | O(cells) |
//! | [`ami`](Contingency::ami) | mutual information adjusted for chance, exact | O(distinct sizes² · √n) |
//! | [`purity`](Contingency::purity), [`f1_best_class`](Contingency::f1_best_class), [`f1_best_cluster`](Contingency::f1_best_cluster) | each cluster or class picks its best partner | O(cells) |
//! | [`Scores`] | all of these at once | |
//! | [`RowCounts`] | the table of two columns of label rows that are not held, as a pass | O(n) |
//! | [`jensen_shannon`] | divergence of two soft partitions under the best permutation | O(n K L) |
//! | [`OverlapScores`] | Omega, overlapping NMI (McDaid) and extended BCubed of clusters that overlap ([`Cover`]) | O(n²) |
//! | [`perplexity`] | surprise per observed label | |
//! | [`matching`](matching()) | optimal assignment that maximises an overlap matrix | O(s² l) |
//! | [`align`], [`align_to`], [`align_to_partition`] | common labels for all base clusterings of an ensemble | O(M² n), O(M n) |
//! | [`anmi`], [`agreement_weights`], [`agreement_matrix`] | mean NMI with the base clusterings; among them; of all pairs | O(M n), O(M² n) |
//! | [`object_agreement`] | in how many base clusterings an object lies with its cluster | O(n M) |
//! | [`cluster_stability`] | how well base clusterings find each cluster again (Jaccard, as clusterboot) | O(n M) |
//! | [`DensityValidity`] | whether clusters of rows are separated more than they are torn, whatever their shape (after DBCV) | O(n² d) |
//! | [`relations`](relations()), [`centres`] | what clusters of a soft partition share, and where they are | O(n K²), O(n K d) |
//! | [`ConsensusCdf`] | distribution of co-occurrences, area under it, PAC | O(values) |
//!
//! Memory is O(cells that are not zero) for a table, besides an array of at most 8 MiB while it is counted.
//!
//! ```
//! use partita_core::Partition;
//! use partita_metrics::{Contingency, Scores};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let found = Partition::from_values(&["x", "x", "y", "y", "y", "y"]);
//! let truth = Partition::from_values(&[0, 0, 0, 1, 1, 1]);
//! assert_eq!(Contingency::new(&found, &truth)?.accuracy(), 5.0 / 6.0);
//! assert!(Scores::of(&found, &truth)?.ari > 0.3);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

#[cfg(feature = "passes")]
mod agreement;
mod align;
mod assignment;
mod cluster_stability;
mod contingency;
mod cover;
mod density;
mod error;
mod information;
mod matching;
mod pairs;
mod relations;
#[cfg(feature = "passes")]
mod row_counts;
mod scores;
mod soft;
mod stability;

#[cfg(feature = "passes")]
pub use agreement::{Agreement, object_agreement};
pub use align::{
    Alignment, BaseTables, Surplus, agreement_matrix, agreement_weights, align, align_by, align_to,
    align_to_partition, anmi, best_reference, rand_matrix,
};
pub use cluster_stability::{ClusterStability, cluster_stability};
pub use contingency::Contingency;
pub use cover::{Cover, OverlapScores, bridgeness};
pub use density::DensityValidity;
pub use error::MetricsError;
pub use information::{Normalisation, nmi_of_counts};
pub use matching::{Matching, matching};
pub use pairs::{F1, PairCounts};
pub use relations::{Relations, centres, relations};
#[cfg(feature = "passes")]
pub use row_counts::{PASSES, RowCounts};
pub use scores::{NmiScores, Scores};
pub use soft::{jensen_shannon, perplexity};
pub use stability::ConsensusCdf;
