//! Single link where all pairs are too many.

use std::num::Saturating;

use partita_coassoc::{SparseEvidence, StrongestSettings};
use partita_core::{
    Capabilities, Clusters, Dendrogram, Ensemble, FitError, MemoryBudget, Method, MethodInfo,
    Monitor, Outcome, Problem, ProblemSize, Seed, Settings, WeightedEnsemble,
};
use partita_linkage::{cut, link_edges, unfold};
use serde::{Deserialize, Serialize};

use crate::EacError;
use crate::eac::{TREE, info, number, outcome};

/// Settings of [`eac_sparse`] as a method. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct EacSparseSettings {
    /// The strongest neighbours of every object that evidence is kept for.
    #[setting(range = 1..=1_000_000, alias = "n_neighbors")]
    pub neighbours: usize,
}

/// Facts about a tree of some pairs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct SparseDiagnostics {
    /// Pairs that the tree was made of.
    pub pairs: usize,
    /// Trees of the forest that the pairs make, joined at height 1.
    pub components: usize,
    /// Label rows among which neighbours were searched.
    pub distinct_rows: usize,
}

impl Default for EacSparseSettings {
    fn default() -> Self {
        Self { neighbours: 10 }
    }
}

/// Single link on sparse evidence: a spanning forest of the strongest pairs, whose trees merge at height 1.
///
/// The result is that of the sparse graph, and the outcome says so: a chain of pairs that are not in it is not seen.
///
/// # Errors
/// [`EacError::Tree`] if the evidence makes no tree, which counts of an ensemble always do.
///
/// # Panics
/// If the evidence is of another number of objects.
///
/// # Cost
/// O(m log m + n M K) time for m pairs, 16 bytes a pair and O(n M) memory.
pub fn eac_sparse(
    ensemble: &Ensemble,
    evidence: &SparseEvidence,
    clusters: Clusters,
) -> Result<Outcome<SparseDiagnostics>, EacError> {
    let objects = ensemble.objects();
    assert_eq!(objects, evidence.objects(), "evidence of these objects");
    let (tree, pairs) = forest(evidence)?;
    Ok(from_tree(ensemble.into(), tree, pairs, clusters))
}

/// The single link tree of sparse evidence, and its pairs.
fn forest(evidence: &SparseEvidence) -> Result<(Dendrogram, usize), EacError> {
    let mut edges = Vec::new();
    for (i, j, c, n) in evidence.each_pair() {
        let share = f64::from(n - c) / f64::from(n);
        edges.push((if n == 0 { 1.0 } else { share }, i, j));
    }
    let pairs = edges.len();
    Ok((link_edges(evidence.objects(), edges, 1.0)?, pairs))
}

fn from_tree(
    source: WeightedEnsemble<'_>,
    tree: Dendrogram,
    pairs: usize,
    clusters: Clusters,
) -> Outcome<SparseDiagnostics> {
    let distinct_rows = source.ensemble.objects();
    let partition = cut(&tree, number(&tree, clusters));
    let bridges = tree.merges().iter().filter(|merge| merge.height >= 1.0);
    let components = bridges.count() + 1;
    let mut outcome = outcome(partition, tree);
    let warning = format!("the tree is that of {pairs} pairs, not of all");
    outcome.warnings.push(warning);
    outcome.with(SparseDiagnostics {
        pairs,
        components,
        distinct_rows,
    })
}

/// [`eac_sparse`] on the strongest neighbours of every distinct label row, without n² memory. Objects with the same row
/// merge first, at height 0.
///
/// # Errors
/// [`EacError`] without neighbours, when the evidence does not fit the budget, or the monitor asks to stop.
///
/// # Cost
/// That of [`SparseEvidence::strongest`], which is exact up to 30,000 objects, and of [`eac_sparse`].
pub fn eac_strongest<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: Clusters,
    seed: Seed,
    settings: &EacSparseSettings,
    budget: MemoryBudget,
    monitor: &dyn Monitor,
) -> Result<Outcome<SparseDiagnostics>, EacError> {
    let source = source.into();
    let ensemble = source.ensemble;
    settings.validate(&ProblemSize::of(ensemble, clusters))?;
    let how = StrongestSettings::default();
    let fragments = ensemble.fragments();
    let mut folded = WeightedEnsemble::from(fragments.ensemble());
    folded.base_weights = source.base_weights;
    let k = settings.neighbours;
    let evidence = SparseEvidence::strongest(folded, k, seed, &how, budget, monitor)?;
    let (tree, pairs) = forest(&evidence)?;
    let tree = unfold(&tree, fragments.of_object());
    let mut outcome = from_tree(source, tree, pairs, clusters);
    outcome.details.distinct_rows = fragments.ensemble().objects();
    Ok(outcome)
}

/// Bytes that [`eac_strongest`] holds at once, at most.
pub fn sparse_bytes(objects: usize, base_clusterings: usize, neighbours: usize) -> u64 {
    let pairs = (objects as u64).saturating_mul(neighbours.min(objects) as u64);
    let own = (Saturating(pairs) * Saturating(24) + Saturating(objects as u64) * Saturating(64)).0;
    SparseEvidence::bytes(objects, base_clusterings, pairs, true).saturating_add(own)
}

/// [`eac_strongest`] as a method.
#[derive(Debug)]
pub struct EacSparse;

/// Single link on the evidence of every object's strongest neighbours.
pub static EAC_SPARSE: EacSparse = EacSparse;

static INFO: MethodInfo = MethodInfo {
    time: "n²M to 30,000 objects, then nM + n log n",
    memory: "nM",
    remedy: "take fewer neighbours",
    capabilities: Capabilities {
        seeded: true,
        ..TREE
    },
    ..info(
        "eac-sparse",
        "single link on every object's strongest neighbours; for many objects",
    )
};

impl Method for EacSparse {
    type Settings = EacSparseSettings;
    type Diagnostics = SparseDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &EacSparseSettings) -> u64 {
        sparse_bytes(size.objects, size.base_clusterings, settings.neighbours)
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &EacSparseSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<SparseDiagnostics>, FitError> {
        let source = problem.weighted();
        let Problem {
            clusters,
            seed,
            budget,
            ..
        } = *problem;
        Ok(eac_strongest(
            source, clusters, seed, settings, budget, monitor,
        )?)
    }
}
