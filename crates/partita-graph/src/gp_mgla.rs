//! GP-MGLA: a cut of objects and base clusters in which base clusters with common neighbours are linked too.

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use partita_core::{
    BaseWeights, Clusters, ClustersError, EnsembleRows, FitError, Flow, Method, MethodInfo, Monitor, Outcome,
    PassRunner, Problem, ProblemSize, RowFit, RowProblem, Seed, Settings, Silent, WeightedEnsemble,
};
use partita_kmeans::embedded::Search;
use partita_spectral::{LanczosSettings, lanczos};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::bipartite::{inverse_roots, multiply};
use crate::cluster_similarity::{self, bases_of, common_links, jaccard, live};
use crate::collect::collected;
use crate::row_cut;
use crate::rows::by_base;
use crate::spectral::{SPECTRAL, SpectralDiagnostics, counted};

/// Settings of [`gp_mgla`]. Start from `default()` and change what you mean to change.
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
    /// Independent initializations of k-means; the lowest loss is kept.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: u32,
    /// The most rounds of k-means.
    #[setting(range = 1..=1_000_000, alias = "max_iter", alias = "n_iter")]
    pub rounds: u32,
    /// Stop k-means when its loss falls by less than this share.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for GpMglaSettings {
    fn default() -> Self {
        Self { alpha: 0.5, beta: 2.0, restarts: 10, rounds: 100, tolerance: 1e-6 }
    }
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
/// O(n M²) time for two tables of (ΣJ)² numbers, O((ΣJ)³) for the links, O(n (M + K) K) a round of k-means; no memory that
/// grows with n besides the result.
///
/// # Differences from the paper
/// Missing labels; weights of base clusterings, which multiply a_u; a_u is at least 0.001 before them, so that no object is cut off.
///
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, a setting is out of range, the eigenvectors are not found, or
/// the monitor asks to stop before they are.
///
/// # References
/// D. Huang, J.-H. Lai, C.-D. Wang: Combining multiple clusterings via crowd agreement estimation and multi-granularity link
/// analysis, Neurocomputing 170, 2015.
#[doc(alias = "GP-MGLA")]
pub fn gp_mgla<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &GpMglaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SpectralDiagnostics>, GraphError> {
    let source = source.into();
    let rows = EnsembleRows::new(source.ensemble);
    let rows = PassRunner::new(&rows, &Silent);
    collected(&rows, gp_mgla_rows(&rows, source.base_weights, clusters, seed, settings, monitor)?)
}

/// [`gp_mgla`] over label rows that are not held: three passes and one for every round of k-means.
///
/// # Errors
/// As [`gp_mgla`], and [`GraphError::Pass`] when rows cannot be read.
pub fn gp_mgla_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &GpMglaSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    let (objects, bases) = (rows.source().rows() as usize, rows.source().bases());
    settings.validate(&ProblemSize::of_bases(objects, bases, Clusters::Exactly(clusters)))?;
    ClustersError::check(clusters, objects)?;
    if monitor.tick(0, u64::from(settings.rounds) + 1) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let graph = LinkedGraph::new(&counted(rows)?, weights, settings);
    let matrix = graph.matrix(Overlap::shared(rows, &graph.strengths)?.into_table());
    let side = graph.strengths.len();
    let product = |x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>| multiply(matrix.view(), x, y);
    let pairs = lanczos(side, clusters.min(side), product, seed.child(0), &LanczosSettings::default())?;
    let (&GpMglaSettings { restarts, rounds, tolerance, .. }, table) = (settings, graph.lifted(&pairs.vectors));
    let search = Search { clusters, restarts, rounds, tolerance };
    let fit = row_cut::grouped(rows, &table, &graph.strengths, &search, seed, monitor)?;
    let eigenvalues = pairs.values.to_vec();
    Ok(fit.map_details(|()| SpectralDiagnostics { eigenvalues, distinct_rows: None, moved: None }))
}

/// Edges of base clusters, and their degrees.
struct LinkedGraph {
    /// Weight of the edges to the objects of every base cluster.
    strengths: Vec<f64>,
    /// SACT, ΣJ × ΣJ.
    links: Array2<f64>,
    /// Column sums of B.
    degrees: Vec<f64>,
}

impl LinkedGraph {
    fn new(overlap: &Overlap, weights: Option<&BaseWeights>, settings: &GpMglaSettings) -> Self {
        let (influence, base_of) = (influence(overlap, settings.beta), bases_of(overlap.offsets()));
        let given = by_base(overlap.offsets(), weights);
        let counts: Vec<f64> = base_of.iter().zip(given).map(|(&u, weight)| influence[u] * weight).collect();
        let (mut near, live) = (jaccard(overlap), live(overlap));
        live.iter().for_each(|&c| near[[c, c]] = 1.0);
        let mut links = common_links(&near, Some(&counts));
        let most = links.iter().copied().fold(f64::MIN_POSITIVE, f64::max);
        links.mapv_inplace(|link| link / most);
        live.iter().for_each(|&c| links[[c, c]] = 1.0);
        let strengths: Vec<f64> = counts.iter().map(|count| settings.alpha * count).collect();
        let own = overlap.sizes().into_iter().zip(&strengths).map(|(size, strength)| size * strength);
        let degrees = own.zip(links.sum_axis(Axis(1))).map(|(own, links)| own + links).collect();
        Self { strengths, links, degrees }
    }

