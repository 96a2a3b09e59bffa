//! Cluster-based similarity partitioning.

use partita_coassoc::EvidenceRows;
use partita_core::{Ensemble, Flow, Outcome, Partition, Seed, Stopped, Watch};
use serde::{Deserialize, Serialize};

use crate::GraphError;
use crate::mcla::check_imbalance;
use crate::metis::{Graph, partition};
use crate::rows::check;

/// Settings of [`cspa`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct CspaSettings {
    /// How much heavier than its share a cluster may be, as a share of that: 0.05 is 5 %.
    pub imbalance: f64,
}

impl Default for CspaSettings {
    fn default() -> Self {
        Self { imbalance: 0.05 }
    }
}

/// Cluster-based similarity partitioning (Strehl and Ghosh 2002): cut the graph of objects into K parts of about the same
/// size, an edge weighing how often its two objects are together.
///
/// ```text
/// edge between objects i and j:  c_ij / N_ij
/// ```
/// METIS cuts it by recursive bisection; its integer weights are scaled so that the largest is 10,000, less where their
/// sum would pass 2³⁰. The certainty of an object is its mean evidence for its own cluster over the sum of that and the
/// best other cluster's; 0.5 means undecided.
///
/// # Errors
/// [`GraphError`] when K is out of range, an object has no label, the imbalance is no number from 0 to 1000, the graph
/// is too large for the partitioner, or the watch asks to stop.
///
/// # Cost
/// O(n² M) time, 40 n² bytes.
///
/// # References
/// A. Strehl, J. Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR 3, 2002.
pub fn cspa(
    ensemble: &Ensemble,
    clusters: usize,
    seed: Seed,
    settings: &CspaSettings,
    watch: &dyn Watch,
) -> Result<Outcome, GraphError> {
    check_imbalance(settings.imbalance)?;
    check(ensemble, clusters)?;
    let evidence = EvidenceRows::new(ensemble)?;
    let n = ensemble.objects();
    let mut graph = Graph { vertices: vec![1.0; n], edges: Vec::with_capacity(n) };
    for object in 0..n {
        let mut near = Vec::new();
        evidence.for_each(object, |other, together, seen| {
            if other != object && together > 0 {
                near.push((other as u32, f64::from(together) / f64::from(seen)));
            }
        });
        near.shrink_to_fit();
        graph.edges.push(near);
        if object % 64 == 0 && watch.tick(object as u64, n as u64) == Flow::Stop {
            return Err(GraphError::Interrupted);
        }
    }
    let labels = partition(&graph, clusters, settings.imbalance, seed)?;
    let certainty = certainty(&graph, &labels, clusters);
    let partition = Partition::new(labels, clusters).expect("as many parts as clusters");
    Ok(Outcome::hard(partition, certainty, Stopped::Exact))
}

/// Mean evidence for the own cluster, the object itself left out, over the sum of that and the best other's; 1 where
/// there is evidence for no other, or an object is alone and tied to nobody.
fn certainty(graph: &Graph, labels: &[u32], clusters: usize) -> Vec<f64> {
    let mut sizes = vec![0.0; clusters];
    labels.iter().for_each(|&label| sizes[label as usize] += 1.0);
    let of = |(near, &own): (&Vec<(u32, f64)>, &u32)| {
        let mut means = vec![0.0; clusters];
        near.iter().for_each(|&(other, weight)| means[labels[other as usize] as usize] += weight);
        let others = (0..clusters).filter(|&k| k != own as usize && sizes[k] > 0.0).map(|k| means[k] / sizes[k]);
        let best = others.fold(0.0, f64::max);
        let own = means[own as usize] / (sizes[own as usize] - 1.0).max(1.0);
        if best > 0.0 { own / (own + best) } else { 1.0 }
    };
    graph.edges.iter().zip(labels).map(of).collect()
}

/// Bytes that [`cspa`] holds at once, at most: the graph, and METIS' copies.
pub(crate) fn bytes(objects: usize, bases: usize) -> u64 {
    let (n, m) = (objects as u64, bases as u64);
    40 * n * n + 2 * n * m
}
