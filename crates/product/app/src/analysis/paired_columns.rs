//! Two columns of labels side by side, each a base clustering of rows of its own, as label rows of two base clusterings.

use std::ops::Range;
use std::ptr;

use partita::extend::{
    BaseClustering, EnsembleRows, GroupRows, Label, LabelRows, RowBlocks, SourceError,
};
use partita::ndarray::{Array2, ArrayView1, ArrayViewMut1, Axis, Slice};
use partita::{Ensemble, MemoryBudget};

/// A base clustering of label rows.
#[derive(Clone, Copy)]
pub struct Column<'a> {
    /// The rows.
    pub rows: &'a dyn RowBlocks,
    /// Which of its base clusterings.
    pub base: usize,
}

/// Two columns of as many objects, matched by place. Groups are those of the first; the groups of the second are read as often as groups
/// of the first meet them.
pub struct PairedColumns<'a> {
    first: Column<'a>,
    second: Column<'a>,
    /// Where the groups of the second end.
    ends: Vec<u64>,
    bases: [BaseClustering; 2],
}

impl<'a> PairedColumns<'a> {
    /// Of two columns.
    pub fn new(first: Column<'a>, second: Column<'a>) -> Self {
        let ends = (0..second.rows.groups())
            .map(|group| second.rows.rows_of(group).end)
            .collect();
        let bases = [first, second].map(|column| column.rows.bases()[column.base].clone());
        Self {
            first,
            second,
            ends,
            bases,
        }
    }
}

impl RowBlocks for PairedColumns<'_> {
    fn bases(&self) -> &[BaseClustering] {
        &self.bases
    }

    fn groups(&self) -> usize {
        self.first.rows.groups()
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        self.first.rows.rows_of(group)
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        let wanted = self.rows_of(group);
        let mut both = Array2::from_elem(((wanted.end - wanted.start) as usize, 2), u16::MISSING);
        let same = ptr::addr_eq(self.first.rows, self.second.rows);
        each_piece(self.first.rows, group, &mut |rows, labels| {
            copy(
                (labels, self.first.base),
                &rows,
                &wanted,
                both.column_mut(0),
            );
            if same {
                copy(
                    (labels, self.second.base),
                    &rows,
                    &wanted,
                    both.column_mut(1),
                );
            }
        })?;
        let meeting = self.ends.partition_point(|&end| end <= wanted.start)..self.ends.len();
        for other in meeting
            .filter(|_| !same)
            .take_while(|&other| self.second.rows.rows_of(other).start < wanted.end)
        {
            each_piece(self.second.rows, other, &mut |rows, labels| {
                copy(
                    (labels, self.second.base),
                    &rows,
                    &wanted,
                    both.column_mut(1),
                );
            })?;
        }
        take(GroupRows::from(LabelRows::Words(both.view())));
        Ok(())
    }
}

