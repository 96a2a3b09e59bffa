//! LWGP, and HBGF in its spectral form: embed the objects, group the embedded rows.

use partita_coassoc::trusted_cluster_weights;
use partita_core::{BaseWeights, Ensemble, Flow, Monitor, Objective, Outcome, Partition, Seed, Sense, SettingsError};
use serde::{Deserialize, Serialize};
use serde_json::json;
use tracing::info_span;

use crate::GraphError;
use crate::bipartite::{WRITTEN_OUT, embed};
use crate::rows::Rows;
use partita_kmeans::embedded::{Search, kmeans};

/// Settings of [`lwgp`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct LwgpSettings {
    /// How fast a base cluster loses weight as the others disagree on it (paper: θ): less is faster. At least 0.05.
    pub theta: f64,
    /// How often base clusterings are trusted anew, by how whole the others leave their clusters (paper: 0).
    pub trust_rounds: u32,
    /// Starts of k-means; the lowest loss is kept.
    pub restarts: u32,
    /// Rounds of k-means, at most.
    pub rounds: u32,
    /// Stop k-means when its loss falls by less than this share.
    pub tolerance: f64,
}

impl Default for LwgpSettings {
    fn default() -> Self {
        Self { theta: 0.5, trust_rounds: 1, restarts: 10, rounds: 100, tolerance: 1e-6 }
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
/// Missing labels are missing edges. `weights` scale the edges of whole base clusterings. The certainty of an object is
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
pub fn lwgp(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LwgpSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome, GraphError> {
    let theta = settings.theta;
    // Below, the weights of scattered clusters vanish, and with them all edges of some objects.
    SettingsError::range("theta", theta, theta.is_finite() && theta >= 0.05, "at least 0.05")?;
    SettingsError::not_negative("tolerance", settings.tolerance)?;
    let rows = Rows::new(ensemble, clusters)?;
    let agreed =
        info_span!("cluster weights").in_scope(|| trusted_cluster_weights(ensemble, theta, settings.trust_rounds));
    let strengths: Vec<f64> = rows.by_base(weights).iter().zip(agreed).map(|(weight, index)| weight * index).collect();
    let search =
        Search { clusters, restarts: settings.restarts, rounds: settings.rounds, tolerance: settings.tolerance };
    cut(&rows, &strengths, &search, seed, monitor)
}

/// The normalised cut of the graph of objects and base clusters whose edges weigh as `strengths` says, one number a
/// base cluster.
pub(crate) fn cut(
    rows: &Rows<'_>,
    strengths: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Outcome, GraphError> {
    let total = u64::from(search.rounds) + 1;
    if monitor.tick(0, total) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let embedding = info_span!("eigenvectors").in_scope(|| embed(rows, strengths, search.clusters, seed.child(0)))?;
    if monitor.tick(1, total) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let view = embedding.rows.view();
    let grouping = info_span!("k-means").in_scope(|| kmeans(view, rows.weights(), search, seed.child(1), monitor));
    let labels = rows.expand(&grouping.labels);
    let partition = Partition::new(labels, search.clusters).expect("k-means numbers at most K groups");
    let mut outcome = Outcome::hard(partition, rows.expand(&grouping.margins), grouping.stopped);
    outcome.rounds = grouping.trace.len() as u64;
    outcome.objective = Some(Objective {
        name: "squared distance to the centroids of the embedding",
        sense: Sense::Minimise,
        value: grouping.trace.last().copied().unwrap_or(0.0),
        trace: grouping.trace,
    });
    outcome.details.insert("eigenvalues".into(), json!(embedding.values));
    outcome.details.insert("distinct_rows".into(), json!(rows.len()));
    Ok(outcome)
}

/// Bytes that the spectral methods hold at once, at most: codes and copies of rows, the cluster graph or the Krylov
/// space, the embedding.
pub(crate) fn bytes(objects: usize, bases: usize, side: usize, clusters: usize) -> u64 {
    let (n, m, side, k) = (objects as u64, bases as u64, side as u64, clusters as u64);
    let width = (k + k.clamp(4, 16).div_ceil(2)).min(side);
    let graph = if side <= WRITTEN_OUT as u64 { 24 * side * side } else { 16 * 8 * side * width };
    let solver = if 3 * width >= side { 40 * side * side } else { 8 * side * (40 * width).min(side) };
    n * (m + 40 + 8 * k.min(side)) + graph + solver
}
