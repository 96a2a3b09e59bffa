//! LCE: link-based cluster ensemble, a cut of objects and base clusters in which similar base clusters share their objects.

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array1, Array2, Axis};
use partita_core::{
    Capabilities, MethodInfo, Monitor, PassRunner, RowFit, RowProblem, Settings, SoftBases, Weights,
};
use partita_kmeans::embedded::Search;
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::cluster_graph::{ClusterPlaces, inverse_roots, leading, lifted};
use crate::cluster_similarity::{connected_triples, jaccard, known};
use crate::link_method::{EmbeddedSettings, LinkMethod};
use crate::rows::copies_by_base;
use crate::spectral::{Cut, SPECTRAL, SpectralDiagnostics, counted};

/// Settings of [`LCE`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct LceSettings {
    /// Similarity of the two most similar base clusters (paper: DC); with 0 this is hbgf.
    #[setting(range = 0.0..=1.0, alias = "dc")]
    pub decay: f64,
    /// How k-means goes about.
    #[setting(flatten)]
    #[serde(flatten)]
    pub embedded: EmbeddedSettings,
}

impl Default for LceSettings {
    fn default() -> Self {
        Self {
            decay: 0.9,
            embedded: EmbeddedSettings::default(),
        }
    }
}

fn fitted(
    rows: &PassRunner<'_>,
    problem: &RowProblem<'_>,
    search: &Search,
    settings: &LceSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    let overlap = counted(rows, monitor)?;
    let copies = copies_by_base(overlap.offsets(), problem.weights);
    let index = jaccard(&overlap, &known(rows, &overlap)?);
    let links = Links::new(&index, overlap.offsets(), &copies, settings.decay);
    let degrees = links.degrees(&overlap);
    drop(overlap);
    let shared = Overlap::shared(rows, &links.strengths)?.into_table();
    let graph = links.graph(&shared, &degrees);
    let pairs = leading(graph.view(), search.clusters, problem.seed.child(0))?;
    let places = ClusterPlaces::new(&pairs, links.lifted(&pairs.vectors, &degrees));
    let cut = Cut {
        rows,
        strengths: &links.strengths,
        seed: problem.seed,
        budget: problem.budget,
    };
    cut.at(&places, search, monitor)
}

/// How far the objects of a base cluster are in the clusters of its base clustering, S = blockdiag(ω_u Sim_u).
struct Links {
    table: Array2<f64>,
    /// Row sums: the degree that an object has from a label.
    strengths: Vec<f64>,
}

impl Links {
    fn new(jaccard: &Array2<f64>, offsets: &[usize], weights: &[f64], decay: f64) -> Self {
        let mut table = connected_triples(jaccard, weights, decay);
        let base = |c: usize| offsets.partition_point(|&start| start <= c);
        table
            .indexed_iter_mut()
            .for_each(|((c, d), x)| *x *= if base(c) == base(d) { weights[c] } else { 0.0 });
        let strengths = table.sum_axis(Axis(1)).to_vec();
        Self { table, strengths }
    }

    /// Σ_i R_ic of every base cluster.
    fn degrees(&self, overlap: &Overlap) -> Vec<f64> {
        let sizes = Array1::from(overlap.sizes());
        self.table.t().dot(&sizes).to_vec()
    }

    /// D^-½ Sᵀ Ĩ S D^-½.
    fn graph(&self, shared: &Array2<f64>, degrees: &[f64]) -> Array2<f64> {
        let mut graph = self.table.t().dot(shared).dot(&self.table);
        let root = inverse_roots(degrees);
        graph
            .indexed_iter_mut()
            .for_each(|((a, b), x)| *x *= root[a] * root[b]);
        graph
    }

    /// S D^-½ V, scaled so that the trivial eigenvector puts a 1 into every row.
    fn lifted(&self, vectors: &Array2<f64>, degrees: &[f64]) -> Array2<f64> {
        let total = degrees.iter().sum::<f64>().sqrt();
        let roots = inverse_roots(degrees).into_iter();
        let scaled = lifted(vectors, roots.map(|root| root * total));
        self.table.dot(&scaled)
    }
}

