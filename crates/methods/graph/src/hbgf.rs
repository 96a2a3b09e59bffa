//! Hybrid bipartite graph formulation.

#[cfg(feature = "metis")]
use std::num::Saturating;

use partita_core::{
    BaseClustering, Capabilities, FitError, Flow, Method, MethodInfo, Monitor, Outcome, Problem,
    ProblemSize, RowFit, RowProblem, SettingChoice, Settings, SoftBases, Weights, fit_in_memory,
    fit_in_memory_bytes,
};
#[cfg(feature = "metis")]
use partita_core::{Partition, SettingsError, Stopped};
use partita_kmeans::embedded::Search;
use partita_kmeans::labels::Counts;
use serde::{Deserialize, Serialize};

use crate::GraphError;
#[cfg(feature = "metis")]
use crate::metis::{Graph, partition};
#[cfg(feature = "metis")]
use crate::rows::Rows;
use crate::rows::by_base;
use crate::spectral::{self, Cut, SPECTRAL, SpectralDiagnostics, labelled};

/// How [`HBGF`] cuts the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum HbgfCut {
    /// Normalised cut by eigenvectors: clusters may differ in size.
    Spectral,
    /// METIS: clusters of about the same size.
    #[cfg(feature = "metis")]
    Metis,
}

/// Settings of [`HBGF`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct HbgfSettings {
    /// How the graph is cut: spectral lets clusters differ in size, metis makes them of about the same size.
    pub cut: HbgfCut,
    /// How much heavier than its share a cluster of the METIS cut may be, as a share of that: 0.05 is 5 %.
    #[setting(range = 0.0..=1000.0)]
    pub imbalance: f64,
    /// Independent initializations of k-means; the lowest loss is kept.
    #[setting(range = 0..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: u32,
    /// The most iterations of k-means.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: u32,
    /// Stop k-means when its loss falls by less than this share.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

/// Facts about a cut of the bipartite graph.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HbgfDiagnostics {
    /// Facts about the spectral cut; none with METIS.
    #[serde(flatten)]
    pub spectral: Option<SpectralDiagnostics>,
}

impl Default for HbgfSettings {
    fn default() -> Self {
        Self {
            cut: HbgfCut::Spectral,
            imbalance: 0.05,
            restarts: 10,
            iterations: 100,
            tolerance: 1e-6,
        }
    }
}

/// Hybrid bipartite graph formulation (Fern and Brodley 2004): cut the graph in which every object is joined to the base
/// clusters it is in.
///
/// ```text
/// minimise  Σ_k cut(part k, rest) / volume(part k)      over partitions of objects and clusters
/// ```
/// relaxed to eigenvectors of the cluster graph of side ΣJ (transfer cut), then k-means on the objects' rows.
/// Missing labels are missing edges; the edge to a soft base cluster weighs the share of the object. Weights scale the edges of whole base
/// clusterings.
///
/// With [`HbgfCut::Metis`] the edges that are cut are minimised between parts of about the same number of objects, base
/// clusters weighing next to nothing; a part may then be without objects. Where clusters differ in size this does harm: on a set of one class with 87 %
/// of the objects and half of the labels missing, ARI is 0.06 where the spectral cut has 0.69.
///
/// # Cost
/// As [`LWGP`](crate::LWGP), half the time for the cluster graph. With METIS about O(n M) time and 80 n M bytes.
///
/// # Differences from the paper
/// Only objects are embedded and grouped; the paper groups objects and clusters together, and balances both with METIS.
///
/// # References
/// X. Z. Fern, C. E. Brodley: Solving cluster ensemble problems by bipartite graph partitioning, ICML 2004.
pub static HBGF: Hbgf = Hbgf;

