//! The sum over consecutive label rows as it is before its neighbours are known: whole blocks merged, cut blocks as rows.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::pass::RowPass;
use super::{BLOCK_ROWS, MergeTree, Mergeable, RowBlock};
use crate::Label;

/// What consecutive rows add up to. Parts that follow each other join to the part of all their rows, with the same bits however the
/// rows were cut.
#[derive(Serialize, Deserialize)]
pub(super) struct PartSum<S> {
    /// Numbers of the rows.
    pub(super) rows: Range<u64>,
    /// The end of a block that began in an earlier part.
    head: Option<Piece>,
    tree: MergeTree<S>,
    /// Rows of a block that goes on in a later part, or ends with the last row.
    tail: Option<Piece>,
}

/// Rows of a block that is cut.
#[derive(Serialize, Deserialize)]
struct Piece {
    first: u64,
    labels: Vec<u16>,
    weights: Option<Vec<f64>>,
}

/// The rows of each block of a grid of blocks of `size` rows, in order.
pub(super) fn blocks_of(
    first: u64,
    rows: usize,
    size: u64,
) -> impl Iterator<Item = (u64, Range<usize>)> {
    let (first_block, end) = (first / size, first + rows as u64);
    (first_block..end.div_ceil(size)).map(move |block| {
        let (from, to) = ((block * size).max(first), ((block + 1) * size).min(end));
        (block, (from - first) as usize..(to - first) as usize)
    })
}

/// Rows of a block of which there is one sum.
const fn rows_a_sum<P: RowPass>() -> u64 {
    BLOCK_ROWS * P::BLOCKS_A_SUM
}

fn sum_of<P: RowPass, L: Label>(pass: &P, rows: &RowBlock<'_, L>) -> P::Sum {
    let mut sum = pass.zero();
    pass.add(rows, &mut sum);
    sum
}

impl<S: Mergeable> PartSum<S> {
    /// The part of no row, before row `first`.
    pub(super) fn empty(first: u64) -> Self {
        Self {
            rows: first..first,
            head: None,
            tree: MergeTree::new(),
            tail: None,
        }
    }

    /// Adds rows that follow.
    pub(super) fn add<P: RowPass<Sum = S>, L: Label>(&mut self, pass: &P, rows: &RowBlock<'_, L>) {
        if P::EXACT {
            // Whole numbers may be added in any order: one sum a part.
            let mut sum = std::mem::take(&mut self.tree)
                .total()
                .unwrap_or_else(|| pass.zero());
            pass.add(rows, &mut sum);
            self.tree.push(0, sum);
            self.rows.end += rows.len() as u64;
        } else {
            self.append(Self::of(pass, rows), pass, rows.bases);
        }
    }

    /// The part of some rows, sums of blocks, for [`append`](Self::append).
    fn of<P: RowPass<Sum = S>, L: Label>(pass: &P, rows: &RowBlock<'_, L>) -> Self {
        let mut part = Self {
            rows: rows.first..rows.first + rows.len() as u64,
            ..Self::empty(rows.first)
        };
        let size = rows_a_sum::<P>();
        for (block, range) in blocks_of(rows.first, rows.len(), size) {
            let piece = rows.slice(range);
            if piece.len() as u64 == size {
                part.tree.push(block, sum_of(pass, &piece));
            } else if piece.first.is_multiple_of(size) {
                part.tail = Some(Piece::of(&piece));
            } else {
                part.head = Some(Piece::of(&piece));
            }
        }
        part
    }

    /// Joins the part of the rows that follow.
    pub(super) fn append<P: RowPass<Sum = S>>(&mut self, next: Self, pass: &P, bases: usize) {
        self.rows.end = next.rows.end;
        if P::EXACT {
            let (mut all, more) = (std::mem::take(&mut self.tree).total(), next.tree.total());
            match (&mut all, more) {
                (Some(all), Some(more)) => all.merge(more),
                (all, more) => *all = all.take().or(more),
            }
            all.into_iter().for_each(|all| self.tree.push(0, all));
            return;
        }
        next.head
            .into_iter()
            .for_each(|piece| self.extend(piece, pass, bases));
        self.tree.append(next.tree);
        next.tail
            .into_iter()
            .for_each(|piece| self.extend(piece, pass, bases));
    }

    /// More rows of a cut block: summed when it is whole, and kept at the start of the part when its first rows are in an earlier one.
    fn extend<P: RowPass<Sum = S>>(&mut self, piece: Piece, pass: &P, bases: usize) {
        let size = rows_a_sum::<P>();
        let open = match self.tail.take() {
            None => piece,
            Some(mut open) => {
                open.extend(piece);
                open
            }
        };
        let rows = (open.labels.len() / bases) as u64;
        if rows == size {
            self.close(open, pass, bases);
        } else if (open.first + rows).is_multiple_of(size) && !open.first.is_multiple_of(size) {
            self.head = Some(open);
        } else {
            self.tail = Some(open);
        }
    }

    fn close<P: RowPass<Sum = S>>(&mut self, piece: Piece, pass: &P, bases: usize) {
        let Piece {
            first,
            labels,
            weights,
        } = &piece;
        let block = RowBlock {
            first: *first,
            labels,
            bases,
            weights: weights.as_deref(),
        };
        self.tree
            .push(first / rows_a_sum::<P>(), sum_of(pass, &block));
    }

    /// The sum of all rows, of which this is the part.
    pub(super) fn total<P: RowPass<Sum = S>>(mut self, pass: &P, bases: usize) -> S {
        if let Some(last) = self.tail.take() {
            self.close(last, pass, bases);
        }
        self.tree.total().unwrap_or_else(|| pass.zero())
    }
}

impl Piece {
    fn of<L: Label>(rows: &RowBlock<'_, L>) -> Self {
        let wide = |label: &L| label.cluster().map_or(u16::MISSING, u16::of);
        Self {
            first: rows.first,
            labels: rows.labels.iter().map(wide).collect(),
            weights: rows.weights.map(<[f64]>::to_vec),
        }
    }

    fn extend(&mut self, next: Self) {
        self.labels.extend(next.labels);
        self.weights = self
            .weights
            .take()
            .zip(next.weights)
            .map(|(mut own, more)| {
                own.extend(more);
                own
            });
    }
}
