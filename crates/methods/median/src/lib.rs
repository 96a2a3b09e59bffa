//! Median partitions: the partition, hard or soft, that is closest to all base clusterings at once.
//!
//! Pick this crate for large ensembles: every method here is linear in objects × base clusterings.
//!
//! | method | what it optimises | time | memory besides labels |
//! |---|---|---|---|
//! | [`KC`] | squares of one-hot labels about cluster means | restarts · iterations · n M K | 40 n + 24 ΣJ K |
//! | [`QMI`] | category utility = quadratic mutual information | as `kc` | as `kc` |
//! | [`KCC`] | a utility of label distributions: mutual information, norms | as `kc` | as `kc` |
//! | [`SEC`] | normalised cut of the co-association | as `kc` | as `kc` |
//! | [`IPVC`] | shares of own labels, by voting | as `kc` | as `kc` |
//! | [`PLURALITY`] | votes after alignment to a reference | n M K | 8 n K |
//! | [`MEDIAN_VI`], [`MEDIAN_BINDER`] | mean loss against the base clusterings; they find K | restarts · sweeps · n M K | 80 n + 8 restarts ΣJ K |
//! | [`NMFC`] | squared error of non-negative factors of the co-association | iterations · n (M + K) K | 72 n K |
//! | [`SOFT_MEAN`] | squares of memberships about matched memberships | restarts · iterations · n M K | 16 n K + 12 n M |
//! | [`RCV`], [`URCV`], [`ACV`] | votes with shares, compressed to K | n M J + n J² | 32 n J |
//!
//! All but [`NMFC`] are written over passes: label rows and rows of shares, in memory or not, give the same bits.
//!
//! ```
//! use partita_core::{Clusters, EnsembleBuilder, Problem, Silent, consense};
//! use partita_median::KC;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(4);
//! builder.push("a", [Some(0), Some(0), Some(1), Some(1)])?;
//! builder.push("b", [Some(7), Some(7), Some(5), None])?;
//! let ensemble = builder.finish()?;
//! let outcome = consense(&KC, &Problem::new(&ensemble, Clusters::Exactly(2)), &Silent)?;
//! assert_eq!(outcome.partition.by_appearance().labels(), [0, 0, 1, 1]);
//! # Ok(())
//! # }
//! ```

mod chosen_labels;
mod cumulative;
mod error;
mod kcc;
mod label_means;
mod median;
mod nmfc;
mod pass_kinds;
mod plurality;
mod row_sums;
mod soft_mean;

pub use cumulative::{ACV, Cumulative, CumulativeSettings, RCV, URCV};
pub use error::MedianError;
pub use kcc::{KCC, Kcc, KccSettings, KccUtility, SEC, Sec};
pub use label_means::{IPVC, KC, LabelMeans, LabelMeansDiagnostics, LabelMeansSettings, QMI};
pub use median::{
    BaseLoss, InformationLoss, MEDIAN_BINDER, MEDIAN_VI, MedianBinder, MedianBinderSettings,
    MedianDiagnostics, MedianSearch, MedianVi, MedianViSettings, PairLoss,
};
pub use nmfc::{NMFC, Nmfc, NmfcSettings};
pub use pass_kinds::{LABELLERS, PASSES};
pub use plurality::{PLURALITY, Plurality, PluralitySettings, Reference, VoteDiagnostics};
pub use soft_mean::{
    ColumnMatching, ConsensusRows, MatchingOrder, SOFT_MEAN, SoftMean, SoftMeanDiagnostics,
    SoftMeanSettings,
};
