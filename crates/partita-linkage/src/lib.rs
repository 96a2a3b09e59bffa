//! Hierarchical clustering: trees from dissimilarities, and partitions from trees.
//!
//! ```
//! use partita_linkage::{Linkage, cut, link};
//!
//! // Four points on a line: 0, 1, 5, 7.
//! let tree = link(vec![1.0, 5.0, 7.0, 4.0, 6.0, 2.0], 4, Linkage::Average)?;
//! assert_eq!(cut(&tree, 2).labels(), [0, 0, 1, 1]);
//! # Ok::<(), partita_linkage::LinkageError>(())
//! ```

mod chain;
mod condensed;
mod cut;
mod generic;
mod merges;
mod rows;
mod spanning;
mod store;

pub use condensed::{Linkage, LinkageError, link, link_f32};
pub use cut::{cut, cut_at_height, cut_longest_lifetime, longest_lifetime};
pub use merges::{unfold, unfold_at};
pub use rows::{Rows, bytes, link_rows};
