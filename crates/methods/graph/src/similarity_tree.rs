//! ECPCS-HC and CTS: average link on similarities of objects that are similarities of their base clusters.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::Array2;
use partita_core::{
    Capabilities, Clusters, FitError, Flow, Method, MethodInfo, Monitor, Outcome, Partition,
    Problem, ProblemSize, Settings, SoftBases, Stopped, WeightedEnsemble, Weights,
};
use partita_linkage::{
    Linkage, LinkageError, Rows as Dissimilarities, cut, link_rows, longest_lifetime, unfold,
};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::cluster_similarity::{self, connected_triples, overlaps, propagated};
use crate::rows::{check, copies_by_base};
use crate::similar_rows::{Objects, Similar, surety};
use crate::soft_similarity::{SimilarShares, soft_tree_bytes};
use crate::spectral::GRAPH;

/// Settings of [`ecpcs_hc`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EcpcsHcSettings {
    /// Steps by which similarity spreads among base clusters (paper: t); fewer keep small clusters apart where there are many.
    #[setting(range = 1..=10_000)]
    pub steps: u32,
}

impl Default for EcpcsHcSettings {
    fn default() -> Self {
        Self { steps: 20 }
    }
}

/// Settings of [`cts`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct CtsSettings {
    /// Similarity of the two most similar base clusters (paper: DC); that of a base cluster with itself is 1.
    #[setting(range = 0.0..=1.0, alias = "dc")]
    pub decay: f64,
}

impl Default for CtsSettings {
    fn default() -> Self {
        Self { decay: 0.9 }
    }
}

/// Facts about a tree of objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SimilarityTreeDiagnostics {
    /// Label rows that differ: the leaves before equal rows are unfolded.
    pub distinct_rows: usize,
}

/// Enhanced ensemble clustering via fast propagation of cluster-wise similarities, by a tree (Huang, Wang, Peng, Lai and Kwoh
/// 2021): average link on how alike the base clusters of two objects are.
///
/// ```text
/// sim(i, j) = Σ_u ω_u Ŝ(ℓ_ui, ℓ_uj) / Σ_u ω_u      over the base clusterings that label both; Ŝ_cc = 1
/// ```
/// with Ŝ as in [`ecpcs_mc`](crate::ecpcs_mc).
///
/// # Cost
/// O(n M²) for the overlaps, O((ΣJ)³) for the walks, O(f² M) for a tree over f different label rows.
///
/// # Differences from the paper
/// Missing labels, weights (a base clustering of weight ω is ω copies, also among the neighbours), soft base clusterings (the mean
/// similarity over what both objects have shares of). Certainty is the mean similarity to the own cluster over the sum of that and the
/// best other's.
///
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, a setting is out of range, or the monitor asks to stop.
///
/// # References
/// D. Huang et al., IEEE Trans. SMC: Systems 51(1), 2021.
pub fn ecpcs_hc<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: Clusters,
    settings: &EcpcsHcSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SimilarityTreeDiagnostics>, GraphError> {
    let source = source.into();
    settings.validate(&ProblemSize::of(source.ensemble, clusters))?;
    tree(
        source,
        clusters,
        |index, copies| Ok(propagated(index, copies, settings.steps)?.0),
        monitor,
    )
}

/// Connected-triple-based similarity (Iam-On, Boongoen and Garrett 2008): average link on how many neighbours the base clusters
/// of two objects share.
///
/// ```text
/// sim(i, j) = Σ_u ω_u Sim(ℓ_ui, ℓ_uj) / Σ_u ω_u      Sim_cd = decay · T_cd / max T,   T_cd = Σ_e min(W_ce, W_de),   Sim_cc = 1
/// ```
/// with W the Jaccard index of base clusters. Known as CTS in LinkCluE and diceR, as WCT with weights W.
///
/// # Cost
/// O(n M²) for the overlaps, O((ΣJ)³) for the triples, O(f² M) for a tree over f different label rows.
///
/// # Differences from the paper
/// Missing labels, weights (a base clustering of weight ω is ω copies, also among the neighbours), soft base clusterings (the mean
/// similarity over what both objects have shares of). diceR cuts the list of clusters into equal parts, which is another result where
/// base clusterings differ in K.
///
/// # Errors
/// As [`ecpcs_hc`].
///
/// # References
/// N. Iam-On, T. Boongoen, S. Garrett: Refining pairwise similarity matrix for cluster ensemble problem with cluster relations,
/// Discovery Science 2008.
#[doc(alias = "diceR")]
#[doc(alias = "LinkCluE")]
#[doc(alias = "weighted connected triples")]
pub fn cts<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: Clusters,
    settings: &CtsSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SimilarityTreeDiagnostics>, GraphError> {
    let source = source.into();
    settings.validate(&ProblemSize::of(source.ensemble, clusters))?;
    tree(
        source,
        clusters,
        |index, copies| Ok(connected_triples(index, copies, settings.decay)),
        monitor,
    )
}

