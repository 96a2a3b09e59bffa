//! NBCE-CVB as a method: its info, memory and entry points.

use std::num::Saturating;

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize, RowFit,
    RowProblem,
};

use super::collapsed::{NbceCvbSettings, nbce_cvb};
use super::row_fit::nbce_cvb_rows;
use crate::nbce::info::NBCE;
use crate::nbce::likelihood::NbceDiagnostics;
use crate::nbce::truncation::truncated;
use crate::shared::memory;
use crate::shared::weighted_rows::WeightedRows;

/// [`nbce_cvb`] as a method. `Clusters::Auto` allows twice as many clusters as the largest base clustering has.
#[derive(Debug)]
pub struct NbceCvb;

/// NBCE by collapsed variational inference, [`nbce_cvb`].
pub static NBCE_CVB: NbceCvb = NbceCvb;

static INFO: MethodInfo = MethodInfo {
    name: "nbce-cvb",
    summary: "nonparametric mixture by collapsed variational inference: finds K itself, closer than plain variational",
    memory: "n M + restarts · (8 n K + 512 ΣJ K) bytes",
    remedy: "allow fewer clusters, set restarts lower, or take nbce-vb",
    capabilities: Capabilities {
        streams: true,
        ..NBCE.capabilities
    },
    ..NBCE
};

impl Method for NbceCvb {
    type Settings = NbceCvbSettings;
    type Diagnostics = NbceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &NbceCvbSettings) -> u64 {
        let size = &truncated(size);
        let [n, _, _, k] = size.saturating();
        let starts =
            memory::rows_of_start(size) * k * Saturating(8 * u64::from(settings.restarts.get()));
        (Saturating(memory::fit_bytes(size, settings.restarts)) + starts + n * k * Saturating(8)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &NbceCvbSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<NbceDiagnostics>, FitError> {
        Ok(nbce_cvb(
            &WeightedRows::of_weighted(problem.weighted()),
            truncated(&problem.size()).clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &NbceCvbSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<NbceDiagnostics>, FitError> {
        let clusters = truncated(&problem.size()).clusters;
        Ok(nbce_cvb_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &NbceCvbSettings) -> u64 {
        let size = truncated(size);
        let [n, _, _, k] = memory::sample_size(&size).saturating();
        let memberships = n * k * Saturating(8 * u64::from(settings.restarts.get()));
        memory::row_fit_bytes(&size, settings.restarts).saturating_add(memberships.0)
    }
}
