//! Baum–Eagon as a method of its own: what the papers compare with.

use std::num::NonZeroU32;

use partita_core::{
    Clusters, Consensus, ConsensusError, Ensemble, MethodCard, MissingLabels, Monitor, Outcome, Problem, Reads,
    SettingHelp,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::dense::{Dense, WAY_OUT};
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::evidence::Evidence;
use crate::methods::{PARTNERS, RESTARTS, ROUNDS, TOLERANCE, bytes, counted, named};
use crate::pcc::pcc;
use crate::settings::{PccSettings, Solver};
use crate::shares::Shares;
use crate::sparse::Sparse;

/// Settings of [`BAUM_EAGON`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct BaumEagonSettings {
    /// Random starts, as [`PccSettings::restarts`].
    pub restarts: Option<NonZeroU32>,
    /// Stop when the relative gap (see [`crate::Measure`]) is not above this.
    pub tolerance: f64,
    /// The most rounds of one start.
    pub rounds: NonZeroU32,
    /// Partners of an object, as [`PccSettings::partners`].
    pub partners: Option<u32>,
    /// Whether a pair counts as often as it was seen. The paper counts every pair once.
    pub weighted: bool,
}

impl Default for BaumEagonSettings {
    fn default() -> Self {
        let PccSettings { restarts, tolerance, rounds, partners, .. } = PccSettings::default();
        Self { restarts, tolerance, rounds, partners, weighted: false }
    }
}

/// Probabilistic consensus under the squared difference by the growth transform, as before PEACE and PCC.
///
/// ```text
/// y_ik ← y_ik [(C Y)_ik + (n−1) − ((A − diag A) Y)_ik] / norm        C: shares c/N,  A = Y Yᵀ
/// ```
///
/// A baseline: monotone and slow. [`crate::PCC_L2`] minimises the same objective (with `weighted=true`) much faster.
///
/// # Differences from the papers
/// They cite the transform without printing it. Pairs that no base clustering saw are left out: n − 1 is the number of
/// pairs seen. Starts and certificate are those of the other solvers here.
///
/// # References
/// Rota Bulò, Lourenço, Fred and Pelillo: *Pairwise probabilistic clustering using evidence accumulation*, S+SSPR 2010.
pub static BAUM_EAGON: BaumEagon = BaumEagon;

/// The method of [`BAUM_EAGON`].
#[derive(Clone, Copy, Debug)]
pub struct BaumEagon;

static CARD: MethodCard = MethodCard {
    name: "baum-eagon",
    family: "pcc",
    summary: "the growth transform that pcc-l2 replaces; the papers' baseline, slow",
    reference: "Rota Bulò, Lourenço, Fred and Pelillo 2010, S+SSPR",
    reads: Reads::Labels,
    missing: MissingLabels::Handled,
    soft: true,
    chooses_clusters: false,
    clusters_is_maximum: true,
    weighted: false,
    seeded: true,
    certainty: "probability of the object's most probable cluster",
    time: "pairs · (M + K · rounds)",
    memory: "n² up to 10,000 objects, then n",
    bytes,
    remedy: WAY_OUT,
    settings: &[
        RESTARTS,
        TOLERANCE,
        ROUNDS,
        PARTNERS,
        SettingHelp { name: "weighted", help: "true counts a pair as often as it was seen; false, as the paper, once" },
    ],
};

fn solve(
    problem: &Problem<'_>,
    clusters: usize,
    settings: &BaumEagonSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome, PccError> {
    fn go(
        evidence: &dyn Evidence,
        bases: Option<&Ensemble>,
        (problem, clusters): (&Problem<'_>, usize),
        common: &PccSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome, PccError> {
        pcc(evidence, bases, Divergence::L2, clusters, problem.seed, common, monitor)
    }
    let BaumEagonSettings { restarts, tolerance, rounds, partners, weighted } = *settings;
    let common =
        PccSettings { solver: Solver::Growth, restarts, tolerance, rounds, partners, ..PccSettings::default() };
    let what = (problem, clusters);
    let outcome = counted(
        problem,
        &common,
        monitor,
        |dense: Dense, bases| {
            if weighted {
                go(&dense, bases, what, &common, monitor)
            } else {
                go(&Shares::new(dense), bases, what, &common, monitor)
            }
        },
        |sparse: Sparse, bases| {
            if weighted {
                go(&sparse, bases, what, &common, monitor)
            } else {
                go(&Shares::new(sparse), bases, what, &common, monitor)
            }
        },
    )?;
    Ok(named(outcome, problem.ensemble))
}

impl Consensus for BaumEagon {
    fn card(&self) -> &'static MethodCard {
        &CARD
    }

    fn default_settings(&self) -> Value {
        serde_json::to_value(BaumEagonSettings::default()).expect("settings are plain data")
    }

    fn run(&self, problem: &Problem<'_>, monitor: &dyn Monitor) -> Result<Outcome, ConsensusError> {
        let method = CARD.name;
        let settings: BaumEagonSettings = problem.settings.apply().map_err(|error| error.of(method))?;
        let Clusters::Exactly(clusters) = problem.clusters else { return Err(ConsensusError::Auto { method }) };
        let mut outcome = solve(problem, clusters, &settings, monitor).map_err(|error| error.of(method))?;
        outcome.settings = serde_json::to_value(&settings).expect("settings are plain data");
        Ok(outcome)
    }
}
