//! Cluster-based similarity partitioning.

use std::num::Saturating;

use partita_coassoc::{EvidenceRows, SparseEvidence, StrongestSettings};
use partita_core::{
    Capabilities, FitError, Flow, Method, MethodInfo, Monitor, Outcome, Partition, Problem,
    ProblemSize, Settings, SoftBases, Stopped, WeightedEnsemble, Weights,
};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::metis::{Graph, partition};
use crate::rows::Rows;
use crate::spectral::GRAPH;

/// Settings of [`CSPA`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct CspaSettings {
    /// How much heavier than its share a cluster may be, as a share of that: 0.05 is 5 %.
    #[setting(range = 0.0..=1000.0)]
    pub imbalance: f64,
    /// Up to so many objects all pairs are edges; beyond that only the strongest neighbours of every object. An object of weight w is as
    /// many vertices while all of them are no more than this.
    pub exact_objects: usize,
    /// Edges of every object where not all pairs are edges: to those it is most often together with.
    #[setting(range = 1..=1_000_000, alias = "n_neighbors")]
    pub neighbours: usize,
}

/// Facts about a cut of the graph of objects.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CspaDiagnostics {
    /// Edges of every object, where not all pairs are edges.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
}

impl Default for CspaSettings {
    fn default() -> Self {
        Self {
            imbalance: 0.05,
            exact_objects: 8000,
            neighbours: 50,
        }
    }
}

