//! GP-MGLA: a cut of objects and base clusters in which base clusters with common neighbours are linked too.

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    BaseWeights, Capabilities, MethodInfo, Monitor, PassRunner, RowFit, RowProblem, Settings,
    Weights,
};
use partita_kmeans::embedded::Search;
use partita_metrics::{Normalisation, nmi_of_counts};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::cluster_graph::{ClusterPlaces, inverse_roots, leading, lifted};
use crate::cluster_similarity::{bases_of, common_links, jaccard, known, live};
use crate::link_method::{EmbeddedSettings, LinkMethod};
use crate::rows::copies_by_base;
use crate::spectral::{Cut, SPECTRAL, SpectralDiagnostics, counted};

/// Settings of [`GP_MGLA`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct GpMglaSettings {
    /// Weight of an edge between an object and a base cluster, beside links among base clusters of at most 1 (paper: α).
    #[setting(range = 0.001..=1_000_000.0)]
    pub alpha: f64,
    /// How much the agreement of a base clustering with the others tells: its exponent (paper: β).
    #[setting(range = 0.0..=100.0)]
    pub beta: f64,
    /// How k-means goes about.
    #[setting(flatten)]
    #[serde(flatten)]
    pub embedded: EmbeddedSettings,
}

impl Default for GpMglaSettings {
    fn default() -> Self {
        Self {
            alpha: 0.5,
            beta: 2.0,
            embedded: EmbeddedSettings::default(),
        }
    }
}

fn fitted(
    rows: &PassRunner<'_>,
    problem: &RowProblem<'_>,
    search: &Search,
    settings: &GpMglaSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    let overlap = counted(rows, monitor)?;
    let index = jaccard(&overlap, &known(rows, &overlap)?);
    let graph = LinkedGraph::new(&overlap, index, problem.weights, settings);
    drop(overlap);
    let matrix = graph.matrix(Overlap::shared(rows, &graph.strengths)?.into_table());
    let pairs = leading(matrix.view(), search.clusters, problem.seed.child(0))?;
    let places = ClusterPlaces::new(&pairs, graph.lifted(&pairs.vectors));
    let cut = Cut {
        rows,
        strengths: &graph.strengths,
        seed: problem.seed,
        budget: problem.budget,
    };
    cut.at(&places, search, monitor)
}

/// Edges of base clusters.
struct LinkedGraph {
    /// Weight of the edges to the objects of every base cluster.
    strengths: Vec<f64>,
    /// SACT, ΣJ × ΣJ.
    links: Array2<f64>,
    /// D^-½ of the column sums D of B, and the root of their sum, which makes the trivial eigenvector put a 1 into every row.
    roots: Vec<f64>,
    total: f64,
}

impl LinkedGraph {
    fn new(
        overlap: &Overlap,
        mut near: Array2<f64>,
        weights: Option<&BaseWeights>,
        settings: &GpMglaSettings,
    ) -> Self {
        let influence = influence(overlap, weights.map(BaseWeights::copies), settings.beta);
        let (base_of, copies) = (
            bases_of(overlap.offsets()),
            copies_by_base(overlap.offsets(), weights),
        );
        let counts: Vec<f64> = base_of
            .iter()
            .zip(&copies)
            .map(|(&u, copies)| influence[u] * copies)
            .collect();
        let live = live(overlap);
        live.iter().for_each(|&c| near[[c, c]] = 1.0);
        let mut links = common_links(&near, Some(&counts));
        let most = links.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        // Edges of all copies; each has 1 to itself, and the link of copies to the others of its kind.
        links
            .indexed_iter_mut()
            .for_each(|((c, d), link)| *link = copies[c] * copies[d] * (*link / most));
        live.iter().for_each(|&c| {
            let of_copies = links[[c, c]] / (copies[c] * copies[c]);
            links[[c, c]] = copies[c] * (1.0 + (copies[c] - 1.0).max(0.0) * of_copies);
        });
        let strengths: Vec<f64> = counts.iter().map(|count| settings.alpha * count).collect();
        let own = overlap
            .sizes()
            .into_iter()
            .zip(&strengths)
            .map(|(size, strength)| size * strength);
        let degrees: Vec<f64> = own
            .zip(links.sum_axis(Axis(1)))
            .map(|(own, links)| own + links)
            .collect();
        let (roots, total) = (inverse_roots(&degrees), degrees.iter().sum::<f64>().sqrt());
        Self {
            strengths,
            links,
            roots,
            total,
        }
    }

