//! Hybrid bipartite graph formulation.

#[cfg(feature = "metis")]
use std::num::Saturating;

use partita_core::{
    BaseWeights, Capabilities, Clusters, FitError, Memberships, Method, MethodInfo, Monitor,
    Outcome, PassRunner, Problem, ProblemSize, RowFit, RowProblem, Seed, SettingChoice, Settings,
    SettingsError, SoftBases, WeightedEnsemble, Weights,
};
#[cfg(feature = "metis")]
use partita_core::{Flow, Partition, Stopped};
use partita_kmeans::embedded::Search;
use serde::{Deserialize, Serialize};

use crate::GraphError;
#[cfg(feature = "metis")]
use crate::metis::{Graph, partition};
use crate::row_cut;
use crate::rows::{Rows, by_base};
use crate::soft::{cut_soft, soft_bytes};
use crate::spectral::{SPECTRAL, SpectralDiagnostics, bytes, counted, cut};

/// How [`hbgf`] cuts the graph.
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

/// Settings of [`hbgf`]. Start from `default()` and change what you mean to change.
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
    /// The most rounds of k-means.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: u32,
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
            rounds: 100,
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
/// Missing labels are missing edges. `weights` scale the edges of whole base clusterings. The certainty of an object is
/// `1 − distance to its centroid / distance to the next` in the space of the eigenvectors.
///
/// With [`HbgfCut::Metis`] the edges that are cut are minimised between parts of about the same number of objects, base
/// clusters weighing next to nothing; a part may then be without objects. The certainty is the share of the object's
/// labels whose base clusters are in its part. Where clusters differ in size this does harm: on a set of one class with 87 %
/// of the objects and half of the labels missing, ARI is 0.06 where the spectral cut has 0.69.
///
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, a setting is out of range, the eigenvectors are not
/// found, the graph is too large for METIS, or the monitor asks to stop before there is a result.
///
/// # Cost
/// As [`lwgp`](crate::lwgp), half the time for the cluster graph. With METIS about O(n M) time and 80 n M bytes.
///
/// # Differences from the paper
/// Only objects are embedded and grouped; the paper groups objects and clusters together, and balances both with METIS.
///
/// # References
/// X. Z. Fern, C. E. Brodley: Solving cluster ensemble problems by bipartite graph partitioning, ICML 2004.
pub fn hbgf<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &HbgfSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<HbgfDiagnostics>, GraphError> {
    let source = source.into();
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(clusters)))?;
    let rows = Rows::weighted(ensemble, clusters, source.object_weights)?;
    #[cfg(feature = "metis")]
    if settings.cut == HbgfCut::Metis {
        return balanced(
            &rows,
            &rows.by_base(weights),
            clusters,
            settings.imbalance,
            seed,
            monitor,
        );
    }
    let search = Search {
        clusters,
        restarts: settings.restarts,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    };
    let strengths = rows.by_base(weights);
    let outcome = cut(&rows, &strengths, &search, seed, monitor)?;
    Ok(outcome.map_details(|spectral| HbgfDiagnostics {
        spectral: Some(spectral),
    }))
}

/// [`hbgf`] with the spectral cut over label rows that are not held.
///
/// # Errors
/// As [`hbgf`], [`GraphError::Pass`] when rows cannot be read, and [`GraphError::Settings`] for METIS, which holds the graph.
///
/// # Cost
/// As [`lwgp_rows`](crate::lwgp_rows).
pub fn hbgf_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &HbgfSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<HbgfDiagnostics>, GraphError> {
    settings.validate(&ProblemSize::of_bases(
        rows.source().rows() as usize,
        rows.source().bases(),
        Clusters::Exactly(clusters),
    ))?;
    #[cfg(feature = "metis")]
    if settings.cut == HbgfCut::Metis {
        let reason = "METIS holds the whole graph; take the spectral cut".to_owned();
        return Err(SettingsError::Unfit {
            name: "cut",
            value: "metis".into(),
            reason,
        }
        .into());
    }
    let overlap = counted(rows)?;
    let search = Search {
        clusters,
        restarts: settings.restarts,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    };
    let fit = row_cut::cut(
        rows,
        &by_base(overlap.offsets(), weights),
        &overlap.sizes(),
        &search,
        seed,
        monitor,
    )?;
    Ok(fit.map_details(|spectral| HbgfDiagnostics {
        spectral: Some(spectral),
    }))
}

