//! What every consensus method promises.

use std::error::Error;

use ndarray::ArrayView2;
use serde::Serialize;
use serde_json::Value;

use crate::{
    BudgetError, Clusters, Ensemble, Label, LabelRows, Monitor, Outcome, Partition, Problem, ProblemSize,
    SettingsError, SoftPartition, Stopped,
};

/// What a method reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Label rows only.
    Labels,
    /// Label rows and the table behind them.
    LabelsAndFeatures,
}

/// What a method does with missing labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingLabels {
    /// They are handled; an object without any label is an error.
    Handled,
    /// They are handled; an object without any label is labelled by the prior.
    HandledByPrior,
    /// They are refused with an error that names the first one.
    Refused,
}

/// One setting of a method, as its help shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct SettingHelp {
    /// Name, as in `--set name=value`.
    pub name: &'static str,
    /// What it changes, and which values it takes.
    pub help: &'static str,
}

/// What a method is and promises. Documents, help texts, the table of methods and the conformance tests
/// are read from it.
#[derive(Clone, Copy, Debug)]
pub struct MethodCard {
    /// Name on the command line: lower case, hyphens.
    pub name: &'static str,
    /// The family, which is the crate without its prefix.
    pub family: &'static str,
    /// One line for somebody who chooses.
    pub summary: &'static str,
    /// Authors, year, where.
    pub reference: &'static str,
    /// What it reads.
    pub reads: Reads,
    /// What it does with missing labels.
    pub missing: MissingLabels,
    /// Whether it gives probabilities.
    pub soft: bool,
    /// Whether it can choose the number of clusters ([`Clusters::Auto`]).
    pub chooses_clusters: bool,
    /// Whether `Exactly(k)` is the most clusters it may use rather than the number it returns.
    pub clusters_is_maximum: bool,
    /// Whether it takes weights of base clusterings.
    pub weighted: bool,
    /// Whether the seed changes anything.
    pub seeded: bool,
    /// What its certainty means.
    pub certainty: &'static str,
    /// Time, in the field's notation.
    pub time: &'static str,
    /// Memory, in the field's notation.
    pub memory: &'static str,
    /// Bytes held at once with default settings, for the budget.
    pub bytes: fn(&ProblemSize) -> u64,
    /// What to do when the budget is too small.
    pub remedy: &'static str,
    /// Its settings.
    pub settings: &'static [SettingHelp],
}