    /// What base clusters add to the places of their objects.
    fn lifted(&self, vectors: &Array2<f64>) -> Array2<f64> {
        let factors = self.roots.iter().zip(&self.strengths);
        lifted(
            vectors,
            factors.map(|(root, strength)| root * strength * self.total),
        )
    }

    /// D^-½ Bᵀ D⁻¹ B D^-½ from the part of the objects, Σ_i Z_ic Z_id / d_i.
    fn matrix(&self, mut shared: Array2<f64>) -> Array2<f64> {
        shared
            .indexed_iter_mut()
            .for_each(|((c, d), x)| *x *= self.strengths[c] * self.strengths[d]);
        let own = self
            .links
            .sum_axis(Axis(1))
            .mapv(|sum| if sum > 0.0 { 1.0 / sum } else { 0.0 });
        let mut matrix = self
            .links
            .t()
            .dot(&(&self.links * &own.insert_axis(Axis(1))))
            + shared;
        matrix
            .indexed_iter_mut()
            .for_each(|((c, d), x)| *x *= self.roots[c] * self.roots[d]);
        matrix
    }
}

/// How much every base clustering counts for its agreement with the others and with its copies; one of a single cluster agrees with none.
fn influence(overlap: &Overlap, copies: Option<&[f64]>, beta: f64) -> Vec<f64> {
    let copies = |u: usize| copies.map_or(1.0, |copies| copies[u]);
    let bases = 0..overlap.offsets().len() - 1;
    let shared = |u: usize, v: usize| {
        let counts = overlap.of_bases(u.min(v), u.max(v));
        let split = counts.iter().filter(|count| **count > 0.0).nth(1).is_some();
        if split {
            nmi_of_counts(counts, Normalisation::Max)
        } else {
            0.0
        }
    };
    let times = |u: usize, v: usize| {
        if u == v {
            (copies(u) - 1.0).max(0.0)
        } else {
            copies(v)
        }
    };
    let agreement = |u: usize, v: usize| {
        Some(times(u, v))
            .filter(|times| *times > 0.0)
            .map(|times| times * shared(u, v))
    };
    let sum = |u: usize| bases.clone().filter_map(|v| agreement(u, v)).sum::<f64>();
    let sums: Vec<f64> = bases.clone().map(sum).collect();
    let most = sums.iter().copied().fold(0.0, f64::max);
    sums.iter()
        .map(|sum| {
            if most > 0.0 {
                (sum / most).powf(beta).max(1e-3)
            } else {
                1.0
            }
        })
        .collect()
}

