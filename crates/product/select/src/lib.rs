//! The choice of the number of clusters, if there are any, and of the consensus method that agrees most with the ensemble.
//!
//! Pick this crate when you have a table and no number of clusters ([`choose_clusters`]) or have only an ensemble
//! ([`choose_clusters_of_ensemble`]), or an ensemble and no favourite
//! method ([`best`] runs the methods it is given; [`BEST`] takes them by name from the list of all).
//!
//! | function | what it does | time | memory |
//! |---|---|---|---|
//! | [`choose_clusters`] | the number of clusters of a table, or 1, by stability against tables without clusters | 700 k-means runs a K on at most 2000 objects | 16 n d, and n² / 2 |
//! | [`choose_clusters_of_ensemble`] | that of an ensemble for a method, by lifetime, BIC or agreement | the method's a K; once for all K where it cuts a tree | the method's |
//! | [`choose_recipe`] | how base clusterings of a table are made, and the number of clusters, by gaps of eigenvalues, [`split_half`] stability, density-based validity and the likelihood of Gaussians | that of [`choose_clusters`], and 14 consensus clusterings of 1000 objects | |
//! | [`best`] | runs methods, keeps the one that agrees most with the others, tables all | the methods' and O(n M) each | the method that needs most's and all outcomes |
//! | [`BEST`] | the same as a method, over methods named in its setting `among` | | |
//!
//! ```
//! use partita_core::{Clusters, Consensus, EnsembleBuilder, Problem, Silent};
//! use partita_graph::{HBGF, LWGP, MCLA};
//! use partita_select::{BestCriterion, best};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(6);
//! builder.push("a", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1)])?;
//! builder.push("b", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(2)])?;
//! let ensemble = builder.finish()?;
//! let methods: [&dyn Consensus; 3] = [&LWGP, &HBGF, &MCLA];
//! let best = best(&methods, &Problem::new(&ensemble, Clusters::Exactly(2)), BestCriterion::Methods, &Silent)?;
//! assert_eq!(best.table.len(), 3);
//! assert_eq!(best.outcome.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
//! # Ok(())
//! # }
//! ```
//!
//! # What each criterion of a [`ChoiceRow`] means
//!
//! | field | question | whose | weakness |
//! |---|---|---|---|
//! | `score` | which number has the deepest cut, the best separated and best explained clusters? | ours | Gaussians and gaps are what it knows |
//! | `cdf`, `area`, `delta_area` | how many pairs are decided? where does the area stop growing? | Monti 2003 | grows with K on anything; the bend is in the eye |
//! | `pac` | how many pairs are undecided? | Șenbabaoğlu 2014 | finds clusters in anything; falls with large K; depends on how many base clusterings there are |
//! | `disagreement` | how often do two base clusterings contradict each other on a pair? | Ben-Hur 2002 | falls with large K |
//! | `dispersion` | how much variance is left inside clusters? | Tibshirani 2001 | falls with K on anything |
//! | `rcsi`, `p` | how much more stable, and how surely, than without clusters? | M3C 2020, changed | what the base clusterer cannot see does not exist |
//! | `within`, `between`, `cluster_evidence` | how whole is the consensus, how whole each cluster? | | as `pac` |
//! | `anmi` | how far does the consensus agree with the base clusterings? | Strehl 2002 | high for wrong numbers that are found every time |
//!
//! Where k-means cannot follow the clusters (rings, spirals, very different sizes) the stable number of its pieces is
//! found, not that of the clusters. Heavy tails, curved or hollow single clusters are neither a Gaussian nor a box, and may be
//! called clusters. Nested clusters have several right answers: read the table, not only the number.

mod auto;
mod best;
mod choice;
mod decision;
mod ensemble;
mod ensemble_criteria;
mod error;
mod evidence;
mod gaussian;
mod method;
mod null_model;
mod pair_histogram;
mod settings;
mod split_half;
mod table;
mod words;

pub use auto::{AutoCandidate, AutoChoice, AutoRow, choose_recipe};
pub use best::{Agreement, Best, BestCriterion, Entry, Verdict, agreement, best};
pub use choice::{Choice, ChoiceRow, Criterion, ObjectiveValue, Reference, Spread};
pub use ensemble::choose_clusters_of_ensemble;
pub use error::SelectError;
pub use method::{BEST, BestDiagnostics, BestSettings};
pub use null_model::Null;
pub use settings::{ChooseSettings, EnsembleChoiceSettings};
pub use split_half::{Stability, split_half};
pub use table::choose_clusters;
