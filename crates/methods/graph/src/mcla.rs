//! Meta-clustering algorithm.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::ArrayView2;
use partita_core::{
    Assigned, Capabilities, FitError, Flow, Method, MethodInfo, Monitor, ProblemSize, Row,
    RowBlock, RowFit, RowLabeller, RowMap, RowProblem, Settings, SoftBases, Stopped, Weights,
};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::metis::{Graph, partition};
use crate::rows::copies_by_base;
use crate::spectral::{GRAPH, counted};

/// Settings of [`MCLA`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct MclaSettings {
    /// How much heavier than its share a meta-cluster may be, as a share of that: 0.05 is 5 %.
    #[setting(range = 0.0..=1000.0)]
    pub imbalance: f64,
}

/// Facts about a grouping of base clusters.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct MclaDiagnostics {
    /// Base clusters that have objects.
    pub base_clusters: usize,
}

impl Default for MclaSettings {
    fn default() -> Self {
        Self { imbalance: 0.05 }
    }
}

/// The groups of base clusters, and the votes of rows.
fn fitted(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &MclaSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MclaDiagnostics>, GraphError> {
    let rows = problem.passes();
    let overlap = counted(&rows, monitor)?;
    let (offsets, sizes) = (overlap.offsets().to_vec(), overlap.sizes());
    let weights = copies_by_base(&offsets, problem.weights);
    // Products of shares are those of labels too.
    let products = if rows.source().are_shares() {
        Overlap::products(&rows)?
    } else {
        overlap
    };
    let (graph, live) = jaccard(products.table(), &sizes, &weights);
    let parts = clusters.min(live.len());
    let parts = partition(&graph, parts, settings.imbalance, problem.seed, monitor)?;
    let mut meta = vec![0; sizes.len()];
    live.iter()
        .zip(&parts)
        .for_each(|(&cluster, &part)| meta[cluster] = part);
    if monitor.tick(1, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let details = MclaDiagnostics {
        base_clusters: live.len(),
    };
    let votes = Votes {
        offsets,
        meta,
        weights,
        clusters,
    };
    let mut fit = RowFit::new(clusters, Stopped::Exact, votes, details);
    fit.objective = Some(graph.cut(&parts));
    Ok(fit)
}

/// The shares of the votes of every row.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Votes {
    offsets: Vec<usize>,
    meta: Vec<u32>,
    weights: Vec<f64>,
    clusters: usize,
}

impl RowLabeller for Votes {
    const KIND: &'static str = "graph/mcla-votes";
}

impl RowMap for Votes {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let mut votes = vec![0.0; block.len() * self.clusters];
        for ((row, _), votes) in block.rows().zip(votes.chunks_exact_mut(self.clusters)) {
            // Added up in the order of the votes: when all agree, their share is exactly 1.
            let mut total = 0.0;
            for entry in row.entries(&self.offsets) {
                let vote = self.weights[entry.cluster] * entry.share;
                votes[self.meta[entry.cluster] as usize] += vote;
                total += vote;
            }
            votes.iter_mut().for_each(|vote| *vote /= total);
        }
        Assigned::of_soft(votes, self.clusters)
    }
}

/// The Jaccard graph of the base clusters that have objects, each with all its copies in one vertex, and which those are.
fn jaccard(overlaps: ArrayView2<'_, f64>, sizes: &[f64], copies: &[f64]) -> (Graph, Vec<usize>) {
    let live: Vec<usize> = (0..overlaps.nrows()).filter(|&c| sizes[c] > 0.0).collect();
    let edge = |a: usize, b: usize| {
        let both = overlaps[[a, b]];
        copies[a] * copies[b] * both / (overlaps[[a, a]] + overlaps[[b, b]] - both)
    };
    let near = |&a: &usize| {
        let others = live
            .iter()
            .enumerate()
            .filter(|&(_, &b)| b != a && overlaps[[a, b]] > 0.0);
        others.map(|(at, &b)| (at as u32, edge(a, b))).collect()
    };
    let vertices = live.iter().map(|&c| copies[c] * sizes[c]).collect();
    (
        Graph {
            vertices,
            edges: live.iter().map(near).collect(),
        },
        live,
    )
}

/// Meta-clustering as a method: [`MCLA`].
#[derive(Debug)]
pub struct Mcla;

