//! ECPCS-MC: meta-clusters of base clusters by propagated similarity, and the share of each in an object's labels.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array1, Array2, Axis};
use partita_core::{
    Assigned, Capabilities, Entry, FitError, Flow, Method, MethodInfo, Monitor, ProblemSize,
    ProgressCounter, Row, RowBlock, RowFit, RowLabeller, RowMap, RowProblem, Seed, Settings,
    SoftBases, Weights,
};
use partita_kmeans::embedded::{Grouping, Search, kmeans};
use partita_spectral::{LanczosSettings, top_eigenpairs};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::cluster_similarity::{self, jaccard, known, live, propagated};
use crate::rows::copies_by_base;
use crate::spectral::{GRAPH, counted};

/// Settings of [`ECPCS_MC`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EcpcsMcSettings {
    /// Steps by which similarity spreads among base clusters (paper: t); above 10 they change little.
    #[setting(range = 1..=10_000)]
    pub steps: u32,
    /// Independent initializations of k-means; the lowest loss is kept.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: u32,
    /// The most iterations of k-means.
    #[setting(range = 1..=1_000_000, alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: u32,
}

impl Default for EcpcsMcSettings {
    fn default() -> Self {
        Self {
            steps: 20,
            restarts: 10,
            iterations: 100,
        }
    }
}

/// Facts about meta-clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MetaClusters {
    /// Base clusters of every meta-cluster.
    pub base_clusters: Vec<usize>,
}

/// The groups of base clusters, and the scores of rows.
fn fitted(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &EcpcsMcSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MetaClusters>, GraphError> {
    let rows = problem.passes();
    let overlap = counted(&rows, monitor)?;
    let index = jaccard(&overlap, &known(&rows, &overlap)?);
    if monitor.tick(1, 3) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let copies = copies_by_base(overlap.offsets(), problem.weights);
    let (similarity, of_copies) = propagated(&index, &copies, settings.steps)?;
    if monitor.tick(2, 3) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let live = live(&overlap);
    let (matrix, copies_of_live) = live_graph(&similarity, &copies, &of_copies, &live);
    let search = Search {
        clusters,
        restarts: settings.restarts,
        iterations: settings.iterations,
        tolerance: 0.0,
    };
    let progress = ProgressCounter::new(monitor, 3);
    progress.add(2);
    let grouping = groups(&matrix, &copies_of_live, &search, problem.seed, &progress)?;
    let mut meta = vec![None; copies.len()];
    let grouped = live.iter().zip(&grouping.labels);
    grouped.for_each(|(&c, &k)| meta[c] = Some(k as usize));
    let count = |k| meta.iter().filter(|meta| **meta == Some(k)).count();
    let details = MetaClusters {
        base_clusters: (0..clusters).map(count).collect(),
    };
    let scores = Scores::new(overlap.offsets(), &meta, &copies, clusters);
    let mut fit = RowFit::new(clusters, grouping.stopped, scores, details);
    fit.iterations = grouping.trace.len() as u64;
    Ok(fit)
}

/// The normalised similarity of those base clusters that have objects, in which copies stay together, and their copies.
fn live_graph(
    similarity: &Array2<f64>,
    copies: &[f64],
    of_copies: &[f64],
    live: &[usize],
) -> (Array2<f64>, Vec<f64>) {
    let copies = Array1::from_iter(live.iter().map(|&c| copies[c]));
    // A cluster is like itself, even one that shares objects with no other; here is the mean over its copies.
    let own = |a: usize| (1.0 + (copies[a] - 1.0).max(0.0) * of_copies[live[a]]) / copies[a];
    let mut matrix = Array2::from_shape_fn((live.len(), live.len()), |(a, b)| {
        if a == b {
            own(a)
        } else {
            similarity[[live[a], live[b]]]
        }
    });
    let degrees = (&matrix * &copies).sum_axis(Axis(1));
    let root = degrees.mapv(|degree: f64| 1.0 / degree.sqrt()) * copies.mapv(f64::sqrt);
    matrix
        .indexed_iter_mut()
        .for_each(|((a, b), x)| *x *= root[a] * root[b]);
    (matrix, copies.to_vec())
}

/// The normalised cut of a graph of base clusters.
fn groups(
    matrix: &Array2<f64>,
    copies: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Grouping, GraphError> {
    let (count, settings) = (
        search.clusters.min(copies.len()),
        LanczosSettings::default(),
    );
    let mut rows = top_eigenpairs(matrix.view(), count, seed.child(0), &settings)?.vectors;
    for mut row in rows.outer_iter_mut() {
        let length = row.dot(&row).sqrt();
        row.mapv_inplace(|x| if length > 1e-9 { x / length } else { 0.0 });
    }
    let rows = rows.as_standard_layout();
    Ok(kmeans(rows.view(), copies, search, seed.child(1), monitor))
}

/// How much of a row each meta-cluster has.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Scores {
    offsets: Vec<usize>,
    /// The meta-cluster of every base cluster that has objects, and the weight of its base clustering.
    meta: Vec<(usize, f64)>,
    /// Weight of all base clusters of a meta-cluster, and by base clustering, M lines of K.
    all: Vec<f64>,
    by_base: Vec<f64>,
    clusters: usize,
}

impl Scores {
    fn new(offsets: &[usize], meta: &[Option<usize>], weights: &[f64], clusters: usize) -> Self {
        let bases = offsets.len() - 1;
        let (mut all, mut by_base) = (vec![0.0; clusters], vec![0.0; bases * clusters]);
        for (u, ends) in offsets.windows(2).enumerate() {
            for c in ends[0]..ends[1] {
                if let Some(k) = meta[c] {
                    all[k] += weights[c];
                    by_base[u * clusters + k] += weights[c];
                }
            }
        }
        let meta = meta
            .iter()
            .zip(weights)
            .map(|(meta, weight)| (meta.unwrap_or(0), *weight))
            .collect();
        Self {
            offsets: offsets.to_vec(),
            meta,
            all,
            by_base,
            clusters,
        }
    }
}

impl Scores {
    /// Takes what a base clustering that does not know the object could add off what its scores could be.
    fn take_off(&self, base: usize, whole: &mut [f64]) {
        let missing = &self.by_base[base * self.clusters..][..self.clusters];
        for (whole, missing) in whole.iter_mut().zip(missing) {
            *whole -= missing;
        }
    }

    /// Scores over what they could be, and then over their sum.
    fn divide(scores: &mut [f64], whole: &[f64]) {
        scores.iter_mut().zip(whole).for_each(|(score, whole)| {
            *score = if *score > 0.0 {
                *score / whole.max(f64::MIN_POSITIVE)
            } else {
                0.0
            };
        });
        let sum: f64 = scores.iter().sum();
        scores.iter_mut().for_each(|score| *score /= sum);
    }
}

impl RowLabeller for Scores {
    const KIND: &'static str = "graph/meta-clusters";
}

impl RowMap for Scores {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let mut scores = vec![0.0; block.len() * self.clusters];
        let mut whole = self.all.clone();
        for ((row, _), scores) in block.rows().zip(scores.chunks_exact_mut(self.clusters)) {
            whole.clone_from(&self.all);
            let mut next = 0;
            for Entry {
                base,
                cluster,
                share,
            } in row.entries(&self.offsets)
            {
                let (k, weight) = self.meta[cluster];
                scores[k] += weight * share;
                (next..base).for_each(|missing| self.take_off(missing, &mut whole));
                next = base + 1;
            }
            (next..block.bases).for_each(|missing| self.take_off(missing, &mut whole));
            Self::divide(scores, &whole);
        }
        Assigned::of_soft(scores, self.clusters)
    }
}

