//! EC-CMS: ensemble clustering via co-association matrix self-enhancement.

mod evidence;
mod propagation;

use partita_core::ndarray::Array2;
use partita_core::{
    BaseWeights, Capabilities, Clusters, Dendrogram, Ensemble, FitError, Flow, Method, MethodInfo, Monitor, Outcome,
    Partition, Problem, ProblemSize, Settings, SoftBases, Weights,
};
use partita_linkage::{Linkage, cut, link};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::rows::check;
use crate::spectral::GRAPH;
use evidence::Evidence;
use propagation::{Propagated, propagate};

/// Most objects that [`ec_cms`] takes.
pub const EC_CMS_OBJECTS: usize = 20_000;

/// Settings of [`ec_cms`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EcCmsSettings {
    /// Share of base clusterings from which a pair is certain (paper: α).
    #[setting(range = 0.0..=1.0)]
    pub alpha: f64,
    /// What a difference from the weighted co-association costs (paper: λ).
    #[setting(range = 1e-6..=1e6)]
    pub lambda: f64,
    /// How fast a base cluster loses weight as the others disagree on it (θ of lwea): less is faster.
    #[setting(range = 0.05..)]
    pub theta: f64,
    /// The most rounds.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: u32,
    /// Stop when no matrix changes by more than this share.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for EcCmsSettings {
    fn default() -> Self {
        Self { alpha: 0.8, lambda: 0.4, theta: 0.4, rounds: 100, tolerance: 1e-2 }
    }
}

/// Facts about a propagation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EcCmsDiagnostics {
    /// Connected components of the certain pairs.
    pub components: usize,
    /// Objects of the largest.
    pub largest_component: usize,
    /// The largest relative change of the last round.
    pub last_change: f64,
}

/// Ensemble clustering via co-association matrix self-enhancement (Jia, Tao, Wang and Wang 2023): pairs that most base clusterings put
/// together are certain and propagate to the others; then average link.
///
/// ```text
/// minimise over C, E:  tr(Cᵀ Φ C) + λ/2 ‖E‖²    subject to  A = C + E,  E = 0 where H > 0,  C = Cᵀ,  0 ≤ C ≤ 1
/// ```
/// | paper | here |
/// |---|---|
/// | CA, H | share of base clusterings that put two objects together; the same where it is at least α, else 0 |
/// | A | the weighted co-association of `lwea`, diagonal 1 |
/// | Φ | diag(H 1) − H |
/// | α, λ | [`EcCmsSettings::alpha`], [`EcCmsSettings::lambda`] |
///
/// **Sensitive to λ.** On Semeion with 20 base clusterings NMI is .66 at the defaults, which is that of `lwea`, and .52 to .54 at the
/// values that other publications took. Take `lwea` where you have no truth to tune it on.
///
/// # Cost
/// O(n² M) for the evidence, O(s³) for every connected component of s objects of the certain pairs, O(n Σ s²) a round; 56 n² bytes and
/// up to as much again for a component of all objects.
///
/// # Differences from the paper
/// Missing labels, weights, components one by one. C is the symmetric matrix between 0 and 1 of the last round.
///
/// # Errors
/// [`GraphError`] when K is out of range, there are more than [`EC_CMS_OBJECTS`] objects, an object has no label, a setting is out of
/// range, or the monitor asks to stop.
///
/// # References
/// Y. Jia, S. Tao, R. Wang, Y. Wang: Ensemble clustering via co-association matrix self-enhancement, IEEE Trans. Neural Networks and
/// Learning Systems 2023.
#[doc(alias = "EC-CMS")]
#[doc(alias = "ECCMS")]
#[doc(alias = "co-association matrix self-enhancement")]
pub fn ec_cms(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    settings: &EcCmsSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<EcCmsDiagnostics>, GraphError> {
    settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(clusters)))?;
    check(ensemble, clusters)?;
    let objects = ensemble.objects();
    if objects > EC_CMS_OBJECTS {
        return Err(GraphError::Objects { objects, most: EC_CMS_OBJECTS, remedy: "take lwea" });
    }
    if monitor.tick(0, u64::from(settings.rounds)) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let evidence = Evidence::new(ensemble, weights, settings.theta, settings.alpha, monitor)?;
    let found = propagate(&evidence, settings.lambda, settings.rounds, settings.tolerance, monitor)?;
    let diagnostics = EcCmsDiagnostics {
        components: evidence.components.len(),
        largest_component: evidence.components.iter().map(ExactSizeIterator::len).max().unwrap_or(0),
        last_change: found.change,
    };
    let mut place = vec![0; objects];
    evidence.order.iter().enumerate().for_each(|(at, &object)| place[object] = at);
    drop(evidence);
    finished(&found, &place, clusters, diagnostics)
}

