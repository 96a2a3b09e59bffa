//! Which consensus to believe: several methods on the same problem, compared by how far each agrees with the ensemble.
//!
//! Pick this crate when you have an ensemble and no favourite method. [`best`] runs the methods it is
//! given; [`BEST`] takes them by name from the list of all.
//!
//! | function | what it does | time | memory |
//! |---|---|---|---|
//! | [`best`] | runs methods, keeps the one with the highest mean NMI to the base clusterings, tables all | the methods' and O(n M) each | the hungriest method's and two outcomes |
//! | [`BEST`] | the same as a method, over methods named in its setting `among` | | |
//!
//! ```
//! use partita_core::{Clusters, Consensus, EnsembleBuilder, Problem, Silent};
//! use partita_graph::{HBGF, LWGP, MCLA};
//! use partita_select::best;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut builder = EnsembleBuilder::new(6);
//! builder.push("a", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(1)])?;
//! builder.push("b", [Some(0), Some(0), Some(0), Some(1), Some(1), Some(2)])?;
//! let ensemble = builder.finish()?;
//! let methods: [&dyn Consensus; 3] = [&LWGP, &HBGF, &MCLA];
//! let best = best(&methods, &Problem::new(&ensemble, Clusters::Exactly(2)), &Silent)?;
//! assert_eq!(best.table.len(), 3);
//! assert_eq!(best.outcome.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
//! # Ok(())
//! # }
//! ```

mod best;
mod error;
mod method;

pub use best::{Agreement, Best, Entry, Verdict, agreement, best};
pub use error::SelectError;
pub use method::{BEST, BestOf, BestSettings};
