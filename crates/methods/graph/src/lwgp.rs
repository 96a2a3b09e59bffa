//! LWGP: locally weighted graph partitioning.

use partita_coassoc::{ClusterEntropy, trusted_cluster_weights};
use partita_core::{
    BaseWeights, Capabilities, Clusters, Ensemble, FitError, Memberships, Method, MethodInfo,
    Monitor, Outcome, PassRunner, Problem, ProblemSize, RowFit, RowProblem, Seed, Settings,
    SoftBases, WeightedEnsemble, Weights,
};
use partita_kmeans::embedded::Search;
use serde::{Deserialize, Serialize};
use tracing::info_span;

use crate::GraphError;
use crate::row_cut;
use crate::rows::{Rows, by_base};
use crate::soft::{cut_soft, soft_bytes, soft_strengths};
use crate::spectral::{SPECTRAL, SpectralDiagnostics, bytes, counted, cut, cut_each};

/// Settings of [`lwgp`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct LwgpSettings {
    /// How fast a base cluster loses weight as the others disagree on it (paper: θ): less is faster.
    // Below 0.05 the weights of scattered clusters vanish, and with them all edges of some objects.
    #[setting(range = 0.05..)]
    pub theta: f64,
    /// How the entropy of a base cluster enters its weight: bits, or normalised by the clusters of its base clustering.
    pub entropy: ClusterEntropy,
    /// How often base clusterings are trusted anew, by how whole the others leave their clusters (paper: 0).
    #[setting(range = 0..=1000)]
    pub trust_rounds: u32,
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

impl Default for LwgpSettings {
    fn default() -> Self {
        Self {
            theta: 0.5,
            entropy: ClusterEntropy::Bits,
            trust_rounds: 1,
            restarts: 10,
            rounds: 100,
            tolerance: 1e-6,
        }
    }
}

/// Locally weighted graph partitioning (Huang, Wang and Lai 2018): normalised cut of the graph of objects and base
/// clusters, in which an edge weighs the more, the less the other base clusterings break its cluster up.
///
/// ```text
/// weight of the edge between object i and base cluster C ∋ i:   ECI(C) = exp(−H(C) / (θ M))
/// minimise  Σ_k cut(part k, rest) / volume(part k)              over partitions of objects and clusters
/// ```
/// relaxed to eigenvectors, which the cluster graph of side ΣJ gives (transfer cut), then k-means on the objects' rows.
///
/// | paper | here |
/// |---|---|
/// | θ | [`LwgpSettings::theta`] |
/// | ECI(C) | [`partita_coassoc::trusted_cluster_weights`] |
/// | B, W_Y = Bᵀ D⁻¹ B | edges; the cluster graph |
///
/// Missing labels are missing edges. A base clustering of weight w is w base clusterings, in its edges and in ECI. The certainty of an object is
/// `1 − distance to its centroid / distance to the next` in the space of the eigenvectors.
///
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, a setting is out of range, the eigenvectors are not
/// found, or the monitor asks to stop before they are.
///
/// # Cost
/// O(n M²) time for the cluster graph while ΣJ ≤ 4096 and M ≤ 256, else O(n M) a product; O(n K²) a round of k-means;
/// n K numbers besides.
///
/// # Differences from the paper
/// θ is 0.5 and base clusterings that the others break up have less of a say in H(C) (`trust_rounds`); the paper has
/// θ = 0.4 and none of that. On its five pools (M = 20, mean NMI_max), on which this was chosen:
///
/// | | draws | IS | ISOLET | Semeion | SPF | PD |
/// |---|---|---|---|---|---|---|
/// | published | | .660 | .742 | .650 | .146 | .788 |
/// | θ = 0.4, no trust | 100 | .649 | .747 | .652 | .144 | .786 |
/// | θ = 0.32, no trust | 200 | .656 | .746 | .649 | .150 | .787 |
/// | θ = 0.5, one round (default) | 100 | .661 | .748 | .652 | .152 | .794 |
/// | θ = 0.4, three rounds | 100 | .668 | .747 | .648 | .164 | .792 |
/// | θ = 0.5, three rounds | 100 | .663 | .748 | .651 | .154 | .795 |
/// | θ = 0.6, three rounds | 100 | .657 | .748 | .655 | .145 | .797 |
///
/// A round costs the cluster weights once more. Missing labels, which the paper has none of. k-means starts by greedy k-means++, on a sample where there are more than
/// 8192 distinct label rows. K may exceed ΣJ: the eigenvectors are then as many as there are.
///
/// # References
/// D. Huang, C.-D. Wang, J.-H. Lai: Locally weighted ensemble clustering, IEEE Trans. Cybernetics 48(5), 2018.
/// Z. Li, X.-M. Wu, S.-F. Chang: Segmentation using superpixels, a bipartite graph partitioning approach, CVPR 2012.
pub fn lwgp<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &LwgpSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SpectralDiagnostics>, GraphError> {
    let theta = settings.theta;
    let source = source.into();
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(clusters)))?;
    let rows = Rows::weighted(ensemble, clusters, source.object_weights)?;
    let mut agreed = info_span!("cluster weights")
        .in_scope(|| trusted_cluster_weights(source, theta, settings.trust_rounds));
    settings.entropy.apply(&mut agreed, &ensemble.offsets());
    let strengths: Vec<f64> = rows
        .by_base(weights)
        .iter()
        .zip(agreed)
        .map(|(weight, index)| weight * index)
        .collect();
    let search = Search {
        clusters,
        restarts: settings.restarts,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    };
    cut(&rows, &strengths, &search, seed, monitor)
}

