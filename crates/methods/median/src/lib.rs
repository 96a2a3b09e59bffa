//! Median partitions: the partition, hard or soft, that is closest to all base clusterings at once.
//!
//! Pick this crate for large ensembles: every method here is linear in objects × base clusterings.
//!
//! | method | what it optimises | time | memory besides labels |
//! |---|---|---|---|
//! | [`kc`] | squares of one-hot labels about cluster means | restarts · rounds · n M K | 40 n + 24 ΣJ K |
//! | [`qmi`] | category utility = quadratic mutual information | as `kc` | as `kc` |
//! | [`kcc`] | a utility of label distributions: mutual information, norms | as `kc` | as `kc` |
//! | [`sec`] | normalised cut of the co-association | as `kc` | as `kc` |
//! | [`ipvc`] | shares of own labels, by voting | as `kc` | as `kc` |
//! | [`plurality`] | votes after alignment to a reference | n M K | 8 n K |
//! | [`median_vi`], [`median_binder`] | mean loss against the base clusterings; they find K | restarts · sweeps · n M K | 80 n + 8 restarts ΣJ K |
//! | [`nmfc`] | squared error of non-negative factors of the co-association | rounds · n (M + K) K | 72 n K |
//! | [`soft_mean`] | squares of memberships about matched memberships | restarts · rounds · n M K | 16 n K + 12 n M |
//! | [`cumulative`] (RCV, URCV, ACV) | votes with shares, compressed to K | n M J + n J² | 32 n J |
//!
//! All but [`nmfc`] read label rows that are not held too ([`kc_rows`] and so on): so they do, by size alone, beyond
//! [`LABELS_BY_BLOCKS`](partita_core::LABELS_BY_BLOCKS) labels.
//!
//! ```
//! use partita_core::{EnsembleBuilder, Seed, Silent};
//! use partita_median::{LabelMeansSettings, kc};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(4);
//! builder.push("a", [Some(0), Some(0), Some(1), Some(1)])?;
//! builder.push("b", [Some(7), Some(7), Some(5), None])?;
//! let ensemble = builder.finish()?;
//! let outcome = kc(&ensemble, None, 2, Seed::new(1), &LabelMeansSettings::default(), &Silent)?;
//! assert_eq!(outcome.partition.by_appearance().labels(), [0, 0, 1, 1]);
//! # Ok(())
//! # }
//! ```

mod criterion;
mod cumulative;
mod error;
mod fractional_exchange;
mod fractional_kmeans;
mod fractional_rows;
mod fractional_utility;
mod kcc;
mod label_means;
mod matrix_rows;
mod mean_labels;
mod median;
mod nmfc;
mod pass_kinds;
mod plurality;
mod row_sums;
mod soft_mean;

pub use cumulative::{ACV, CumulativeSettings, RCV, Scheme, URCV, cumulative, cumulative_rows};
pub use error::MedianError;
pub use kcc::{KCC, Kcc, KccSettings, KccUtility, SEC, Sec, kcc, kcc_rows, sec, sec_rows};
pub use label_means::{
    IPVC, KC, LabelMeansDiagnostics, LabelMeansSettings, QMI, ipvc, ipvc_rows, kc, kc_rows, qmi,
    qmi_rows,
};
pub use median::{
    BaseLoss, InformationLoss, MEDIAN_BINDER, MEDIAN_VI, MedianBinder, MedianBinderSettings,
    MedianDiagnostics, MedianSearch, MedianVi, MedianViSettings, PairLoss, median_binder,
    median_binder_rows, median_vi, median_vi_rows,
};
pub use nmfc::{NMFC, NmfcSettings, nmfc};
pub use pass_kinds::{LABELLERS, PASSES};
pub use plurality::{
    PLURALITY, PluralitySettings, Reference, VoteDiagnostics, plurality, plurality_rows,
};
pub use soft_mean::{
    ColumnMatching, ConsensusRows, MatchingOrder, SOFT_MEAN, SoftMean, SoftMeanDiagnostics,
    SoftMeanSettings, soft_mean, soft_mean_rows,
};
