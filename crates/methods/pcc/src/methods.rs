//! PCC and PEACE as methods.

use std::num::Saturating;

use partita_coassoc::SparseEvidence;
use partita_core::{
    Capabilities, Clusters, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize,
    Settings, SettingsError, SoftBases, Weights,
};
use serde::{Deserialize, Serialize};

use crate::auto::auto;
use crate::diagnostics::PccDiagnostics;
use crate::divergence::Divergence;

use crate::evidence::{Evidence, REMEDY};
use crate::on_ensemble::solve;
use crate::pcc::RANDOM_FOR_SQUARES;
use crate::settings::PccSettings;
use crate::starts::TREE;

/// Settings of [`PCC`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[settings(check = Self::check_together)]
#[non_exhaustive]
pub struct AnyPccSettings {
    /// What a wrong co-occurrence probability costs: kl, l2 (which Mahalanobis divergences are a multiple of), exponential, or beta:p with
    /// 1 < p ≤ 2 between kl and l2.
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
///
/// A base clustering of weight w counts as w of them, and an object of weight w is w copies with the same probabilities:
///
/// ```text
/// f(Y) = Σ_{i<j} w_i w_j N_ij d(c_ij/N_ij, y_i·y_j) + Σ_i ½ w_i (w_i − 1) N_ii d(c_ii/N_ii, |y_i|²)
/// ```
///
/// The second sum is over the pairs among the copies of one object, which are always together (c_ii = N_ii) unless base clusterings are
/// soft; it is left out where w is below 1. At every point where the solvers can end, copies with hard labels have the same probabilities
/// without being told to, so that a run on weights ends where one on copies can.
pub static PCC_KL: PccOf = PccOf {
    divergence: Divergence::Kl,
    info: &info(
        "pcc-kl",
        "probabilities that best explain how often objects are together; soft, uncertain where the evidence is",
    ),
};

/// Probabilistic consensus under the squared difference. Weights are as in [`PCC_KL`].
pub static PCC_L2: PccOf = PccOf {
    divergence: Divergence::L2,
    info: &info(
        "pcc-l2",
        "as pcc-kl with squared errors: fastest, and less moved by single contradictions",
    ),
};

/// Probabilistic evidence accumulation: maximum likelihood of binomial pair counts, which is PCC under KL.
///
/// `f_KL = −½ loglik − Σ N_ij H(c_ij/N_ij)` with PEACE's likelihood over ordered pairs: the same problem, so the same
/// code. The paper's equation (9) and its ρ(ε) carry the wrong sign on the `N − c` term,
/// its gradient is that of the unordered sum, its `λ e_n` should be `λ e_K`, and V_i ranges over σ(y_i). Weights are as in [`PCC_KL`].
pub static PEACE: PccOf = PccOf {
    divergence: Divergence::Kl,
    info: &MethodInfo {
        reference: "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo 2013, ICPRAM",
        ..info(
            "peace",
            "maximum likelihood of binomial pair counts; the same problem as pcc-kl",
        )
    },
};

/// The method of a divergence that is a setting.
#[derive(Debug)]
pub struct Pcc;

/// Probabilistic consensus under a divergence of the user's choice. Weights are as in [`PCC_KL`].
pub static PCC: Pcc = Pcc;

static PCC_INFO: MethodInfo = info(
    "pcc",
    "probabilistic consensus under the divergence you name, such as beta:1.5",
);

pub(crate) const fn info(name: &'static str, summary: &'static str) -> MethodInfo {
    MethodInfo {
        name,
        family: "pcc",
        summary,
        reference: "Lourenço, Rota Bulò, Rebagliati, Fred, Figueiredo and Pelillo 2015, Machine Learning 98",
        time: "pairs · (M + K · iterations)",
        memory: "n² up to 10,000 objects, then n",
        remedy: REMEDY,
        capabilities: Capabilities {
            soft: true,
            auto_clusters: true,
            clusters_is_maximum: true,
            seeded: true,
            soft_bases: SoftBases::Native,
            base_weights: Weights::Native,
            object_weights: Weights::Native,
            start: true,
            pairs: true,
            ..Capabilities::HARD_LABELS
        },
    }
}

/// Dense: counts, laid out twice for a moment, and a tree where one is grown. Sparse: the sampled pairs. Tables of every
/// start besides, and of so many `more`.
pub(crate) fn bytes(size: &ProblemSize, settings: &PccSettings, more: u64) -> u64 {
    let size = settings.size(size);
    let [n, _, _, k] = size.saturating();
    let evidence = if let Some(pairs) = settings.sampled(size.objects) {
        SparseEvidence::bytes(size.objects, size.base_clusterings, pairs, true)
    } else {
        let counts = Evidence::bytes(size.objects, size.base_clusterings);
        let tree = Saturating(if size.objects <= TREE { 2 } else { 0 });
        counts.max((Saturating(counts / 3 * 2) + n * n * tree).0)
    };
    let starts = Saturating(u64::from(settings.random(size.objects, true)) + 2 + more);
    (Saturating(evidence) + starts * n * (k * Saturating(32) + Saturating(64))).0
}

/// The consensus into the number of clusters that is asked for, or that is chosen.
fn found(
    problem: &Problem<'_>,
    divergence: Divergence,
    settings: &PccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<PccDiagnostics>, FitError> {
    match problem.clusters {
        Clusters::Exactly(clusters) => {
            solve(problem, clusters, divergence, settings, false, monitor)
        }
        Clusters::Auto => auto(problem, divergence, settings, monitor),
    }
    .map_err(FitError::from)
}

impl Method for PccOf {
    type Settings = PccSettings;
    type Diagnostics = PccDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn check(&self, settings: &PccSettings, _size: &ProblemSize) -> Result<(), SettingsError> {
        settings.check_divergence(self.divergence)
    }

    fn bytes(&self, size: &ProblemSize, settings: &PccSettings) -> u64 {
        bytes(size, settings, 0)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &PccSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<PccDiagnostics>, FitError> {
        found(problem, self.divergence, settings, monitor)
    }
}

impl Method for Pcc {
    type Settings = AnyPccSettings;
    type Diagnostics = PccDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &PCC_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &AnyPccSettings) -> u64 {
        let more = match settings.divergence {
            Divergence::Beta(_) => RANDOM_FOR_SQUARES + 1,
            _ => 0,
        };
        bytes(size, &settings.common, more)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &AnyPccSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<PccDiagnostics>, FitError> {
        found(problem, settings.divergence, &settings.common, monitor)
    }
}
