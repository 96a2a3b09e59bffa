//! Hierarchical clustering: trees from dissimilarities, and partitions from trees.
//!
//! Pick this crate if you have dissimilarities and want a tree of merges in the layout of SciPy, or a cut of one.
//!
//! | what | time | memory |
//! |---|---|---|
//! | [`link`], [`link_f32`]: a condensed matrix, five linkages (kodama) | n² | the matrix |
//! | [`link_weighted_f32`]: average link of a condensed matrix, weighted objects | n² | the matrix |
//! | [`link_rows`]: whole dissimilarities, made a row at a time; exact, weighted objects | n² and 2n rows | at most 1.4 n² bytes while sums fit 32 bits, 4.3 n² beyond, and 3 GiB; O(n) for single link |
//! | [`link_edges`]: single link of a sparse graph with m edges | m log m | m |
//! | [`spanning_tree`]: minimum spanning tree of the rows of a table | n² d | n d |
//! | [`genie`]: merges along a spanning tree that keep cluster sizes about equal (Gini index) | n √n at most | n |
//! | [`cut`], [`cut_at_height`], [`cut_longest_lifetime`], [`leaf_order`] | n | n |
//!
//! Memory of [`link_rows`] is [`bytes`], a bound: rows exist only for clusters that have merged, and in practice few
//! clusters of a chain are asked for at once.
//!
//! ```
//! use partita_linkage::{Linkage, cut, link};
//!
//! // Four points on a line: 0, 1, 5, 7.
//! let tree = link(vec![1.0, 5.0, 7.0, 4.0, 6.0, 2.0], 4, Linkage::Average)?;
//! assert_eq!(cut(&tree, 2).labels(), [0, 0, 1, 1]);
//! # Ok::<(), partita_linkage::LinkageError>(())
//! ```

#![forbid(unsafe_code)]

mod cell;
mod condensed;
mod cut;
mod generic;
mod genie;
mod lazy_matrix;
mod link_rows;
mod merges;
mod mst;
mod nn_chain;
mod rows;
mod spanning_tree;
mod weighted;

pub use condensed::{Linkage, LinkageError, link, link_f32};
pub use cut::{cut, cut_at_height, cut_longest_lifetime, leaf_order, longest_lifetime};
pub use genie::genie;
pub use link_rows::{bytes, link_rows};
pub use merges::{unfold, unfold_at};
pub use mst::link_edges;
pub use rows::Rows;
pub use spanning_tree::{Edge, spanning_tree};
pub use weighted::link_weighted_f32;
