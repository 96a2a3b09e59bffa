//! PCC and PEACE as methods.

use std::num::Saturating;

use partita_coassoc::SparseEvidence;
use partita_core::{
    Capabilities, Clusters, Ensemble, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize, Settings,
    SettingsError, Weights,
};
use serde::{Deserialize, Serialize};
use tracing::info_span;

use crate::auto::auto;
use crate::dense::{Dense, WAY_OUT};
use crate::diagnostics::PccDiagnostics;
use crate::divergence::Divergence;
use crate::error::PccError;
use crate::pcc::{isolated, pcc};
use crate::settings::PccSettings;
use crate::sparse::Sparse;
use crate::starts::TREE;

/// Settings of [`PCC`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[settings(check = Self::check_together)]
#[non_exhaustive]
pub struct AnyPccSettings {
    /// What a wrong co-occurrence probability costs: kl, l2, or beta:p with 1 < p ≤ 2 between the two.
    pub divergence: Divergence,
    /// The rest, shared with the methods of one divergence.
    #[serde(flatten)]
    #[setting(flatten)]
    pub common: PccSettings,
}

impl AnyPccSettings {
    fn check_together(&self, _size: &ProblemSize) -> Result<(), SettingsError> {
        self.common.check_divergence(self.divergence)
    }
}

/// A method of one divergence.
#[derive(Debug)]
pub struct PccOf {
    divergence: Divergence,
    info: &'static MethodInfo,
}

/// Probabilistic consensus under the Kullback–Leibler divergence.
pub static PCC_KL: PccOf = PccOf {
    divergence: Divergence::Kl,
    info: &info("pcc-kl", "probabilities that best explain how often objects are together; soft, sure of its doubts"),
};

/// Probabilistic consensus under the squared difference.
pub static PCC_L2: PccOf = PccOf {
    divergence: Divergence::L2,
    info: &info("pcc-l2", "as pcc-kl with squared errors: fastest, and less moved by single contradictions"),
};

/// Probabilistic evidence accumulation: maximum likelihood of binomial pair counts, which is PCC under KL.
///
/// `f_KL = −½ loglik − Σ N_ij H(c_ij/N_ij)` with PEACE's likelihood over ordered pairs: the same problem, so the same
/// code. The paper's equation (9) and its ρ(ε) carry the wrong sign on the `N − c` term,
/// its gradient is that of the unordered sum, its `λ e_n` should be `λ e_K`, and V_i ranges over σ(y_i).
pub static PEACE: PccOf = PccOf {
    divergence: Divergence::Kl,
    info: &MethodInfo {
        reference: "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo 2013, ICPRAM",
        ..info("peace", "maximum likelihood of binomial pair counts; the same problem as pcc-kl")
    },
};

/// The method of a divergence that is a setting.
#[derive(Debug)]
pub struct Pcc;

/// Probabilistic consensus under a divergence of the user's choice.
pub static PCC: Pcc = Pcc;

static PCC_INFO: MethodInfo = info("pcc", "probabilistic consensus under the divergence you name, such as beta:1.5");

pub(crate) const fn info(name: &'static str, summary: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        family: "pcc",
        summary,
        reference: "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo 2015, Machine Learning 98",
        certainty: "probability of the object's most probable cluster",
        time: "pairs · (M + K · rounds)",
        memory: "n² up to 10,000 objects, then n",
        remedy: WAY_OUT,
        capabilities: Capabilities {
            soft: true,
            auto_clusters: true,
            clusters_is_maximum: true,
            seeded: true,
            base_weights: Weights::Refused("it counts how often objects are together"),
            ..Capabilities::HARD_LABELS
        },
    }
}

/// Dense: counts, laid out twice for a moment, and a tree where one is grown. Sparse: the sampled pairs. Tables of every
/// start besides.
pub(crate) fn bytes(size: &ProblemSize, settings: &PccSettings) -> u64 {
    let size = settings.size(size);
    let [n, _, _, k] = size.saturating();
    let evidence = if let Some(partners) = settings.sampled(size.objects) {
        let pairs = n * Saturating(u64::from(partners)) / Saturating(2);
        SparseEvidence::bytes(size.objects, size.base_clusterings, pairs.0, true)
    } else {
        let counts = Dense::bytes(size.objects, size.base_clusterings);
        let tree = if size.objects <= TREE { n * n * Saturating(2) } else { Saturating(0) };
        counts.max((Saturating(counts / 3 * 2) + tree).0)
    };
    let starts = Saturating(u64::from(settings.random(size.objects, true)) + 2);
    (Saturating(evidence) + starts * n * (k * Saturating(32) + Saturating(64))).0
}

