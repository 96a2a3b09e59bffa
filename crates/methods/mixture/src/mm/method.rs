//! MM as a method: its info, memory and entry points.

use std::num::Saturating;

use partita_core::{
    BaseClustering, Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem,
    ProblemSize, RowFit, RowProblem, SettingsError,
};

use super::em::{MmDiagnostics, MmSettings, mm};
use super::named::{fixed_clusters, mm_named};
use super::row_fit::mm_rows;
use crate::shared::info::MIXTURE;
use crate::shared::memory;
use crate::shared::weighted_rows::WeightedRows;

/// [`mm`] as a method.
#[derive(Debug)]
pub struct Mm;

/// A finite mixture of label rows, [`mm`].
pub static MM: Mm = Mm;

static INFO: MethodInfo = MethodInfo {
    name: "mm",
    summary: "mixture of label distributions by EM: soft, fast, takes missing labels",
    reference: "Topchy, Jain, Punch, A mixture model for clustering ensembles, SDM 2004",
    capabilities: Capabilities {
        streams: true,
        ..MIXTURE.capabilities
    },
    ..MIXTURE
};

impl Method for Mm {
    type Settings = MmSettings;
    type Diagnostics = MmDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &MmSettings) -> u64 {
        let [_, m, _, k] = size.saturating();
        let confusion = if settings.named {
            (m * k * k * Saturating(32)).0
        } else {
            0
        };
        memory::fit_bytes(size, settings.restarts).saturating_add(confusion)
    }

    fn fixed_clusters(&self, settings: &MmSettings, bases: &[BaseClustering]) -> Option<usize> {
        fixed_clusters(settings, bases)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &MmSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<MmDiagnostics>, FitError> {
        if settings.named {
            return Ok(mm_named(
                &WeightedRows::of_weighted(problem.weighted()),
                settings,
                monitor,
            )?);
        }
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(mm(
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
        settings: &MmSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MmDiagnostics>, FitError> {
        if settings.named {
            let reason = "named labels are held in memory, not read block by block".into();
            return Err(SettingsError::Unfit {
                name: "named",
                value: "true".into(),
                reason,
            }
            .into());
        }
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(mm_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &MmSettings) -> u64 {
        memory::row_fit_bytes(size, settings.restarts)
    }
}
