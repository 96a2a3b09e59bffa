//! Running a pass over label rows: threads over groups, blocks by the global grid, sums by the fixed tree.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::blocks::row_major;
use super::{BLOCK_ROWS, GroupRows, MergeTree, Mergeable, RowBlock, RowBlocks, SourceError};
use crate::{Flow, Label, LabelRows, Monitor};

/// A pure job on a block of label rows. Its state travels out to whoever holds the rows, its sums travel back.
pub trait RowPass: Serialize + DeserializeOwned + Sync {
    /// What is summed.
    type Sum: Mergeable + Send;

    /// Whether sums are of whole numbers, so that any order of additions gives the same bits. A worker then keeps one sum
    /// for all its blocks.
    const EXACT: bool = false;

    /// Blocks of the grid that one sum is over before it is merged, a power of two: more where sums are large.
    const BLOCKS_A_SUM: u64 = 1;

    /// The sum over no row.
    fn zero(&self) -> Self::Sum;

    /// Adds rows one after the other: a block in two pieces must give the same bits as in one.
    fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut Self::Sum);
}

/// A function of each label row alone.
pub trait RowMap: Sync {
    /// What is made of some rows.
    type Out: Send;

    /// What is made of these rows.
    fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Self::Out;
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
}

/// Runs passes over the rows of one source, in parallel where the feature `rayon` is on, with the same bits.
#[derive(Clone, Copy)]
pub struct PassRunner<'a> {
    source: &'a dyn RowBlocks,
    monitor: &'a dyn Monitor,
}

/// Groups that are under way at once, a thread.
const GROUPS_A_THREAD: usize = 2;

/// Sums that [`PassRunner::run`] holds at once where they are [`RowPass::EXACT`], at most: those of the groups that are under way,
/// and the total.
pub fn sums_under_way() -> u64 {
    (threads() * GROUPS_A_THREAD) as u64 + 1
}

impl<'a> PassRunner<'a> {
    /// Passes over `source`, until the monitor asks to stop.
    pub fn new(source: &'a dyn RowBlocks, monitor: &'a dyn Monitor) -> Self {
        Self { source, monitor }
    }

