//! BCE as a method: its info, memory and entry points.

use std::num::Saturating;

use partita_core::{FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize};

use super::variational_em::{BceDiagnostics, BceSettings, bce};
use crate::shared::info::MIXTURE;
use crate::shared::memory;
use crate::shared::weighted_rows::WeightedRows;

/// [`bce`] as a method.
#[derive(Debug)]
pub struct Bce;

/// Mixed memberships, [`bce`].
pub static BCE: Bce = Bce;

static INFO: MethodInfo = MethodInfo {
    name: "bce",
    summary: "mixed memberships by variational EM: an object may belong to several clusters",
    reference: "Wang, Shan, Banerjee, Bayesian cluster ensembles, SDM 2009",
    certainty: "expected share of the label in the object's membership",
    time: "restarts · rounds · 20 n M K",
    memory: "n (M + 24 K) + restarts · (16 n K + 512 ΣJ K) bytes",
    remedy: "ask for fewer clusters, set restarts lower, or take mm",
    ..MIXTURE
};

impl Method for Bce {
    type Settings = BceSettings;
    type Diagnostics = BceDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &BceSettings) -> u64 {
        let [n, _, _, k] = size.saturating();
        let memberships = n * k * Saturating(16 * u64::from(settings.restarts.get()));
        (Saturating(memory::fit_bytes(size, settings.restarts)) + memberships).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &BceSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<BceDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(bce(&WeightedRows::of(problem.ensemble), clusters, problem.seed, settings, monitor)?)
    }
}
