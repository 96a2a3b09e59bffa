//! Sums over label rows, block by block: one engine for rows in memory, rows in files, and workers elsewhere.
//!
//! Most methods alternate a sum over all label rows with a small computation on the sums. A [`RowPass`] says what is
//! summed, [`RowBlocks`] who holds the rows, and a [`PassRunner`] runs the one over the other. Rows are cut into blocks of
//! [`BLOCK_ROWS`] by their number alone, and the sums of blocks are merged by a fixed binary tree over block numbers
//! ([`MergeTree`]), so that one thread, many threads, rows in memory, rows in one file or in twenty give the same bits. Passes and sums are values that
//! can be written as bytes: a [`PassEngine`] has others run them.

#[cfg(feature = "methods")]
mod assigned;
mod blocks;
mod engine;
#[cfg(feature = "methods")]
mod fit;
pub(crate) mod foreign;
#[cfg(feature = "methods")]
mod hold;
#[cfg(feature = "methods")]
mod labeller;
mod merge_tree;
mod part_sum;
mod pass;
mod pass_kind;
mod rows;
mod runner;
mod sample;

#[cfg(feature = "methods")]
pub use assigned::{Assigned, LabelledMap};
pub use blocks::{AnyBlock, EnsembleRows, GroupRows, RowBlock, RowBlocks, RowData, SourceError};
pub use engine::{PassEngine, PassJob, TakePart};
#[cfg(feature = "methods")]
pub use fit::RowFit;
#[cfg(feature = "methods")]
pub(crate) use hold::held_rows;
#[cfg(feature = "methods")]
pub use labeller::{LabelCounts, LabelJob, Labeller, LabellerKind, RowLabeller};
pub use merge_tree::{MergeTree, Mergeable};
pub use pass::{PassError, RowMap, RowPass};
pub use pass_kind::PassKind;
pub use rows::{Entry, Row, RowKey, ShareRow, ShareRows, StoredRows};
pub use runner::{PassRunner, sums_under_way};
pub use sample::RowSample;

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[
    #[cfg(feature = "methods")]
    PassKind::of::<hold::HoldRows>(),
    PassKind::of::<sample::CountCells>(),
    PassKind::of::<sample::SmallestRanks>(),
    PassKind::of::<sample::SmallestLabelled>(),
];

/// Rows of a block of the global grid. The last block may be shorter.
pub const BLOCK_ROWS: u64 = 2048;

/// Most rows that one sum is over ([`RowPass::BLOCKS_A_SUM`]), and a good number of rows to read at once: they fit a processor's own cache.
pub const PIECE_ROWS: u64 = 16 * BLOCK_ROWS;
