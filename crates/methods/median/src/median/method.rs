//! The medians as methods.

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, Outcome, Problem, ProblemSize, RowFit,
    RowProblem, SoftBases, Weights,
};

use super::memory::{bytes, row_bytes};
use super::passes::{median_binder_rows, median_vi_rows};
use super::settings::{MedianBinderSettings, MedianViSettings};
use super::{MedianDiagnostics, median_binder, median_vi};

/// Median partition by losses made of entropies: [`median_vi`].
#[derive(Debug)]
pub struct MedianVi;

/// Median partition by losses that count pairs: [`median_binder`].
#[derive(Debug)]
pub struct MedianBinder;

/// Median partition by variation of information: [`median_vi`].
pub static MEDIAN_VI: MedianVi = MedianVi;

/// Median partition by Binder loss: [`median_binder`].
pub static MEDIAN_BINDER: MedianBinder = MedianBinder;

const VI_INFO: MethodInfo = MethodInfo {
    name: "median-vi",
    family: "median",
    summary: "least variation of information to the base clusterings; finds K, about as many as they have",
    reference: "Dahl, Johnson, Müller, Search algorithms and loss functions for Bayesian clustering, JCGS 2022",
    certainty: "cost of the object in the next best cluster less that in its own, over the larger of the two",
    time: "restarts · sweeps · n M K",
    memory: "80 n + 24 restarts ΣJ K bytes",
    remedy: "ask for fewer clusters, or set fewer restarts",
    capabilities: Capabilities {
        auto_clusters: true,
        clusters_is_maximum: true,
        base_weights: Weights::Native,
        object_weights: Weights::Native,
        seeded: true,
        streams: true,
        soft_bases: SoftBases::Refused(
            "it counts objects in whole clusters of each base clustering; kc and soft-mean take shares",
        ),
        ..Capabilities::HARD_LABELS
    },
};

const BINDER_INFO: MethodInfo = MethodInfo {
    name: "median-binder",
    summary: "fewest pairs of objects on which it differs from the base clusterings; finds K, with many small clusters",
    reference: "Binder, Biometrika 1978; Gionis, Mannila, Tsaparas, Clustering aggregation, TKDD 2007",
    ..VI_INFO
};

impl Method for MedianVi {
    type Settings = MedianViSettings;
    type Diagnostics = MedianDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &VI_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &MedianViSettings) -> u64 {
        bytes(size, &settings.search)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &MedianViSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<MedianDiagnostics>, FitError> {
        Ok(median_vi(
            problem.weighted(),
            problem.clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &MedianViSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MedianDiagnostics>, FitError> {
        let (rows, weights) = (problem.passes(), problem.weights);
        Ok(median_vi_rows(
            &rows,
            weights,
            problem.clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &MedianViSettings) -> u64 {
        row_bytes(size, &settings.search)
    }
}

impl Method for MedianBinder {
    type Settings = MedianBinderSettings;
    type Diagnostics = MedianDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &BINDER_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &MedianBinderSettings) -> u64 {
        bytes(size, &settings.search)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &MedianBinderSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<MedianDiagnostics>, FitError> {
        Ok(median_binder(
            problem.weighted(),
            problem.clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &MedianBinderSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MedianDiagnostics>, FitError> {
        let (rows, weights) = (problem.passes(), problem.weights);
        Ok(median_binder_rows(
            &rows,
            weights,
            problem.clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &MedianBinderSettings) -> u64 {
        row_bytes(size, &settings.search)
    }
}
