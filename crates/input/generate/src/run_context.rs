//! What every base clusterer is given: the table as plans see it, progress, and where finished base clusterings go.

use partita_core::ProgressCounter;

use crate::base_run::BaseRun;
use crate::plan::{Plan, TableSample};

/// What every base clusterer is given.
pub(crate) struct RunContext<'a> {
    pub(crate) sight: &'a TableSample<'a>,
    pub(crate) progress: &'a ProgressCounter<'a>,
    /// Is told of each base clustering when it is finished.
    pub(crate) keep: &'a (dyn Fn(&Plan, &BaseRun) + Sync),
}

impl RunContext<'_> {
    /// A base clustering is finished.
    pub(crate) fn kept(&self, plan: &Plan, found: BaseRun) -> BaseRun {
        (self.keep)(plan, &found);
        self.progress.add(1);
        found
    }
}