/// The cut of the tree of what was propagated; `place` is where each object is in the matrix.
fn finished(
    found: &Propagated,
    place: &[usize],
    clusters: usize,
    diagnostics: EcCmsDiagnostics,
) -> Result<Outcome<EcCmsDiagnostics>, GraphError> {
    let tree = tree(&found.matrix, place)?;
    let partition = cut(&tree, clusters);
    let certainty = certainty(&found.matrix, place, &partition);
    let mut outcome = Outcome::hard(partition, certainty, found.stopped);
    outcome.rounds = u64::from(found.rounds);
    outcome.dendrogram = Some(tree);
    Ok(outcome.with(diagnostics))
}

fn tree(similarity: &Array2<f64>, place: &[usize]) -> Result<Dendrogram, GraphError> {
    let n = place.len();
    let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
    // So coarse that the order of additions does not decide which of two pairs is nearer.
    let apart = |x: f64| ((1.0 - x) * 65536.0).round() / 65536.0;
    let condensed = pairs.map(|(i, j)| apart(similarity[[place[i], place[j]]])).collect();
    link(condensed, n, Linkage::Average).map_err(GraphError::Linkage)
}

/// For every object the mean similarity to its own cluster, itself left out, over the sum of that and the best other's.
fn certainty(similarity: &Array2<f64>, place: &[usize], partition: &Partition) -> Vec<f64> {
    let sizes = partition.sizes();
    let one = |i: usize| {
        let mut sums = vec![0.0; sizes.len()];
        for (j, &label) in partition.labels().iter().enumerate().filter(|(j, _)| *j != i) {
            sums[label as usize] += similarity[[place[i], place[j]]];
        }
        let own = partition.labels()[i] as usize;
        let mean = |k: usize| sums[k] / (sizes[k] - usize::from(k == own)).max(1) as f64;
        let other = (0..sizes.len()).filter(|&k| k != own).map(mean).fold(0.0, f64::max);
        let own = if sizes[own] > 1 { mean(own) } else { 1.0 };
        if own + other > 0.0 { (own / (own + other)).clamp(0.0, 1.0) } else { 0.0 }
    };
    (0..place.len()).into_par_iter().map(one).collect()
}

/// Ensemble clustering via co-association matrix self-enhancement: [`ec_cms`].
#[derive(Debug)]
pub struct EcCms;

/// Ensemble clustering via co-association matrix self-enhancement: [`ec_cms`].
pub static EC_CMS: EcCms = EcCms;

static INFO: MethodInfo = MethodInfo {
    name: "ec-cms",
    summary: "average link after certain pairs are propagated; at most 20000 objects, sensitive to lambda, no better than lwea untuned",
    reference: "Jia, Tao, Wang and Wang 2023, IEEE Trans. Neural Networks and Learning Systems",
    certainty: "mean propagated similarity to the object's cluster over the sum of that and the best other cluster's",
    time: "n²M + n³",
    memory: "n²",
    remedy: "take lwea, which is as good at its defaults and holds less",
    capabilities: Capabilities {
        tree: true,
        cuts_tree: true,
        seeded: false,
        soft_bases: SoftBases::Refused("which pairs are certain is said by labels; lwea takes shares"),
        object_weights: Weights::Refused(
            "its rounds tell an object from its copies, which are certain pairs; lwea takes them",
        ),
        ..GRAPH.capabilities
    },
    ..GRAPH
};

