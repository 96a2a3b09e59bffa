//! Calling a method on label rows that it does not hold.

use std::num::Saturating;
use std::sync::Arc;

use ndarray::Array2;
use serde_json::{Map, Value};

use crate::result_warnings::{self, Found};
use crate::row_passes::foreign::guarded;
use crate::rows_held::{fit_held, held_bytes};
use crate::{
    Assigned, BaseClustering, BaseWeights, Consensus, ConsensusError, EnsembleRows, Flow,
    MethodInfo, Model, Monitor, Objective, Outcome, Partition, PartitionError, PassError, Problem,
    ProblemSize, RowFit, RowProblem, SettingMap, SettingsError, SoftPartition, Stopped, Weights,
};

/// Labels of an ensemble, objects times base clusterings, beyond which methods that can read rows by blocks do so, whether
/// the rows are in memory or not. The path depends on the size of the ensemble alone, so that the same command gives the
/// same labels on every machine.
pub const LABELS_BY_BLOCKS: u64 = 1 << 25;

/// The objects up to which label rows are held however many base clusterings there are: blocks of few rows save little, and the
/// tables of pairs of base clusters that passes sum grow with the square of the base clusterings.
const OBJECTS_HELD: u64 = 1 << 16;

/// Whether methods that can read the label rows of so many objects and base clusterings by blocks do so.
pub fn are_read_by_blocks(objects: u64, base_clusterings: u64) -> bool {
    objects > OBJECTS_HELD && objects.saturating_mul(base_clusterings) > LABELS_BY_BLOCKS
}

impl RowProblem<'_> {
    /// Compares the problem with what the method can do, and its memory with the budget; all settings, if everything fits.
    ///
    /// # Errors
    /// [`ConsensusError`] for the first that does not fit.
    pub fn check(&self, method: &dyn Consensus) -> Result<Map<String, Value>, ConsensusError> {
        let info = method.info();
        let size = self.size();
        check(method, self, &size)?;
        let wrong = |source| ConsensusError::Settings {
            method: info.name,
            source,
        };
        let settings = method.validate(&self.settings, &size).map_err(wrong)?;
        let bytes = self.bytes(method).map_err(wrong)?;
        self.budget.check(info.name, bytes, info.remedy)?;
        Ok(settings)
    }

    /// Bytes that [`fit_rows`] holds at once besides what reading the rows takes, at most.
    ///
    /// # Errors
    /// [`SettingsError`] for settings that the method does not take.
    pub fn bytes(&self, method: &dyn Consensus) -> Result<u64, SettingsError> {
        if self.are_held() {
            held_bytes(method, &self.settings, &self.size())
        } else {
            method.row_bytes(&self.settings, &self.size())
        }
    }

    /// Whether the rows are labels, one an object, and so few that they are held.
    fn are_held(&self) -> bool {
        let (objects, bases) = (self.rows.rows(), self.rows.bases().len());
        !self.by_blocks && !self.rows.are_shares() && !are_read_by_blocks(objects, bases as u64)
    }
}

/// What a consensus over label rows gives besides the labels, which went to a sink.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct RowOutcome {
    /// Objects of every cluster, K values.
    pub sizes: Vec<u64>,
    /// Why it stopped.
    pub stopped: Stopped,
    /// Rounds of the run that was kept.
    pub rounds: u64,
    /// What it optimised.
    pub objective: Option<Objective>,
    /// A model that labels new objects.
    pub model: Option<Arc<dyn Model>>,
    /// The settings it ran with, all of them.
    pub settings: Map<String, Value>,
    /// What a user should know before trusting the result.
    pub warnings: Vec<String>,
    /// Facts of this method's own.
    pub details: Map<String, Value>,
}

/// Takes the labels of consecutive objects, the first of which has this number. A text says why it cannot.
pub type LabelSink<'a> = dyn FnMut(u64, Assigned) -> Result<(), String> + 'a;