/// Graph partitioning with multi-granularity link analysis (Huang, Lai and Wang 2015): the normalised cut of a graph of objects and
/// base clusters, in which base clusters are linked by their common neighbours and all edges count as their base clusterings agree.
///
/// ```text
/// a_u = (NCAI_u)^β,   NCAI_u = mean over v of NMI(u, v), by the larger entropy, over the largest such mean
/// B = [ α a_u(c) Z_ic ; SACT ]      SACT_cd = Σ_e a_u(e) min(W_ce, W_de) / their maximum, 1 on the diagonal
/// ```
/// W is the Jaccard index of base clusters, 1 on the diagonal. The cluster graph is `Bᵀ D⁻¹ B`, of which the part of the objects
/// comes from one pass.
///
/// | paper | here |
/// |---|---|
/// | α, β | [`GpMglaSettings::alpha`], [`GpMglaSettings::beta`]; defaults as in the authors' demo |
/// | crowd agreement, influence | a_u |
///
/// # Cost
/// O(n M²) time for two tables of (ΣJ)² numbers, O((ΣJ)³) for the links, O(n (M + K) K) an iteration of k-means; no memory that
/// grows with n besides the result.
///
/// # Differences from the paper
/// Missing labels; weights of base clusterings, each of which is so many copies; a_u is at least 0.001, so that no object is cut off;
/// an object of weight w is w objects, in NMI, W, the cut and k-means.
///
/// # References
/// D. Huang, J.-H. Lai, C.-D. Wang: Combining multiple clusterings via crowd agreement estimation and multi-granularity link
/// analysis, Neurocomputing 170, 2015.
#[doc(alias = "GP-MGLA")]
pub static GP_MGLA: LinkMethod<GpMglaSettings> = LinkMethod {
    info: &MethodInfo {
        name: "gp-mgla",
        summary: "normalised cut of objects and base clusters, these linked by common neighbours, all weighed by agreement",
        reference: "Huang, Lai and Wang 2015, Neurocomputing 170",
        time: "nM² + nK² + (ΣJ)³",
        memory: "nK + (ΣJ)²",
        capabilities: Capabilities {
            base_weights: Weights::Copies,
            object_weights: Weights::Native,
            ..SPECTRAL.capabilities
        },
        ..SPECTRAL
    },
    fit: fitted,
    embedded: |settings| &settings.embedded,
};

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_similarity::tests::{
        assert_cut_of, index, naive, overlap, refined, shared, tiny,
    };
    use partita_conformance::draw;
    use partita_core::ndarray::{Array1, concatenate};
    use partita_core::{Ensemble, Seed};

    #[test]
    fn tiny_agreement_to_its_printed_digits() {
        for (found, expected) in influence(&overlap(&tiny()), None, 1.0)
            .iter()
            .zip([1.0, 0.676_130, 0.873_760])
        {
            assert!((found - expected).abs() < 5e-7, "{found} {expected}");
        }
    }

    /// B of the definition, objects and then base clusters.
    fn edges(ensemble: &Ensemble, settings: &GpMglaSettings) -> Array2<f64> {
        let (influence, base_of) = (
            influence(&overlap(ensemble), None, settings.beta),
            bases_of(&ensemble.offsets()),
        );
        let counts = Array1::from_iter(base_of.iter().map(|&u| influence[u]));
        let one_hot = refined(ensemble, &Array2::eye(counts.len()));
        let mut near = naive(ensemble, 0).1;
        near.diag_mut()
            .assign(&one_hot.sum_axis(Axis(0)).mapv(|size| size.min(1.0)));
        let mut links = Array2::from_shape_fn(near.dim(), |(c, d)| {
            (0..counts.len())
                .map(|e| counts[e] * near[[c, e]].min(near[[d, e]]))
                .sum::<f64>()
        });
        links /= links.iter().copied().fold(0.0, f64::max);
        links.diag_mut().assign(&near.diag());
        concatenate![Axis(0), one_hot * counts * settings.alpha, links]
    }

    #[test]
    fn the_linear_form_is_that_of_all_edges() {
        for seed in 0..120 {
            let ensemble = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 }).ensemble;
            let settings = GpMglaSettings {
                alpha: 0.1 + (seed % 7) as f64,
                ..GpMglaSettings::default()
            };
            let overlap = overlap(&ensemble);
            let graph = LinkedGraph::new(&overlap, index(&overlap), None, &settings);
            let matrix = graph.matrix(shared(&ensemble, &graph.strengths));
            let all = graph.lifted(&Array2::eye(graph.roots.len()));
            assert_cut_of(&ensemble, &edges(&ensemble, &settings), &matrix, &all);
        }
    }
}
