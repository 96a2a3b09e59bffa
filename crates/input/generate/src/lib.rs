//! Base clusterings: many clusterings of one table, to be combined into one.
//!
//! Pick this crate to make an ensemble from a table of numbers, or for k-means on its own. No consensus method
//! needs it: an ensemble may come from anywhere.
//!
//! | base clusterer | what it does | time | memory |
//! |---|---|---|---|
//! | `kmeans` | Lloyd's iterations from a k-means++ start | n·d·k an iteration | 8·n·d bytes shared by all runs, 14·n a run |
//! | `kmeans-greedy` | the same, each starting centre the best of several draws | as above | as above |
//! | `kmeans-random` | the same from rows drawn evenly | as above | as above |
//! | `kmeans-moves` | `kmeans-random`, then moves of single rows while one lowers the sum of squares (Hartigan and Wong) | as above, and n·d·k each time all rows are looked at | 24·n·d a run |
//! | `kmeans-cosine` | the same by the angle between rows | as above | as above |
//! | `kmeans-batch` | centres learn from random batches of 1024 rows | n·d·k once, and a batch at a time | as above |
//! | `single`, `average`, `complete`, `ward` | one tree, cut at many k | n²·d | 8·n² |
//! | `centroid` | the same; heights may fall | n²·d, usually n² log n for the tree | 8·n² |
//! | `genie` | merges along a minimum spanning tree that keep cluster sizes about equal (limits of the Gini index in turn), cut at k; above 20,000 rows over 2,000 landmarks | n²·d (2000·n·d) | 8·n·d |
//! | `spectral` | eigenvectors of a graph with local scales, then k-means: `spectral-dense` up to 2000 rows, `spectral-knn` above | as these | as these |
//! | `spectral-dense` | the graph of all pairs | n²·d and n²·k an eigenvector step | 40·n² |
//! | `spectral-knn` | the graph that keeps the 15 nearest neighbours of every row, which are exact | n²·d + 100·n·(30·k + k²) | (1500 + 8·d + 60·k)·n |
//! | `uspec` | U-SPEC: rows are joined to the nearest 5 of 1000 representatives, whose graph is cut; for very many rows, from a file by blocks too | n·(116·d + 5·k²) + 10⁹ | 30·n and 100 MB a run |
//! | `pam` | partitioning around medoids: swaps of medoids until none helps | n²·d once, n² a round | 12·n² |
//! | `leiden`, `leiden-cosine` | Leiden on the exact 15 nearest neighbours, at a drawn resolution that says how many clusters there are | n²·d once, some 500·n a run | (1500 + 8·d)·n |
//! | `splits` | random hyperplanes until there are k cells | n·d·k at most | n·d |
//!
//! Trees, `pam`, `spectral` and `leiden` also take the distances of all pairs in place of a table ([`TableView::Distances`]), `leiden` a
//! graph ([`TableView::Graph`]).
//!
//! Each may see a share of the objects only; the others have no label in that base clustering. k-means reads sparse
//! tables as they are, and shares of a table that is larger than memory in groups of rows ([`RowGroups`]), which `uspec` reads group by
//! group; everything else needs the whole table.
//!
//! ```
//! use partita_core::ndarray::Array2;
//! use partita_core::{MemoryBudget, Seed, Silent};
//! use partita_generate::{BaseSpec, Recipe, generate};
//!
//! # fn main() -> Result<(), partita_generate::GenerateError> {
//! let table = Array2::from_shape_fn((60, 2), |(i, p)| if i < 30 { p as f64 } else { 9.0 } + (i * 7 % 10) as f64 / 10.0);
//! let mut recipe = Recipe::default();
//! recipe.base = BaseSpec::list("kmeans:8,kmeans-random:4")?;
//! recipe.base_k = "2..5".parse()?;
//!
//! let made = generate(table.view(), &recipe, Seed::new(1), MemoryBudget::UNLIMITED, &Silent)?;
//! assert_eq!(made.ensemble.bases().len(), 12);
//! assert_eq!(made.ensemble.missing(), 12 * 6); // every base clustering sees 0.9 of the objects
//! # Ok(())
//! # }
//! ```

mod base_clusterer;
mod base_k;
mod base_run;
mod checkpoint;
mod checkpoint_file;
mod equal_rows;
mod error;
mod generate;
mod genie;
mod hartigan_wong;
mod hot_deck;
mod leiden;
mod mixed;
mod pairs;
mod pam;
mod plan;
mod preset;
mod recipe;
mod resamples;
mod resolutions;
mod run_context;
mod run_plans;
mod scale;
mod spectral;
mod splits;
mod table_view;
mod tree;
mod uspec;

pub use base_clusterer::BaseKind;
pub use base_k::BaseK;
pub use checkpoint::{Durable, generate_durable, is_part_file, merge_parts};
pub use equal_rows::equal_rows;
pub use error::GenerateError;
pub use generate::{BaseFacts, Generated, bytes, generate};
pub use hot_deck::HotDeck;
pub use mixed::features;
pub use pairs::Dissimilarity;
pub use partita_kmeans::sprs;
pub use partita_leiden::Objective;
pub use partita_leiden::{Graph, GraphError};
pub use preset::PRESETS;
pub use recipe::{BaseSpec, Recipe};
pub use resamples::{Resample, ResampledTable, cluster_resamples};
pub use resolutions::Resolutions;
pub use scale::{Scale, scale, scale_by_evidence};
pub use table_view::{RowGroups, TableView};