fn tree(
    source: WeightedEnsemble<'_>,
    clusters: Clusters,
    similarity: impl Fn(&Array2<f64>, &[f64]) -> Result<Array2<f64>, GraphError>,
    monitor: &dyn Monitor,
) -> Result<Outcome<SimilarityTreeDiagnostics>, GraphError> {
    let ensemble = source.ensemble;
    check(
        ensemble,
        if let Clusters::Exactly(clusters) = clusters {
            clusters
        } else {
            1
        },
    )?;
    if monitor.tick(0, ensemble.objects() as u64) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let (overlap, index) = overlaps(source)?;
    let weights = copies_by_base(overlap.offsets(), source.base_weights);
    let fragments = ensemble.fragments();
    let leaves = fragments.leaf_weights(source.multiplicities());
    let objects = Objects {
        fragments: &fragments,
        leaves: &leaves,
        multiplicities: &source.each_multiplicity(),
    };
    let similarity = similarity(&index, &weights)?;
    if ensemble.memberships().is_some() {
        return linked(
            &SimilarShares::new(objects, &similarity, &weights),
            objects,
            clusters,
            monitor,
        );
    }
    linked(
        &SimilarObjects::new(objects, &similarity, &weights),
        objects,
        clusters,
        monitor,
    )
}

fn linked(
    similar: &impl Similar,
    objects: Objects<'_>,
    clusters: Clusters,
    monitor: &dyn Monitor,
) -> Result<Outcome<SimilarityTreeDiagnostics>, GraphError> {
    let linked = link_rows(similar, objects.leaves, Linkage::Average, monitor).map_err(linkage)?;
    let tree = unfold(&linked, objects.fragments.of_object());
    let clusters = match clusters {
        Clusters::Exactly(clusters) => clusters,
        Clusters::Auto => longest_lifetime(&tree),
    };
    let partition = cut(&tree, clusters);
    let certainty = similar.certainty(&partition, objects);
    let mut outcome = Outcome::hard(partition, certainty, Stopped::Exact);
    outcome.dendrogram = Some(tree);
    Ok(outcome.with(SimilarityTreeDiagnostics {
        distinct_rows: objects.leaves.len(),
    }))
}

fn linkage(error: LinkageError) -> GraphError {
    match error {
        LinkageError::Interrupted => GraphError::Interrupted,
        other => GraphError::Linkage(other),
    }
}

/// Similarities of different label rows, in whole units so that sums do not depend on their order.
struct SimilarObjects {
    /// f rows of M base clusters, or [`MISSING`].
    rows: Vec<u32>,
    bases: usize,
    offsets: Vec<usize>,
    /// For every base cluster, ω_u times its similarity to each cluster of its base clustering, in units of `one`.
    lines: Vec<Vec<u32>>,
    /// ω_u in the same units.
    weights: Vec<u32>,
    unit: u64,
}

const MISSING: u32 = u32::MAX;

impl SimilarObjects {
    fn new(objects: Objects<'_>, similarity: &Array2<f64>, weights: &[f64]) -> Self {
        let ensemble = objects.fragments.ensemble();
        let (offsets, bases, unit) = (ensemble.offsets(), ensemble.bases().len(), objects.unit());
        // Sums over base clusterings fit 32 bits.
        let most = weights.iter().copied().fold(0.0, f64::max);
        let one = f64::from(u32::MAX / 2) / bases as f64 / most;
        let line = |c: usize| {
            let u = offsets.partition_point(|&start| start <= c) - 1;
            let of = |d: usize| if c == d { 1.0 } else { similarity[[c, d]] };
            (offsets[u]..offsets[u + 1])
                .map(|d| (of(d) * weights[c] * one).round() as u32)
                .collect()
        };
        let lines = (0..similarity.nrows()).map(line).collect();
        let label = |i: usize, u: usize| ensemble.label(i, u).map_or(MISSING, |label| label as u32);
        let rows = (0..ensemble.objects())
            .flat_map(|i| (0..bases).map(move |u| label(i, u)))
            .collect();
        let weights = (0..bases)
            .map(|u| (weights[offsets[u]] * one).round() as u32)
            .collect();
        Self {
            rows,
            bases,
            offsets,
            lines,
            weights,
            unit,
        }
    }

    fn row(&self, fragment: usize) -> &[u32] {
        &self.rows[fragment * self.bases..][..self.bases]
    }