/// Meta-clusters of base clusters by propagated similarities as a method: [`ECPCS_MC`].
#[derive(Debug)]
pub struct EcpcsMc;

/// Enhanced ensemble clustering via fast propagation of cluster-wise similarities, by meta-clusters (Huang, Wang, Peng, Lai and
/// Kwoh 2021): random walks on the Jaccard graph of base clusters say which of them are alike, a normalised cut groups them,
/// and an object joins the group that has most of it.
///
/// ```text
/// A_cd = |c ∩ d| / |c ∪ d|      P = D⁻¹ A      Ŝ = cosine of [P, P², …, Pᵗ]
/// score_ik = Σ_{c in group k} ω_u(c) Z_ic / Σ_{c in group k} ω_u(c)      over the base clusterings that label object i
/// ```
/// | paper | here |
/// |---|---|
/// | t | [`EcpcsMcSettings::steps`] |
/// | C, the similarity of trajectories | cosine of walks, from one eigenproblem |
///
/// The soft result is the scores divided by their sum. Propagation changes accuracy by less than the choice of cut does: without
/// it (plain meta-clustering by a spectral cut) results are within .003 NMI.
///
/// # Cost
/// O(n M²) time for the overlaps of base clusters, O((ΣJ)³) for their walks, O(n M) for the labels. No memory that grows with n
/// besides the result.
///
/// # Differences from the paper
/// Eigenvectors are scaled to unit rows and grouped by k-means (the paper: the discretisation of Yu and Shi); ties go to the
/// first cluster; missing labels; weights of base clusterings, each of which is so many copies; weights of objects, which count in the
/// overlaps; soft base clusterings, by the extended Jaccard index a·b / (a·a + b·b − a·b) of their shares Z.
///
/// # References
/// D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh: Enhanced ensemble clustering via fast propagation of cluster-wise
/// similarities, IEEE Trans. SMC: Systems 51(1), 2021.
pub static ECPCS_MC: EcpcsMc = EcpcsMc;

static INFO: MethodInfo = MethodInfo {
    name: "ecpcs-mc",
    summary: "random walks among base clusters group them, objects join the group that has most of them; one pass, soft",
    reference: "Huang, Wang, Peng, Lai and Kwoh 2021, IEEE Trans. SMC: Systems 51(1)",
    time: "nM² + (ΣJ)³",
    memory: "nK + (ΣJ)²",
    capabilities: Capabilities {
        soft: true,
        streams: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Copies,
        object_weights: Weights::Native,
        ..GRAPH.capabilities
    },
    ..GRAPH
};

impl Method for EcpcsMc {
    type Settings = EcpcsMcSettings;
    type Diagnostics = MetaClusters;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &EcpcsMcSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MetaClusters>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(fitted(problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &EcpcsMcSettings) -> u64 {
        let [_, m, side, k] = size.saturating();
        let start = side * k.min(side) * Saturating(8 * u64::from(settings.restarts.min(64)) + 64);
        let tables = Saturating(Overlap::bytes(size) + cluster_similarity::bytes(side.0));
        (tables + start + m * k * Saturating(8)).0
    }
}
