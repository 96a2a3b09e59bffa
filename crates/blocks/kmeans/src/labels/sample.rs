//! Label rows in memory on which initializations of k-means are tried, and partitions of them.

use partita_core::{Entry, PassRunner, Row, RowBlock, Stopped};

use super::climb::climb;
use super::counts::Counts;
use super::plan::{Plan, Progress};

/// Rows in memory on which runs are tried.
pub(super) struct Sample<'a, 'r, R: Row<'r>> {
    pub(super) rows: &'a RowBlock<'r, R>,
    pub(super) runner: PassRunner<'a>,
    pub(super) offsets: &'a [usize],
    pub(super) plan: &'a Plan<'a>,
}

/// A partition of the rows of a sample.
#[derive(Clone)]
pub(super) struct Run {
    /// The cluster of every row.
    pub(super) labels: Vec<u32>,
    pub(super) counts: Counts,
    /// The loss by iteration.
    pub(super) trace: Vec<f64>,
    pub(super) stopped: Stopped,
}

impl Run {
    pub(super) fn loss(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::INFINITY)
    }
}

impl<'a, 'r, R: Row<'r>> Sample<'a, 'r, R> {
    pub(super) fn new(
        rows: &'a RowBlock<'r, R>,
        runner: PassRunner<'a>,
        offsets: &'a [usize],
        plan: &'a Plan<'a>,
    ) -> Self {
        Self {
            rows,
            runner,
            offsets,
            plan,
        }
    }

    /// A run from these counts.
    pub(super) fn climbed(&self, plan: &Plan<'_>, counts: Counts, progress: Progress<'_>) -> Run {
        let fit = climb(&self.runner, plan, counts, progress)
            .expect("rows in memory are read, and nobody stops a pass");
        Run {
            labels: fit.choice.labels(self.rows),
            counts: fit.counts,
            trace: fit.trace,
            stopped: fit.stopped,
        }
    }

    /// What an object with this row has.
    pub(super) fn entries(&self, row: usize) -> impl Iterator<Item = Entry> {
        self.rows.row(row).entries(self.offsets)
    }

    pub(super) fn loss(&self, counts: &Counts) -> f64 {
        let plan = self.plan;
        plan.assignment
            .loss(counts, self.offsets, plan.base_weights)
    }
}