/// The cut of the graph of all pairs of objects.
fn exact(
    problem: &Problem<'_>,
    clusters: usize,
    settings: &CspaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<CspaDiagnostics>, GraphError> {
    let source = problem.weighted();
    let copies = Copies::of(source, settings.exact_objects);
    let vertices = ProblemSize {
        objects: copies.objects.len(),
        ..problem.size()
    };
    let bytes = all_pairs_bytes(&vertices);
    problem.budget.check("cspa of all pairs", bytes, REMEDY)?;
    let graph = all_pairs(source, &copies, monitor)?;
    let parts = partition(&graph, clusters, settings.imbalance, problem.seed, monitor)?;
    let labels = copies.most(&parts, clusters);
    let mut outcome = outcome(labels, clusters, None);
    outcome.objective = Some(graph.cut(&parts));
    Ok(outcome)
}

/// The cut of the graph of the strongest neighbours of different rows.
fn among_neighbours(
    problem: &Problem<'_>,
    clusters: usize,
    settings: &CspaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<CspaDiagnostics>, GraphError> {
    let rows = Rows::new(problem.weighted());
    let graph = strongest(&rows, problem, settings.neighbours, monitor)?;
    let parts = clusters.min(rows.len());
    let labels = partition(&graph, parts, settings.imbalance, problem.seed, monitor)?;
    let mut outcome = outcome(rows.expand(&labels), clusters, Some(settings.neighbours));
    outcome.objective = Some(graph.cut(&labels));
    outcome.warnings.push(format!(
        "of all pairs of objects only those with the {} strongest neighbours of each were looked at",
        settings.neighbours
    ));
    Ok(outcome)
}

fn outcome(
    labels: Vec<u32>,
    clusters: usize,
    neighbours: Option<usize>,
) -> Outcome<CspaDiagnostics> {
    let partition = Partition::new(labels, clusters).expect("as many parts as clusters");
    let outcome = Outcome::hard(partition, Stopped::Exact);
    outcome.with(CspaDiagnostics { neighbours })
}

/// Vertices of the objects: as many of one as copies of it, side by side, each of an equal part of its weight.
struct Copies {
    /// The object of every vertex.
    objects: Vec<u32>,
    /// Where the vertices of every object begin, and their number.
    starts: Vec<usize>,
    /// What every vertex weighs.
    weights: Vec<f64>,
}

impl Copies {
    /// ⌈w⌉ vertices of an object of weight w, or one where that makes more than `most` of them all.
    fn of(source: WeightedEnsemble<'_>, most: usize) -> Self {
        let weights = source.each_multiplicity();
        let apart = weights.iter().map(|weight| weight.ceil()).sum::<f64>() <= most as f64;
        let mut made = Self {
            objects: Vec::new(),
            starts: vec![0],
            weights: Vec::new(),
        };
        for (object, weight) in weights.into_iter().enumerate() {
            let copies = if apart { weight.ceil().max(1.0) } else { 1.0 };
            let to = made.objects.len() + copies as usize;
            made.objects.resize(to, object as u32);
            made.weights.resize(to, weight / copies);
            made.starts.push(to);
        }
        made
    }

    /// The part that most copies of every object are in, of equally many the first of them.
    fn most(&self, parts: &[u32], clusters: usize) -> Vec<u32> {
        let mut counts = vec![0_u32; clusters];
        let of = |range: &[usize]| {
            let copies = || range[0]..range[1];
            copies().for_each(|vertex| counts[parts[vertex] as usize] += 1);
            let best = copies()
                .rev()
                .max_by_key(|&vertex| counts[parts[vertex] as usize])
                .expect("a copy");
            copies().for_each(|vertex| counts[parts[vertex] as usize] = 0);
            parts[best]
        };
        self.starts.windows(2).map(of).collect()
    }
}

/// All objects, with an edge wherever two are ever together.
fn all_pairs(
    source: WeightedEnsemble<'_>,
    copies: &Copies,
    monitor: &dyn Monitor,
) -> Result<Graph, GraphError> {
    let evidence = EvidenceRows::new(source)?;
    let n = copies.objects.len();
    let mut graph = Graph {
        vertices: copies.weights.clone(),
        edges: Vec::with_capacity(n),
    };
    for (vertex, &object) in copies.objects.iter().enumerate() {
        let mut near = Vec::new();
        let share = |together: u32, seen: u32| f64::from(together) / f64::from(seen);
        // One vertex an object, all of weight 1: looking up copies and weights for every pair costs cspa a twentieth of its time.
        if source.object_weights.is_none() {
            evidence.for_each(object as usize, |other, together, seen| {
                if other != vertex && together > 0 {
                    near.push((other as u32, share(together, seen)));
                }
            });
        } else {
            evidence.for_each(object as usize, |other, together, seen| {
                let others = (copies.starts[other]..copies.starts[other + 1])
                    .filter(|&copy| copy != vertex && together > 0);
                let pairs = |copy: usize| copies.weights[vertex] * copies.weights[copy];
                near.extend(others.map(|copy| (copy as u32, pairs(copy) * share(together, seen))));
            });
        }
        near.shrink_to_fit();
        graph.edges.push(near);
        if vertex % 64 == 0 && monitor.tick(vertex as u64, n as u64) == Flow::Stop {
            return Err(GraphError::Interrupted);
        }
    }
    Ok(graph)
}

/// Distinct rows, each with its strongest neighbours.
fn strongest(
    rows: &Rows,
    problem: &Problem<'_>,
    neighbours: usize,
    monitor: &dyn Monitor,
) -> Result<Graph, GraphError> {
    let neighbours = neighbours.min(rows.len().saturating_sub(1));
    let settings = StrongestSettings::default();
    let source = WeightedEnsemble {
        base_weights: problem.weights,
        ..rows.ensemble().into()
    };
    let (seed, budget) = (problem.seed.child(0), problem.budget);
    let evidence = SparseEvidence::strongest(source, neighbours, seed, &settings, budget, monitor)?;
    let weights = rows.weights();
    let near = |row: usize| {
        let together = evidence.row(row).filter(|&(_, together, _)| together > 0);
        let pairs = |other: u32| weights[row] * weights[other as usize];
        together
            .map(|(other, together, seen)| {
                (other, pairs(other) * f64::from(together) / f64::from(seen))
            })
            .collect()
    };
    Ok(Graph {
        vertices: weights.to_vec(),
        edges: (0..rows.len()).map(near).collect(),
    })
}

/// Bytes of the graph of all pairs and of METIS' copies, at most.
fn all_pairs_bytes(size: &ProblemSize) -> u64 {
    let [n, m, ..] = size.saturating();
    (n * n * Saturating(40) + n * m * Saturating(2)).0
}

/// Bytes of the graph of the strongest neighbours, the counts it is made from, and METIS' copies, at most.
fn neighbours_bytes(size: &ProblemSize, neighbours: usize) -> u64 {
    let [n, ..] = size.saturating();
    let pairs = n * n.min(Saturating(neighbours as u64));
    let counts = SparseEvidence::bytes(size.objects, size.base_clusterings, pairs.0, true);
    (Saturating(counts) + pairs * Saturating(24 + 80) + n * Saturating(100)).0
}

/// Cluster-based similarity partitioning as a method: [`CSPA`].
#[derive(Debug)]
pub struct Cspa;

/// Cluster-based similarity partitioning (Strehl and Ghosh 2002): cut the graph of objects into K parts of about the same
/// size, an edge weighing how often its two objects are together.
///
/// ```text
/// edge between objects i and j:  c_ij / N_ij
/// ```
/// METIS cuts it by recursive bisection; its integer weights are scaled so that the largest is 10,000, less where their
/// sum would pass 2³⁰. An object of weight w is ⌈w⌉ vertices, each of an equal part of it, as long as there are no more than
/// `exact_objects` of them, and gets the part that most of them are in; else it is one vertex of weight w. Where all pairs are too many
/// for [`CspaSettings::exact_objects`], the graph has the strongest neighbours of every distinct label row, a row weighing as many objects
/// as it stands for and an edge the pairs that it stands for.
///
/// # Cost
/// O(n² M) time, 40 n² bytes. Of q neighbours: O(n² M) time up to 30,000 distinct rows, then O(n (M q + log n)), and
/// about 160 n q bytes.
///
/// # Differences from the paper
/// Missing labels; weights; the graph of neighbours.
///
/// # References
/// A. Strehl, J. Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR 3, 2002.
pub static CSPA: Cspa = Cspa;

const REMEDY: &str = "set exact_objects=0 for the strongest neighbours alone, or take lwgp or hbgf, which hold no pairs";

static INFO: MethodInfo = MethodInfo {
    name: "cspa",
    summary: "cuts the graph of how often objects are together into parts of about the same size",
    reference: "Strehl and Ghosh 2002, JMLR 3",
    time: "n²M",
    memory: "n², or nq beyond 8000 objects",
    remedy: REMEDY,
    capabilities: Capabilities {
        soft_bases: SoftBases::Native,
        object_weights: Weights::Native,
        ..GRAPH.capabilities
    },
    ..GRAPH
};

impl Method for Cspa {
    type Settings = CspaSettings;
    type Diagnostics = CspaDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &CspaSettings) -> u64 {
        if size.objects <= settings.exact_objects {
            all_pairs_bytes(size)
        } else {
            neighbours_bytes(size, settings.neighbours)
        }
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &CspaSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<CspaDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        let cut = if problem.ensemble.objects() <= settings.exact_objects {
            exact
        } else {
            among_neighbours
        };
        Ok(cut(problem, clusters, settings, monitor)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::draw;
    use partita_core::{Clusters, Ensemble, MemoryBudget, Seed, Silent};

    fn fit(
        ensemble: &Ensemble,
        clusters: usize,
        settings: &CspaSettings,
        budget: MemoryBudget,
    ) -> Result<Outcome<CspaDiagnostics>, FitError> {
        let problem = Problem::new(ensemble, Clusters::Exactly(clusters)).seed(1);
        CSPA.fit(&problem.budget(budget), settings, &Silent)
    }

    /// The dense matrix of c / N, written plainly, cut by the same partitioner.
    fn naive(ensemble: &Ensemble, clusters: usize, imbalance: f64, seed: Seed) -> Vec<u32> {
        let n = ensemble.objects();
        let share = |i: usize, j: usize| {
            let both: Vec<(usize, usize)> = (0..ensemble.bases().len())
                .filter_map(|u| ensemble.label(i, u).zip(ensemble.label(j, u)))
                .collect();
            both.iter().filter(|(a, b)| a == b).count() as f64 / both.len().max(1) as f64
        };
        let near = |i: usize| {
            (0..n)
                .filter(|&j| j != i)
                .map(|j| (j as u32, share(i, j)))
                .collect()
        };
        let graph = Graph {
            vertices: vec![1.0; n],
            edges: (0..n).map(near).collect(),
        };
        partition(&graph, clusters, imbalance, seed, &Silent).unwrap()
    }

    #[test]
    fn a_naive_reference_finds_the_same() {
        for seed in (0..60).map(Seed::new) {
            let (drawn, settings) = (draw(seed, 0.3), CspaSettings::default());
            let (ensemble, clusters) = (&drawn.ensemble, drawn.clusters);
            let found = fit(ensemble, clusters, &settings, MemoryBudget::UNLIMITED).unwrap();
            let expected = naive(ensemble, clusters, settings.imbalance, Seed::new(1));
            assert_eq!(found.partition.labels(), expected);
        }
    }

    #[test]
    fn beyond_exact_objects_neighbours_do() {
        let settings = CspaSettings {
            exact_objects: 0,
            neighbours: 3,
            ..CspaSettings::default()
        };
        for seed in (0..20).map(Seed::new) {
            let drawn = draw(seed, 0.0);
            let (ensemble, clusters) = (&drawn.ensemble, drawn.clusters);
            let found = fit(ensemble, clusters, &settings, MemoryBudget::UNLIMITED).unwrap();
            assert_eq!(found.details.neighbours, Some(3));
            assert_eq!(found.partition.live_clusters(), clusters);
            let none = fit(ensemble, clusters, &settings, MemoryBudget::new(1));
            assert!(matches!(none, Err(FitError::Budget(_))));
        }
    }

    #[test]
    fn memory_refuses_and_does_not_change_the_algorithm() {
        let drawn = draw(Seed::new(1), 0.0);
        let size = ProblemSize::of(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
        let needed = all_pairs_bytes(&size);
        let fit = |bytes: u64| {
            let (settings, budget) = (CspaSettings::default(), MemoryBudget::new(bytes));
            fit(&drawn.ensemble, drawn.clusters, &settings, budget)
        };
        let (enough, ample) = (fit(needed).unwrap(), fit(u64::MAX).unwrap());
        assert_eq!(enough.partition, ample.partition);
        assert_eq!(enough.details.neighbours, None);
        // Neighbours would fit; whoever wants them says so.
        let refused = fit(needed - 1).unwrap_err();
        assert!(matches!(refused, FitError::Budget(_)), "{refused}");
        assert!(refused.to_string().contains("exact_objects=0"), "{refused}");
    }
}