    /// The rows that are passed over.
    pub fn source(&self) -> &'a dyn RowBlocks {
        self.source
    }

    /// The sum over all rows.
    ///
    /// # Errors
    /// [`PassError::Source`] when rows cannot be read, [`PassError::Interrupted`] when the monitor asks to stop.
    pub fn run<P: RowPass>(&self, pass: &P) -> Result<P::Sum, PassError> {
        let mut all =
            Joined { pass, open: None, tree: MergeTree::new(), exact: None, bases: self.source.bases().len() };
        self.each_group(&|group| self.group_sum(pass, group), &mut |part| {
            all.take(part);
            Ok(())
        })?;
        Ok(all.total())
    }

    /// Hands what `map` makes of consecutive rows to `take`, in the order of the rows, with the number of the first.
    ///
    /// # Errors
    /// As [`run`](Self::run), and [`PassError::Sink`] with what `take` says.
    pub fn each<M: RowMap>(
        &self,
        map: &M,
        take: &mut dyn FnMut(u64, M::Out) -> Result<(), String>,
    ) -> Result<(), PassError> {
        self.each_of(&|block| map.map(block), &|block| map.map(block), take)
    }

    /// [`each`](Self::each) by a function for each width of stored labels.
    pub(super) fn each_of<T: Send>(
        &self,
        bytes: &(dyn Fn(&RowBlock<'_, u8>) -> T + Sync),
        words: &(dyn Fn(&RowBlock<'_, u16>) -> T + Sync),
        take: &mut dyn FnMut(u64, T) -> Result<(), String>,
    ) -> Result<(), PassError> {
        let bases = self.source.bases().len();
        let one = |group: usize| {
            let first = self.source.rows_of(group).start;
            let mut out = Vec::new();
            self.source.read(group, &mut |rows| match rows.labels {
                LabelRows::Bytes(labels) => {
                    let labels = row_major(&labels);
                    map_blocks(bytes, &RowBlock { first, labels: &labels, bases, weights: rows.weights }, &mut out);
                }
                LabelRows::Words(labels) => {
                    let labels = row_major(&labels);
                    map_blocks(words, &RowBlock { first, labels: &labels, bases, weights: rows.weights }, &mut out);
                }
            })?;
            Ok(out)
        };
        self.each_group(&one, &mut |made| {
            made.into_iter().try_for_each(|(first, out)| take(first, out)).map_err(PassError::Sink)
        })
    }

    /// Hands what `work` makes of every group to `take`, in order, a window of groups at a time.
    fn each_group<T: Send>(
        &self,
        work: &(dyn Fn(usize) -> Result<T, SourceError> + Sync),
        take: &mut dyn FnMut(T) -> Result<(), PassError>,
    ) -> Result<(), PassError> {
        for window in crate::chunks(self.source.groups(), threads() * GROUPS_A_THREAD) {
            if self.monitor.flow() == Flow::Stop {
                return Err(PassError::Interrupted);
            }
            for made in in_parallel(window, work) {
                take(made?)?;
            }
        }
        Ok(())
    }

    /// The sum over one group: whole blocks merged, the rows of cut blocks at its ends as they are.
    fn group_sum<P: RowPass>(&self, pass: &P, group: usize) -> Result<GroupSum<P::Sum>, SourceError> {
        let (first, bases) = (self.source.rows_of(group).start, self.source.bases().len());
        let mut sum = None;
        self.source.read(group, &mut |rows: GroupRows<'_>| {
            sum = Some(match rows.labels {
                LabelRows::Bytes(labels) => {
                    let labels = row_major(&labels);
                    GroupSum::of(pass, &RowBlock { first, labels: &labels, bases, weights: rows.weights })
                }
                LabelRows::Words(labels) => {
                    let labels = row_major(&labels);
                    GroupSum::of(pass, &RowBlock { first, labels: &labels, bases, weights: rows.weights })
                }
            });
        })?;
        sum.ok_or_else(|| SourceError { first, reason: "its reader gave nothing".into() })
    }
}

/// The rows of each block of a grid of blocks of `size` rows, in order.
fn blocks_of(first: u64, rows: usize, size: u64) -> impl Iterator<Item = (u64, Range<usize>)> {
    let (first_block, end) = (first / size, first + rows as u64);
    (first_block..end.div_ceil(size)).map(move |block| {
        let (from, to) = ((block * size).max(first), ((block + 1) * size).min(end));
        (block, (from - first) as usize..(to - first) as usize)
    })
}

fn sum_of<P: RowPass, L: Label>(pass: &P, rows: &RowBlock<'_, L>) -> P::Sum {
    let mut sum = pass.zero();
    pass.add(rows, &mut sum);
    sum
}

fn map_blocks<T, L: Label>(
    map: &(dyn Fn(&RowBlock<'_, L>) -> T + Sync),
    rows: &RowBlock<'_, L>,
    out: &mut Vec<(u64, T)>,
) {
    for (_, range) in blocks_of(rows.first, rows.len(), BLOCK_ROWS) {
        let block = rows.slice(range);
        out.push((block.first, map(&block)));
    }
}

/// Rows of a block that lies in two groups or more.
struct Piece {
    first: u64,
    labels: Vec<u16>,
    weights: Option<Vec<f64>>,
}

/// What a group of rows adds up to.
struct GroupSum<S> {
    /// Rows of a block that began in an earlier group.
    head: Option<Piece>,
    tree: MergeTree<S>,
    /// Rows of a block that goes on in a later group, or ends with the last row.
    tail: Option<Piece>,
}

impl<S: Mergeable> GroupSum<S> {
    fn of<P: RowPass<Sum = S>, L: Label>(pass: &P, rows: &RowBlock<'_, L>) -> Self {
        let mut group = Self { head: None, tree: MergeTree::new(), tail: None };
        if P::EXACT {
            // Whole numbers may be added in any order: one sum a group.
            group.tree.push(0, sum_of(pass, rows));
            return group;
        }
        let size = BLOCK_ROWS * P::BLOCKS_A_SUM;
        for (block, range) in blocks_of(rows.first, rows.len(), size) {
            let part = rows.slice(range);
            if part.len() as u64 == size {
                group.tree.push(block, sum_of(pass, &part));
            } else if part.first.is_multiple_of(size) {
                group.tail = Some(Piece::of(&part));
            } else {
                group.head = Some(Piece::of(&part));
            }
        }
        group
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
}

/// The sums of all groups so far.
struct Joined<'a, P: RowPass> {
    pass: &'a P,
    /// The rows so far of a block that is not complete.
    open: Option<Piece>,
    tree: MergeTree<P::Sum>,
    /// All groups so far, where sums are exact: one table instead of one a level of the tree.
    exact: Option<P::Sum>,
    bases: usize,
}

impl<P: RowPass> Joined<'_, P> {
    fn take(&mut self, group: GroupSum<P::Sum>) {
        if P::EXACT {
            match (&mut self.exact, group.tree.total()) {
                (Some(all), Some(part)) => all.merge(part),
                (all, part) => *all = all.take().or(part),
            }
            return;
        }
        group.head.into_iter().for_each(|piece| self.extend(piece));
        self.tree.append(group.tree);
        group.tail.into_iter().for_each(|piece| self.extend(piece));
    }

    /// More rows of a cut block; its sum, when it is complete.
    fn extend(&mut self, piece: Piece) {
        let whole = match self.open.take() {
            None => piece,
            Some(mut open) => {
                open.labels.extend(piece.labels);
                open.weights = open.weights.zip(piece.weights).map(|(mut a, b)| {
                    a.extend(b);
                    a
                });
                open
            }
        };
        let rows = whole.labels.len() / self.bases;
        self.open = Some(whole);
        if rows as u64 == BLOCK_ROWS * P::BLOCKS_A_SUM {
            self.close();
        }
    }

    fn close(&mut self) {
        let Some(piece) = self.open.take() else { return };
        let Piece { first, labels, weights } = &piece;
        let block = RowBlock { first: *first, labels, bases: self.bases, weights: weights.as_deref() };
        self.tree.push(first / (BLOCK_ROWS * P::BLOCKS_A_SUM), sum_of(self.pass, &block));
    }

    fn total(mut self) -> P::Sum {
        self.close();
        let zero = self.pass.zero();
        self.exact.or(self.tree.total()).unwrap_or(zero)
    }
}

#[cfg(feature = "rayon")]
fn threads() -> usize {
    rayon::current_num_threads()
}

#[cfg(feature = "rayon")]
fn in_parallel<T: Send>(items: Range<usize>, work: &(impl Fn(usize) -> T + Sync + ?Sized)) -> Vec<T> {
    use rayon::prelude::*;
    items.into_par_iter().map(work).collect()
}

#[cfg(not(feature = "rayon"))]
fn threads() -> usize {
    1
}

#[cfg(not(feature = "rayon"))]
fn in_parallel<T: Send>(items: Range<usize>, work: &(impl Fn(usize) -> T + Sync + ?Sized)) -> Vec<T> {
    items.map(work).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseClustering, Ensemble, EnsembleRows, Seed, Silent};
    use ndarray::{Array2, s};
    use rand::RngExt;
    use serde::Deserialize;

    /// Rows of an ensemble, cut at any places.
    struct Cut {
        ensemble: Ensemble,
        ends: Vec<u64>,
        weights: Option<Vec<f64>>,
    }

    impl RowBlocks for Cut {
        fn bases(&self) -> &[BaseClustering] {
            self.ensemble.bases()
        }
        fn groups(&self) -> usize {
            self.ends.len()
        }
        fn rows_of(&self, group: usize) -> Range<u64> {
            group.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[group]
        }
        fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
            let rows = self.rows_of(group);
            let rows = rows.start as usize..rows.end as usize;
            let weights = self.weights.as_ref().map(|weights| &weights[rows.clone()]);
            match self.ensemble.rows() {
                LabelRows::Bytes(all) => take(GroupRows { labels: LabelRows::Bytes(all.slice(s![rows, ..])), weights }),
                LabelRows::Words(all) => take(GroupRows { labels: LabelRows::Words(all.slice(s![rows, ..])), weights }),
            }
            Ok(())
        }
    }

    /// A sum whose bits show the order of additions.
    #[derive(Serialize, Deserialize)]
    struct Roots;

    impl RowPass for Roots {
        type Sum = f64;
        fn zero(&self) -> f64 {
            0.0
        }
        fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut f64) {
            for (i, (row, weight)) in block.rows().enumerate() {
                let number = (block.first + i as u64) as f64;
                let labels: usize = row.iter().filter_map(|label| label.cluster()).sum();
                *sum += weight * (number + labels as f64).sqrt();
            }
        }
    }

    #[derive(Serialize, Deserialize)]
    struct WideRoots;

    impl RowPass for WideRoots {
        type Sum = f64;
        const BLOCKS_A_SUM: u64 = 4;
        fn zero(&self) -> f64 {
            0.0
        }
        fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut f64) {
            Roots.add(block, sum);
        }
    }

    #[derive(Serialize, Deserialize)]
    struct Count;

    impl Mergeable for u64 {
        fn merge(&mut self, other: Self) {
            *self += other;
        }
    }

    impl RowPass for Count {
        type Sum = u64;
        const EXACT: bool = true;
        fn zero(&self) -> u64 {
            0
        }
        fn add<L: Label>(&self, block: &RowBlock<'_, L>, sum: &mut u64) {
            *sum += block.labels.iter().filter(|label| label.cluster().is_some()).count() as u64;
        }
    }

    struct Firsts;

    impl RowMap for Firsts {
        type Out = Vec<Option<usize>>;
        fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Self::Out {
            block.rows().map(|(row, _)| row[0].cluster()).collect()
        }
    }

    fn drawn(rows: usize) -> Ensemble {
        let mut rng = Seed::new(rows as u64).rng();
        let mut cell = || if rng.random_bool(0.1) { u8::MISSING } else { rng.random_range(0..5) };
        let labels = Array2::from_shape_simple_fn((rows, 3), &mut cell);
        let base = |u| BaseClustering::new(format!("u{u}"), (0..5).map(|j: u32| j.to_string()).collect());
        Ensemble::from_bytes(labels, (0..3).map(base).collect()).unwrap()
    }

    #[test]
    fn however_rows_are_cut_and_by_how_many_threads_the_bits_are_the_same() {
        for rows in [1, 2047, 2048, 2049, 20_000] {
            let ensemble = drawn(rows);
            let mut rng = Seed::new(9).rng();
            let weights: Vec<f64> = (0..rows).map(|_| rng.random_range(0.5..2.0)).collect();
            for weights in [None, Some(weights)] {
                let memory = match &weights {
                    Some(weights) => EnsembleRows::weighted(&ensemble, weights),
                    None => EnsembleRows::new(&ensemble),
                };
                let expected = PassRunner::new(&memory, &Silent).run(&Roots).unwrap().to_bits();
                let wide = PassRunner::new(&memory, &Silent).run(&WideRoots).unwrap().to_bits();
                for cuts in [1, 2, 7, 60] {
                    let mut ends: Vec<u64> = (1..cuts).map(|_| rng.random_range(1..=rows as u64)).collect();
                    ends.push(rows as u64);
                    ends.sort_unstable();
                    ends.dedup();
                    let cut = Cut { ensemble: ensemble.clone(), ends, weights: weights.clone() };
                    let runner = PassRunner::new(&cut, &Silent);
                    assert_eq!(runner.run(&Roots).unwrap().to_bits(), expected, "{rows} rows, {cuts} cuts");
                    assert_eq!(runner.run(&WideRoots).unwrap().to_bits(), wide, "{rows} rows, {cuts} cuts");
                    assert_eq!(runner.run(&Count).unwrap() as usize, rows * 3 - ensemble.missing());
                    let mut firsts = Vec::new();
                    runner
                        .each(&Firsts, &mut |first, labels| {
                            assert_eq!(first as usize, firsts.len());
                            firsts.extend(labels);
                            Ok(())
                        })
                        .unwrap();
                    assert_eq!(firsts, ensemble.column(0).collect::<Vec<_>>());
                }
            }
        }
    }

    #[test]
    fn a_wish_to_stop_and_a_full_sink_end_a_pass() {
        struct Stop;
        impl Monitor for Stop {
            fn tick(&self, _: u64, _: u64) -> Flow {
                Flow::Stop
            }
            fn flow(&self) -> Flow {
                Flow::Stop
            }
        }
        let ensemble = drawn(10);
        let rows = EnsembleRows::new(&ensemble);
        assert_eq!(PassRunner::new(&rows, &Stop).run(&Count), Err(PassError::Interrupted));
        let full = PassRunner::new(&rows, &Silent).each(&Firsts, &mut |_, _| Err("the disk is full".into()));
        assert_eq!(full, Err(PassError::Sink("the disk is full".into())));
    }
}