/// Link-based cluster ensemble (Iam-On, Boongoen, Garrett and Price 2011): an object is in its own base clusters wholly, in the
/// others of the same base clusterings as far as these are similar, and a normalised cut groups objects by that.
///
/// ```text
/// R_ic = 1 if c = ℓ_i,u(c), else Sim(c, ℓ_i,u(c))           Sim_cd = decay · T_cd / max T,   T_cd = Σ_e min(W_ce, W_de)
/// ```
/// W is the Jaccard index of base clusters. R is never built: with `Ĩ_cd = Σ_i Z_ic Z_id / d_i` from one pass and
/// S = blockdiag(ω_u Sim_u), the cluster graph is `Rᵀ D⁻¹ R = Sᵀ Ĩ S`, and object i stands at the mean of the lines `S v` of its
/// labels.
///
/// | paper | here |
/// |---|---|
/// | WCT, RA | T, R |
/// | DC | [`LceSettings::decay`] |
///
/// # Cost
/// O(n M²) time for two tables of (ΣJ)² numbers, O((ΣJ)³) for the triples, O(n (M + K) K) an iteration of k-means; no memory that
/// grows with n besides the result.
///
/// # Differences from the paper
/// Missing labels (an object is in no cluster of that base clustering), weights (a base clustering of weight ω is ω copies, also among
/// the neighbours), k-means by greedy k-means++ from several
/// initializations.
///
/// # References
/// N. Iam-On, T. Boongoen, S. Garrett, C. Price: A link-based approach to the cluster ensemble problem, IEEE TPAMI 33(12), 2011.
#[doc(alias = "LinkCluE")]
pub static LCE: LinkMethod<LceSettings> = LinkMethod {
    info: &INFO,
    fit: fitted,
    embedded: |settings| &settings.embedded,
};

static INFO: MethodInfo = MethodInfo {
    name: "lce",
    summary: "normalised cut of objects and base clusters, in which base clusters with the same neighbours share objects",
    reference: "Iam-On, Boongoen, Garrett and Price 2011, IEEE TPAMI 33(12)",
    time: "nM² + nK² + (ΣJ)³",
    memory: "nK + (ΣJ)²",
    capabilities: Capabilities {
        soft_bases: SoftBases::Refused(
            "clusters that share objects a little are all similar to it, which blurs shares further; hbgf and lwgp take them",
        ),
        base_weights: Weights::Copies,
        object_weights: Weights::Native,
        ..SPECTRAL.capabilities
    },
    ..SPECTRAL
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_similarity::tests::{assert_cut_of, index, overlap, refined, shared, tiny};
    use crate::{HBGF, HbgfSettings};
    use partita_conformance::draw;
    use partita_core::{Clusters, Method, Problem, Seed, Silent};

    #[test]
    fn tiny_links_to_their_printed_digits() {
        let refined = refined(
            &tiny(),
            &connected_triples(&index(&overlap(&tiny())), &[1.0; 7], 0.9),
        );
        let rows = [
            (1, [1.0, 0.18, 1.0, 0.36, 1.0, 0.18, 0.18]),
            (3, [1.0, 0.18, 0.36, 1.0, 1.0, 0.18, 0.18]),
            (4, [0.18, 1.0, 0.36, 1.0, 0.18, 1.0, 0.63]),
        ];
        for (i, expected) in rows {
            // Labels are numbered as they appear in the columns.
            let found = refined.row(i - 1);
            assert!(
                found
                    .iter()
                    .zip(expected)
                    .all(|(a, b)| (a - b).abs() < 1e-9),
                "{i}: {found}"
            );
        }
    }

    #[test]
    fn the_linear_form_is_that_of_dense_links() {
        for seed in 0..120 {
            let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
            let ensemble = &drawn.ensemble;
            let overlap = overlap(ensemble);
            let ones = vec![1.0; overlap.sizes().len()];
            let dense = refined(ensemble, &connected_triples(&index(&overlap), &ones, 0.9));
            let links = Links::new(&index(&overlap), overlap.offsets(), &ones, 0.9);
            let degrees = links.degrees(&overlap);
            let graph = links.graph(&shared(ensemble, &links.strengths), &degrees);
            let table = links.lifted(&Array2::eye(dense.ncols()), &degrees);
            assert_cut_of(ensemble, &dense, &graph, &table);
        }
    }

    #[test]
    fn without_similar_clusters_it_is_the_cut_of_hbgf() {
        for seed in (0..30).map(Seed::new) {
            let drawn = draw(seed, 0.2);
            let settings = LceSettings {
                decay: 0.0,
                ..LceSettings::default()
            };
            let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
            problem.seed = seed;
            let found = LCE.fit(&problem, &settings, &Silent).unwrap();
            let expected = HBGF
                .fit(&problem, &HbgfSettings::default(), &Silent)
                .unwrap();
            assert_eq!(
                found.partition.by_appearance(),
                expected.partition.by_appearance(),
                "{}",
                seed.number()
            );
        }
    }
}
