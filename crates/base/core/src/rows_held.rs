//! Label rows that come by blocks and are few: they are held, and their consensus is that of the same ensemble in memory.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::row_passes::held_rows;
use crate::{
    Assigned, Consensus, ConsensusError, FitAndSettings, LabellerKind, Monitor, ObjectWeights,
    Outcome, Problem, ProblemSize, Row, RowBlock, RowFit, RowLabeller, RowMap, RowProblem,
    SettingMap, SettingsError, WeightError, consense,
};

/// The labeller of rows that are held.
pub const LABELLERS: &[LabellerKind] = &[LabellerKind::of::<ByPlace>()];

/// A fit of rows that are held, with the settings that it ran with.
pub(crate) fn fit_held(
    method: &dyn Consensus,
    problem: &RowProblem<'_>,
    monitor: &dyn Monitor,
) -> Result<FitAndSettings, ConsensusError> {
    let of_pass = |error| ConsensusError::of_pass(method.info().name, error);
    let (ensemble, weights) = held_rows(&problem.passes()).map_err(of_pass)?;
    let unfit = |error: WeightError| ConsensusError::Weights {
        what: "objects",
        reason: error.to_string(),
    };
    let weights = weights.map(ObjectWeights::new).transpose().map_err(unfit)?;
    let whole = Problem {
        seed: problem.seed,
        weights: problem.weights,
        object_weights: weights.as_ref(),
        settings: problem.settings.clone(),
        budget: problem.budget,
        ..Problem::new(&ensemble, problem.clusters)
    };
    let outcome = consense(method, &whole, monitor)?;
    Ok(of_outcome(outcome))
}

/// Bytes that [`fit_held`] holds at once, at most: the labels twice, and what the method and its result take.
pub(crate) fn held_bytes(
    method: &dyn Consensus,
    settings: &SettingMap,
    size: &ProblemSize,
) -> Result<u64, SettingsError> {
    let [n, m, _, k] = size.saturating();
    let soft = if method.info().capabilities.soft {
        2 * 8 * k.0
    } else {
        0
    };
    let row = (4 * m.0).saturating_add(soft).saturating_add(2 * 4);
    Ok(method
        .bytes(settings, size)?
        .saturating_add(n.0.saturating_mul(row)))
}

/// The outcome of an ensemble in memory as a fit that labels its rows by their numbers.
fn of_outcome(outcome: Outcome<Map<String, Value>>) -> FitAndSettings {
    let clusters = outcome.partition.clusters();
    let soft = outcome.soft.map(|soft| {
        let rows = soft.into_rows();
        rows.as_standard_layout().iter().copied().collect()
    });
    let labeller = ByPlace {
        clusters,
        labels: outcome.partition.labels().to_vec(),
        soft,
    };
    let mut fit = RowFit::new(clusters, outcome.stopped, labeller, outcome.details);
    fit.iterations = outcome.iterations;
    fit.objective = outcome.objective;
    fit.model = outcome.model;
    fit.warnings = outcome.warnings;
    (fit, outcome.settings)
}

/// Gives every row the label that was found for its number.
#[derive(Clone, Serialize, Deserialize)]
struct ByPlace {
    clusters: usize,
    labels: Vec<u32>,
    soft: Option<Vec<f64>>,
}

impl RowMap for ByPlace {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let rows = block.first as usize..block.first as usize + block.len();
        let labels = self.labels[rows.clone()].to_vec();
        let Some(soft) = &self.soft else {
            return Assigned {
                labels,
                ..Assigned::default()
            };
        };
        let soft = &soft[rows.start * self.clusters..][..rows.len() * self.clusters];
        Assigned {
            labels,
            ..Assigned::of_soft(soft.to_vec(), self.clusters)
        }
    }
}

impl RowLabeller for ByPlace {
    const KIND: &'static str = "core/by-place";
}
