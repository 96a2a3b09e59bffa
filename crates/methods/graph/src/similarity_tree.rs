//! ECPCS-HC and CTS: average link on similarities of objects that are similarities of their base clusters.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::Array2;
use partita_core::{
    Capabilities, Clusters, EnsembleRows, FitError, Method, MethodInfo, Monitor, Outcome,
    PassRunner, Problem, ProblemSize, Settings, Silent, SoftBases, Stopped, Weights,
};
use partita_linkage::{Linkage, LinkageError, cut, link_rows, longest_lifetime, unfold};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::cluster_similarity::{self, connected_triples, jaccard, known, propagated};
use crate::rows::copies_by_base;
use crate::similar_rows::SimilarRows;
use crate::spectral::{GRAPH, counted};

/// Settings of [`ECPCS_HC`]. Start from `default()` and change what you mean to change.
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

/// Settings of [`CTS`]. Start from `default()` and change what you mean to change.
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

/// The similarity of base clusters by their Jaccard indices and copies.
type Similarity<S> = fn(&Array2<f64>, &[f64], &S) -> Result<Array2<f64>, GraphError>;

/// A tree of objects by similarities of base clusters as a method: [`ECPCS_HC`] or [`CTS`].
#[derive(Debug)]
pub struct SimilarityTree<S> {
    info: &'static MethodInfo,
    similarity: Similarity<S>,
}

/// Enhanced ensemble clustering via fast propagation of cluster-wise similarities, by a tree (Huang, Wang, Peng, Lai and Kwoh
/// 2021): average link on how alike the base clusters of two objects are.
///
/// ```text
/// sim(i, j) = Σ_u ω_u Ŝ(ℓ_ui, ℓ_uj) / Σ_u ω_u      over the base clusterings that label both; Ŝ_cc = 1
/// ```
/// with Ŝ as in [`ECPCS_MC`](crate::ECPCS_MC).
///
/// # Cost
/// O(n M²) for the overlaps, O((ΣJ)³) for the walks, O(f² M) for a tree over f different label rows.
///
/// # Differences from the paper
/// Missing labels, weights (a base clustering of weight ω is ω copies, also among the neighbours), soft base clusterings (the mean
/// similarity over what both objects have shares of).
///
/// # References
/// D. Huang et al., IEEE Trans. SMC: Systems 51(1), 2021.
pub static ECPCS_HC: SimilarityTree<EcpcsHcSettings> = SimilarityTree {
    info: &ECPCS_HC_INFO,
    similarity: |index, copies, settings| Ok(propagated(index, copies, settings.steps)?.0),
};

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
/// # References
/// N. Iam-On, T. Boongoen, S. Garrett: Refining pairwise similarity matrix for cluster ensemble problem with cluster relations,
/// Discovery Science 2008.
#[doc(alias = "diceR")]
#[doc(alias = "LinkCluE")]
#[doc(alias = "weighted connected triples")]
pub static CTS: SimilarityTree<CtsSettings> = SimilarityTree {
    info: &CTS_INFO,
    similarity: |index, copies, settings| Ok(connected_triples(index, copies, settings.decay)),
};

const TREE: MethodInfo = MethodInfo {
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

impl<S: Settings> SimilarityTree<S> {
    fn tree(
        &self,
        problem: &Problem<'_>,
        settings: &S,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SimilarityTreeDiagnostics>, GraphError> {
        let source = EnsembleRows::from(problem.weighted());
        let rows = PassRunner::new(&source, &Silent);
        let overlap = counted(&rows, monitor)?;
        let index = jaccard(&overlap, &known(&rows, &overlap)?);
        let copies = copies_by_base(overlap.offsets(), problem.weights);
        let similarity = (self.similarity)(&index, &copies, settings)?;
        let source = problem.weighted();
        let fragments = problem.ensemble.fragments();
        let leaves = fragments.leaf_weights(source.multiplicities());
        let similar = SimilarRows::new(&fragments, &leaves, &similarity, &copies);
        let linked = link_rows(&similar, &leaves, Linkage::Average, monitor).map_err(linkage)?;
        let tree = unfold(&linked, fragments.of_object());
        let clusters = match problem.clusters {
            Clusters::Exactly(clusters) => clusters,
            Clusters::Auto => longest_lifetime(&tree),
        };
        let partition = cut(&tree, clusters);
        let mut outcome = Outcome::hard(partition, Stopped::Exact);
        outcome.dendrogram = Some(tree);
        Ok(outcome.with(SimilarityTreeDiagnostics {
            distinct_rows: leaves.len(),
        }))
    }
}

fn linkage(error: LinkageError) -> GraphError {
    match error {
        LinkageError::Interrupted => GraphError::Interrupted,
        other => GraphError::Linkage(other),
    }
}

impl<S: Settings> Method for SimilarityTree<S> {
    type Settings = S;
    type Diagnostics = SimilarityTreeDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn bytes(&self, size: &ProblemSize, _: &S) -> u64 {
        let [n, m, side, k] = size.saturating();
        let unit = (u64::MAX / 4 / (n * n / Saturating(4)).0.max(1)).clamp(1, 1 << 31);
        let tables = Saturating(Overlap::bytes(size) + cluster_similarity::bytes(side.0))
            + side * (side + k) * Saturating(8);
        let link = Saturating(partita_linkage::bytes(size.objects, unit, Linkage::Average));
        let shares = (n * m).max(Saturating(size.soft_shares as u64)) * Saturating(14);
        (tables + link + shares + n * Saturating(100)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &S,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SimilarityTreeDiagnostics>, FitError> {
        Ok(self.tree(problem, settings, monitor)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_similarity::tests::{index, overlap, tiny};
    use partita_conformance::draw;
    use partita_core::{Ensemble, Seed};
    use partita_linkage::Rows as _;

    /// Similarities of objects by the tree's own rows, n × n.
    fn found(ensemble: &Ensemble, similarity: &Array2<f64>) -> Array2<f64> {
        let fragments = ensemble.fragments();
        let weights = vec![1.0; similarity.nrows()];
        let similar = SimilarRows::new(&fragments, fragments.weights(), similarity, &weights);
        let (f, of) = (fragments.weights().len(), fragments.of_object());
        let mut rows = vec![vec![0; f]; f];
        (0..f).for_each(|i| similar.fill(i, &mut rows[i]));
        let n = ensemble.objects();
        Array2::from_shape_fn((n, n), |(i, j)| {
            1.0 - f64::from(rows[of[i] as usize][of[j] as usize]) / similar.unit() as f64
        })
    }

    #[test]
    fn tiny_similarities_to_their_printed_digits() {
        let index = index(&overlap(&tiny()));
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
                &index(&overlap(&ensemble)),
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
                    assert!((sim[[i, j]] - expected).abs() < 1e-7, "{seed} {i} {j}");
                }
            }
        }
    }
}