/// [`hbgf`] of soft base clusterings: an edge weighs the share of the object.
fn hbgf_soft(
    problem: &Problem<'_>,
    shares: &Memberships,
    clusters: usize,
    settings: &HbgfSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<HbgfDiagnostics>, FitError> {
    if settings.cut != HbgfCut::Spectral {
        let reason =
            "edges of soft base clusterings are cut by eigenvectors; take the spectral cut"
                .to_owned();
        return Err(SettingsError::Unfit {
            name: "cut",
            value: "metis".into(),
            reason,
        }
        .into());
    }
    let strengths = by_base(&problem.ensemble.offsets(), problem.weights);
    let search = Search {
        clusters,
        restarts: settings.restarts,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    };
    let outcome = cut_soft(problem, shares, &strengths, &search, monitor)?;
    Ok(outcome.map_details(|spectral| HbgfDiagnostics {
        spectral: Some(spectral),
    }))
}

/// The cut by METIS.
#[cfg(feature = "metis")]
fn balanced(
    rows: &Rows<'_>,
    strengths: &[f64],
    clusters: usize,
    imbalance: f64,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Outcome<HbgfDiagnostics>, GraphError> {
    if monitor.tick(0, 1) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let n = rows.len();
    let mut graph = Graph {
        vertices: rows.weights().to_vec(),
        edges: vec![Vec::new(); n + strengths.len()],
    };
    // The partitioner rounds up to its smallest weight, one 10,000th of the heaviest row's.
    graph.vertices.extend(strengths.iter().map(|_| 0.0));
    rows.for_each(0..n, |row, codes| {
        for &c in codes {
            let weight = strengths[c as usize] * rows.weights()[row];
            graph.edges[row].push((n as u32 + c, weight));
            graph.edges[n + c as usize].push((row as u32, weight));
        }
    });
    let labels = partition(&graph, clusters.min(n), imbalance, seed, monitor)?;
    let share = |row: usize| {
        let of = |&&(other, _): &&(u32, f64)| labels[other as usize] == labels[row];
        let own: f64 = graph.edges[row].iter().filter(of).map(|edge| edge.1).sum();
        own / graph.edges[row].iter().map(|edge| edge.1).sum::<f64>()
    };
    let certainty: Vec<f64> = (0..n).map(share).collect();
    let partition =
        Partition::new(rows.expand(&labels[..n]), clusters).expect("as many parts as clusters");
    Ok(
        Outcome::hard(partition, rows.expand(&certainty), Stopped::Exact)
            .with(HbgfDiagnostics { spectral: None }),
    )
}

/// Bytes that the cut by METIS holds at once, at most.
#[cfg(feature = "metis")]
fn balanced_bytes(size: &ProblemSize) -> u64 {
    let [n, m, side, _] = size.saturating();
    (n * m * Saturating(80) + (n + side) * Saturating(100)).0
}

/// [`hbgf`] as a method.
#[derive(Debug)]
pub struct Hbgf;

/// Hybrid bipartite graph formulation, [`hbgf`].
pub static HBGF: Hbgf = Hbgf;

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
            HbgfCut::Spectral => bytes(size, settings.restarts).saturating_add(soft_bytes(size)),
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
        let clusters = problem.given_clusters(INFO.name)?;
        if let Some(shares) = problem.ensemble.memberships() {
            return hbgf_soft(problem, shares, clusters, settings, monitor);
        }
        Ok(hbgf(
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
        settings: &HbgfSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<HbgfDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(hbgf_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &HbgfSettings) -> u64 {
        row_cut::bytes(size, settings.restarts)
    }
}