/// Why there is no consensus.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsensusError {
    /// K out of range.
    #[error("asked for {clusters} clusters of {objects} objects; ask for 1 to {objects}")]
    Clusters {
        /// Clusters asked for.
        clusters: usize,
        /// Objects there are.
        objects: usize,
    },
    /// The method does not choose K.
    #[error("{method} cannot choose the number of clusters; say how many")]
    Auto {
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
    #[error("weights of base clusterings: {0}")]
    Weights(String),
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

/// A consensus method. Implementations are five lines that read the settings and call a plain function;
/// call them through [`consense`], which checks the problem first.
pub trait Consensus: Sync {
    /// What the method is and promises.
    fn card(&self) -> &'static MethodCard;

    /// Its settings with their default values, a JSON object.
    fn default_settings(&self) -> Value;

    /// Finds the consensus of a problem that [`consense`] has checked and brought into canonical order.
    ///
    /// # Errors
    /// [`ConsensusError`] when there is none.
    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError>;
}

/// Finds the consensus that `method` sees in `problem`.
///
/// Checks the promises on the card at the door, answers K = 1 at once, and runs the method on the canonical
/// form of the ensemble, so that the order of objects, base clusterings and cluster numbers changes nothing.
/// Objects that have the same label row get the same soft row.
///
/// # Errors
/// [`ConsensusError`] when the problem does not fit the card, or the method finds no consensus.
pub fn consense(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> Result<Outcome, ConsensusError> {
    let card = method.card();
    check(card, problem)?;
    if problem.clusters == Clusters::Exactly(1) {
        return Ok(everything_together(card, method.default_settings(), problem.ensemble.objects()));
    }
    let weights = problem.weights.map(crate::BaseWeights::as_slice);
    let features = problem.features.filter(|_| card.reads == Reads::LabelsAndFeatures);
    let (ensemble, order) = problem.ensemble.canonical(features.as_ref(), weights);
    let values = features.map(|f| f.values().select(ndarray::Axis(0), &indices(order.objects())));
    let columns = features.map_or(&[][..], |f| f.columns());
    let features = values.as_ref().map(|v| crate::Features::new(columns, v.view()).expect("checked at the door"));
    let weights = problem.weights.map(|weights| weights.selected(order.bases()));
    let canonical = Problem { ensemble: &ensemble, features, weights: weights.as_ref(), ..problem.clone() };
    let outcome = method.run(&canonical, monitor)?;
    let outcome = if card.reads == Reads::Labels { outcome.level(&same_as_previous(&ensemble)) } else { outcome };
    Ok(outcome.restored(&order))
}

impl MethodCard {
    /// Whether the method can be asked for so many clusters of so many objects.
    ///
    /// # Errors
    /// [`ConsensusError::Clusters`] if K is 0 or above n, [`ConsensusError::Auto`] if the method does not choose K.
    pub fn check_clusters(&self, clusters: Clusters, objects: usize) -> Result<(), ConsensusError> {
        match clusters {
            Clusters::Exactly(clusters) if clusters == 0 || clusters > objects => {
                Err(ConsensusError::Clusters { clusters, objects })
            }
            Clusters::Auto if !self.chooses_clusters => Err(ConsensusError::Auto { method: self.name }),
            _ => Ok(()),
        }
    }
}

fn check(card: &MethodCard, problem: &Problem<'_>) -> Result<(), ConsensusError> {
    let (ensemble, method) = (problem.ensemble, card.name);
    let objects = ensemble.objects();
    card.check_clusters(problem.clusters, objects)?;
    check_missing(card, ensemble)?;
    match problem.features {
        None if card.reads == Reads::LabelsAndFeatures => {
            return Err(ConsensusError::Features { method, reason: "there is none".into() });
        }
        Some(features) if features.values().nrows() != objects => {
            let reason = format!("it has {} rows, the ensemble {objects} objects", features.values().nrows());
            return Err(ConsensusError::Features { method, reason });
        }
        _ => {}
    }
    if let Some(weights) = problem.weights {
        if !card.weighted {
            return Err(ConsensusError::Weights(format!("{method} takes none")));
        }
        let (given, bases) = (weights.as_slice().len(), ensemble.bases().len());
        if given != bases {
            return Err(ConsensusError::Weights(format!("{given} weights for {bases} base clusterings")));
        }
    }
    Ok(problem.budget.check(method, (card.bytes)(&problem.size()), card.remedy)?)
}

fn check_missing(card: &MethodCard, ensemble: &Ensemble) -> Result<(), ConsensusError> {
    if card.missing == MissingLabels::Refused
        && let Some((object, base)) = ensemble.first_missing()
    {
        let (object, base) = (ensemble.object_name(object), ensemble.bases()[base].name().to_owned());
        return Err(ConsensusError::Missing { method: card.name, object, base });
    }
    match ensemble.first_unlabelled() {
        Some(object) if card.missing != MissingLabels::HandledByPrior => {
            Err(ConsensusError::Unlabelled { object: ensemble.object_name(object) })
        }
        _ => Ok(()),
    }
}

fn everything_together(card: &MethodCard, settings: Value, objects: usize) -> Outcome {
    let partition = Partition::new(vec![0; objects], 1).expect("0 is below 1");
    let soft = card.soft.then(|| SoftPartition::of(&partition));
    Outcome { soft, settings, ..Outcome::hard(partition, vec![1.0; objects], Stopped::Exact) }
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
