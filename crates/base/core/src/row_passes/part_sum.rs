//! The sum over consecutive label rows as it is before its neighbours are known: whole blocks merged, cut blocks as rows.

use std::ops::Range;

use serde::{Deserialize, Serialize};

use super::pass::RowPass;
use super::rows::share_entries;
use super::{BLOCK_ROWS, MergeTree, Mergeable, Row, RowBlock, ShareRow, ShareRows, StoredRows};
use crate::Memberships;

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
    /// Whether sums are whole numbers, which may be added in any order: one sum a part, and no piece.
    exact: bool,
}

/// Rows of a block that is cut.
#[derive(Serialize, Deserialize)]
struct Piece {
    first: u64,
    /// The rows one after the other, as [`Row::words`] gives them.
    words: Vec<u16>,
    /// Where each row ends, for rows of shares, which differ in length.
    ends: Option<Vec<usize>>,
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

fn sum_of<'a, P: RowPass, R: Row<'a>>(pass: &P, rows: &RowBlock<'a, R>) -> P::Sum {
    let mut sum = pass.zero();
    pass.add(rows, &mut sum);
    sum
}

impl<S: Mergeable> PartSum<S> {
    /// The part of no row, before row `first`.
    pub(super) fn empty(first: u64, exact: bool) -> Self {
        Self {
            rows: first..first,
            head: None,
            tree: MergeTree::new(),
            tail: None,
            exact,
        }
    }

    /// Adds rows that follow.
    pub(super) fn add<'a, P: RowPass<Sum = S>, R: Row<'a>>(
        &mut self,
        pass: &P,
        rows: &RowBlock<'a, R>,
    ) {
        if self.exact {
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
    fn of<'a, P: RowPass<Sum = S>, R: Row<'a>>(pass: &P, rows: &RowBlock<'a, R>) -> Self {
        let mut part = Self {
            rows: rows.first..rows.first + rows.len() as u64,
            ..Self::empty(rows.first, false)
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
        if self.exact {
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
        let rows = open.rows(bases) as u64;
        if rows == size {
            self.close(open, pass, bases);
        } else if (open.first + rows).is_multiple_of(size) && !open.first.is_multiple_of(size) {
            self.head = Some(open);
        } else {
            self.tail = Some(open);
        }
    }

    fn close<P: RowPass<Sum = S>>(&mut self, piece: Piece, pass: &P, bases: usize) {
        let first = piece.first;
        let weights = piece.weights.as_deref();
        let sum = if let Some(memberships) = piece.memberships() {
            let rows = ShareRows::of(&memberships, 0..memberships.objects());
            sum_of(
                pass,
                &RowBlock::<ShareRow<'_>>::new(first, rows, bases, weights),
            )
        } else {
            sum_of(
                pass,
                &RowBlock::<&[u16]>::new(first, &piece.words, bases, weights),
            )
        };
        self.tree.push(first / rows_a_sum::<P>(), sum);
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
    fn of<'a, R: Row<'a>>(block: &RowBlock<'a, R>) -> Self {
        let mut words = Vec::new();
        let mut ends = Vec::new();
        for (row, _) in block.rows() {
            words.extend(row.words());
            ends.push(words.len());
        }
        let shares = matches!(block.stored(), StoredRows::Shares(_));
        Self {
            first: block.first,
            words,
            ends: shares.then_some(ends),
            weights: block.weights.map(<[f64]>::to_vec),
        }
    }

    fn rows(&self, bases: usize) -> usize {
        self.ends
            .as_ref()
            .map_or(self.words.len() / bases, Vec::len)
    }

    fn extend(&mut self, next: Self) {
        if let (Some(own), Some(more)) = (&mut self.ends, next.ends) {
            let start = self.words.len();
            own.extend(more.into_iter().map(|end| start + end));
        }
        self.words.extend(next.words);
        if let (Some(own), Some(more)) = (&mut self.weights, next.weights) {
            own.extend(more);
        }
    }

    /// The rows, where they are shares.
    fn memberships(&self) -> Option<Memberships> {
        let ends = self.ends.as_ref()?;
        let mut memberships = Memberships::new();
        let mut start = 0;
        for &end in ends {
            memberships.push(share_entries(&self.words[start..end]));
            start = end;
        }
        Some(memberships)
    }
}