/// The cut by METIS.
#[cfg(feature = "metis")]
fn balanced(
    problem: &Problem<'_>,
    settings: &HbgfSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<HbgfDiagnostics>, FitError> {
    let clusters = problem.given_clusters(INFO.name)?;
    if problem.ensemble.memberships().is_some() {
        return Err(spectral_alone(
            "edges of soft base clusterings are cut by eigenvectors",
        ));
    }
    if monitor.tick(0, 1) == Flow::Stop {
        return Err(FitError::Interrupted);
    }
    let rows = Rows::new(problem.weighted());
    let strengths = by_base(rows.offsets(), problem.weights);
    let n = rows.len();
    let mut graph = Graph {
        vertices: rows.weights().to_vec(),
        edges: vec![Vec::new(); n + strengths.len()],
    };
    // The partitioner rounds up to its smallest weight, one 10,000th of the heaviest row's.
    graph.vertices.extend(strengths.iter().map(|_| 0.0));
    rows.for_each(|row, codes| {
        for &c in codes {
            let weight = strengths[c as usize] * rows.weights()[row];
            graph.edges[row].push((n as u32 + c, weight));
            graph.edges[n + c as usize].push((row as u32, weight));
        }
    });
    let parts = clusters.min(n);
    let labels = partition(&graph, parts, settings.imbalance, problem.seed, monitor)?;
    let partition =
        Partition::new(rows.expand(&labels[..n]), clusters).expect("as many parts as clusters");
    Ok(Outcome::hard(partition, Stopped::Exact).with(HbgfDiagnostics { spectral: None }))
}

/// Bytes that the cut by METIS holds at once, at most.
#[cfg(feature = "metis")]
fn balanced_bytes(size: &ProblemSize) -> u64 {
    let [n, m, side, _] = size.saturating();
    (n * m * Saturating(80) + (n + side) * Saturating(100)).0
}

/// METIS is refused for this reason.
#[cfg(feature = "metis")]
fn spectral_alone(reason: &str) -> FitError {
    let unfit = SettingsError::Unfit {
        name: "cut",
        value: "metis".into(),
        reason: format!("{reason}; take the spectral cut"),
    };
    unfit.into()
}

/// The cut by eigenvectors.
fn cut(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &HbgfSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    if monitor.flow() == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let rows = problem.passes();
    let (counts, first_unlabelled) = Counts::together(&rows)?;
    labelled(first_unlabelled)?;
    let strengths = by_base(
        &BaseClustering::offsets(problem.rows.bases()),
        problem.weights,
    );
    let sizes: Vec<f64> = (0..strengths.len()).map(|c| counts.of(c)[0]).collect();
    let cut = Cut {
        rows: &rows,
        strengths: &strengths,
        seed: problem.seed,
        budget: problem.budget,
    };
    let search = Search {
        clusters,
        restarts: settings.restarts,
        iterations: settings.iterations,
        tolerance: settings.tolerance,
    };
    cut.clusters(&sizes, &search, monitor)
}

/// Hybrid bipartite graph formulation as a method: [`HBGF`].
#[derive(Debug)]
pub struct Hbgf;

static INFO: MethodInfo = MethodInfo {
    name: "hbgf",
    summary: "normalised cut of objects and base clusters, all of which count alike",
    reference: "Fern and Brodley 2004, ICML",
    remedy: "take fewer base clusterings or clusters, or the spectral cut",
    capabilities: Capabilities {
        soft_bases: SoftBases::Native,
        object_weights: Weights::Native,
        ..SPECTRAL.capabilities
    },
    ..SPECTRAL
};

impl Method for Hbgf {
    type Settings = HbgfSettings;
    type Diagnostics = HbgfDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &HbgfSettings) -> u64 {
        match settings.cut {
            HbgfCut::Spectral => self
                .row_bytes(size, settings)
                .saturating_add(fit_in_memory_bytes(size, false)),
            #[cfg(feature = "metis")]
            HbgfCut::Metis => balanced_bytes(size),
        }
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &HbgfSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<HbgfDiagnostics>, FitError> {
        match settings.cut {
            HbgfCut::Spectral => fit_in_memory(self, problem, settings, monitor),
            #[cfg(feature = "metis")]
            HbgfCut::Metis => balanced(problem, settings, monitor),
        }
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &HbgfSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<HbgfDiagnostics>, FitError> {
        #[cfg(feature = "metis")]
        if settings.cut == HbgfCut::Metis {
            return Err(spectral_alone("METIS holds the whole graph"));
        }
        let clusters = problem.given_clusters(INFO.name)?;
        let spectral = |spectral| HbgfDiagnostics {
            spectral: Some(spectral),
        };
        Ok(cut(problem, clusters, settings, monitor)?.map_details(spectral))
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &HbgfSettings) -> u64 {
        spectral::bytes(size, settings.restarts)
    }
}
