//! Who holds label rows: an ensemble in memory, or groups of rows that are read when they are wanted.

use std::borrow::Cow;
use std::ops::Range;

use ndarray::{Array2, ArrayView2};

use super::BLOCK_ROWS;
use crate::{BaseClustering, Ensemble, Label, LabelRows};

/// Label rows in groups that can be read again and again, in any order, by several threads. How rows are cut into groups
/// changes no result: the grid of blocks is laid over row numbers.
pub trait RowBlocks: Sync {
    /// The base clusterings, M of them.
    fn bases(&self) -> &[BaseClustering];

    /// Number of groups.
    fn groups(&self) -> usize;

    /// The rows of a group. Groups follow each other without a gap, from row 0.
    fn rows_of(&self, group: usize) -> Range<u64>;

    /// Calls `take` with the label rows of a group, the same whenever it is read: all at once, or in pieces that follow each other.
    /// Pieces best end at multiples of [`PIECE_ROWS`](super::PIECE_ROWS), so that they cut no sum.
    ///
    /// # Errors
    /// [`SourceError`] when they cannot be had; `take` may have been called with the first of them.
    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError>;

    /// Number of rows, n.
    fn rows(&self) -> u64 {
        self.groups()
            .checked_sub(1)
            .map_or(0, |last| self.rows_of(last).end)
    }
}

/// The label rows of a group: object by object, M stored labels each ([`Label`]), and a weight an object where rows
/// stand for several objects.
#[derive(Clone, Copy, Debug)]
pub struct GroupRows<'a> {
    /// The labels.
    pub labels: LabelRows<'a>,
    /// One weight a row, or 1 each.
    pub weights: Option<&'a [f64]>,
}

/// Some consecutive label rows of one block of the grid, as a pass sees them.
#[derive(Clone, Copy, Debug)]
pub struct RowBlock<'a, L> {
    /// Number of the first row.
    pub first: u64,
    /// Stored labels, M a row, row after row.
    pub labels: &'a [L],
    /// Base clusterings, M.
    pub bases: usize,
    /// One weight a row, or 1 each.
    pub weights: Option<&'a [f64]>,
}

impl GroupRows<'_> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        match self.labels {
            LabelRows::Bytes(labels) => labels.nrows(),
            LabelRows::Words(labels) => labels.nrows(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'a, L: Label> RowBlock<'a, L> {
    /// Number of rows.
    pub fn len(&self) -> usize {
        self.labels.len() / self.bases
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    /// Every row with its weight.
    pub fn rows(&self) -> impl Iterator<Item = (&'a [L], f64)> {
        let weights = self.weights;
        self.labels
            .chunks_exact(self.bases)
            .enumerate()
            .map(move |(i, row)| (row, weights.map_or(1.0, |w| w[i])))
    }

    /// The rows as an ensemble of these base clusterings, which are those of their source.
    ///
    /// # Panics
    /// If there are not M of them.
    pub fn ensemble(&self, bases: &[BaseClustering]) -> Ensemble {
        assert_eq!(
            bases.len(),
            self.bases,
            "the base clusterings of the source"
        );
        let label = |(i, u): (usize, usize)| {
            self.labels[i * self.bases + u]
                .cluster()
                .map_or(u16::MISSING, u16::of)
        };
        Ensemble::from_known(
            Array2::from_shape_fn((self.len(), self.bases), label),
            bases.to_vec(),
        )
    }

    /// The same rows, at most [`BLOCK_ROWS`] at a time.
    #[cfg(feature = "methods")]
    pub(super) fn pieces(&self) -> impl Iterator<Item = Self> {
        let (rows, most) = (self.len(), BLOCK_ROWS as usize);
        (0..rows)
            .step_by(most)
            .map(move |first| self.slice(first..(first + most).min(rows)))
    }

    /// The rows of a range, counted from the first of these.
    pub(super) fn slice(&self, rows: Range<usize>) -> Self {
        Self {
            first: self.first + rows.start as u64,
            labels: &self.labels[rows.start * self.bases..rows.end * self.bases],
            weights: self.weights.map(|weights| &weights[rows]),
            ..*self
        }
    }
}

/// Label rows that cannot be read.
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

/// The label rows of an ensemble in memory as [`RowBlocks`].
#[derive(Clone, Copy, Debug)]
pub struct EnsembleRows<'a> {
    ensemble: &'a Ensemble,
    weights: Option<&'a [f64]>,
}

impl<'a> EnsembleRows<'a> {
    /// Every object counts 1.
    pub fn new(ensemble: &'a Ensemble) -> Self {
        Self {
            ensemble,
            weights: None,
        }
    }

    /// Rows that stand for several objects.
    ///
    /// # Panics
    /// If there is not one weight an object.
    pub fn weighted(ensemble: &'a Ensemble, weights: &'a [f64]) -> Self {
        assert_eq!(weights.len(), ensemble.objects(), "one weight an object");
        Self {
            ensemble,
            weights: Some(weights),
        }
    }

    /// Rows of a group: a power of two of whole blocks, so that few sums over several blocks are cut.
    fn group_rows(&self) -> u64 {
        let blocks = (self.ensemble.objects() as u64).div_ceil(BLOCK_ROWS);
        let least = if blocks < MOST_GROUPS { 1 } else { 16 };
        blocks.div_ceil(MOST_GROUPS).next_power_of_two().max(least) * BLOCK_ROWS
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
        let (first, size) = (group as u64 * self.group_rows(), self.group_rows());
        first..(first + size).min(self.ensemble.objects() as u64)
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let rows = self.rows_of(group);
        let rows = rows.start as usize..rows.end as usize;
        let weights = self.weights.map(|weights| &weights[rows.clone()]);
        let part = ndarray::s![rows, ..];
        let labels = match self.ensemble.rows() {
            LabelRows::Bytes(all) => LabelRows::Bytes(all.slice_move(part)),
            LabelRows::Words(all) => LabelRows::Words(all.slice_move(part)),
        };
        take(GroupRows { labels, weights });
        Ok(())
    }
}

/// Labels row after row, copied only if they lie otherwise.
pub(super) fn row_major<'a, L: Label>(rows: &'a ArrayView2<'_, L>) -> Cow<'a, [L]> {
    match rows.as_slice() {
        Some(labels) => Cow::Borrowed(labels),
        None => Cow::Owned(rows.iter().copied().collect()),
    }
}