    /// The line of a base cluster that is labelled.
    fn line(&self, u: usize, label: u32) -> &[u32] {
        &self.lines[self.offsets[u] + label as usize]
    }

    fn certainty_of(
        &self,
        (fragment, own, weight): (usize, usize, f64),
        counts: &[f64],
        sizes: &[f64],
    ) -> f64 {
        let clusters = sizes.len();
        let (mut alike, mut seen, mut itself) = (vec![0.0; clusters], vec![0.0; clusters], 0.0);
        for (u, &label) in self
            .row(fragment)
            .iter()
            .enumerate()
            .filter(|(_, label)| **label != MISSING)
        {
            itself += f64::from(self.weights[u]) * weight.min(1.0);
            for (at, &value) in self.line(u, label).iter().enumerate() {
                let counts = &counts[(self.offsets[u] + at) * clusters..][..clusters];
                for k in 0..clusters {
                    alike[k] += f64::from(value) * counts[k];
                    seen[k] += f64::from(self.weights[u]) * counts[k];
                }
            }
        }
        surety(
            &mut alike,
            &mut seen,
            own,
            itself,
            sizes[own] <= weight.min(1.0),
        )
    }
}

impl Similar for SimilarObjects {
    fn certainty(&self, partition: &Partition, objects: Objects<'_>) -> Vec<f64> {
        let clusters = partition.clusters();
        let mut counts = vec![0.0; self.lines.len() * clusters];
        for ((&fragment, &k), weight) in objects
            .fragments
            .of_object()
            .iter()
            .zip(partition.labels())
            .zip(objects.multiplicities)
        {
            for (u, &label) in self
                .row(fragment as usize)
                .iter()
                .enumerate()
                .filter(|(_, label)| **label != MISSING)
            {
                counts[(self.offsets[u] + label as usize) * clusters + k as usize] += weight;
            }
        }
        let sizes = objects.sizes(partition);
        objects.each(partition, |fragment, own, weight| {
            self.certainty_of((fragment, own, weight), &counts, &sizes)
        })
    }
}

impl Dissimilarities for SimilarObjects {
    fn objects(&self) -> usize {
        self.rows.len() / self.bases
    }

    fn unit(&self) -> u64 {
        self.unit
    }

    fn fill(&self, object: usize, row: &mut [u32]) {
        let own = self.row(object);
        for (to, other) in row.iter_mut().zip(self.rows.chunks_exact(self.bases)) {
            let (mut alike, mut seen) = (0, 0);
            for (u, (&a, &b)) in own.iter().zip(other).enumerate() {
                if a != MISSING && b != MISSING {
                    alike += u64::from(self.line(u, a)[b as usize]);
                    seen += u64::from(self.weights[u]);
                }
            }
            *to = (self.unit
                - (alike * self.unit + seen / 2)
                    .checked_div(seen)
                    .unwrap_or(0)) as u32;
        }
    }
}

/// Bytes that a tree of so many objects holds at once, at most.
fn bytes(size: &ProblemSize) -> u64 {
    let [n, m, side, k] = size.saturating();
    let unit = (u64::MAX / 4 / (n * n / Saturating(4)).0.max(1)).clamp(1, 1 << 31);
    let tables = Saturating(Overlap::bytes(size) + cluster_similarity::bytes(side.0))
        + side * k * Saturating(8);
    let link = Saturating(partita_linkage::bytes(size.objects, unit, Linkage::Average));
    (tables + link + n * (m * Saturating(6) + Saturating(80)) + Saturating(soft_tree_bytes(size))).0
}

/// Average link on propagated similarities of base clusters: [`ecpcs_hc`].
#[derive(Debug)]
pub struct EcpcsHc;

/// Average link on connected triples of base clusters: [`cts`].
#[derive(Debug)]
pub struct Cts;

/// Average link on propagated similarities of base clusters: [`ecpcs_hc`].
pub static ECPCS_HC: EcpcsHc = EcpcsHc;

/// Average link on connected triples of base clusters: [`cts`].
pub static CTS: Cts = Cts;

const TREE: MethodInfo = MethodInfo {
    certainty: "mean similarity to the object's cluster over the sum of that and the best other cluster's",
    time: "n²M + (ΣJ)³",
    memory: "n² up to 3 GiB, and nM + (ΣJ)²",
    remedy: "take ecpcs-mc or lce, which do not hold all pairs, or fewer objects",
    capabilities: Capabilities {
        auto_clusters: true,
        tree: true,
        cuts_tree: true,
        seeded: false,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Copies,
        object_weights: Weights::Native,
        ..GRAPH.capabilities
    },
    ..GRAPH
};

