//! Who holds rows: an ensemble in memory, or groups of rows that are read when they are wanted.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::ArrayView2;

use super::rows::{Row, ShareRow, ShareRows, StoredRows};
use super::{BLOCK_ROWS, RowKey};
use crate::{BaseClustering, Ensemble, Label, LabelRows, ObjectWeights, WeightedEnsemble};

/// Rows in groups that can be read again and again, in any order, by several threads. How rows are cut into groups
/// changes no result: the grid of blocks is laid over row numbers.
pub trait RowBlocks: Sync {
    /// The base clusterings, M of them.
    fn bases(&self) -> &[BaseClustering];

    /// Number of groups.
    fn groups(&self) -> usize;

    /// The rows of a group. Groups follow each other without a gap, from row 0.
    fn rows_of(&self, group: usize) -> Range<u64>;

    /// Calls `take` with the rows of a group, the same whenever it is read: all at once, or in pieces that follow each other.
    /// Pieces best end at multiples of [`PIECE_ROWS`](super::PIECE_ROWS), so that they cut no sum.
    ///
    /// # Errors
    /// [`SourceError`] when they cannot be had; `take` may have been called with the first of them.
    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError>;

    /// Whether rows are shares, and not labels.
    fn are_shares(&self) -> bool {
        false
    }

    /// Whether rows are labels that count whole numbers: sums of them are exact in any order.
    fn are_whole(&self) -> bool {
        true
    }

    /// Number of rows, n.
    fn rows(&self) -> u64 {
        self.groups()
            .checked_sub(1)
            .map_or(0, |last| self.rows_of(last).end)
    }
}

/// The rows of a group, object by object, and a weight an object where rows stand for several objects.
#[derive(Clone, Copy, Debug)]
pub struct GroupRows<'a> {
    /// Labels or shares.
    pub rows: RowData<'a>,
    /// One weight a row, or 1 each.
    pub weights: Option<&'a [f64]>,
}

/// The rows of a group as their source has them.
#[derive(Clone, Copy, Debug)]
pub enum RowData<'a> {
    /// M stored labels a row ([`Label`]).
    Labels(LabelRows<'a>),
    /// Shares in base clusters.
    Shares(ShareRows<'a>),
}

/// Some consecutive rows of one block of the grid, as a pass sees them.
#[derive(Clone, Copy, Debug)]
pub struct RowBlock<'a, R: Row<'a>> {
    /// Number of the first row.
    pub first: u64,
    stored: R::Stored,
    /// Base clusterings, M.
    pub bases: usize,
    /// One weight a row, or 1 each.
    pub weights: Option<&'a [f64]>,
}

/// A [`RowBlock`] of any kind of rows.
#[derive(Clone, Copy, Debug)]
pub enum AnyBlock<'a> {
    /// Labels of one byte.
    Bytes(RowBlock<'a, &'a [u8]>),
    /// Labels of two bytes.
    Words(RowBlock<'a, &'a [u16]>),
    /// Shares.
    Shares(RowBlock<'a, ShareRow<'a>>),
}

impl<'a> From<LabelRows<'a>> for GroupRows<'a> {
    fn from(labels: LabelRows<'a>) -> Self {
        Self {
            rows: RowData::Labels(labels),
            weights: None,
        }
    }
}

impl<'a> GroupRows<'a> {
    /// The labels, where rows are labels.
    pub fn labels(&self) -> Option<LabelRows<'a>> {
        match self.rows {
            RowData::Labels(labels) => Some(labels),
            RowData::Shares(_) => None,
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        match self.rows {
            RowData::Labels(LabelRows::Bytes(labels)) => labels.nrows(),
            RowData::Labels(LabelRows::Words(labels)) => labels.nrows(),
            RowData::Shares(shares) => shares.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Calls `see` with the rows as a block that begins with row `first`.
    pub fn with_block<T>(
        &self,
        first: u64,
        bases: usize,
        see: impl FnOnce(AnyBlock<'_>) -> T,
    ) -> T {
        let weights = self.weights;
        match &self.rows {
            RowData::Labels(LabelRows::Bytes(labels)) => {
                let labels = row_major(labels);
                let block = RowBlock::new(first, labels.as_ref(), bases, weights);
                see(AnyBlock::Bytes(block))
            }
            RowData::Labels(LabelRows::Words(labels)) => {
                let labels = row_major(labels);
                let block = RowBlock::new(first, labels.as_ref(), bases, weights);
                see(AnyBlock::Words(block))
            }
            RowData::Shares(shares) => {
                let block = RowBlock::new(first, *shares, bases, weights);
                see(AnyBlock::Shares(block))
            }
        }
    }
}

impl<'a, L: Label> RowBlock<'a, &'a [L]> {
    /// The stored labels, M a row, row after row.
    pub fn labels(&self) -> &'a [L] {
        self.stored
    }
}

impl<'a, R: Row<'a>> RowBlock<'a, R> {
    /// Rows of M = `bases` base clusterings; `weights` has one number a row.
    pub fn new(first: u64, stored: R::Stored, bases: usize, weights: Option<&'a [f64]>) -> Self {
        Self {
            first,
            stored,
            bases,
            weights,
        }
    }

    /// Number of rows.
    #[inline]
    pub fn len(&self) -> usize {
        R::count(self.stored, self.bases)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A row.
    #[inline]
    pub fn row(&self, at: usize) -> R {
        R::at(self.stored, self.bases, at)
    }

    /// How many objects a row stands for.
    #[inline]
    pub fn weight(&self, at: usize) -> f64 {
        self.weights.map_or(1.0, |weights| weights[at])
    }

    /// Every row with its weight.
    pub fn rows(&self) -> impl Iterator<Item = (R, f64)> {
        let block = *self;
        (0..self.len()).map(move |at| (block.row(at), block.weight(at)))
    }

    /// The rows as they are stored, for kernels of their own.
    pub fn stored(&self) -> StoredRows<'a> {
        R::any(self.stored)
    }