impl Method for EcCms {
    type Settings = EcCmsSettings;
    type Diagnostics = EcCmsDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, _settings: &EcCmsSettings) -> u64 {
        let [n, m, side, k] = size.saturating();
        let pairs = n * n * std::num::Saturating(120);
        (pairs
            + n * (m * std::num::Saturating(8) + k * std::num::Saturating(8) + std::num::Saturating(256))
            + side * side * std::num::Saturating(16)
            + std::num::Saturating(1 << 16))
        .0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &EcCmsSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<EcCmsDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(ec_cms(problem.ensemble, problem.weights, clusters, settings, monitor)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::draw;
    use partita_core::{EnsembleBuilder, Seed, Silent};
    use rand::RngExt;

    /// The inverse of a matrix by elimination.
    fn inverse(matrix: &Array2<f64>) -> Array2<f64> {
        let n = matrix.nrows();
        let (mut left, mut right) = (matrix.clone(), Array2::<f64>::eye(n));
        for pivot in 0..n {
            let scale = left[[pivot, pivot]];
            for j in 0..n {
                left[[pivot, j]] /= scale;
                right[[pivot, j]] /= scale;
            }
            for i in (0..n).filter(|&i| i != pivot) {
                let factor = left[[i, pivot]];
                for j in 0..n {
                    left[[i, j]] -= factor * left[[pivot, j]];
                    right[[i, j]] -= factor * right[[pivot, j]];
                }
            }
        }
        right
    }

    /// The rounds as the paper writes them, over all objects at once, E held.
    fn naive(certain: &Array2<f64>, a: &Array2<f64>, lambda: f64, rounds: u32) -> Array2<f64> {
        let n = a.nrows();
        let degree = |i: usize| certain.row(i).sum();
        let phi = Array2::from_shape_fn((n, n), |(i, j)| if i == j { degree(i) } else { 0.0 } - certain[[i, j]]);
        let t = inverse(&(phi * 2.0 + Array2::<f64>::eye(n) * 2.0));
        let zeros = Array2::<f64>::zeros((n, n));
        let (mut e, mut f, mut y1, mut y2) = (zeros.clone(), zeros.clone(), a.clone(), zeros);
        for _ in 0..rounds {
            let c = t.dot(&(a - &e + &y1 + &f - &y2));
            e = (a - &c + &y1) / (lambda + 1.0);
            e.zip_mut_with(certain, |e, &h| *e = if h > 0.0 { 0.0 } else { *e });
            let sum = &c + &y2;
            f = ((&sum + &sum.t()) * 0.5).mapv(|x| x.clamp(0.0, 1.0));
            y1 = y1 + a - &c - &e;
            y2 = y2 + &c - &f;
        }
        f
    }

    #[test]
    fn components_one_by_one_are_all_objects_at_once() {
        for seed in 0..100 {
            let ensemble = draw(Seed::new(seed), if seed % 2 == 0 { 0.0 } else { 0.3 }).ensemble;
            let (n, alpha, lambda) =
                (ensemble.objects(), [0.5, 0.8, 1.0][seed as usize % 3], [0.01, 0.4, 20.0][seed as usize / 3 % 3]);
            let evidence = Evidence::new(&ensemble, None, 0.4, alpha, &Silent).unwrap();
            let found = propagate(&evidence, lambda, 15, 0.0, &Silent).unwrap();
            let a = evidence.weighted.mapv(f64::abs);
            let expected = naive(&evidence.certain, &a, lambda, 15);
            let gap = found.matrix.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-10, "seed {seed}: {gap}");
            assert!(evidence.components.iter().map(ExactSizeIterator::len).sum::<usize>() == n);
            let apart = |range: &std::ops::Range<usize>| {
                (0..n).filter(|i| !range.contains(i)).all(|i| range.clone().all(|j| evidence.certain[[i, j]] == 0.0))
            };
            assert!(evidence.components.iter().all(apart), "seed {seed}");
        }
    }

    #[test]
    fn planted_clusters_are_found_and_certain_pairs_stay() {
        let mut rng = Seed::new(4).rng();
        let mut builder = EnsembleBuilder::new(90);
        for u in 0..10 {
            let label = |i: usize| Some(if rng.random_bool(0.15) { rng.random_range(0..3) } else { (i % 3) as u32 });
            builder.push(format!("u{u}"), (0..90).map(label).collect::<Vec<_>>()).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let found = ec_cms(&ensemble, None, 3, &EcCmsSettings::default(), &Silent).unwrap();
        assert!((0..90).all(|i| found.partition.labels()[i] == found.partition.labels()[i % 3]));
        assert!(found.certainty.iter().all(|c| (0.5..=1.0).contains(c)) && found.details.components > 1);
        assert_eq!(found.dendrogram.unwrap().objects(), 90);
    }

    #[test]
    fn too_many_objects_are_refused_with_what_to_take() {
        let mut builder = EnsembleBuilder::new(EC_CMS_OBJECTS + 1);
        builder.push("a", (0..=EC_CMS_OBJECTS).map(|i| Some((i % 2) as u32)).collect::<Vec<_>>()).unwrap();
        let error = ec_cms(&builder.finish().unwrap(), None, 2, &EcCmsSettings::default(), &Silent).unwrap_err();
        assert!(error.to_string().contains("20001 objects") && error.to_string().contains("lwea"), "{error}");
    }
}
