//! Which clusters of a table are real: a p-value for every split between neighbours, for labels of any tool.
//!
//! Pick this crate if you have a table of numbers and labels of its rows, and want to know which of the clusters are separate
//! populations and which are one population that was cut: [`gap_test`].
//!
//! | function | what it does | time | memory |
//! |---|---|---|---|
//! | [`gap_test`] | tests neighbours, merges those without a gap between them, and says what is left | O(S n d²), and O(S (n d + n_c (K d + d²))) for each of about 5 K pairs | [`gap_test_bytes`] |
//!
//! n rows, d columns, K clusters, S halvings, n_c rows of a pair and in its corridor.
//!
//! Two clusters are separate if, in a straight corridor from one to the other, there is a place that is emptier than both ends, seen on
//! rows that were not used to choose the corridor or the place.
//!
//! **What it does not do.** A gap is what is tested: two populations whose means are less than about three standard deviations apart have
//! none and are merged, though they differ. A cluster needs some 30 rows, and five to six standard deviations if it has few. The test
//! merges and never splits: a cluster with parts of two populations joins them, so make more clusters than there are. Rows must be
//! independent: repeated measurements, imputed or smoothed rows and the coordinates of t-SNE and UMAP have gaps that nobody measured;
//! batches are real gaps. Rings of fewer than 300 rows may be cut. Values of few kinds have gaps between them: splits on such lines are
//! not judged.
//!
//! ```
//! use partita_core::ndarray::Array2;
//! use partita_core::{MemoryBudget, Seed, Silent};
//! use partita_significance::{GapTestSettings, Verdict, gap_test};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Two populations of 200 rows; the second is cut into two clusters.
//! let noise = |i: usize, j: usize| {
//!     let draws = (0..12).map(|draw| Seed::new(((i * 2 + j) * 12 + draw) as u64).child(0).number());
//!     draws.map(|number| number as f64 / u64::MAX as f64).sum::<f64>() - 6.0
//! };
//! let table = Array2::from_shape_fn((400, 2), |(i, j)| noise(i, j) + if i < 200 { 0.0 } else { 7.0 });
//! let label = |i: usize| if i < 200 { 0 } else { 1 + u32::from(table[[i, 0]] > 7.0) };
//! let labels: Vec<Option<u32>> = (0..400).map(|i| Some(label(i))).collect();
//!
//! let (settings, budget) = (GapTestSettings::default(), MemoryBudget::default());
//! let found = gap_test(table.view(), &labels, Seed::new(1), &settings, budget, &Silent)?;
//! assert_eq!(found.merged.len(), 2);
//! assert!(found.merged.iter().all(|cluster| cluster.verdict == Verdict::Established));
//! assert!(found.splits[0].test.p < 1e-6);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod corridor;
mod crossing;
mod error;
mod gap_test;
mod line;
mod moments;
#[cfg(test)]
mod naive;
mod pair;
mod result;
mod rows;
mod settings;
mod tree;
mod walkers;
mod windows;

pub use error::SignificanceError;
pub use gap_test::{gap_test, gap_test_bytes};
pub use pair::{CorridorView, Gap, PairTest};
pub use result::{GapTest, MergedCluster, Node, Split, TestedCluster, Verdict};
pub use settings::GapTestSettings;
pub use windows::{BINS, BinCounts, Scale, Window, Windows};
