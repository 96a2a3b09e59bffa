//! The Baum–Eagon growth transform as a method of its own: what the papers compare with.

use std::num::NonZeroU32;

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize, Settings,
};
use serde::{Deserialize, Serialize};

use crate::diagnostics::PccDiagnostics;
use crate::divergence::Divergence;
use crate::methods::{bytes, info};
use crate::on_ensemble::solve;
use crate::settings::{PccSettings, Solver};

/// Pairs that the iterations of an initialization look at, unless the settings say otherwise, with the fewest and the most of such iterations: 1000
/// can end a third above where the transform leads, and cost little where objects are few.
const PAIRS: usize = 40_000_000;
const ITERATIONS: std::ops::RangeInclusive<usize> = 1000..=10_000;

/// Settings of [`BAUM_EAGON`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct BaumEagonSettings {
    /// Random initializations besides those made from the evidence; the lowest objective is kept. Unset: 12 up to 64
    /// objects, 3 up to 10,000, none beyond.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: Option<NonZeroU32>,
    /// Stop when the relative violation of the optimality conditions is not above this.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
    /// The most iterations of one initialization. Unset: 10,000 up to 63 objects, 1000 from 200 on, between them as many as look at
    /// 40 million pairs.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: Option<NonZeroU32>,
    /// Pairs that are read of each object, on average, in a sample of all pairs; 0 reads all pairs. Unset: all up to 10,000 objects, 30 an object
    /// beyond.
    #[setting(range = 0..=1_000_000, alias = "partners")]
    pub pairs_per_object: Option<u32>,
    /// Whether a pair counts as often as it was seen. The paper counts every pair once.
    pub weighted: bool,
}

impl BaumEagonSettings {
    /// The same for the solvers of this crate, with so many objects.
    fn common(&self, objects: usize) -> PccSettings {
        let usual = (PAIRS / objects.saturating_pow(2).max(1))
            .clamp(*ITERATIONS.start(), *ITERATIONS.end());
        let usual = NonZeroU32::new(usual as u32).expect("1000 at least");
        PccSettings {
            solver: Solver::Growth,
            restarts: self.restarts,
            tolerance: self.tolerance,
            iterations: self.iterations.unwrap_or(usual),
            pairs_per_object: self.pairs_per_object,
            ..PccSettings::default()
        }
    }
}

impl Default for BaumEagonSettings {
    fn default() -> Self {
        let common = PccSettings::default();
        Self {
            restarts: common.restarts,
            tolerance: common.tolerance,
            iterations: None,
            pairs_per_object: common.pairs_per_object,
            weighted: false,
        }
    }
}

/// Probabilistic consensus under the squared difference by the growth transform, as before PEACE and PCC.
///
/// ```text
/// y_ik ← y_ik [(C Y)_ik + (n−1) − ((A − diag A) Y)_ik] / norm        C: shares c/N,  A = Y Yᵀ
/// ```
///
/// An object of weight w is w copies with the same probabilities, as in [`crate::PCC_KL`]: a pair of objects counts the product of their
/// weights, and one with itself w (w − 1). A base clustering of weight w counts as w of them in the shares c/N.
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
#[derive(Debug)]
pub struct BaumEagon;

static INFO: MethodInfo = MethodInfo {
    reference: "Rota Bulò, Lourenço, Fred and Pelillo 2010, S+SSPR",
    capabilities: Capabilities {
        auto_clusters: false,
        ..PCC.capabilities
    },
    ..PCC
};

const PCC: MethodInfo = info(
    "baum-eagon",
    "the growth transform that pcc-l2 replaces; the papers' baseline, slow",
);

impl Method for BaumEagon {
    type Settings = BaumEagonSettings;
    type Diagnostics = PccDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &BaumEagonSettings) -> u64 {
        bytes(size, &settings.common(size.objects), 0)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &BaumEagonSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<PccDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        let common = settings.common(problem.ensemble.objects());
        let once = !settings.weighted;
        solve(problem, clusters, Divergence::L2, &common, once, monitor).map_err(FitError::from)
    }
}
