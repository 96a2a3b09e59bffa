//! Hybrid bipartite graph formulation.

use partita_core::{BaseWeights, Ensemble, Outcome, Seed, Watch};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::kmeans::Search;
use crate::rows::Rows;
use crate::spectral::cut;

/// Settings of [`hbgf`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct HbgfSettings {
    /// Starts of k-means; the lowest loss is kept.
    pub restarts: u32,
    /// Rounds of k-means, at most.
    pub rounds: u32,
    /// Stop k-means when its loss falls by less than this share.
    pub tolerance: f64,
}

impl Default for HbgfSettings {
    fn default() -> Self {
        Self { restarts: 10, rounds: 100, tolerance: 1e-6 }
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
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, the eigenvectors are not found, or the watch asks to
/// stop before they are.
///
/// # Cost
/// As [`lwgp`](crate::lwgp), half the time for the cluster graph.
///
/// # Differences from the paper
/// Only objects are embedded and grouped; the paper groups objects and clusters together.
///
/// # References
/// X. Z. Fern, C. E. Brodley: Solving cluster ensemble problems by bipartite graph partitioning, ICML 2004.
pub fn hbgf(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &HbgfSettings,
    watch: &dyn Watch,
) -> Result<Outcome, GraphError> {
    let rows = Rows::new(ensemble, clusters)?;
    let search =
        Search { clusters, restarts: settings.restarts, rounds: settings.rounds, tolerance: settings.tolerance };
    cut(&rows, &rows.by_base(weights), &search, seed, watch)
}