/// Counts the pairs of the ensemble, all or a sample, and hands them to `dense` or `sparse` with the ensemble where its base
/// clusterings shall be started from, because no tree is grown.
pub(crate) fn counted<T>(
    problem: &Problem<'_>,
    settings: &PccSettings,
    monitor: &dyn Monitor,
    dense: impl FnOnce(Dense, Option<&Ensemble>) -> Result<T, PccError>,
    sparse: impl FnOnce(Sparse, Option<&Ensemble>) -> Result<T, PccError>,
) -> Result<T, PccError> {
    let (ensemble, budget) = (problem.ensemble, problem.budget);
    let objects = ensemble.objects();
    if let Some(partners) = settings.sampled(objects) {
        let sample = || Sparse::sample(ensemble, partners, problem.seed.child(PAIRS), budget, monitor);
        let evidence = info_span!("evidence").in_scope(sample)?;
        return info_span!("solve").in_scope(|| sparse(evidence, Some(ensemble)));
    }
    let bases = (objects > TREE).then_some(ensemble);
    let evidence = info_span!("evidence").in_scope(|| Dense::count(ensemble, budget, monitor))?;
    info_span!("solve").in_scope(|| dense(evidence, bases))
}

/// The ensemble as evidence, and the consensus.
pub(crate) fn solve(
    problem: &Problem<'_>,
    clusters: usize,
    settings: &AnyPccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    let AnyPccSettings { divergence, common } = settings;
    let (divergence, seed) = (*divergence, problem.seed);
    let outcome = counted(
        problem,
        common,
        monitor,
        |dense, bases| pcc(&dense, bases, divergence, clusters, seed, common, monitor),
        |sparse, bases| pcc(&sparse, bases, divergence, clusters, seed, common, monitor),
    )?;
    Ok(named(outcome, problem.ensemble))
}

/// Objects without partners by name. Without names only their number is told: places in the canonical order mean
/// nothing to a user.
pub(crate) fn named(mut outcome: Outcome<PccDiagnostics>, ensemble: &Ensemble) -> Outcome<PccDiagnostics> {
    let places = &outcome.details.isolated;
    if places.is_empty() {
        return outcome;
    }
    let names: Vec<String> = match ensemble.object_names() {
        Some(names) => places.iter().map(|&i| names[i].clone()).collect(),
        None => Vec::new(),
    };
    outcome.warnings.pop();
    outcome.warnings.push(isolated(places.len(), names.iter().cloned()));
    outcome.details.isolated_names = names;
    outcome
}

/// The child of the seed that draws pairs; starts have small numbers.
const PAIRS: u64 = u64::MAX;

/// The consensus into the number of clusters that is asked for, or that is chosen.
fn found(
    problem: &Problem<'_>,
    settings: &AnyPccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, PccError> {
    match problem.clusters {
        Clusters::Exactly(clusters) => solve(problem, clusters, settings, monitor),
        Clusters::Auto => auto(problem, settings, monitor),
    }
}

impl Method for PccOf {
    type Settings = PccSettings;
    type Diagnostics = PccDiagnostics;
    type Error = PccError;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn check(&self, settings: &PccSettings, _size: &ProblemSize) -> Result<(), SettingsError> {
        settings.check_divergence(self.divergence)
    }

    fn bytes(&self, size: &ProblemSize, settings: &PccSettings) -> u64 {
        bytes(size, settings)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &PccSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<PccDiagnostics>, PccError> {
        found(problem, &AnyPccSettings { divergence: self.divergence, common: settings.clone() }, monitor)
    }
}

impl Method for Pcc {
    type Settings = AnyPccSettings;
    type Diagnostics = PccDiagnostics;
    type Error = PccError;

    fn info(&self) -> &'static MethodInfo {
        &PCC_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &AnyPccSettings) -> u64 {
        bytes(size, &settings.common)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &AnyPccSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<PccDiagnostics>, PccError> {
        found(problem, settings, monitor)
    }
}