static ECPCS_HC_INFO: MethodInfo = MethodInfo {
    name: "ecpcs-hc",
    summary: "average link on how alike base clusters of two objects are by random walks; finds K by the longest lifetime",
    reference: "Huang, Wang, Peng, Lai and Kwoh 2021, IEEE Trans. SMC: Systems 51(1)",
    ..TREE
};

static CTS_INFO: MethodInfo = MethodInfo {
    name: "cts",
    summary: "average link on neighbours that base clusters of two objects share; finds K by the longest lifetime",
    reference: "Iam-On, Boongoen and Garrett 2008, Discovery Science",
    ..TREE
};

impl Method for EcpcsHc {
    type Settings = EcpcsHcSettings;
    type Diagnostics = SimilarityTreeDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &ECPCS_HC_INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &EcpcsHcSettings) -> u64 {
        bytes(size)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &EcpcsHcSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SimilarityTreeDiagnostics>, FitError> {
        Ok(ecpcs_hc(
            problem.weighted(),
            problem.clusters,
            settings,
            monitor,
        )?)
    }
}

impl Method for Cts {
    type Settings = CtsSettings;
    type Diagnostics = SimilarityTreeDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &CTS_INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &CtsSettings) -> u64 {
        bytes(size)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &CtsSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SimilarityTreeDiagnostics>, FitError> {
        Ok(cts(
            problem.weighted(),
            problem.clusters,
            settings,
            monitor,
        )?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_similarity::jaccard;
    use crate::cluster_similarity::tests::{overlap, tiny};
    use partita_conformance::draw;
    use partita_core::{Ensemble, Seed};

    /// Similarities of objects by the tree's own rows, n × n.
    fn found(ensemble: &Ensemble, similarity: &Array2<f64>) -> Array2<f64> {
        let fragments = ensemble.fragments();
        let ones = vec![1.0; ensemble.objects()];
        let objects = Objects {
            fragments: &fragments,
            leaves: fragments.weights(),
            multiplicities: &ones,
        };
        let similar = SimilarObjects::new(objects, similarity, &vec![1.0; similarity.nrows()]);
        let (f, of) = (fragments.weights().len(), fragments.of_object());
        let mut rows = vec![vec![0; f]; f];
        (0..f).for_each(|i| similar.fill(i, &mut rows[i]));
        let n = ensemble.objects();
        Array2::from_shape_fn((n, n), |(i, j)| {
            1.0 - f64::from(rows[of[i] as usize][of[j] as usize]) / similar.unit as f64
        })
    }

    #[test]
    fn tiny_similarities_to_their_printed_digits() {
        let index = jaccard(&overlap(&tiny()));
        let cases = [
            (
                propagated(&index, &[1.0; 7], 20).unwrap().0,
                [
                    (1, 2, 1.0),
                    (1, 3, 0.906_309),
                    (1, 4, 0.673_826),
                    (3, 4, 0.767_518),
                    (4, 5, 1.0),
                ],
            ),
            (
                connected_triples(&index, &[1.0; 7], 0.9),
                [
                    (1, 3, 0.786_667),
                    (1, 4, 0.24),
                    (3, 4, 0.453_333),
                    (4, 5, 0.876_667),
                    (5, 6, 1.0),
                ],
            ),
        ];
        for (similarity, expected) in cases {
            let sim = found(&tiny(), &similarity);
            for (i, j, value) in expected {
                assert!(
                    (sim[[i - 1, j - 1]] - value).abs() < 6e-7,
                    "{i} {j}: {} {value}",
                    sim[[i - 1, j - 1]]
                );
            }
        }
    }

    #[test]
    fn similarities_of_objects_are_means_over_base_clusterings() {
        for seed in 0..100 {
            let ensemble = draw(Seed::new(seed), 0.3).ensemble;
            let similarity = connected_triples(
                &jaccard(&overlap(&ensemble)),
                &vec![1.0; ensemble.offsets()[ensemble.bases().len()]],
                0.9,
            );
            let (sim, offsets) = (found(&ensemble, &similarity), ensemble.offsets());
            for i in 0..ensemble.objects() {
                for j in 0..i {
                    let both = |u: usize| {
                        Some((
                            ensemble.label(i, u)? + offsets[u],
                            ensemble.label(j, u)? + offsets[u],
                        ))
                    };
                    let pairs: Vec<(usize, usize)> =
                        (0..ensemble.bases().len()).filter_map(both).collect();
                    let sum: f64 = pairs.iter().map(|&(c, d)| similarity[[c, d]]).sum();
                    let expected = if pairs.is_empty() {
                        0.0
                    } else {
                        sum / pairs.len() as f64
                    };
                    assert!((sim[[i, j]] - expected).abs() < 1e-8, "{seed} {i} {j}");
                }
            }
        }
    }
}