/// Meta-clustering (Strehl and Ghosh 2002): group the base clusters into K meta-clusters, and let every object's labels
/// vote.
///
/// ```text
/// edge between base clusters a and b:  |a ∩ b| / |a ∪ b|          (Jaccard)
/// y_ik = Σ_u w_u [cluster of i in u belongs to meta-cluster k] / Σ_u w_u     over the labels that i has
/// ```
/// The graph has a vertex a base cluster with its ω copies, weighing as many objects as these have, and is cut into parts of about the same
/// weight by METIS, whose integer weights are scaled so that the largest is 10,000. The soft result is the share of
/// the votes. A share in a soft base cluster votes for so much, and these are compared by the extended Jaccard index of their shares,
/// a·b / (a·a + b·b − a·b).
///
/// # Cost
/// O(n M²) time for the overlaps; (ΣJ)² numbers, a few times; no memory that grows with n besides the result.
///
/// # Differences from the paper
/// A vote is a label; the paper averages over the base clusters of a meta-cluster, which favours small ones. K above
/// the number of base clusters leaves meta-clusters empty, as does a meta-cluster that wins no object; a warning says so.
///
/// # References
/// A. Strehl, J. Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR 3, 2002.
pub static MCLA: Mcla = Mcla;

static INFO: MethodInfo = MethodInfo {
    name: "mcla",
    summary: "groups base clusters into K of about the same weight, then votes; poor where clusters differ much in size",
    reference: "Strehl and Ghosh 2002, JMLR 3",
    time: "nM² + (ΣJ)²",
    memory: "n(M + K) + (ΣJ)²",
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

impl Method for Mcla {
    type Settings = MclaSettings;
    type Diagnostics = MclaDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &MclaSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MclaDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(fitted(problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, _settings: &MclaSettings) -> u64 {
        let [_, _, side, _] = size.saturating();
        // The table and its sums, then the table and the graph.
        Overlap::bytes(size).max((side * side * Saturating(48)).0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::{draw, ensemble};
    use partita_core::ndarray::Array2;
    use partita_core::{Clusters, Ensemble, Problem, Seed, Silent};

    /// Indicator rows and a dense matrix of Jaccard indices, written plainly, cut by the same partitioner; then votes.
    fn naive(ensemble: &Ensemble, clusters: usize, imbalance: f64, seed: Seed) -> Array2<f64> {
        let n = ensemble.objects();
        let mut members: Vec<Vec<bool>> = Vec::new();
        for (u, base) in ensemble.bases().iter().enumerate() {
            for j in 0..base.clusters() {
                members.push((0..n).map(|i| ensemble.label(i, u) == Some(j)).collect());
            }
        }
        let count = |a: &[bool], b: &[bool], both: bool| {
            a.iter()
                .zip(b)
                .filter(|(a, b)| if both { **a && **b } else { **a || **b })
                .count() as f64
        };
        let index = |a: usize, b: usize| {
            count(&members[a], &members[b], true) / count(&members[a], &members[b], false)
        };
        let all = 0..members.len();
        let near = |a: usize| {
            all.clone()
                .filter(|&b| b != a)
                .map(|b| (b as u32, index(a, b)))
                .collect()
        };
        let vertices = members.iter().map(|m| count(m, m, true)).collect();
        let graph = Graph {
            vertices,
            edges: all.clone().map(near).collect(),
        };
        let parts = partition(
            &graph,
            clusters.min(members.len()),
            imbalance,
            seed,
            &Silent,
        )
        .unwrap();
        let mut votes = Array2::zeros((n, clusters));
        for (i, mut row) in votes.outer_iter_mut().enumerate() {
            members
                .iter()
                .zip(&parts)
                .filter(|(m, _)| m[i])
                .for_each(|(_, &part)| row[part as usize] += 1.0);
            let total = row.sum();
            row /= total;
        }
        votes
    }

    #[test]
    fn votes_are_those_of_a_naive_reference() {
        for seed in (0..60).map(Seed::new) {
            let drawn = draw(seed, 0.3);
            let settings = MclaSettings::default();
            let mut problem = Problem::new(&drawn.ensemble, Clusters::Exactly(drawn.clusters));
            problem.seed = seed;
            let found = MCLA.fit(&problem, &settings, &Silent).unwrap();
            let expected = naive(&drawn.ensemble, drawn.clusters, settings.imbalance, seed);
            let gap = found.soft.unwrap().rows().to_owned() - expected;
            assert!(gap.iter().all(|x| x.abs() < 1e-12), "{}", seed.number());
        }
    }

    #[test]
    fn meta_clusters_may_win_nothing() {
        // Two base clusters in all: at most two of five meta-clusters can win objects.
        let halves = (0..10).map(|i| Some(u32::from(i >= 5))).collect();
        let ensemble = ensemble([("u".to_owned(), halves)]);
        let problem = Problem::new(&ensemble, Clusters::Exactly(5));
        let found = MCLA
            .fit(&problem, &MclaSettings::default(), &Silent)
            .unwrap();
        let clusters = (found.partition.live_clusters(), found.partition.clusters());
        assert_eq!(clusters, (2, 5));
    }
}
