//! Clusters of a weighted undirected graph by the Leiden algorithm.
//!
//! Pick this crate if you have a graph (edges, or a symmetric matrix) and want clusters that are connected, one run or very many.
//!
//! | what | time | memory |
//! |---|---|---|
//! | [`Graph::from_edges`], [`Graph::from_symmetric`]: n vertices, m edges | m log m | 24·n + 24·m bytes held, 48·m while it is made |
//! | [`Graph::induced`]: the graph between some of its vertices | m | the same |
//! | [`leiden`]: one clustering | about m an iteration, of which there are 3 to 10 | 60·n + 24·m bytes |
//! | [`Graph::quality`]: what an [`Objective`] says of a clustering | m | 16·n bytes |
//!
//! ```
//! use partita_core::{ProgressCounter, Seed, Silent};
//! use partita_leiden::{Graph, LeidenSettings, leiden};
//!
//! // Two triangles and an edge between them.
//! let edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)];
//! let graph = Graph::from_edges(6, edges.map(|(a, b)| (a, b, 1.0)))?;
//! let found = leiden(&graph, &LeidenSettings::default(), Seed::new(1), &ProgressCounter::new(&Silent, 1));
//! assert_eq!(found.expect("nobody says stop").labels, [0, 0, 0, 1, 1, 1]);
//! # Ok::<(), partita_leiden::GraphError>(())
//! ```
//!
//! Of the crates there are, leiden-rs 0.8 was tried (modularity .2 to 5 % below leidenalg's best of 10 runs), rune-leiden and
//! sdivi-detection were read about (no CPM or no graph that many runs share); none is stopped from outside.

#![forbid(unsafe_code)]

mod graph;
mod leiden;
mod moves;
mod objective;
mod refinement;

pub use graph::{Graph, GraphError};
pub use leiden::{Leiden, leiden};
pub use objective::{LeidenSettings, Objective};
