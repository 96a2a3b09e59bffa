//! Running a pass over label rows: threads over groups, blocks by the global grid, sums by the fixed tree.

use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::engine::{self, PassEngine};
use super::foreign::guarded;
use super::part_sum::{PartSum, blocks_of};
use super::pass::{PassError, RowMap, RowPass};
use super::{AnyBlock, BLOCK_ROWS, GroupRows, Row, RowBlock, RowBlocks, SourceError};
use crate::{Flow, Monitor, map_parallel};

/// Runs passes over the rows of one source, in parallel where the feature `rayon` is on, with the same bits; or lets a [`PassEngine`]
/// run them.
#[derive(Clone, Copy)]
pub struct PassRunner<'a> {
    source: &'a dyn RowBlocks,
    monitor: &'a dyn Monitor,
    engine: Option<&'a dyn PassEngine>,
}

/// Groups that are under way at once, a thread.
const GROUPS_A_THREAD: usize = 2;

/// Sums that [`PassRunner::run`] holds at once over so many rows where they are [`RowPass::EXACT`], at most: those of the groups that are
/// under way, which have [`BLOCK_ROWS`] rows or more each in memory, and the total.
pub fn sums_under_way(rows: usize) -> u64 {
    let groups = (rows as u64).div_ceil(BLOCK_ROWS);
    ((threads() * GROUPS_A_THREAD) as u64).min(groups) + 1
}

impl<'a> PassRunner<'a> {
    /// Passes over `source`, until the monitor asks to stop.
    pub fn new(source: &'a dyn RowBlocks, monitor: &'a dyn Monitor) -> Self {
        Self {
            source,
            monitor,
            engine: None,
        }
    }

    /// The same where the sums come from an engine, if there is one.
    #[must_use]
    pub fn by(self, engine: Option<&'a dyn PassEngine>) -> Self {
        Self { engine, ..self }
    }

