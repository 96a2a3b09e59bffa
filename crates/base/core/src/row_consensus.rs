//! Calling a method on label rows that it does not hold.

use std::sync::Arc;

use serde_json::{Map, Value};

use crate::result_warnings::{self, Found};
use crate::row_passes::foreign::guarded;
use crate::rows_held::{fit_held, held_bytes};
use crate::{
    Assigned, BLOCK_ROWS, BaseClustering, BaseWeights, Consensus, ConsensusError, FitAndSettings,
    Flow, Model, Monitor, Objective, ProblemSize, RowFit, RowProblem, SettingsError, Stopped,
    Weights, are_read_by_blocks,
};

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
            let mut size = self.size();
            if self.engine.is_none() {
                // Groups of files may be small, and each has a sum.
                size.objects = size.objects.max(self.rows.groups() * BLOCK_ROWS as usize);
            }
            method.row_bytes(&self.settings, &size)
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
    /// Iterations of the run that was kept.
    pub iterations: u64,
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
        let (stopped, iterations) = (fit.stopped, fit.iterations);
        let (objective, model, mut warnings, details) =
            (fit.objective, fit.model, fit.warnings, fit.details);
        let live = sizes.iter().filter(|size| **size > 0).count();
        let asked = problem.clusters;
        let found = Found {
            info: method.info(),
            settings: &settings,
            asked,
            distinct: None,
            live,
            stopped,
            iterations,
        }
        .warnings();
        let nothing = result_warnings::no_information(problem.rows.bases());
        result_warnings::add(&mut warnings, found.into_iter().chain(nothing));
        Self {
            sizes,
            stopped,
            iterations,
            objective,
            model,
            settings,
            warnings,
            details,
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
