//! ECPCS-MC: meta-clusters of base clusters by propagated similarity, and the share of each in an object's labels.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array1, Array2, Axis};
use partita_core::{
    Assigned, BaseWeights, Capabilities, Clusters, Entry, FitError, Flow, Method, MethodInfo,
    Monitor, Outcome, PassRunner, Problem, ProblemSize, ProgressCounter, Row, RowBlock, RowFit,
    RowLabeller, RowMap, RowProblem, Seed, Settings, SoftBases, SoftPartition, WeightedEnsemble,
    Weights,
};
use partita_kmeans::embedded::{Grouping, Search, kmeans};
use partita_spectral::{LanczosSettings, top_eigenpairs};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::cluster_similarity::{self, bases_of, jaccard, live, overlaps, propagated};
use crate::collect::in_memory;
use crate::rows::{check, copies_by_base};
use crate::soft::soft_bytes;
use crate::spectral::{GRAPH, counted_for};

/// Settings of [`ecpcs_mc`]. Start from `default()` and change what you mean to change.
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
    /// The most rounds of k-means.
    #[setting(range = 1..=1_000_000, alias = "max_iter", alias = "n_iter")]
    pub rounds: u32,
}

impl Default for EcpcsMcSettings {
    fn default() -> Self {
        Self {
            steps: 20,
            restarts: 10,
            rounds: 100,
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
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, a setting is out of range, or the monitor asks to stop.
///
/// # References
/// D. Huang, C.-D. Wang, H. Peng, J. Lai, C.-K. Kwoh: Enhanced ensemble clustering via fast propagation of cluster-wise
/// similarities, IEEE Trans. SMC: Systems 51(1), 2021.
pub fn ecpcs_mc<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &EcpcsMcSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MetaClusters>, GraphError> {
    let source = source.into();
    if source.is_fractional() {
        return ecpcs_mc_shares(source, clusters, seed, settings, monitor);
    }
    in_memory(source, |rows| {
        ecpcs_mc_rows(rows, source.base_weights, clusters, seed, settings, monitor)
    })
}

/// [`ecpcs_mc`] of shares and weighted objects: base clusters are compared by the extended Jaccard index, and scores are of shares.
fn ecpcs_mc_shares(
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    settings: &EcpcsMcSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MetaClusters>, GraphError> {
    let ensemble = source.ensemble;
    settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(clusters)))?;
    check(ensemble, clusters)?;
    if monitor.tick(0, 3) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let (overlap, index) = overlaps(source)?;
    let found = Grouped::of(
        (&overlap, &index),
        source.base_weights,
        clusters,
        seed,
        settings,
        monitor,
    )?;
    let (shares, base_of) = (ensemble.shares(), bases_of(overlap.offsets()));
    let mut soft = Array2::zeros((ensemble.objects(), clusters));
    for (object, mut line) in soft.outer_iter_mut().enumerate() {
        let (own, values) = shares.row(object);
        let entries = own
            .iter()
            .zip(values)
            .map(|(&c, &share)| (base_of[c as usize], c as usize, share));
        found
            .scores
            .of_shares(entries, line.as_slice_mut().expect("lines of a new array"));
    }
    let soft = SoftPartition::new(soft).expect("scores are divided by their sum");
    let mut outcome = Outcome::soft(soft, found.grouping.stopped);
    outcome.rounds = found.grouping.trace.len() as u64;
    Ok(outcome.with(found.details))
}

/// [`ecpcs_mc`] over label rows that are not held: one pass for the overlaps, one for the labels.
///
/// # Errors
/// As [`ecpcs_mc`], and [`GraphError::Pass`] when rows cannot be read.
pub fn ecpcs_mc_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &EcpcsMcSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MetaClusters>, GraphError> {
    let overlap = counted_for(rows, clusters, settings, monitor)?;
    let found = Grouped::of(
        (&overlap, &jaccard(&overlap)),
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )?;
    let mut fit = RowFit::new(
        clusters,
        found.grouping.stopped,
        found.scores,
        found.details,
    );
    fit.rounds = found.grouping.trace.len() as u64;
    Ok(fit)
}

/// Base clusters in meta-clusters.
struct Grouped {
    grouping: Grouping,
    scores: Scores,
    details: MetaClusters,
}

impl Grouped {
    /// The groups of base clusters by their overlaps and Jaccard indices.
    fn of(
        (overlap, index): (&Overlap, &Array2<f64>),
        weights: Option<&BaseWeights>,
        clusters: usize,
        seed: Seed,
        settings: &EcpcsMcSettings,
        monitor: &dyn Monitor,
    ) -> Result<Self, GraphError> {
        if monitor.tick(1, 3) == Flow::Stop {
            return Err(GraphError::Interrupted);
        }
        let copies = copies_by_base(overlap.offsets(), weights);
        let (similarity, of_copies) = propagated(index, &copies, settings.steps)?;
        if monitor.tick(2, 3) == Flow::Stop {
            return Err(GraphError::Interrupted);
        }
        let live = live(overlap);
        let progress = ProgressCounter::new(monitor, 3);
        progress.add(2);
        let grouping = groups(
            &similarity,
            (&copies, &of_copies),
            &live,
            (clusters, seed),
            settings,
            &progress,
        )?;
        let mut meta = vec![None; similarity.nrows()];
        live.iter()
            .zip(&grouping.labels)
            .for_each(|(&c, &k)| meta[c] = Some(k as usize));
        let count = |k| meta.iter().filter(|meta| **meta == Some(k)).count();
        let details = MetaClusters {
            base_clusters: (0..clusters).map(count).collect(),
        };
        let scores = Scores::new(overlap.offsets(), &meta, &copies, clusters);
        Ok(Self {
            grouping,
            scores,
            details,
        })
    }
}

/// The normalised cut of the similarity of those base clusters that have objects, in which copies stay together.
fn groups(
    similarity: &Array2<f64>,
    (copies, of_copies): (&[f64], &[f64]),
    live: &[usize],
    (clusters, seed): (usize, Seed),
    settings: &EcpcsMcSettings,
    monitor: &dyn Monitor,
) -> Result<Grouping, GraphError> {
    let copies = Array1::from_iter(live.iter().map(|&c| copies[c]));
    // A cluster is like itself, even one that shares objects with no other; here is the mean over its copies.
    let own = |a: usize| (1.0 + (copies[a] - 1.0).max(0.0) * of_copies[live[a]]) / copies[a];
    let cell = |a: usize, b: usize| {
        if a == b {
            own(a)
        } else {
            similarity[[live[a], live[b]]]
        }
    };
    let mut matrix = Array2::from_shape_fn((live.len(), live.len()), |(a, b)| cell(a, b));
    let root = (&matrix * &copies)
        .sum_axis(Axis(1))
        .mapv(|degree: f64| 1.0 / degree.sqrt())
        * copies.mapv(f64::sqrt);
    matrix
        .indexed_iter_mut()
        .for_each(|((a, b), x)| *x *= root[a] * root[b]);
    let count = clusters.min(live.len());
    let mut rows = top_eigenpairs(
        matrix.view(),
        count,
        seed.child(0),
        &LanczosSettings::default(),
    )?
    .vectors;
    for mut row in rows.outer_iter_mut() {
        let length = row.dot(&row).sqrt();
        row.mapv_inplace(|x| if length > 1e-9 { x / length } else { 0.0 });
    }
    let (restarts, rounds) = (settings.restarts, settings.rounds);
    let search = Search {
        clusters,
        restarts,
        rounds,
        tolerance: 0.0,
    };
    let rows = rows.as_standard_layout();
    Ok(kmeans(
        rows.view(),
        &copies.to_vec(),
        &search,
        seed.child(1),
        monitor,
    ))
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
    /// Writes the scores of an object with these entries: base clustering, base cluster and share.
    fn of_shares(&self, entries: impl Iterator<Item = (usize, usize, f64)>, scores: &mut [f64]) {
        let (mut whole, mut missing) = (self.all.clone(), vec![true; self.offsets.len() - 1]);
        for (u, c, share) in entries {
            let (k, weight) = self.meta[c];
            scores[k] += weight * share;
            missing[u] = false;
        }
        for (u, _) in missing.iter().enumerate().filter(|(_, missing)| **missing) {
            let absent = &self.by_base[u * self.clusters..][..self.clusters];
            whole
                .iter_mut()
                .zip(absent)
                .for_each(|(whole, absent)| *whole -= absent);
        }
        Self::divide(scores, &whole);
    }

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

/// [`ecpcs_mc`] as a method.
#[derive(Debug)]
pub struct EcpcsMc;

/// Propagated similarities of base clusters, by meta-clusters: [`ecpcs_mc`].
pub static ECPCS_MC: EcpcsMc = EcpcsMc;

static INFO: MethodInfo = MethodInfo {
    name: "ecpcs-mc",
    summary: "random walks among base clusters group them, objects join the group that has most of them; one pass, soft",
    reference: "Huang, Wang, Peng, Lai and Kwoh 2021, IEEE Trans. SMC: Systems 51(1)",
    certainty: "score of the object's cluster over the sum of scores",
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

    fn bytes(&self, size: &ProblemSize, settings: &EcpcsMcSettings) -> u64 {
        let [n, _, _, k] = size.saturating();
        let rows = Saturating(self.row_bytes(size, settings)) + Saturating(soft_bytes(size));
        (n * (k * Saturating(24) + Saturating(16)) + rows).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &EcpcsMcSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<MetaClusters>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(ecpcs_mc(
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
        settings: &EcpcsMcSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MetaClusters>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(ecpcs_mc_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &EcpcsMcSettings) -> u64 {
        let [_, m, side, k] = size.saturating();
        let start = side * k.min(side) * Saturating(8 * u64::from(settings.restarts.min(64)) + 64);
        let tables = Saturating(Overlap::bytes(size) + cluster_similarity::bytes(side.0));
        (tables + start + m * k * Saturating(8)).0
    }
}
