//! The medians as methods.

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, ProblemSize, RowFit, RowProblem,
    SoftBases, Weights,
};

use super::MedianDiagnostics;
use super::loss::{Kind, Loss};
use super::memory::row_bytes;
use super::passes::solve;
use super::settings::{MedianBinderSettings, MedianViSettings};

/// The method [`MEDIAN_VI`].
#[derive(Debug)]
pub struct MedianVi;

/// The method [`MEDIAN_BINDER`].
#[derive(Debug)]
pub struct MedianBinder;

/// The partition with the least mean variation of information against the base clusterings: what Bayesian clustering calls
/// the SALSO estimate of posterior samples, for any ensemble.
///
/// ```text
/// minimise  Σ_u ω_u L_u / Σ_u ω_u,    L_u = (1/n_u) [ a Σ_c f(s_c) + (2 − a) Σ_k f(n_k) − 2 Σ_kc f(n_kc) ],    f(x) = x log₂ x
/// NVI  (b + v − 2 j) / (f(n) − j)     ID  (b + v − j − min(b, v)) / n     NID  (b + v − j − min(b, v)) / (f(n) − min(b, v))
/// ```
/// with `b = Σ_k f(n_k)`, `v = Σ_c f(s_c)`, `j = Σ_kc f(n_kc)` over the `n_u` objects that base clustering u labels.
///
/// | paper | here |
/// |---|---|
/// | a | [`MedianSearch::asymmetry`](crate::MedianSearch::asymmetry) |
/// | maxNClusters | [`Clusters::Exactly`](partita_core::Clusters::Exactly); [`Clusters::Auto`](partita_core::Clusters::Auto) leaves the number free, up to 16 or twice the largest base clustering |
/// | nRuns | [`MedianSearch::restarts`](crate::MedianSearch::restarts) |
/// | zealous updates | clusters that are emptied and dealt out anew |
///
/// With K free the median is about as fine as the base clusterings: of base clusterings with 40 clusters it has some 30,
/// whatever the number of classes. Ask for at most K to have fewer.
///
/// The search starts from cuts of an average-link tree, from the best base clustering and from objects dealt out one by
/// one; joins pairs of clusters, moves single rows, and joins again until neither helps; and deals the clusters of the
/// three best results out anew, one after the other. Objects with the same label row stay together: for VI and Binder some
/// optimum does that, because the loss is concave in how such objects are shared out.
///
/// # Cost
/// O(n M K) a sweep. Beyond 10,000 different label rows starts are tried on so many, and the best goes on with all.
/// 12 ΣJ K bytes a start; no memory that grows with n. Where the rows are more than that, they then move all at once, a pass an
/// iteration: each goes where one object costs least by the counts of the iteration before, for as long as the loss falls by more than one
/// part in 10⁹; clusters are joined where that lowers it.
///
/// # Differences from the paper
/// Starts and joins as above (the paper: random and sequential starts, single moves); weights, of which those of objects are as many
/// copies (rounded to one part in 2²⁹ of their sum where they are not whole); missing labels, for which
/// every base clustering is compared on the objects that it labels.
///
/// # References
/// Dahl, Johnson, Müller, *Search algorithms and loss functions for Bayesian clustering*, JCGS 2022; Rastelli, Friel, *Optimal
/// Bayesian estimators for latent variable cluster models*, 2018.
#[doc(alias = "salso")]
#[doc(alias = "variation of information")]
pub static MEDIAN_VI: MedianVi = MedianVi;

/// The partition with the least mean Binder loss against the base clusterings: the one that puts fewest pairs of objects
/// together that base clusterings separate, or the other way round. Known as correlation clustering of the co-association, and as
/// clustering aggregation (LOCALSEARCH of Gionis, Mannila and Tsaparas).
///
/// ```text
/// minimise  Σ_u ω_u L_u / Σ_u ω_u,    L_u = (1/n_u²) [ a Σ_c s_c² + (2 − a) Σ_k n_k² − 2 Σ_kc n_kc² ]
/// ```
/// which is 2 · pairs that differ / n² for a = 1, or `1 − ARI` with `loss=ari`. With K free it leaves many small clusters.
/// Everything else is as in [`MEDIAN_VI`].
///
/// # References
/// Binder, *Bayesian cluster analysis*, Biometrika 1978; Gionis, Mannila, Tsaparas, *Clustering aggregation*, TKDD 2007; Dahl,
/// Johnson, Müller, JCGS 2022.
#[doc(alias = "correlation clustering")]
#[doc(alias = "clustering aggregation")]
#[doc(alias = "LOCALSEARCH")]
pub static MEDIAN_BINDER: MedianBinder = MedianBinder;

const VI_INFO: MethodInfo = MethodInfo {
    name: "median-vi",
    family: "median",
    summary: "least variation of information to the base clusterings; finds K, about as many as they have",
    reference: "Dahl, Johnson, Müller, Search algorithms and loss functions for Bayesian clustering, JCGS 2022",
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

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &MedianViSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MedianDiagnostics>, FitError> {
        let loss = Loss {
            kind: Kind::Information(settings.loss),
            asymmetry: settings.search.asymmetry,
            one: 1.0,
        };
        Ok(solve(problem, loss, &settings.search, monitor)?)
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

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &MedianBinderSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MedianDiagnostics>, FitError> {
        let loss = Loss {
            kind: Kind::Pairs(settings.loss),
            asymmetry: settings.search.asymmetry,
            one: 1.0,
        };
        Ok(solve(problem, loss, &settings.search, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &MedianBinderSettings) -> u64 {
        row_bytes(size, &settings.search)
    }
}
