//! NBCE-VB as a method: its info, memory and entry points.

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize, RowFit,
    RowProblem,
};

use super::row_fit::nbce_vb_rows;
use super::variational::{NbceVbSettings, nbce_vb};
use crate::nbce::info::NBCE;
use crate::nbce::likelihood::NbceDiagnostics;
use crate::nbce::truncation::truncated;
use crate::shared::memory;
use crate::shared::weighted_rows::WeightedRows;

/// [`nbce_vb`] as a method. `Clusters::Auto` allows twice as many clusters as the largest base clustering has.
#[derive(Debug)]
pub struct NbceVb;

/// NBCE by variational inference, [`nbce_vb`].
pub static NBCE_VB: NbceVb = NbceVb;

static INFO: MethodInfo = MethodInfo {
    name: "nbce-vb",
    summary: "nonparametric mixture by variational inference: finds K itself, fast, scales to millions of rows",
    remedy: "allow fewer clusters, or set restarts lower",
    capabilities: Capabilities {
        streams: true,
        ..NBCE.capabilities
    },
    ..NBCE
};

impl Method for NbceVb {
    type Settings = NbceVbSettings;
    type Diagnostics = NbceDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &NbceVbSettings) -> u64 {
        memory::fit_bytes(&truncated(size), settings.restarts)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &NbceVbSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<NbceDiagnostics>, FitError> {
        let clusters = truncated(&problem.size()).clusters;
        Ok(nbce_vb(
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
        settings: &NbceVbSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<NbceDiagnostics>, FitError> {
        let clusters = truncated(&problem.size()).clusters;
        Ok(nbce_vb_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &NbceVbSettings) -> u64 {
        memory::row_fit_bytes(&truncated(size), settings.restarts)
    }
}
