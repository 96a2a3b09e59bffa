//! NBCE-Gibbs as a method: its info, memory and entry points.

use std::num::Saturating;

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize,
};

use super::chain_diagnostics::NbceGibbsDiagnostics;
use super::sampler::solve;
use super::settings::{NbceGibbsSettings, Summary};
use crate::nbce::info::NBCE;
use crate::nbce::truncation::truncated;
use crate::shared::initialization::initial_bytes;
use crate::shared::log_mean::RUNS;

/// The method [`NBCE_GIBBS`].
#[derive(Debug)]
pub struct NbceGibbs;

/// A Dirichlet-process mixture of label rows with at most K clusters, by collapsed Gibbs sampling
/// ([`nbce_draws`](crate::nbce_draws)) and one partition that stands for what was drawn ([`Summary`](crate::Summary)).
///
/// Objects with equal label rows go where most of them are. R-hat and the effective number of draws of the log joint are in the details, and a warning
/// when they are bad; `modes` groups chains whose best partitions are near each other.
///
/// | paper | here |
/// |---|---|
/// | Z | kept partitions |
/// | `p_FSD`, `p_TSB` | `prior`: `symmetric`, `stick-breaking` |
/// | K, α0, β | the number of clusters asked for, `alpha0`, `beta` |
///
/// `Clusters::Auto` allows twice as many clusters as the largest base clustering has.
///
/// With `evidence=T` the details have ln p(labels), all partitions summed, by annealed importance sampling (Neal 2001): the means of 32 runs
/// of T sweeps each, under the mean α0 and β of the draws, with the standard error; enumeration of 8 objects agrees within that.
///
/// # Cost
/// As [`nbce_draws`](crate::nbce_draws), plus O(kept² n) for the summary, and 32 T sweeps of O(n M K) with logarithms for `evidence`.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010; Neal, *Annealed importance sampling*, Statistics
/// and Computing 2001.
#[doc(alias = "MCMC")]
#[doc(alias = "marginal likelihood")]
#[doc(alias = "DPMM")]
pub static NBCE_GIBBS: NbceGibbs = NbceGibbs;

static INFO: MethodInfo = MethodInfo {
    name: "nbce-gibbs",
    summary: "nonparametric mixture by Gibbs sampling: finds K itself and says how sure it is",
    time: "chains · sweeps · n M K + kept² n",
    memory: "n M + 4 n · kept + 8 chains · (ΣJ + 2 M) K + 4 kept K² bytes",
    remedy: "allow fewer clusters, set keep or sweeps lower, or take nbce-vb",
    capabilities: Capabilities {
        soft: false,
        posterior: true,
        ..NBCE.capabilities
    },
    ..NBCE
};

impl Method for NbceGibbs {
    type Settings = NbceGibbsSettings;
    type Diagnostics = NbceGibbsDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &NbceGibbsSettings) -> u64 {
        bytes(&truncated(size), settings)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &NbceGibbsSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<NbceGibbsDiagnostics>, FitError> {
        Ok(solve(
            problem.weighted(),
            truncated(&problem.size()).clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }
}

/// Label rows, kept draws five times over, memberships, tables of every chain and of its start, overlaps of the draws with the answer, traces, and the pairs of
/// the average-link summary.
fn bytes(size: &ProblemSize, settings: &NbceGibbsSettings) -> u64 {
    let [n, m, side, k] = size.saturating();
    let chains = Saturating(u64::from(settings.chains.get()));
    let kept = chains * Saturating(u64::from(settings.keep.get().min(settings.sweeps.get())));
    let length =
        Saturating(u64::from(settings.burn_in)) + Saturating(u64::from(settings.sweeps.get()));
    let draws = n
        * (m * Saturating(2) + kept * Saturating(20) + k * Saturating(32) + Saturating(80))
        + kept * k * k * Saturating(8);
    let pairs = match settings.summary {
        Summary::AverageLink => {
            n * (n * Saturating(4) + kept * Saturating(2) + k * Saturating(4) + Saturating(24))
        }
        _ => Saturating(0),
    };
    let annealed = Saturating(u64::from(settings.evidence > 0) * u64::from(RUNS))
        * ((side + m) * k * Saturating(32) + n * Saturating(16));
    let chain = (side + m) * k * Saturating(24) + initial_bytes(size) + length * Saturating(160);
    (draws + pairs + annealed + chains * chain).0
}