    /// D^-½ Bᵀ D⁻¹ B D^-½ from the part of the objects, Σ_i Z_ic Z_id / d_i.
    fn matrix(&self, mut shared: Array2<f64>) -> Array2<f64> {
        shared.indexed_iter_mut().for_each(|((c, d), x)| *x *= self.strengths[c] * self.strengths[d]);
        let own = self.links.sum_axis(Axis(1)).mapv(|sum| if sum > 0.0 { 1.0 / sum } else { 0.0 });
        let mut matrix = self.links.t().dot(&(&self.links * &own.insert_axis(Axis(1)))) + shared;
        let root = inverse_roots(&self.degrees, &vec![1.0; self.degrees.len()]);
        matrix.indexed_iter_mut().for_each(|((c, d), x)| *x *= root[c] * root[d]);
        matrix
    }

    /// What a base cluster adds to the place of its objects, so that the trivial eigenvector puts a 1 into every row.
    fn lifted(&self, vectors: &Array2<f64>) -> Array2<f64> {
        let root = inverse_roots(&self.degrees, &vec![1.0; self.degrees.len()]);
        let total = self.degrees.iter().sum::<f64>().sqrt();
        let mut table = vectors.as_standard_layout().into_owned();
        for ((mut line, root), strength) in table.outer_iter_mut().zip(&root).zip(&self.strengths) {
            line.mapv_inplace(|x| x * root * strength * total);
        }
        table
    }
}

/// How much every base clustering counts for its agreement with the others.
fn influence(overlap: &Overlap, beta: f64) -> Vec<f64> {
    let bases = overlap.offsets().len() - 1;
    let mut sums = vec![0.0; bases];
    for u in 0..bases {
        for v in u + 1..bases {
            let shared = nmi_max(overlap.of_bases(u, v));
            sums[u] += shared;
            sums[v] += shared;
        }
    }
    let most = sums.iter().copied().fold(0.0, f64::max);
    let of = |sum: &f64| if most > 0.0 { (sum / most).powf(beta).max(1e-3) } else { 1.0 };
    sums.iter().map(of).collect()
}

/// Mutual information of a table of counts over the larger of the two entropies; 0 where both are 0.
fn nmi_max(counts: ArrayView2<'_, f64>) -> f64 {
    let term = |x: &f64| if *x > 0.0 { x * x.ln() } else { 0.0 };
    let sum = |counts: &mut dyn Iterator<Item = f64>| counts.map(|x| term(&x)).sum::<f64>();
    let (rows, columns) = (counts.sum_axis(Axis(1)), counts.sum_axis(Axis(0)));
    let (whole, joint) = (term(&counts.sum()), sum(&mut counts.iter().copied()));
    let (rows, columns) = (sum(&mut rows.into_iter()), sum(&mut columns.into_iter()));
    let larger = whole - rows.min(columns);
    if larger > 0.0 { ((joint + whole - rows - columns) / larger).clamp(0.0, 1.0) } else { 0.0 }
}

/// [`gp_mgla`] as a method.
#[derive(Debug)]
pub struct GpMgla;

/// Graph partitioning with multi-granularity link analysis, [`gp_mgla`].
pub static GP_MGLA: GpMgla = GpMgla;

static INFO: MethodInfo = MethodInfo {
    name: "gp-mgla",
    summary: "normalised cut of objects and base clusters, these linked by common neighbours, all weighed by agreement",
    reference: "Huang, Lai and Wang 2015, Neurocomputing 170",
    time: "nM² + nK² + (ΣJ)³",
    memory: "nK + (ΣJ)²",
    ..SPECTRAL
};

