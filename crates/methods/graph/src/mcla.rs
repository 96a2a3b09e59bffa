//! Meta-clustering algorithm.

use std::num::Saturating;

use partita_coassoc::{Overlap, cluster_overlaps, share_products};
use partita_core::ndarray::{Array2, ArrayView2, Axis};
use partita_core::{
    Assigned, BaseWeights, Capabilities, Clusters, ClustersError, FitError, Flow, Memberships,
    Method, MethodInfo, Monitor, Objective, Outcome, PassRunner, Problem, ProblemSize, Row,
    RowBlock, RowFit, RowLabeller, RowMap, RowProblem, Seed, Settings, SoftBases, SoftPartition,
    Stopped, WeightedEnsemble, Weights,
};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::metis::{Graph, partition};
use crate::rows::{Rows, copies_by_base};
use crate::spectral::{GRAPH, counted};

/// Settings of [`mcla`]. Start from `default()` and change what you mean to change.
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

/// Meta-clustering (Strehl and Ghosh 2002): group the base clusters into K meta-clusters, and let every object's labels
/// vote.
///
/// ```text
/// edge between base clusters a and b:  |a ∩ b| / |a ∪ b|          (Jaccard)
/// y_ik = Σ_u w_u [cluster of i in u belongs to meta-cluster k] / Σ_u w_u     over the labels that i has
/// ```
/// The graph has a vertex a base cluster with its ω copies, weighing as many objects as these have, and is cut into parts of about the same
/// weight by METIS, whose integer weights are scaled so that the largest is 10,000. The soft result is the share of
/// the votes.
///
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, the imbalance is no number from 0 to 1000, the
/// partitioner refuses, or the monitor asks to stop.
///
/// # Cost
/// O(n M²) time for the overlaps; (ΣJ)² numbers, three times, and n K.
///
/// # Differences from the paper
/// A vote is a label; the paper averages over the base clusters of a meta-cluster, which favours small ones. K above
/// the number of base clusters leaves meta-clusters empty, as does a meta-cluster that wins no object; a warning says so.
///
/// # References
/// A. Strehl, J. Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR 3, 2002.
pub fn mcla<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &MclaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MclaDiagnostics>, GraphError> {
    let source = source.into();
    let ensemble = source.ensemble;
    settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(clusters)))?;
    if let Some(shares) = ensemble.memberships() {
        return mcla_soft(source, shares, clusters, seed, settings, monitor);
    }
    let rows = Rows::weighted(ensemble, clusters, source.object_weights)?;
    if monitor.tick(0, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let overlaps = cluster_overlaps(rows.ensemble(), Some(rows.weights()));
    let sizes = overlaps.diag().to_vec();
    let weights = copies_by_base(&ensemble.offsets(), source.base_weights);
    let (meta, live, cut) = meta_clusters(
        (overlaps.view(), &sizes, &weights),
        clusters,
        settings.imbalance,
        seed,
        monitor,
    )?;
    if monitor.tick(1, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let mut votes = Array2::<f64>::zeros((rows.len(), clusters));
    rows.for_each(0..rows.len(), |i, codes| {
        vote(
            codes,
            &meta,
            &weights,
            votes.row_mut(i).into_slice().expect("lines of a new array"),
        );
    });
    let places: Vec<usize> = rows.expand(&(0..rows.len()).collect::<Vec<usize>>());
    let votes = votes.select(Axis(0), &places);
    let mut outcome = Outcome::soft(
        SoftPartition::new(votes).expect("shares of votes"),
        Stopped::Exact,
    );
    outcome.objective = Some(cut);
    Ok(outcome.with(MclaDiagnostics {
        base_clusters: live,
    }))
}

/// [`mcla`] of soft base clusterings: a share votes for so much, and base clusters are compared by the extended Jaccard index of their
/// shares, a·b / (a·a + b·b − a·b).
fn mcla_soft(
    source: WeightedEnsemble<'_>,
    shares: &Memberships,
    clusters: usize,
    seed: Seed,
    settings: &MclaSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MclaDiagnostics>, GraphError> {
    let objects = source
        .multiplicities()
        .map_or_else(|| vec![1.0; shares.objects()], <[f64]>::to_vec);
    let rows = Rows::each_object(source.ensemble, clusters, objects)?;
    if monitor.tick(0, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let (offsets, weights) = (source.ensemble.offsets(), rows.weights());
    let side = offsets[offsets.len() - 1];
    let products = share_products(shares, side, |object| weights[object]);
    let mut sizes = vec![0.0; side];
    for (object, weight) in weights.iter().enumerate() {
        let (own, values) = shares.row(object);
        own.iter()
            .zip(values)
            .for_each(|(&c, share)| sizes[c as usize] += weight * share);
    }
    let strengths = copies_by_base(&offsets, source.base_weights);
    let (meta, live, cut) = meta_clusters(
        (products.view(), &sizes, &strengths),
        clusters,
        settings.imbalance,
        seed,
        monitor,
    )?;
    if monitor.tick(1, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let mut votes = Array2::<f64>::zeros((shares.objects(), clusters));
    for (object, mut line) in votes.outer_iter_mut().enumerate() {
        let (own, values) = shares.row(object);
        for (&c, share) in own.iter().zip(values) {
            line[meta[c as usize] as usize] += strengths[c as usize] * share;
        }
        let total = line.sum();
        line /= total;
    }
    let mut outcome = Outcome::soft(
        SoftPartition::new(votes).expect("shares of votes"),
        Stopped::Exact,
    );
    outcome.objective = Some(cut);
    Ok(outcome.with(MclaDiagnostics {
        base_clusters: live,
    }))
}

/// [`mcla`] over label rows that are not held, with the same votes: one pass for the overlaps, one for the votes.
///
/// # Errors
/// As [`mcla`], and [`GraphError::Pass`] when rows cannot be read.
///
/// # Cost
/// O(n M²) time for the overlaps; (ΣJ)² numbers, a few times; no memory that grows with n.
pub fn mcla_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &MclaSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MclaDiagnostics>, GraphError> {
    let (objects, bases) = (rows.source().rows() as usize, rows.source().bases());
    settings.validate(&ProblemSize::of_bases(
        objects,
        bases,
        Clusters::Exactly(clusters),
    ))?;
    ClustersError::check(clusters, objects)?;
    if monitor.tick(0, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let overlap = counted(rows)?;
    let (offsets, weights) = (
        overlap.offsets().to_vec(),
        copies_by_base(overlap.offsets(), weights),
    );
    let (meta, live, cut) = meta_clusters(
        (overlap.table(), &overlap.sizes(), &weights),
        clusters,
        settings.imbalance,
        seed,
        monitor,
    )?;
    let votes = Votes {
        offsets,
        meta,
        weights,
        clusters,
    };
    let mut fit = RowFit::new(
        clusters,
        Stopped::Exact,
        votes,
        MclaDiagnostics {
            base_clusters: live,
        },
    );
    fit.objective = Some(cut);
    Ok(fit)
}

/// The meta-cluster of every base cluster from their overlaps, how many base clusters have objects, and the weight of the edges cut.
fn meta_clusters(
    (overlaps, sizes, copies): (ArrayView2<'_, f64>, &[f64], &[f64]),
    clusters: usize,
    imbalance: f64,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<(Vec<u32>, usize, Objective), GraphError> {
    let (graph, live) = jaccard(overlaps, sizes, copies);
    let parts = partition(&graph, clusters.min(live.len()), imbalance, seed, monitor)?;
    let cut = graph.cut(&parts);
    let mut meta = vec![0u32; overlaps.nrows()];
    live.iter()
        .zip(parts)
        .for_each(|(&cluster, part)| meta[cluster] = part);
    Ok((meta, live.len(), cut))
}

/// Adds the shares of the votes of an object in these base clusters.
fn vote(codes: &[u32], meta: &[u32], weights: &[f64], votes: &mut [f64]) {
    codes
        .iter()
        .for_each(|&c| votes[meta[c as usize] as usize] += weights[c as usize]);
    // Added up in the order of the votes: when all agree, their share is exactly 1.
    let total: f64 = codes.iter().map(|&c| weights[c as usize]).sum();
    votes.iter_mut().for_each(|vote| *vote /= total);
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
        let mut codes = Vec::with_capacity(block.bases);
        for ((row, _), votes) in block.rows().zip(votes.chunks_exact_mut(self.clusters)) {
            codes.clear();
            codes.extend(row.entries(&self.offsets).map(|entry| entry.cluster as u32));
            vote(&codes, &self.meta, &self.weights, votes);
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

/// [`mcla`] as a method.
#[derive(Debug)]
pub struct Mcla;

/// Meta-clustering, [`mcla`].
pub static MCLA: Mcla = Mcla;

static INFO: MethodInfo = MethodInfo {
    name: "mcla",
    summary: "groups base clusters into K of about the same weight, then votes; poor where clusters differ much in size",
    reference: "Strehl and Ghosh 2002, JMLR 3",
    certainty: "share of the object's labels that vote for its cluster",
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

    fn bytes(&self, size: &ProblemSize, _settings: &MclaSettings) -> u64 {
        let [n, m, side, k] = size.saturating();
        (n * (m + Saturating(32) + k * Saturating(24)) + side * side * Saturating(48)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &MclaSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<MclaDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(mcla(
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
        settings: &MclaSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<MclaDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(mcla_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
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
    use partita_core::{Ensemble, EnsembleRows, Silent};

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
    fn a_naive_reference_and_passes_find_the_same() {
        for seed in (0..60).map(Seed::new) {
            let drawn = draw(seed, 0.3);
            let settings = MclaSettings::default();
            let found = mcla(&drawn.ensemble, drawn.clusters, seed, &settings, &Silent).unwrap();
            let expected = naive(&drawn.ensemble, drawn.clusters, settings.imbalance, seed);
            let soft = found.soft.unwrap();
            assert!(
                soft.rows()
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| (a - b).abs() < 1e-12),
                "{}",
                seed.number()
            );

            let source = EnsembleRows::new(&drawn.ensemble);
            let rows = PassRunner::new(&source, &Silent);
            let by_rows = mcla_rows(&rows, None, drawn.clusters, seed, &settings, &Silent).unwrap();
            let mut shares = Vec::new();
            let mut take = |_, block: Assigned| {
                shares.extend(block.soft.unwrap());
                Ok(())
            };
            by_rows.label(&rows, &mut take).unwrap();
            assert_eq!(Some(shares.as_slice()), soft.rows().as_slice());
            assert_eq!(by_rows.details, found.details);
        }
    }

    #[test]
    fn meta_clusters_may_win_nothing() {
        // Two base clusters in all: at most two of five meta-clusters can win objects.
        let halves = (0..10).map(|i| Some(u32::from(i >= 5))).collect();
        let ensemble = ensemble([("u".to_owned(), halves)]);
        let found = mcla(
            &ensemble,
            5,
            Seed::new(1),
            &MclaSettings::default(),
            &Silent,
        )
        .unwrap();
        assert_eq!(
            (found.partition.live_clusters(), found.partition.clusters()),
            (2, 5)
        );
    }
}