/// Finds the consensus that `method` sees in label rows that are read block by block, and hands the labels of all rows to
/// `sink` in their order. The same rows give the same bits however they are cut, stored and read.
///
/// # Errors
/// [`ConsensusError`] when the problem does not fit the method, rows cannot be read, or the sink fails.
pub fn consense_rows(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
    monitor: &dyn Monitor,
    sink: &mut LabelSink<'_>,
) -> Result<RowOutcome, ConsensusError> {
    let (fit, settings) = fit_rows(method, problem, monitor)?;
    let mut sizes = vec![0u64; fit.clusters];
    let labelled = fit.label(&problem.passes(), &mut |first, assigned| {
        assigned
            .labels
            .iter()
            .for_each(|&label| sizes[label as usize] += 1);
        sink(first, assigned)
    });
    labelled.map_err(|error| ConsensusError::of_pass(method.info().name, error))?;
    Ok(RowOutcome::of(method, problem, fit, settings, sizes))
}

/// A fit of label rows with diagnostics as JSON, and all settings that it ran with.
pub type FitAndSettings = (RowFit<Map<String, Value>>, Map<String, Value>);

/// The first half of [`consense_rows`]: a fit that was checked and has not labelled the rows, and all its settings. For those who
/// need more of the rows than their labels: [`RowFit::each`] hands out both, as often as it is called.
///
/// # Errors
/// As [`consense_rows`].
pub fn fit_rows(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
    monitor: &dyn Monitor,
) -> Result<FitAndSettings, ConsensusError> {
    let settings = problem.check(method)?;
    if monitor.flow() == Flow::Stop {
        return Err(ConsensusError::Interrupted);
    }
    let run = || {
        if problem.are_held() {
            fit_held(method, problem, monitor)
        } else {
            Ok((method.fit_rows(problem, monitor)?, settings))
        }
    };
    let broken = |error| ConsensusError::of_pass(method.info().name, error);
    let (fit, settings) = if problem.engine.is_some() {
        guarded(broken, run)?
    } else {
        run()?
    };
    let fit = if problem.soft {
        fit
    } else {
        fit.without_soft()
    };
    Ok((fit, settings))
}

impl RowOutcome {
    /// The outcome of a fit whose labels were handed out: `sizes` has the objects of every cluster.
    pub fn of(
        method: &dyn Consensus,
        problem: &RowProblem<'_>,
        fit: RowFit<Map<String, Value>>,
        settings: Map<String, Value>,
        sizes: Vec<u64>,
    ) -> Self {
        let (stopped, rounds) = (fit.stopped, fit.rounds);
        let (objective, model, mut warnings, details) =
            (fit.objective, fit.model, fit.warnings, fit.details);
        let live = sizes.iter().filter(|size| **size > 0).count();
        let asked = problem.clusters;
        let found = Found {
            info: method.info(),
            settings: &settings,
            asked,
            live,
            stopped,
            rounds,
        }
        .warnings();
        let nothing = result_warnings::no_information(problem.rows.bases());
        result_warnings::add(&mut warnings, found.into_iter().chain(nothing));
        Self {
            sizes,
            stopped,
            rounds,
            objective,
            model,
            settings,
            warnings,
            details,
        }
    }
}

/// Whether the method reads an ensemble of this size by blocks.
pub(crate) fn by_blocks(info: &MethodInfo, size: &ProblemSize) -> bool {
    let large = are_read_by_blocks(size.objects as u64, size.base_clusterings as u64);
    info.capabilities.streams && large && size.soft_shares == 0 && (size.auto || size.clusters != 1)
}

/// Bytes that [`consense`](crate::consense) holds at once beside the ensemble, at most.
///
/// # Errors
/// [`SettingsError`] for settings that the method does not take.
pub fn consensus_bytes(
    method: &dyn Consensus,
    settings: &SettingMap,
    size: &ProblemSize,
) -> Result<u64, SettingsError> {
    let info = method.info();
    if by_blocks(info, size) {
        return Ok(method
            .row_bytes(settings, size)?
            .saturating_add(held(info, size)));
    }
    method.bytes(settings, size)
}

