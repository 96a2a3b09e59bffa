//! What LCE and GP-MGLA have in common: cuts of objects and linked base clusters, by passes over label rows.

use partita_core::{
    BaseWeights, FitError, Method, MethodInfo, Monitor, Outcome, PassRunner, Problem, ProblemSize,
    RowFit, RowProblem, Seed, Settings, WeightedEnsemble,
};
use partita_kmeans::embedded::Search;
use serde::{Deserialize, Serialize};

use crate::spectral::SpectralDiagnostics;
use crate::{GraphError, cluster_similarity, row_cut};

/// How k-means groups embedded objects. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EmbeddedSettings {
    /// Independent initializations of k-means; the lowest loss is kept.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: u32,
    /// The most rounds of k-means.
    #[setting(range = 1..=1_000_000, alias = "max_iter", alias = "n_iter")]
    pub rounds: u32,
    /// Stop k-means when its loss falls by less than this share.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for EmbeddedSettings {
    fn default() -> Self {
        Self {
            restarts: 10,
            rounds: 100,
            tolerance: 1e-6,
        }
    }
}

impl EmbeddedSettings {
    /// The search for so many clusters.
    pub(crate) fn search(&self, clusters: usize) -> Search {
        Search {
            clusters,
            restarts: self.restarts,
            rounds: self.rounds,
            tolerance: self.tolerance,
        }
    }
}

type Fit<S> = fn(
    WeightedEnsemble<'_>,
    usize,
    Seed,
    &S,
    &dyn Monitor,
) -> Result<Outcome<SpectralDiagnostics>, GraphError>;

type FitRows<S> = fn(
    &PassRunner<'_>,
    Option<&BaseWeights>,
    usize,
    Seed,
    &S,
    &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError>;

/// A cut of objects and base clusters that are linked as a method: [`lce`](crate::lce()) or [`gp_mgla`](crate::gp_mgla()).
#[derive(Debug)]
pub struct LinkMethod<S> {
    pub(crate) info: &'static MethodInfo,
    pub(crate) fit: Fit<S>,
    pub(crate) fit_rows: FitRows<S>,
    /// How k-means goes about with these settings.
    pub(crate) embedded: fn(&S) -> &EmbeddedSettings,
}

impl<S: Settings> Method for LinkMethod<S> {
    type Settings = S;
    type Diagnostics = SpectralDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn bytes(&self, size: &ProblemSize, settings: &S) -> u64 {
        self.row_bytes(size, settings)
            .saturating_add((size.objects as u64).saturating_mul(24))
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &S,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SpectralDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        Ok((self.fit)(
            problem.weighted(),
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &S,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SpectralDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        Ok((self.fit_rows)(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &S) -> u64 {
        let restarts = (self.embedded)(settings).restarts;
        row_cut::bytes(size, restarts)
            .saturating_add(cluster_similarity::bytes(size.base_clusters as u64))
    }
}
