//! BCE as a method: its info, memory and entry points.

use std::num::Saturating;

use partita_core::{
    BLOCK_ROWS, Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize,
    RowFit, RowProblem,
};

use super::row_fit::bce_rows;
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
    capabilities: Capabilities {
        streams: true,
        ..MIXTURE.capabilities
    },
    ..MIXTURE
};

impl Method for Bce {
    type Settings = BceSettings;
    type Diagnostics = BceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &BceSettings) -> u64 {
        memory::fit_bytes(size, settings.restarts).saturating_add(memberships(size, settings))
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &BceSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<BceDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(bce(
            &WeightedRows::of_weighted(problem.weighted()),
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &BceSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<BceDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(bce_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &BceSettings) -> u64 {
        let [_, m, _, k] = size.saturating();
        let blocks = Saturating(rayon::current_num_threads() as u64 * BLOCK_ROWS);
        let inferred = blocks * (m * Saturating(16) + k * Saturating(32) + Saturating(200));
        let sample = memberships(&memory::sample_size(size), settings);
        memory::row_fit_bytes(size, settings.restarts)
            .saturating_add(sample)
            .saturating_add(inferred.0)
    }
}

/// Bytes of γ of all restarts, each of this round and of the next.
fn memberships(size: &ProblemSize, settings: &BceSettings) -> u64 {
    let [n, _, _, k] = size.saturating();
    (n * k * Saturating(16 * u64::from(settings.restarts.get()))).0
}
