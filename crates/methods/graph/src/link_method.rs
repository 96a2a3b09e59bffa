//! What LCE and GP-MGLA have in common: cuts of objects and linked base clusters, by passes over label rows.

use partita_coassoc::Overlap;
use partita_core::{
    FitError, Method, MethodInfo, Monitor, PassRunner, ProblemSize, RowFit, RowProblem, Settings,
};
use partita_kmeans::embedded::Search;
use serde::{Deserialize, Serialize};

use crate::spectral::{self, SpectralDiagnostics};
use crate::{GraphError, cluster_similarity};

/// How k-means groups embedded objects. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EmbeddedSettings {
    /// Independent initializations of k-means; the lowest loss is kept.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: u32,
    /// The most iterations of k-means.
    #[setting(range = 1..=1_000_000, alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: u32,
    /// Stop k-means when its loss falls by less than this share.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for EmbeddedSettings {
    fn default() -> Self {
        Self {
            restarts: 10,
            iterations: 100,
            tolerance: 1e-6,
        }
    }
}

type Fit<S> = fn(
    &PassRunner<'_>,
    &RowProblem<'_>,
    &Search,
    &S,
    &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError>;

/// A cut of objects and base clusters that are linked as a method: [`LCE`](crate::LCE) or [`GP_MGLA`](crate::GP_MGLA).
#[derive(Debug)]
pub struct LinkMethod<S> {
    pub(crate) info: &'static MethodInfo,
    pub(crate) fit: Fit<S>,
    /// How k-means goes about with these settings.
    pub(crate) embedded: fn(&S) -> &EmbeddedSettings,
}

impl<S: Settings> Method for LinkMethod<S> {
    type Settings = S;
    type Diagnostics = SpectralDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &S,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SpectralDiagnostics>, FitError> {
        let embedded = (self.embedded)(settings);
        let search = Search {
            clusters: problem.given_clusters(self.info.name)?,
            restarts: embedded.restarts,
            iterations: embedded.iterations,
            tolerance: embedded.tolerance,
        };
        Ok((self.fit)(
            &problem.passes(),
            problem,
            &search,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &S) -> u64 {
        let restarts = (self.embedded)(settings).restarts;
        Overlap::bytes(size)
            .max(spectral::bytes(size, restarts))
            .saturating_add(cluster_similarity::bytes(size.base_clusters as u64))
    }
}
