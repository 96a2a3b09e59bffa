//! Sums over label rows, block by block: one engine for rows in memory, rows in files, and workers elsewhere.
//!
//! Most methods alternate a sum over all label rows with a small computation on the sums. A [`RowPass`] says what is
//! summed, [`RowBlocks`] who holds the rows, and a [`PassRunner`] runs the one over the other. Rows are cut into blocks of
//! [`BLOCK_ROWS`] by their number alone, and the sums of blocks are merged by a fixed binary tree over block numbers
//! ([`MergeTree`]), so that one thread, many threads, rows in memory, rows in one file or in twenty give the same bits.

mod blocks;
#[cfg(feature = "methods")]
mod fit;
mod merge_tree;
mod runner;
mod sample;

pub use blocks::{EnsembleRows, GroupRows, RowBlock, RowBlocks, SourceError};
#[cfg(feature = "methods")]
pub use fit::{Assigned, LabelledMap, RowFit};
pub use merge_tree::{MergeTree, Mergeable};
pub use runner::{PassError, PassRunner, RowMap, RowPass, sums_under_way};
pub use sample::RowSample;

/// Rows of a block of the global grid. The last block may be shorter.
pub const BLOCK_ROWS: u64 = 2048;
