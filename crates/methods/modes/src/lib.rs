//! Several answers in one ensemble, and runs with common labels (label switching).
//!
//! Pick this crate if you have many runs of a clustering program and want to know whether they agree on one answer or fall into
//! groups that no single consensus does justice to ([`find_modes`]), or if you want the clusters of many runs, hard or soft, of
//! the same number of clusters or of different ones, to have the same columns and colours ([`align_runs`]).
//!
//! | function | what it does | time | memory |
//! |---|---|---|---|
//! | [`find_modes`] | the groups of base clusterings that describe an ensemble in the fewest nats, a consensus of each | O(M² n + R² M n B) a sweep | O(R n B) |
//! | [`align_runs`] | matches the columns of runs within a number of clusters and across them | O(R n K²), and O(R² min(n, 2000) K²) | the runs |
//! | [`match_columns`] | the best matching of the columns of one run to those of another | O(n K L) | O(K L) |
//!
//! n objects, M base clusterings, R modes or runs, B labels of a mode, K and L columns.
//!
//! ```
//! use partita_core::{EnsembleBuilder, Silent};
//! use partita_modes::find_modes;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Ten base clusterings split twelve objects at 6, ten take every second one.
//! let mut builder = EnsembleBuilder::new(12);
//! for run in 0..20 {
//!     let label = |i: usize| if run < 10 { i / 6 } else { i % 2 };
//!     builder.push(&format!("run{run}"), (0..12).map(|i| Some(label(i))))?;
//! }
//! let found = find_modes(&builder.finish()?, &Silent)?;
//! assert_eq!(found.modes.len(), 2);
//! assert_eq!(found.modes[0].members, (0..10).collect::<Vec<_>>());
//! assert_eq!(found.modes[0].share, 0.5);
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]

mod align_runs;
mod column_matching;
mod description_length;
mod error;
mod label_counts;
mod label_matrix;
mod modes;
mod run;
mod run_modes;

pub use align_runs::{AlignedRun, RunAlignment, RunMode, align_runs};
pub use column_matching::{ColumnMatching, match_columns};
pub use error::ModesError;
pub use modes::{MOST_MODES, Mode, Modes, find_modes};
pub use run::Run;