/// [`lwgp`] of soft base clusterings: an edge weighs the share of the object times ECI of the cluster, whose entropies are those of
/// the products of shares.
fn lwgp_soft(
    problem: &Problem<'_>,
    shares: &Memberships,
    settings: &LwgpSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SpectralDiagnostics>, FitError> {
    let clusters = problem.given_clusters(INFO.name)?;
    let strengths = soft_strengths(
        problem,
        shares,
        (settings.theta, settings.trust_rounds),
        settings.entropy,
    );
    let search = Search {
        clusters,
        restarts: settings.restarts,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    };
    Ok(cut_soft(problem, shares, &strengths, &search, monitor)?)
}

/// [`lwgp`] for several numbers of clusters, whose eigenvectors are looked for once. Labels may differ from those of single calls
/// where eigenvectors differ by their tolerance.
///
/// # Errors
/// As [`lwgp`].
///
/// # Cost
/// That of the largest number, and k-means of each.
pub fn lwgp_each(
    ensemble: &Ensemble,
    clusters: &[usize],
    seed: Seed,
    settings: &LwgpSettings,
    monitor: &dyn Monitor,
) -> Result<Vec<Outcome<SpectralDiagnostics>>, GraphError> {
    let most = clusters.iter().copied().max().unwrap_or(1);
    settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(most)))?;
    let rows = Rows::new(ensemble, most)?;
    let mut strengths = trusted_cluster_weights(ensemble, settings.theta, settings.trust_rounds);
    settings.entropy.apply(&mut strengths, &ensemble.offsets());
    let search = Search {
        clusters: most,
        restarts: settings.restarts,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    };
    cut_each(&rows, &strengths, clusters, &search, seed, monitor)
}

/// [`lwgp`] over label rows that are not held: four passes and one for every round of k-means.
///
/// # Errors
/// As [`lwgp`], and [`GraphError::Pass`] when rows cannot be read.
///
/// # Cost
/// O(n M²) time for two tables of ΣJ × ΣJ numbers, O(n (M + K) K) a round of k-means; no memory that grows with n.
pub fn lwgp_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LwgpSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    settings.validate(&ProblemSize::of_bases(
        rows.source().rows() as usize,
        rows.source().bases(),
        Clusters::Exactly(clusters),
    ))?;
    let overlap = counted(rows)?;
    let mut agreed = overlap.cluster_weights(settings.theta, settings.trust_rounds, weights);
    settings.entropy.apply(&mut agreed, overlap.offsets());
    let strengths: Vec<f64> = by_base(overlap.offsets(), weights)
        .iter()
        .zip(agreed)
        .map(|(weight, index)| weight * index)
        .collect();
    let search = Search {
        clusters,
        restarts: settings.restarts,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    };
    row_cut::cut(rows, &strengths, &overlap.sizes(), &search, seed, monitor)
}

/// [`lwgp`] as a method.
#[derive(Debug)]
pub struct Lwgp;

/// Locally weighted graph partitioning, [`lwgp`].
pub static LWGP: Lwgp = Lwgp;

static INFO: MethodInfo = MethodInfo {
    name: "lwgp",
    summary: "normalised cut of objects and base clusters, of which those the others break up count less; the default",
    reference: "Huang, Wang and Lai 2018, IEEE Trans. Cybernetics 48(5)",
    capabilities: Capabilities {
        soft_bases: SoftBases::Native,
        object_weights: Weights::Native,
        ..SPECTRAL.capabilities
    },
    ..SPECTRAL
};

impl Method for Lwgp {
    type Settings = LwgpSettings;
    type Diagnostics = SpectralDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &LwgpSettings) -> u64 {
        bytes(size, settings.restarts).saturating_add(soft_bytes(size))
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &LwgpSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SpectralDiagnostics>, FitError> {
        if let Some(shares) = problem.ensemble.memberships() {
            return lwgp_soft(problem, shares, settings, monitor);
        }
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(lwgp(
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
        settings: &LwgpSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SpectralDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(lwgp_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &LwgpSettings) -> u64 {
        row_cut::bytes(size, settings.restarts)
    }
}