    /// The rows that are passed over.
    pub fn source(&self) -> &'a dyn RowBlocks {
        self.source
    }

    /// Who is told how far a pass is, and may stop it.
    pub fn monitor(&self) -> &'a dyn Monitor {
        self.monitor
    }

    /// The sum over all rows.
    ///
    /// # Errors
    /// [`PassError::Source`] when rows cannot be read, [`PassError::Interrupted`] when the monitor asks to stop; what the engine says.
    pub fn run<P: RowPass>(&self, pass: &P) -> Result<P::Sum, PassError> {
        let bases = self.source.bases().len();
        let Some(engine) = self.engine else {
            return Ok(self.part(pass, 0..self.source.groups())?.total(pass, bases));
        };
        guarded(
            |error| error,
            || Ok(engine::whole(engine, pass, self.source)?.total(pass, bases)),
        )
    }

    /// What `make` gives, a step between passes that takes long (memoised): an engine that replays a fit in every iteration makes it once and
    /// keeps it. `fits` says whether what was kept is of rows like these, `step` is the step's name in messages.
    ///
    /// # Errors
    /// What the engine says; [`PassError::Parts`] when what it kept does not fit.
    pub fn once<T: Serialize + DeserializeOwned>(
        &self,
        step: &str,
        fits: impl FnOnce(&T) -> bool,
        make: impl FnOnce() -> T,
    ) -> Result<T, PassError> {
        match self.engine {
            Some(engine) => engine::once((engine, self.monitor), step, fits, make),
            None => Ok(make()),
        }
    }

    /// The sum over some groups, ready to be joined with those of their neighbours.
    pub(super) fn part<P: RowPass>(
        &self,
        pass: &P,
        groups: Range<usize>,
    ) -> Result<PartSum<P::Sum>, PassError> {
        let bases = self.source.bases().len();
        let first = if groups.is_empty() {
            0
        } else {
            self.source.rows_of(groups.start).start
        };
        let mut all = PartSum::empty(first, P::EXACT && self.source.are_whole());
        self.each_group(groups, &|group| self.group_sum(pass, group), &mut |part| {
            all.append(part, pass, bases);
            Ok(())
        })?;
        Ok(all)
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
        self.each_in(0..self.source.groups(), map, take)
    }

    /// [`each`](Self::each) over some groups.
    ///
    /// # Errors
    /// As [`each`](Self::each).
    pub fn each_in<M: RowMap>(
        &self,
        groups: Range<usize>,
        map: &M,
        take: &mut dyn FnMut(u64, M::Out) -> Result<(), String>,
    ) -> Result<(), PassError> {
        let of_block = |block: AnyBlock<'_>| match block {
            AnyBlock::Bytes(block) => map.map(&block),
            AnyBlock::Words(block) => map.map(&block),
            AnyBlock::Shares(block) => map.map(&block),
        };
        self.each_of(groups, &of_block, take)
    }

    /// [`each`](Self::each) over some groups, by a function of any kind of rows.
    pub(super) fn each_of<T: Send>(
        &self,
        groups: Range<usize>,
        map: &(dyn Fn(AnyBlock<'_>) -> T + Sync),
        take: &mut dyn FnMut(u64, T) -> Result<(), String>,
    ) -> Result<(), PassError> {
        let bases = self.source.bases().len();
        let one = |group: usize| {
            let mut first = self.source.rows_of(group).start;
            let mut out = Vec::new();
            self.source.read(group, &mut |rows| {
                rows.with_block(first, bases, |block| match block {
                    AnyBlock::Bytes(block) => {
                        map_blocks(&|block| map(AnyBlock::Bytes(block)), &block, &mut out);
                    }
                    AnyBlock::Words(block) => {
                        map_blocks(&|block| map(AnyBlock::Words(block)), &block, &mut out);
                    }
                    AnyBlock::Shares(block) => {
                        map_blocks(&|block| map(AnyBlock::Shares(block)), &block, &mut out);
                    }
                });
                first += rows.len() as u64;
            })?;
            Ok(out)
        };
        self.each_group_ahead(groups, &one, &mut |made| {
            made.into_iter()
                .try_for_each(|(first, out)| take(first, out))
                .map_err(PassError::Sink)
        })
    }

    /// As [`each_group`](Self::each_group) where `take` takes long, as writing does: the next groups are worked on meanwhile. As many
    /// groups are under way.
    fn each_group_ahead<T: Send>(
        &self,
        groups: Range<usize>,
        work: &(dyn Fn(usize) -> Result<T, SourceError> + Sync),
        take: &mut dyn FnMut(T) -> Result<(), PassError>,
    ) -> Result<(), PassError> {
        let windows = crate::chunks(groups.len(), threads() * GROUPS_A_THREAD / 2);
        let windows = windows.map(|window| groups.start + window.start..groups.start + window.end);
        let mut made = Vec::new();
        // After the last window is one of no groups, beside which the last results are taken.
        for window in windows.chain(std::iter::once(groups.end..groups.end)) {
            if self.monitor.flow() == Flow::Stop {
                return Err(PassError::Interrupted);
            }
            let before = std::mem::take(&mut made);
            let taken = beside(
                || made = map_parallel(window, work),
                || {
                    before
                        .into_iter()
                        .try_for_each(|made: Result<T, SourceError>| take(made?))
                },
            );
            taken?;
        }
        Ok(())
    }

    /// Hands what `work` makes of every one of some groups to `take`, in order, a window of groups at a time.
    fn each_group<T: Send>(
        &self,
        groups: Range<usize>,
        work: &(dyn Fn(usize) -> Result<T, SourceError> + Sync),
        take: &mut dyn FnMut(T) -> Result<(), PassError>,
    ) -> Result<(), PassError> {
        for window in crate::chunks(groups.len(), threads() * GROUPS_A_THREAD) {
            let window = groups.start + window.start..groups.start + window.end;
            if self.monitor.flow() == Flow::Stop {
                return Err(PassError::Interrupted);
            }
            for made in map_parallel(window, work) {
                take(made?)?;
            }
        }
        Ok(())
    }

    /// The sum over one group: whole blocks merged, the rows of cut blocks at its ends as they are.
    fn group_sum<P: RowPass>(
        &self,
        pass: &P,
        group: usize,
    ) -> Result<PartSum<P::Sum>, SourceError> {
        let mut first = self.source.rows_of(group).start;
        let bases = self.source.bases().len();
        let mut sum = PartSum::empty(first, P::EXACT && self.source.are_whole());
        self.source.read(group, &mut |rows: GroupRows<'_>| {
            rows.with_block(first, bases, |block| match block {
                AnyBlock::Bytes(block) => sum.add(pass, &block),
                AnyBlock::Words(block) => sum.add(pass, &block),
                AnyBlock::Shares(block) => sum.add(pass, &block),
            });
            first += rows.len() as u64;
        })?;
        if sum.rows == self.source.rows_of(group) {
            return Ok(sum);
        }
        let first = self.source.rows_of(group).start;
        Err(SourceError {
            first,
            reason: format!("its reader gave {} rows", sum.rows.end - first),
        })
    }
}

