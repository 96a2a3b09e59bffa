//! Spectral cuts of the graph of objects and soft base clusters: an edge weighs the share of the object times the strength of the
//! cluster. Everything else is as with labels.

use std::num::Saturating;

use partita_coassoc::{ClusterEntropy, Overlap, share_products};
use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Flow, Memberships, Monitor, ObjectWeights, Outcome, Problem, ProblemSize, Seed,
};
use partita_kmeans::embedded::Search;
use partita_spectral::{LanczosSettings, lanczos};
use rayon::prelude::*;

use crate::GraphError;
use crate::bipartite::{Embedding, UNREACHED, inverse_roots, multiply};
use crate::rows::{Rows, by_base};
use crate::spectral::{SpectralDiagnostics, grouped};

/// [`cut`](crate::spectral::cut) of the soft memberships of an ensemble, by `strengths` that are made of them.
pub(crate) fn cut_soft(
    problem: &Problem<'_>,
    shares: &Memberships,
    strengths: &[f64],
    search: &Search,
    monitor: &dyn Monitor,
) -> Result<Outcome<SpectralDiagnostics>, GraphError> {
    let weights = problem.object_weights.map(ObjectWeights::as_slice);
    let weights = weights.map_or_else(|| vec![1.0; shares.objects()], <[f64]>::to_vec);
    let rows = Rows::each_object(problem.ensemble, search.clusters, weights)?;
    let total = u64::from(search.rounds) + 1;
    if monitor.tick(0, total) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    let embedding = embed_soft(
        shares,
        strengths,
        rows.weights(),
        search.clusters,
        problem.seed.child(0),
    )?;
    if monitor.tick(1, total) == Flow::Stop {
        return Err(GraphError::Interrupted);
    }
    Ok(grouped(&rows, embedding, search, problem.seed, monitor))
}

/// The strengths of base clusters by their own entropies over the others (ECI) and by the weights of their base clusterings.
pub(crate) fn soft_strengths(
    problem: &Problem<'_>,
    shares: &Memberships,
    (theta, trust_rounds): (f64, u32),
    entropy: ClusterEntropy,
) -> Vec<f64> {
    let weights = problem.object_weights.map(ObjectWeights::as_slice);
    let overlap = Overlap::of_shares(shares, problem.ensemble.offsets(), weights);
    // A soft base clustering is not sure of its own copy, so that its weight has no part in entropies.
    let mut agreed = overlap.cluster_weights(theta, trust_rounds, None);
    entropy.apply(&mut agreed, overlap.offsets());
    by_base(overlap.offsets(), problem.weights)
        .iter()
        .zip(agreed)
        .map(|(weight, index)| weight * index)
        .collect()
}

/// The objects in the space of the leading eigenvectors, by transfer cut.
fn embed_soft(
    shares: &Memberships,
    strengths: &[f64],
    weights: &[f64],
    count: usize,
    seed: Seed,
) -> Result<Embedding, GraphError> {
    let side = strengths.len();
    let (mut sizes, mut per_degree) = (vec![0.0; side], vec![0.0; weights.len()]);
    for (object, (per_degree, weight)) in per_degree.iter_mut().zip(weights).enumerate() {
        let (clusters, own) = shares.row(object);
        clusters
            .iter()
            .zip(own)
            .for_each(|(&c, share)| sizes[c as usize] += weight * share);
        *per_degree = 1.0
            / clusters
                .iter()
                .zip(own)
                .map(|(&c, share)| share * strengths[c as usize])
                .sum::<f64>();
    }
    let scale: Vec<f64> = inverse_roots(&sizes, strengths)
        .iter()
        .zip(strengths)
        .map(|(root, s)| root * s)
        .collect();
    let mut matrix = share_products(shares, side, |object| weights[object] * per_degree[object]);
    matrix
        .indexed_iter_mut()
        .for_each(|((a, b), x)| *x *= scale[a] * scale[b]);
    let count = count.min(side);
    let pairs = lanczos(
        side,
        count,
        |x, y| multiply(matrix.view(), x, y),
        seed,
        &LanczosSettings::default(),
    )?;
    let root = weights.iter().sum::<f64>().sqrt();
    let mut table = pairs.vectors;
    table
        .outer_iter_mut()
        .zip(&scale)
        .for_each(|(mut line, scale)| line.mapv_inplace(|x| x * scale * root));
    let rows = transferred(shares, &per_degree, table.view());
    Ok(Embedding {
        rows,
        values: pairs.values.to_vec(),
        next: pairs.next,
    })
}

/// Every object's mean over its clusters' lines of the table, at length 1.
pub(crate) fn transferred(
    shares: &Memberships,
    per_degree: &[f64],
    table: ArrayView2<'_, f64>,
) -> Array2<f64> {
    let mut rows = Array2::zeros((per_degree.len(), table.ncols()));
    let width = table.ncols().max(1);
    let lines = rows
        .as_slice_mut()
        .expect("a new array is in standard layout");
    lines
        .par_chunks_mut(width)
        .enumerate()
        .for_each(|(object, line)| {
            let (clusters, own) = shares.row(object);
            for (&c, share) in clusters.iter().zip(own) {
                line.iter_mut()
                    .zip(table.row(c as usize))
                    .for_each(|(x, value)| *x += share * value);
            }
            let length = line.iter().map(|x| x * x).sum::<f64>().sqrt();
            let factor = if length * per_degree[object] > UNREACHED {
                1.0 / length
            } else {
                0.0
            };
            line.iter_mut().for_each(|x| *x *= factor);
        });
    rows
}

/// Bytes that a soft cut holds at once, at most, beside what the same cut of labels does.
pub(crate) fn soft_bytes(size: &ProblemSize) -> u64 {
    if size.soft_shares == 0 {
        return 0;
    }
    let [n, _, side, _] = size.saturating();
    let tables = Saturating(2 * rayon::current_num_threads() as u64 + 3);
    (side * side * tables * Saturating(8) + n * Saturating(16)).0
}
