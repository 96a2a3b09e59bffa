//! Meta-clustering algorithm.

use partita_coassoc::cluster_overlaps;
use partita_core::ndarray::Array2;
use partita_core::{BaseWeights, Ensemble, Flow, Outcome, Seed, SoftPartition, Stopped, Watch};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::GraphError;
use crate::metis::{Graph, partition};
use crate::rows::Rows;

/// Settings of [`mcla`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct MclaSettings {
    /// How much heavier than its share a meta-cluster may be, as a share of that: 0.05 is 5 %.
    pub imbalance: f64,
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
/// The graph has a vertex a base cluster, weighing as many objects as it has, and is cut into parts of about the same
/// weight by METIS, whose integer weights are scaled so that the largest is 10,000. The soft result is the share of
/// the votes.
///
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, the imbalance is no number from 0 to 1000, the
/// partitioner refuses, or the watch asks to stop.
///
/// # Cost
/// O(n M²) time for the overlaps; (ΣJ)² numbers, three times, and n K.
///
/// # Differences from the paper
/// A vote is a label; the paper averages over the base clusters of a meta-cluster, which favours small ones. K above
/// the number of base clusters leaves meta-clusters empty, as does a meta-cluster that wins no object.
///
/// # References
/// A. Strehl, J. Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR 3, 2002.
pub fn mcla(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &MclaSettings,
    watch: &dyn Watch,
) -> Result<Outcome, GraphError> {
    check_imbalance(settings.imbalance)?;
    let rows = Rows::new(ensemble, clusters)?;
    if watch.tick(0, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let (graph, live) = jaccard(&cluster_overlaps(rows.ensemble(), Some(rows.weights())));
    let parts = partition(&graph, clusters.min(live.len()), settings.imbalance, seed)?;
    let mut meta = vec![0u32; rows.base_clusters()];
    live.iter().zip(parts).for_each(|(&cluster, part)| meta[cluster] = part);
    if watch.tick(1, 2) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let trust = rows.by_base(weights);
    let mut votes = Array2::<f64>::zeros((rows.len(), clusters));
    rows.for_each(0..rows.len(), |i, codes| {
        codes.iter().for_each(|&c| votes[[i, meta[c as usize] as usize]] += trust[c as usize]);
        // Added up in the order of the votes: when all agree, their share is exactly 1.
        let total: f64 = codes.iter().map(|&c| trust[c as usize]).sum();
        votes.row_mut(i).mapv_inplace(|vote| vote / total);
    });
    let places: Vec<usize> = rows.expand(&(0..rows.len()).collect::<Vec<usize>>());
    let votes = votes.select(partita_core::ndarray::Axis(0), &places);
    let mut outcome = Outcome::soft(SoftPartition::new(votes).expect("shares of votes"), Stopped::Exact);
    outcome.details.insert("base_clusters".into(), json!(live.len()));
    Ok(outcome)
}

/// An imbalance that the partitioner takes.
pub(crate) fn check_imbalance(value: f64) -> Result<(), GraphError> {
    let reason = "it must be a number from 0 to 1000";
    let fits = (0.0..=1000.0).contains(&value);
    if fits { Ok(()) } else { Err(GraphError::Setting { name: "imbalance", value, reason }) }
}

/// The Jaccard graph of the base clusters that have objects, and which those are.
fn jaccard(overlaps: &Array2<f64>) -> (Graph, Vec<usize>) {
    let live: Vec<usize> = (0..overlaps.nrows()).filter(|&c| overlaps[[c, c]] > 0.0).collect();
    let edge = |a: usize, b: usize| {
        let both = overlaps[[a, b]];
        both / (overlaps[[a, a]] + overlaps[[b, b]] - both)
    };
    let near = |&a: &usize| {
        let others = live.iter().enumerate().filter(|&(_, &b)| b != a && overlaps[[a, b]] > 0.0);
        others.map(|(at, &b)| (at as u32, edge(a, b))).collect()
    };
    let vertices = live.iter().map(|&c| overlaps[[c, c]]).collect();
    (Graph { vertices, edges: live.iter().map(near).collect() }, live)
}

/// Bytes that [`mcla`] holds at once, at most.
pub(crate) fn bytes(objects: usize, bases: usize, side: usize, clusters: usize) -> u64 {
    let (n, m, side, k) = (objects as u64, bases as u64, side as u64, clusters as u64);
    n * (m + 32 + 24 * k) + 48 * side * side
}
