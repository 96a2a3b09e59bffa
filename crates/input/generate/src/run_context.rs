//! What every base clusterer is given: the table as plans see it, and where finished base clusterings go.

use partita_core::{ProgressCounter, Stopped};

use crate::base_run::BaseRun;
use crate::plan::{Plan, TableSample};

/// Where finished base clusterings go.
#[derive(Clone, Copy)]
pub(crate) struct Sink<'a> {
    pub(crate) progress: &'a ProgressCounter<'a>,
    /// Is told of each base clustering when it is finished.
    pub(crate) keep: &'a (dyn Fn(&Plan, &BaseRun) + Sync),
}

impl Sink<'_> {
    /// A base clustering is finished.
    pub(crate) fn kept(&self, plan: &Plan, found: BaseRun) -> BaseRun {
        (self.keep)(plan, &found);
        self.progress.add(1);
        found
    }
}

/// What base clusterers of dense tables are given.
pub(crate) struct RunContext<'a> {
    pub(crate) sight: &'a TableSample<'a>,
    pub(crate) sink: Sink<'a>,
}

impl RunContext<'_> {
    /// A base clustering of the members alone is finished.
    pub(crate) fn finished(
        &self,
        plan: &Plan,
        members: &[usize],
        labels: impl Iterator<Item = u16>,
        stopped: Stopped,
    ) -> BaseRun {
        let objects = self.sight.values.nrows();
        let found = BaseRun::of_members(objects, members, labels, stopped);
        self.sink.kept(plan, found)
    }
}
