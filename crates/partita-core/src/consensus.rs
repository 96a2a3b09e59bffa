//! Calling a method: the checks at the entry, the canonical order, and the way back.

use std::error::Error;

use ndarray::ArrayView2;
use serde_json::{Map, Value};

use crate::row_consensus::{by_blocks, over_blocks};
use crate::settings::json_of;
use crate::{
    BudgetError, Clusters, ClustersError, Ensemble, Label, LabelRows, Method, MethodInfo, MissingLabels, Monitor,
    Outcome, Partition, Problem, ProblemSize, Reads, RowFit, RowProblem, SettingInfo, SettingMap, Settings,
    SettingsError, SoftPartition, Stopped, Weights,
};

/// Why there is no consensus.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsensusError {
    /// K out of range.
    #[error(transparent)]
    Clusters(#[from] ClustersError),
    /// The method does not choose K.
    #[error("{method} cannot choose the number of clusters; say how many")]
    Auto {
        /// Name of the method.
        method: &'static str,
    },
    /// The method holds all label rows.
    #[error("{method} holds all label rows at once; it cannot read them block by block")]
    Streams {
        /// Name of the method.
        method: &'static str,
    },
    /// An object that nobody labelled.
    #[error("object {object} has no label in any base clustering; remove it or label it")]
    Unlabelled {
        /// Name or index of the object.
        object: String,
    },
    /// A missing label, and the method takes none.
    #[error("{method} takes no missing labels; object {object} has none in base clustering '{base}'")]
    Missing {
        /// Name of the method.
        method: &'static str,
        /// Name or index of the object.
        object: String,
        /// Name of the base clustering.
        base: String,
    },
    /// The method reads a table and there is none, or it has other rows.
    #[error("{method} reads the table behind the ensemble: {reason}")]
    Features {
        /// Name of the method.
        method: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Weights that do not fit.
    #[error("weights of {what}: {reason}")]
    Weights {
        /// What they are weights of.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Settings that do not fit.
    #[error("{method}: {source}")]
    Settings {
        /// Name of the method.
        method: &'static str,
        /// What does not fit.
        source: SettingsError,
    },
    /// Too little memory.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// It was asked to stop before there was anything to give back.
    #[error("stopped before there was a result")]
    Interrupted,
    /// Something of this method's own.
    #[error("{method}: {source}")]
    Method {
        /// Name of the method.
        method: &'static str,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

/// Any [`Method`], as a list of methods holds it: settings by name, diagnostics as JSON. Call it through [`consense`].
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
    fn validate(&self, settings: &SettingMap, size: &ProblemSize) -> Result<Map<String, Value>, SettingsError>;

    /// Bytes held at once, at most, with these settings.
    ///
    /// # Errors
    /// As [`validate`](Self::validate).
    fn bytes(&self, settings: &SettingMap, size: &ProblemSize) -> Result<u64, SettingsError>;

    /// Fits a problem that is in canonical order and was checked: [`consense`] without its guarantees.
    ///
    /// # Errors
    /// [`ConsensusError`] when there is no consensus.
    fn fit_canonical(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError>;

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

    fn validate(&self, settings: &SettingMap, size: &ProblemSize) -> Result<Map<String, Value>, SettingsError> {
        Ok(json_of(&valid(self, settings, size)?))
    }

    fn bytes(&self, settings: &SettingMap, size: &ProblemSize) -> Result<u64, SettingsError> {
        Ok(Method::bytes(self, size, &valid(self, settings, size)?))
    }

    fn fit_canonical(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let method = Method::info(self).name;
        let settings = valid(self, &problem.settings, &problem.size())
            .map_err(|source| ConsensusError::Settings { method, source })?;
        let outcome = self.fit(problem, &settings, monitor).map_err(|error| error.into().of(method))?;
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
        let fit = Method::fit_rows(self, problem, &settings, monitor).map_err(|error| error.of(method))?;
        Ok(fit.map_details(|details| json_of(&details)))
    }

    fn row_bytes(&self, settings: &SettingMap, size: &ProblemSize) -> Result<u64, SettingsError> {
        Ok(Method::row_bytes(self, size, &valid(self, settings, size)?))
    }
}

fn valid<M: Method>(method: &M, settings: &SettingMap, size: &ProblemSize) -> Result<M::Settings, SettingsError> {
    let settings: M::Settings = settings.apply()?;
    method.check(&settings, size)?;
    Ok(settings)
}

/// Finds the consensus that `method` sees in `problem`.
///
/// Beyond [`LABELS_BY_BLOCKS`](crate::LABELS_BY_BLOCKS) labels, methods that can read rows by blocks do so, in the order
/// given ([`consense_rows`](crate::consense_rows)): the order then changes sums in their last digits.
///
/// Compares the problem with the method's capabilities, answers K = 1 at once, and runs the method on the canonical
/// form of the ensemble, so that the order of objects, base clusterings and cluster numbers changes nothing.
/// Objects that have the same label row get the same soft row.
///
/// # Errors
/// [`ConsensusError`] when the problem does not fit the method, or the method finds no consensus.
pub fn consense(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> Result<Outcome, ConsensusError> {
    let info = method.info();
    check(info, problem)?;
    let wrong = |source| ConsensusError::Settings { method: info.name, source };
    let settings = method.validate(&problem.settings, &problem.size()).map_err(wrong)?;
    if info.capabilities.streams && by_blocks(&problem.size()) && problem.clusters != Clusters::Exactly(1) {
        return over_blocks(method, problem, monitor);
    }
    let bytes = method.bytes(&problem.settings, &problem.size()).map_err(wrong)?;
    problem.budget.check(info.name, bytes, info.remedy)?;
    if problem.clusters == Clusters::Exactly(1) {
        return Ok(everything_together(info, settings, problem.ensemble.objects()));
    }
    let weights = problem.weights.map(crate::BaseWeights::as_slice);
    let features = problem.features.filter(|_| info.capabilities.reads == Reads::LabelsAndFeatures);
    let (ensemble, order) = problem.ensemble.canonical(features.as_ref(), weights);
    let values = features.map(|f| f.values().select(ndarray::Axis(0), &indices(order.objects())));
    let columns = features.map_or(&[][..], |f| f.columns());
    let features = values.as_ref().map(|v| crate::Features::new(columns, v.view()).expect("checked at the entry"));
    let weights = problem.weights.map(|weights| weights.selected(order.bases()));
    let canonical = Problem { ensemble: &ensemble, features, weights: weights.as_ref(), ..problem.clone() };
    let outcome = method.fit_canonical(&canonical, monitor)?;
    let labels_only = info.capabilities.reads == Reads::Labels;
    let outcome = if labels_only { outcome.level(&same_as_previous(&ensemble)) } else { outcome };
    Ok(outcome.restored(&order))
}

fn check(info: &MethodInfo, problem: &Problem<'_>) -> Result<(), ConsensusError> {
    let (ensemble, method) = (problem.ensemble, info.name);
    let objects = ensemble.objects();
    info.check_clusters(problem.clusters, objects)?;
    check_missing(info, ensemble)?;
    match problem.features {
        None if info.capabilities.reads == Reads::LabelsAndFeatures => {
            return Err(ConsensusError::Features { method, reason: "there is none".into() });
        }
        Some(features) if features.values().nrows() != objects => {
            let reason = format!("it has {} rows, the ensemble {objects} objects", features.values().nrows());
            return Err(ConsensusError::Features { method, reason });
        }
        _ => {}
    }
    if let Some(weights) = problem.weights {
        let (given, bases) = (weights.as_slice().len(), ensemble.bases().len());
        let reason = match info.capabilities.base_weights {
            Weights::Refused(why) => format!("{method} takes none: {why}"),
            Weights::Native if given != bases => format!("{given} weights for {bases} base clusterings"),
            Weights::Native => return Ok(()),
        };
        return Err(ConsensusError::Weights { what: "base clusterings", reason });
    }
    Ok(())
}

fn check_missing(info: &MethodInfo, ensemble: &Ensemble) -> Result<(), ConsensusError> {
    let missing = info.capabilities.missing;
    if missing == MissingLabels::Refused
        && let Some((object, base)) = ensemble.first_missing()
    {
        let (object, base) = (ensemble.object_name(object), ensemble.bases()[base].name().to_owned());
        return Err(ConsensusError::Missing { method: info.name, object, base });
    }
    match ensemble.first_unlabelled() {
        Some(object) if missing != MissingLabels::HandledByPrior => {
            Err(ConsensusError::Unlabelled { object: ensemble.object_name(object) })
        }
        _ => Ok(()),
    }
}

fn everything_together(info: &MethodInfo, settings: Map<String, Value>, objects: usize) -> Outcome {
    let partition = Partition::new(vec![0; objects], 1).expect("0 is below 1");
    let soft = info.capabilities.soft.then(|| SoftPartition::of(&partition));
    Outcome { soft, settings, ..Outcome::hard(partition, vec![1.0; objects], Stopped::Exact).erased() }
}

fn same_as_previous(ensemble: &Ensemble) -> Vec<bool> {
    fn compare<L: Label>(rows: ArrayView2<'_, L>) -> Vec<bool> {
        (0..rows.nrows()).map(|i| i > 0 && rows.row(i) == rows.row(i - 1)).collect()
    }
    match ensemble.rows() {
        LabelRows::Bytes(rows) => compare(rows),
        LabelRows::Words(rows) => compare(rows),
    }
}

fn indices(order: &[u32]) -> Vec<usize> {
    order.iter().map(|&i| i as usize).collect()
}