/// [`consense_rows`] of an ensemble in memory, with all labels.
pub(crate) fn over_blocks(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> Result<Outcome, ConsensusError> {
    let (info, rows) = (method.info(), EnsembleRows::new(problem.ensemble));
    let objects = problem.ensemble.objects();
    let (mut labels, mut certainty) = (Vec::with_capacity(objects), Vec::with_capacity(objects));
    let mut soft: Option<Vec<f64>> = None;
    let found = consense_rows(
        method,
        &problem.over(&rows),
        monitor,
        &mut |first, block| {
            labels.extend(block.labels);
            certainty.extend(block.certainty);
            if let Some(block) = block.soft {
                let clusters = block.len() / (labels.len() - first as usize).max(1);
                soft.get_or_insert_with(|| Vec::with_capacity(objects * clusters))
                    .extend(block);
            }
            Ok(())
        },
    )?;
    let clusters = found.sizes.len();
    let invalid = |error: PartitionError| ConsensusError::Method {
        method: info.name,
        source: Box::new(error),
    };
    let partition = Partition::new(labels, clusters).map_err(invalid)?;
    let mut outcome = Outcome::hard(partition, certainty, found.stopped).with(found.details);
    if let Some(soft) = soft {
        let soft =
            Array2::from_shape_vec((objects, clusters), soft).expect("K probabilities an object");
        outcome.soft = Some(SoftPartition::new(soft).map_err(invalid)?);
    }
    (outcome.rounds, outcome.objective, outcome.model) =
        (found.rounds, found.objective, found.model);
    (outcome.settings, outcome.warnings) = (found.settings, found.warnings);
    Ok(outcome)
}

/// Bytes of the labels, certainty and probabilities of all objects.
fn held(info: &MethodInfo, size: &ProblemSize) -> u64 {
    let [n, _, _, k] = size.saturating();
    let soft = if info.capabilities.soft {
        k * Saturating(8)
    } else {
        Saturating(0)
    };
    (n * (soft + Saturating(12))).0
}

impl ConsensusError {
    /// The error of a method whose rows were not passed over to the end.
    pub fn of_pass(method: &'static str, error: PassError) -> Self {
        match error {
            PassError::Interrupted => Self::Interrupted,
            other => Self::Method {
                method,
                source: Box::new(other),
            },
        }
    }
}

fn check(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
    size: &ProblemSize,
) -> Result<(), ConsensusError> {
    let info = method.info();
    if !info.capabilities.streams {
        return Err(ConsensusError::Streams { method: info.name });
    }
    if problem.are_held() {
        return Ok(());
    }
    info.check_clusters(problem.clusters, size.objects)?;
    let Some(weights) = BaseWeights::heeded(problem.weights, info.capabilities.base_weights) else {
        return Ok(());
    };
    let (given, bases) = (weights.as_slice().len(), size.base_clusterings);
    let zero = weights
        .as_slice()
        .iter()
        .position(|&weight| weight == 0.0)
        .and_then(|u| problem.rows.bases().get(u));
    let reason = match info.capabilities.base_weights {
        _ if zero.is_some() => {
            let name = zero.map_or("", BaseClustering::name);
            format!(
                "that of '{name}' is 0; rows that are read block by block are read whole, so remove its column"
            )
        }
        Weights::Refused(why) => format!("{} takes none: {why}", info.name),
        _ if given != bases => format!("{given} weights for {bases} base clusterings"),
        Weights::Copies => match weights.beyond_copies(info.name, problem.rows.bases()) {
            Some(reason) => reason,
            None => return Ok(()),
        },
        Weights::Native => return Ok(()),
    };
    Err(ConsensusError::Weights {
        what: "base clusterings",
        reason,
    })
}

#[cfg(test)]
mod tests {
    use super::are_read_by_blocks;

    #[test]
    fn few_objects_are_held_whatever_the_base_clusterings() {
        assert!(!are_read_by_blocks(1797, 20_000) && !are_read_by_blocks(1 << 16, u64::MAX));
        assert!(!are_read_by_blocks(1 << 20, 32) && are_read_by_blocks(1 << 20, 33));
        assert!(are_read_by_blocks(u64::MAX, 2) && are_read_by_blocks((1 << 16) + 1, 512));
    }
}