/// Reads a group, with the numbers of the rows of every piece.
fn each_piece(
    source: &dyn RowBlocks,
    group: usize,
    take: &mut dyn FnMut(Range<u64>, LabelRows<'_>),
) -> Result<(), SourceError> {
    let mut first = source.rows_of(group).start;
    source.read(group, &mut |rows| {
        let end = first + rows.len() as u64;
        if let Some(labels) = rows.labels() {
            take(first..end, labels);
        }
        first = end;
    })
}

/// Copies the labels of a base clustering of those of some rows that are wanted, to where they stand among these.
fn copy(
    (labels, base): (LabelRows<'_>, usize),
    rows: &Range<u64>,
    wanted: &Range<u64>,
    mut into: ArrayViewMut1<'_, u16>,
) {
    fn widened<L: Label>(from: ArrayView1<'_, L>, into: ArrayViewMut1<'_, u16>) {
        from.iter()
            .zip(into)
            .for_each(|(label, to)| *to = label.cluster().map_or(u16::MISSING, u16::of));
    }
    let shared = rows.start.max(wanted.start)..rows.end.min(wanted.end);
    if shared.is_empty() {
        return;
    }
    let within = |all: &Range<u64>| {
        Slice::from((shared.start - all.start) as usize..(shared.end - all.start) as usize)
    };
    let into = into.slice_axis_mut(Axis(0), within(wanted));
    match labels {
        LabelRows::Bytes(labels) => {
            widened(labels.column(base).slice_axis(Axis(0), within(rows)), into);
        }
        LabelRows::Words(labels) => {
            widened(labels.column(base).slice_axis(Axis(0), within(rows)), into);
        }
    }
}

/// Bytes of label rows that a process holds because they may be wanted again, at most.
pub fn most_held(budget: MemoryBudget) -> u64 {
    (1 << 28).min(budget.bytes() / 8)
}

/// The label rows of an ensemble that is held, with the ensemble.
pub(crate) struct HeldRows(pub(crate) Ensemble);

impl RowBlocks for HeldRows {
    fn bases(&self) -> &[BaseClustering] {
        self.0.bases()
    }

    fn groups(&self) -> usize {
        EnsembleRows::new(&self.0).groups()
    }

    fn rows_of(&self, group: usize) -> Range<u64> {
        EnsembleRows::new(&self.0).rows_of(group)
    }

    fn read(&self, group: usize, take: &mut dyn FnMut(GroupRows<'_>)) -> Result<(), SourceError> {
        EnsembleRows::new(&self.0).read(group, take)
    }
}

#[cfg(test)]
mod tests {
    use partita::extend::PassRunner;
    use partita::{Silent, metrics};

    use super::*;

    /// Rows in groups of so many, in two pieces.
    struct Cut(Ensemble, usize);

    impl RowBlocks for Cut {
        fn bases(&self) -> &[BaseClustering] {
            self.0.bases()
        }

        fn groups(&self) -> usize {
            self.0.objects().div_ceil(self.1)
        }

        fn rows_of(&self, group: usize) -> Range<u64> {
            (group * self.1) as u64..((group + 1) * self.1).min(self.0.objects()) as u64
        }

        fn read(
            &self,
            group: usize,
            take: &mut dyn FnMut(GroupRows<'_>),
        ) -> Result<(), SourceError> {
            let rows: Vec<u32> = self.rows_of(group).map(|row| row as u32).collect();
            let bases: Vec<u32> = (0..).take(self.bases().len()).collect();
            for piece in rows.chunks(rows.len().div_ceil(2)) {
                take(GroupRows::from(self.0.select(piece, &bases).rows()));
            }
            Ok(())
        }
    }

    fn ensemble(clusters: &[usize]) -> Ensemble {
        let label = |(i, u): (usize, usize)| match (i * 7919 + u * 31) % (clusters[u] + 1) {
            label if label == clusters[u] => u16::MISSING,
            label => label as u16,
        };
        let values = |k: usize| (0..k).map(|label| label.to_string()).collect();
        let bases = clusters
            .iter()
            .map(|&k| BaseClustering::new(format!("k{k}"), values(k)))
            .collect();
        Ensemble::from_words(
            Array2::from_shape_fn((10_000, clusters.len()), label),
            bases,
        )
        .unwrap()
    }

    #[test]
    fn however_both_sides_are_cut_the_pairs_are_the_same() {
        let (here, there) = (ensemble(&[4, 300]), ensemble(&[7, 2, 500]));
        for (first, second) in [(0, 2), (1, 1)] {
            let pairs: Vec<_> = here.column(first).zip(there.column(second)).collect();
            for (a, b) in [
                (10_000, 10_000),
                (10_000, 9),
                (333, 4097),
                (97, 10_000),
                (2048, 2048),
            ] {
                let (left, right) = (Cut(here.clone(), a), Cut(there.clone(), b));
                let columns = (
                    Column {
                        rows: &left,
                        base: first,
                    },
                    Column {
                        rows: &right,
                        base: second,
                    },
                );
                let paired = PairedColumns::new(columns.0, columns.1);
                let mut found = Vec::new();
                for group in 0..paired.groups() {
                    let take = &mut |rows: GroupRows<'_>| {
                        let Some(LabelRows::Words(labels)) = rows.labels() else {
                            panic!("wide labels")
                        };
                        found.extend(
                            labels
                                .rows()
                                .into_iter()
                                .map(|row| (row[0].cluster(), row[1].cluster())),
                        );
                    };
                    paired.read(group, take).unwrap();
                }
                assert_eq!(found, pairs, "{a} and {b} rows a group");
            }
        }
    }

    #[test]
    fn two_columns_of_the_same_rows_are_read_at_once() {
        let ensemble = ensemble(&[4, 300]);
        let held = HeldRows(ensemble.clone());
        let paired = PairedColumns::new(
            Column {
                rows: &held,
                base: 1,
            },
            Column {
                rows: &held,
                base: 0,
            },
        );
        let counts = metrics::RowCounts::of(&PassRunner::new(&paired, &Silent)).unwrap();
        assert_eq!(
            counts.table(),
            metrics::Contingency::of_bases(&ensemble, 1, 0)
        );
    }
}
