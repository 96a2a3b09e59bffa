//! What a consensus method writes: its settings, its facts, and the function that fits it.

use serde::Serialize;

use crate::fit_in_memory::{fit_each_in_memory, fit_in_memory_bytes};
use crate::{
    BaseClustering, ConsensusError, FitError, MethodInfo, Monitor, Outcome, Problem, ProblemSize,
    RowFit, RowProblem, Settings, SettingsError,
};

/// A consensus method. Write one function and this trait; the list of methods, help, settings by name, budgets, JSON and
/// the conformance tests are derived from it ([`crate::Consensus`]).
///
/// A method is a value, so that methods which differ in one parameter (a linkage, a divergence) are one implementation.
pub trait Method: Sync {
    /// What can be set.
    type Settings: Settings;
    /// Facts of this method's own about a fit, such as the spread over restarts.
    type Diagnostics: Serialize;

    /// What the method is and what can be relied upon.
    fn info(&self) -> &'static MethodInfo;

    /// Compares settings with each other, with the size of the problem, and with what else this method is made of.
    ///
    /// # Errors
    /// [`SettingsError`] for the first that does not fit.
    fn check(&self, settings: &Self::Settings, size: &ProblemSize) -> Result<(), SettingsError> {
        settings.check(size)
    }

    /// Bytes held at once, at most, with these settings. A method over passes says it by [`row_bytes`](Self::row_bytes).
    fn bytes(&self, size: &ProblemSize, settings: &Self::Settings) -> u64 {
        self.row_bytes(size, settings)
            .saturating_add(fit_in_memory_bytes(size, self.info().capabilities.soft))
    }

    /// The number of clusters that these settings and the names of labels fix, whatever is asked for; none where they leave it open.
    fn fixed_clusters(&self, settings: &Self::Settings, bases: &[BaseClustering]) -> Option<usize> {
        let _ = (settings, bases);
        None
    }

    /// Finds the consensus of a problem that [`consense`](crate::consense) has checked and brought into canonical order,
    /// with settings that are within their ranges. A method over passes has no other way for ensembles in memory ([`fit_in_memory`]).
    ///
    /// # Errors
    /// Whatever keeps it from being found.
    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &Self::Settings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<Self::Diagnostics>, FitError> {
        fit_in_memory(self, problem, settings, monitor)
    }

    /// Finds the consensus of label rows that it does not hold, for methods that can ([`Capabilities::streams`](crate::Capabilities::streams)).
    ///
    /// # Errors
    /// Whatever keeps it from being found.
    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &Self::Settings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<Self::Diagnostics>, FitError> {
        let _ = (problem, settings, monitor);
        Err(ConsensusError::Streams {
            method: self.info().name,
        }
        .into())
    }

    /// Bytes held at once by [`fit_rows`](Self::fit_rows), at most, besides the rows themselves.
    fn row_bytes(&self, size: &ProblemSize, settings: &Self::Settings) -> u64 {
        self.bytes(size, settings)
    }
}

/// The consensus of an ensemble in memory by the passes of a method ([`Method::fit_rows`]).
///
/// # Cost
/// That of the method over the distinct rows, and O(n M) to find them; a copy of these.
///
/// # Errors
/// Those of the method.
pub fn fit_in_memory<M: Method + ?Sized>(
    method: &M,
    problem: &Problem<'_>,
    settings: &M::Settings,
    monitor: &dyn Monitor,
) -> Result<Outcome<M::Diagnostics>, FitError> {
    let fit = |rows: &RowProblem<'_>| Ok(vec![method.fit_rows(rows, settings, monitor)?]);
    Ok(fit_each_in_memory(problem, fit)?.swap_remove(0))
}