fn map_blocks<'a, T, R: Row<'a>>(
    map: &dyn Fn(RowBlock<'a, R>) -> T,
    rows: &RowBlock<'a, R>,
    out: &mut Vec<(u64, T)>,
) {
    for (_, range) in blocks_of(rows.first, rows.len(), BLOCK_ROWS) {
        let block = rows.slice(range);
        out.push((block.first, map(block)));
    }
}

#[cfg(feature = "rayon")]
fn threads() -> usize {
    rayon::current_num_threads()
}

/// Does both at once, the second on this thread.
#[cfg(feature = "rayon")]
fn beside<T>(other: impl FnOnce() + Send, here: impl FnOnce() -> T) -> T {
    rayon::in_place_scope(|scope| {
        scope.spawn(|_| other());
        here()
    })
}

#[cfg(not(feature = "rayon"))]
fn beside<T>(other: impl FnOnce(), here: impl FnOnce() -> T) -> T {
    let done = here();
    other();
    done
}

#[cfg(not(feature = "rayon"))]
fn threads() -> usize {
    1
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        BaseClustering, Ensemble, EnsembleRows, Label, LabelRows, Mergeable, RowData, Seed, Silent,
    };
    use ndarray::{Array2, s};
    use rand::RngExt;
    use serde::{Deserialize, Serialize};

    /// Rows of an ensemble, cut at any places into groups, and these into pieces of so many rows.
    struct Cut {
        ensemble: Ensemble,
        ends: Vec<u64>,
        weights: Option<Vec<f64>>,
        piece: u64,
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
        fn read(
            &self,
            group: usize,
            take: &mut dyn FnMut(GroupRows<'_>),
        ) -> Result<(), SourceError> {
            let all = self.rows_of(group);
            for first in all.clone().step_by(self.piece as usize) {
                let rows = first as usize..(first + self.piece).min(all.end) as usize;
                let weights = self.weights.as_ref().map(|weights| &weights[rows.clone()]);
                let labels = match self.ensemble.rows() {
                    LabelRows::Bytes(all) => LabelRows::Bytes(all.slice_move(s![rows, ..])),
                    LabelRows::Words(all) => LabelRows::Words(all.slice_move(s![rows, ..])),
                };
                let rows = RowData::Labels(labels);
                take(GroupRows { rows, weights });
            }
            Ok(())
        }
    }

    /// A sum whose bits show the order of additions.
    #[derive(Serialize, Deserialize)]
    struct Roots;

    impl RowPass for Roots {
        type Sum = f64;
        const KIND: &'static str = "test/roots";
        fn zero(&self) -> f64 {
            0.0
        }
        fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut f64) {
            for (i, (row, weight)) in block.rows().enumerate() {
                let number = (block.first + i as u64) as f64;
                let labels: usize = row
                    .words()
                    .filter_map(crate::ensemble::Label::cluster)
                    .sum();
                *sum += weight * (number + labels as f64).sqrt();
            }
        }
    }

    #[derive(Serialize, Deserialize)]
    struct WideRoots;

    impl RowPass for WideRoots {
        type Sum = f64;
        const KIND: &'static str = "test/wide-roots";
        const BLOCKS_A_SUM: u64 = 4;
        fn zero(&self) -> f64 {
            0.0
        }
        fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut f64) {
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
        const KIND: &'static str = "test/count";
        const EXACT: bool = true;
        fn zero(&self) -> u64 {
            0
        }
        fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut u64) {
            let labels =
                |(row, _): (R, f64)| row.words().filter(|word| word.cluster().is_some()).count();
            *sum += block.rows().map(labels).sum::<usize>() as u64;
        }
    }

    struct Firsts;

    impl RowMap for Firsts {
        type Out = Vec<Option<usize>>;
        fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Self::Out {
            block
                .rows()
                .map(|(row, _)| row.words().next().and_then(Label::cluster))
                .collect()
        }
    }

    fn drawn(rows: usize) -> Ensemble {
        let mut rng = Seed::new(rows as u64).rng();
        let mut cell = || {
            if rng.random_bool(0.1) {
                u8::MISSING
            } else {
                rng.random_range(0..5)
            }
        };
        let labels = Array2::from_shape_simple_fn((rows, 3), &mut cell);
        let base = |u| {
            BaseClustering::new(
                format!("u{u}"),
                (0..5).map(|j: u32| j.to_string()).collect(),
            )
        };
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
                let expected = PassRunner::new(&memory, &Silent)
                    .run(&Roots)
                    .unwrap()
                    .to_bits();
                let wide = PassRunner::new(&memory, &Silent)
                    .run(&WideRoots)
                    .unwrap()
                    .to_bits();
                for cuts in [1, 2, 7, 60] {
                    let mut ends: Vec<u64> = (1..cuts)
                        .map(|_| rng.random_range(1..=rows as u64))
                        .collect();
                    ends.push(rows as u64);
                    ends.sort_unstable();
                    ends.dedup();
                    let piece = [u64::MAX >> 1, 700, 2048][cuts % 3];
                    let cut = Cut {
                        ensemble: ensemble.clone(),
                        ends,
                        weights: weights.clone(),
                        piece,
                    };
                    let runner = PassRunner::new(&cut, &Silent);
                    assert_eq!(
                        runner.run(&Roots).unwrap().to_bits(),
                        expected,
                        "{rows} rows, {cuts} cuts"
                    );
                    assert_eq!(
                        runner.run(&WideRoots).unwrap().to_bits(),
                        wide,
                        "{rows} rows, {cuts} cuts"
                    );
                    assert_eq!(
                        runner.run(&Count).unwrap() as usize,
                        rows * 3 - ensemble.missing()
                    );
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
        assert_eq!(
            PassRunner::new(&rows, &Stop).run(&Count),
            Err(PassError::Interrupted)
        );
        let full = PassRunner::new(&rows, &Silent)
            .each(&Firsts, &mut |_, _| Err("the disk is full".into()));
        assert_eq!(full, Err(PassError::Sink("the disk is full".into())));
    }
}
