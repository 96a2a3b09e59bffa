//! Any method, as a list of methods holds it: settings by name, diagnostics as JSON.

use std::num::Saturating;

use serde_json::{Map, Value};

use crate::settings::json_of;
use crate::{
    BaseClustering, ConsensusError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize,
    RowFit, RowProblem, SettingInfo, SettingMap, Settings, SettingsError,
};

/// Any [`Method`], as a list of methods holds it: settings by name, diagnostics as JSON. Call it through [`consense`](crate::consense).
pub trait Consensus: Sync {
    /// What the method is and what can be relied upon.
    fn info(&self) -> &'static MethodInfo;

    /// What can be set.
    fn settings(&self) -> Vec<SettingInfo>;

    /// Its settings with their default values.
    fn default_settings(&self) -> Map<String, Value>;

    /// All settings when these are put over the defaults, for a problem of this size.
    ///
    /// # Errors
    /// [`SettingsError`] for the first that does not fit.
    fn validate(
        &self,
        settings: &SettingMap,
        size: &ProblemSize,
    ) -> Result<Map<String, Value>, SettingsError>;

    /// Bytes held at once beside the ensemble, at most, with these settings.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    fn bytes(&self, settings: &SettingMap, size: &ProblemSize) -> Result<u64, SettingsError>;

    /// The number of clusters that settings and the names of labels fix, whatever is asked for; none where they leave it open, or do
    /// not fit.
    fn fixed_clusters(&self, settings: &SettingMap, bases: &[BaseClustering]) -> Option<usize>;

    /// Fits a problem that is in canonical order and was checked: [`consense`](crate::consense) without its guarantees.
    ///
    /// # Errors
    /// [`ConsensusError`] when there is no consensus.
    fn fit_canonical(
        &self,
        problem: &Problem<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Outcome, ConsensusError>;

    /// Fits label rows that are read block by block: [`consense_rows`](crate::consense_rows) without its checks and labels.
    ///
    /// # Errors
    /// [`ConsensusError`] when there is no consensus.
    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<Map<String, Value>>, ConsensusError>;

    /// Bytes held at once over rows that are read block by block, besides the rows themselves.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    fn row_bytes(&self, settings: &SettingMap, size: &ProblemSize) -> Result<u64, SettingsError>;
}

impl<M: Method> Consensus for M {
    fn info(&self) -> &'static MethodInfo {
        Method::info(self)
    }

    fn settings(&self) -> Vec<SettingInfo> {
        M::Settings::fields()
    }

    fn default_settings(&self) -> Map<String, Value> {
        json_of(&M::Settings::default())
    }

    fn validate(
        &self,
        settings: &SettingMap,
        size: &ProblemSize,
    ) -> Result<Map<String, Value>, SettingsError> {
        Ok(json_of(&valid(self, settings, size)?))
    }

    fn bytes(&self, settings: &SettingMap, size: &ProblemSize) -> Result<u64, SettingsError> {
        let own = Method::bytes(self, size, &valid(self, settings, size)?);
        Ok(own.saturating_add(canonical_bytes(size)))
    }

    fn fixed_clusters(&self, settings: &SettingMap, bases: &[BaseClustering]) -> Option<usize> {
        Method::fixed_clusters(self, &settings.apply().ok()?, bases)
    }

    fn fit_canonical(
        &self,
        problem: &Problem<'_>,
        monitor: &dyn Monitor,
    ) -> Result<Outcome, ConsensusError> {
        let method = Method::info(self).name;
        let settings = valid(self, &problem.settings, &problem.size())
            .map_err(|source| ConsensusError::Settings { method, source })?;
        let outcome = self
            .fit(problem, &settings, monitor)
            .map_err(|error| error.of(method))?;
        let mut outcome = outcome.erased();
        outcome.settings = json_of(&settings);
        Ok(outcome)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<Map<String, Value>>, ConsensusError> {
        let method = Method::info(self).name;
        let settings = valid(self, &problem.settings, &problem.size())
            .map_err(|source| ConsensusError::Settings { method, source })?;
        let fit = Method::fit_rows(self, problem, &settings, monitor)
            .map_err(|error| error.of(method))?;
        Ok(fit.map_details(|details| json_of(&details)))
    }

    fn row_bytes(&self, settings: &SettingMap, size: &ProblemSize) -> Result<u64, SettingsError> {
        Ok(Method::row_bytes(self, size, &valid(self, settings, size)?))
    }
}

/// Bytes of the ensemble in canonical order: its labels, the names of objects twice, and those of base clusterings and clusters, which orders
/// and reductions hold three times at most. Few objects in many base clusterings are little else.
fn canonical_bytes(size: &ProblemSize) -> u64 {
    let [n, m, side, _] = size.saturating();
    let label = Saturating(if size.largest_base_clustering < 255 {
        1
    } else {
        2
    });
    (n * (m * label + Saturating(24))
        + Saturating(size.object_names as u64) * Saturating(2)
        + (m * Saturating(80) + side * Saturating(48)) * Saturating(3))
    .0
}

fn valid<M: Method>(
    method: &M,
    settings: &SettingMap,
    size: &ProblemSize,
) -> Result<M::Settings, SettingsError> {
    let settings: M::Settings = settings.apply()?;
    method.check(&settings, size)?;
    Ok(settings)
}
