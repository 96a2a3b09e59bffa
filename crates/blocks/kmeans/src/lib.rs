//! k-means in all the forms that consensus clustering needs, and k-means++ once.
//!
//! Pick this crate for k-means on a dense or a sparse table, for many runs over one table that share its reading, or for
//! the initialization alone. Results depend on the data, the seed and the settings, never on the number of threads.
//!
//! | what | distance | time an iteration | memory |
//! |---|---|---|---|
//! | [`kmeans`], [`kmeans_from`], [`kmeans_many`] | Euclidean or cosine, single precision | n·d·k | 8·n·d bytes |
//! | [`kmeans_sparse`], [`kmeans_sparse_from`] | the same on the entries of a sparse table | entries·k | 8 bytes an entry, 20·k·d |
//! | [`minibatch`] | Euclidean, batches of 1024 rows | 1024·d·k a batch | as [`kmeans`] |
//! | [`labels::kmeans`] | one-hot label rows that are never built, or shares, with weights, by passes | rows·M·k | a sample of 10,000 rows, 8·ΣJ·k a sum under way |
//! | [`embedded::kmeans`] | Euclidean, double precision, weighted rows | n·d·k | 8·n·k |
//! | [`plus_plus`](mod@plus_plus) | k-means++ and greedy k-means++ over anything with distances | n·k | 16·n |
//!
//! Those who make many base clusterings of one table prepare it once as [`DenseRows`] or [`SparseRows`] and describe each run by
//! a [`RunSpec`]; [`lloyd`], [`minibatch`] and [`lloyd_sparse`] run them.
//!
//! ```
//! use partita_core::ndarray::Array2;
//! use partita_core::{Seed, Silent};
//! use partita_kmeans::{KMeansSettings, kmeans};
//!
//! # fn main() -> Result<(), partita_kmeans::KMeansError> {
//! let table = Array2::from_shape_fn((60, 2), |(i, p)| if i < 30 { p as f64 } else { 9.0 } + (i * 7 % 10) as f64 / 10.0);
//! let found = kmeans(table.view(), None, 2, Seed::new(1), &KMeansSettings::default(), &Silent)?;
//! assert!((1..30).all(|i| found.labels[i] == found.labels[0]));
//! assert_ne!(found.labels[0], found.labels[59]);
//! # Ok(())
//! # }
//! ```
//!
//! # References
//! Lloyd, *Least squares quantization in PCM*, IEEE Transactions on Information Theory 1982; Arthur and Vassilvitskii, SODA 2007;
//! Hamerly, *Making k-means even faster*, SDM 2010; Sculley, *Web-scale k-means clustering*, WWW 2010; Dhillon and
//! Modha, *Concept decompositions*, Machine Learning 2001 (cosine).

#![forbid(unsafe_code)]

mod centres;
mod check;
mod dense_rows;
mod drift;
pub mod embedded;
mod error;
mod initialization;
mod kmeans;
mod kmeans_sparse;
pub mod labels;
mod lloyd;
mod members;
mod minibatch;
mod moves;
mod part;
pub mod plus_plus;
mod run;
mod settings;
mod sparse_lloyd;
mod sparse_rows;

pub use dense_rows::DenseRows;
pub use error::KMeansError;
pub use kmeans::{KMeans, KMeansRun, kmeans, kmeans_from, kmeans_many};
pub use kmeans_sparse::{kmeans_sparse, kmeans_sparse_from};
pub use lloyd::lloyd;
pub use members::Members;
pub use minibatch::minibatch;
pub use moves::move_single_rows;
pub use partita_core::rand;
pub use run::{Fit, RunSpec, UNLABELLED, compact};
pub use settings::{Distance, Initialization, KMeansSettings};
pub use sparse_lloyd::lloyd_sparse;
pub use sparse_rows::SparseRows;
pub use sprs;