impl Method for GpMgla {
    type Settings = GpMglaSettings;
    type Diagnostics = SpectralDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &GpMglaSettings) -> u64 {
        self.row_bytes(size, settings).saturating_add((size.objects as u64).saturating_mul(24))
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &GpMglaSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SpectralDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(gp_mgla(problem.weighted(), clusters, problem.seed, settings, monitor)?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &GpMglaSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SpectralDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(gp_mgla_rows(&problem.passes(), problem.weights, clusters, problem.seed, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &GpMglaSettings) -> u64 {
        row_cut::bytes(size, settings.restarts).saturating_add(cluster_similarity::bytes(size.base_clusters as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cluster_similarity::tests::{overlap, tiny};
    use crate::{HbgfSettings, hbgf_rows};
    use partita_conformance::draw;
    use partita_core::Ensemble;
    use partita_core::ndarray::Array1;

    #[test]
    fn tiny_agreement_to_its_printed_digits() {
        for (found, expected) in influence(&overlap(&tiny()), 1.0).iter().zip([1.0, 0.676_130, 0.873_760]) {
            assert!((found - expected).abs() < 5e-7, "{found} {expected}");
        }
    }

    /// B of the definition, objects and then base clusters, object by object.
    fn edges(ensemble: &Ensemble, alpha: f64, beta: f64) -> Array2<f64> {
        let (offsets, n) = (ensemble.offsets(), ensemble.objects());
        let (counts, base_of) = (influence(&overlap(ensemble), beta), bases_of(&offsets));
        let side = base_of.len();
        let inside = |i: usize, c: usize| ensemble.label(i, base_of[c]) == Some(c - offsets[base_of[c]]);
        let near = Array2::from_shape_fn((side, side), |(c, d)| {
            let seen = |i: usize| ensemble.label(i, base_of[c]).and(ensemble.label(i, base_of[d])).is_some();
            let both = (0..n).filter(|&i| inside(i, c) && inside(i, d)).count() as f64;
            let any = (0..n).filter(|&i| seen(i) && (inside(i, c) || inside(i, d))).count() as f64;
            if both > 0.0 { both / any } else { 0.0 }
        });
        let mut links = Array2::from_shape_fn((side, side), |(c, d)| {
            (0..side).map(|e| counts[base_of[e]] * near[[c, e]].min(near[[d, e]])).sum::<f64>()
        });
        links /= links.iter().copied().fold(0.0, f64::max);
        (0..side).for_each(|c| links[[c, c]] = near[[c, c]]);
        Array2::from_shape_fn((n + side, side), |(x, c)| match x.checked_sub(n) {
            Some(d) => links[[d, c]],
            None => alpha * counts[base_of[c]] * f64::from(u8::from(inside(x, c))),
        })
    }

    #[test]
    fn the_linear_form_is_that_of_all_edges() {
        for seed in 0..120 {
            let drawn = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 });
            let ensemble = &drawn.ensemble;
            let settings = GpMglaSettings { alpha: 0.1 + (seed % 7) as f64, ..GpMglaSettings::default() };
            let dense = edges(ensemble, settings.alpha, settings.beta);
            let graph = LinkedGraph::new(&overlap(ensemble), None, &settings);
            let source = EnsembleRows::new(ensemble);
            let shared = Overlap::shared(&PassRunner::new(&source, &Silent), &graph.strengths).unwrap();
            let (rows, columns) = (dense.sum_axis(Axis(1)), dense.sum_axis(Axis(0)));
            let part = |power: f64| {
                let scale = |x: usize, c: usize| rows[x].max(1e-300).powf(-power) * columns[c].max(1e-300).powf(-0.5);
                Array2::from_shape_fn(dense.dim(), |(x, c)| dense[[x, c]] * scale(x, c))
            };
            let (half, whole) = (part(0.5), part(1.0));
            let matrix = graph.matrix(shared.into_table());
            assert!((&half.t().dot(&half) - &matrix).iter().all(|x| x.abs() < 1e-10), "{seed}");
            // The place of an object, D⁻¹ B D^-½ v, is the sum of what its base clusters add over its degree.
            let lifted = graph.lifted(&Array2::eye(columns.len())) / columns.sum().sqrt();
            for i in 0..ensemble.objects() {
                let own = (0..columns.len()).filter(|&c| dense[[i, c]] > 0.0);
                let sum = own.fold(Array1::<f64>::zeros(columns.len()), |sum, c| sum + lifted.row(c)) / rows[i];
                assert!(sum.iter().zip(whole.row(i)).all(|(a, b)| (a - b).abs() < 1e-10), "{seed} {i}");
            }
        }
    }

    #[test]
    fn without_links_and_influence_it_is_hbgf() {
        for seed in 0..20 {
            let drawn = draw(Seed::new(seed), 0.1);
            let source = EnsembleRows::new(&drawn.ensemble);
            let rows = PassRunner::new(&source, &Silent);
            let settings = GpMglaSettings { alpha: 1e6, beta: 0.0, ..GpMglaSettings::default() };
            let linked = gp_mgla_rows(&rows, None, 3, Seed::new(1), &settings, &Silent).unwrap();
            let plain = hbgf_rows(&rows, None, 3, Seed::new(1), &HbgfSettings::default(), &Silent).unwrap();
            let spectral = plain.details.spectral.expect("the spectral cut");
            let values = linked.details.eigenvalues.iter().zip(&spectral.eigenvalues);
            assert!(values.into_iter().all(|(a, b)| (a - b).abs() < 1e-4), "{seed}");
        }
    }
}