    /// The rows as an ensemble of these base clusterings, which are those of their source.
    pub fn ensemble(&self, bases: &[BaseClustering]) -> Ensemble {
        let rows: Vec<RowKey> = self.rows().map(|(row, _)| row.key()).collect();
        RowKey::ensemble(&rows, bases, matches!(self.stored(), StoredRows::Shares(_)))
    }

    /// The same rows, at most [`BLOCK_ROWS`] at a time.
    #[cfg(feature = "methods")]
    pub(super) fn pieces(&self) -> impl Iterator<Item = Self> {
        let most = BLOCK_ROWS as usize;
        let rows = self.len();
        (0..rows)
            .step_by(most)
            .map(move |first| self.slice(first..(first + most).min(rows)))
    }

    /// The rows of a range, counted from the first of these.
    #[must_use]
    pub fn slice(&self, rows: Range<usize>) -> Self {
        Self {
            first: self.first + rows.start as u64,
            stored: R::part(self.stored, self.bases, rows.clone()),
            weights: self.weights.map(|weights| &weights[rows]),
            ..*self
        }
    }
}

/// Rows that cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("rows from {first} on: {reason}")]
pub struct SourceError {
    /// Number of the first row that was asked for.
    pub first: u64,
    /// Why not.
    pub reason: String,
}

/// Groups of rows in memory, at most.
const MOST_GROUPS: u64 = 256;

/// The rows of an ensemble in memory as [`RowBlocks`].
#[derive(Clone, Copy, Debug)]
pub struct EnsembleRows<'a> {
    ensemble: &'a Ensemble,
    weights: Option<&'a [f64]>,
    shares: bool,
}

impl<'a> From<WeightedEnsemble<'a>> for EnsembleRows<'a> {
    fn from(source: WeightedEnsemble<'a>) -> Self {
        Self {
            ensemble: source.ensemble,
            weights: source.object_weights.map(ObjectWeights::as_slice),
            shares: source.ensemble.memberships().is_some(),
        }
    }
}

impl<'a> EnsembleRows<'a> {
    /// The labels of an ensemble; every object counts 1.
    pub fn new(ensemble: &'a Ensemble) -> Self {
        Self {
            ensemble,
            weights: None,
            shares: false,
        }
    }

    /// Labels of objects that stand for several.
    ///
    /// # Panics
    /// If there is not one weight an object.
    pub fn weighted(ensemble: &'a Ensemble, weights: &'a [f64]) -> Self {
        assert_eq!(weights.len(), ensemble.objects(), "one weight an object");
        Self {
            weights: Some(weights),
            ..Self::new(ensemble)
        }
    }

    /// The same with shares in place of labels where the ensemble has some.
    #[must_use]
    pub fn with_shares(self) -> Self {
        Self {
            shares: self.ensemble.memberships().is_some(),
            ..self
        }
    }

    /// Rows of a group: a power of two of whole blocks, so that few sums over several blocks are cut.
    fn group_rows(&self) -> u64 {
        let blocks = (self.ensemble.objects() as u64).div_ceil(BLOCK_ROWS);
        let least = if blocks < MOST_GROUPS { 1 } else { 16 };
        blocks.div_ceil(MOST_GROUPS).next_power_of_two().max(least) * BLOCK_ROWS
    }

    /// Calls `see` with all rows as one block.
    pub fn with_all<T>(&self, see: impl FnOnce(AnyBlock<'_>) -> T) -> T {
        let bases = self.ensemble.bases().len();
        self.group(0..self.ensemble.objects())
            .with_block(0, bases, see)
    }

    fn group(&self, rows: Range<usize>) -> GroupRows<'a> {
        let weights = self.weights.map(|weights| &weights[rows.clone()]);
        let part = ndarray::s![rows.clone(), ..];
        let rows = match (self.ensemble.memberships(), self.ensemble.rows()) {
            (Some(memberships), _) if self.shares => {
                RowData::Shares(ShareRows::of(memberships, rows))
            }
            (_, LabelRows::Bytes(all)) => RowData::Labels(LabelRows::Bytes(all.slice_move(part))),
            (_, LabelRows::Words(all)) => RowData::Labels(LabelRows::Words(all.slice_move(part))),
        };
        GroupRows { rows, weights }
    }
}

impl RowBlocks for EnsembleRows<'_> {
    fn bases(&self) -> &[BaseClustering] {
        self.ensemble.bases()
    }

    fn groups(&self) -> usize {
        (self.ensemble.objects() as u64).div_ceil(self.group_rows()) as usize
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        let size = self.group_rows();
        let first = group as u64 * size;
        first..(first + size).min(self.ensemble.objects() as u64)
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let rows = self.rows_of(group);
        take(self.group(rows.start as usize..rows.end as usize));
        Ok(())
    }

    fn are_shares(&self) -> bool {
        self.shares
    }

    fn are_whole(&self) -> bool {
        let whole = |weight: &f64| weight.fract() == 0.0;
        !self.shares && self.weights.is_none_or(|weights| weights.iter().all(whole))
    }
}

/// Labels row after row, copied only if they lie otherwise.
fn row_major<'a, L: Label>(rows: &'a ArrayView2<'_, L>) -> Cow<'a, [L]> {
    match rows.as_slice() {
        Some(labels) => Cow::Borrowed(labels),
        None => Cow::Owned(rows.iter().copied().collect()),
    }
}
