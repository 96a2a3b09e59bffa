//! What a pass over label rows is: a pure job on blocks, and its sum.

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Mergeable, Row, RowBlock, SourceError};
use crate::BaseClustering;

/// A pure job on a block of rows. Its state travels out to whoever holds the rows, its sums travel back.
pub trait RowPass: Serialize + DeserializeOwned + Sync {
    /// What is summed.
    type Sum: Mergeable + Send + Serialize + DeserializeOwned;

    /// What the pass is called where it is a job for somebody else ([`PassKind`](super::PassKind)): crate and topic.
    const KIND: &'static str;

    /// Whether sums over labels that count whole numbers are whole, so that any order of additions gives the same bits. A worker then
    /// keeps one sum for all its blocks.
    const EXACT: bool = false;

    /// Blocks of the grid that one sum is over before it is merged, a power of two up to 16: more where sums are large.
    const BLOCKS_A_SUM: u64 = 1;

    /// Whether it is a pass over rows of these base clusterings: asked of one that somebody else made, before anything is held for it.
    fn fits(&self, bases: &[BaseClustering]) -> bool {
        let _ = bases;
        true
    }

    /// The sum over no row.
    fn zero(&self) -> Self::Sum;

    /// Adds rows one after the other: a block in two pieces must give the same bits as in one.
    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Self::Sum);
}

/// A function of each label row alone.
pub trait RowMap: Sync {
    /// What is made of some rows.
    type Out: Send;

    /// What is made of these rows.
    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Self::Out;
}

/// Why a pass has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PassError {
    /// Rows that cannot be read.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// What is made of the rows cannot be handed on.
    #[error("{0}")]
    Sink(String),
    /// The monitor asked to stop.
    #[error("stopped before the end of the rows")]
    Interrupted,
    /// Parts of a sum that do not make up the whole.
    #[error("{0}")]
    Parts(String),
    /// Others have to sum first ([`PassEngine`](super::PassEngine)).
    #[error("the sums of a pass are not there yet")]
    Pending,
}
