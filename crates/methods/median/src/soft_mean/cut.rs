//! Where a search that merges base clusters starts: a normalised cut of the graph of objects and base clusters, of which those that the
//! others break up count less (Huang, Wang and Lai 2018).

use std::num::Saturating;

use partita_coassoc::{Entropies, trusted_cluster_weights};
use partita_core::ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};
use partita_core::{Monitor, Partition, ProblemSize, Seed, WeightedEnsemble, tick_open_ended};
use partita_kmeans::embedded::{Search, kmeans};
use partita_spectral::{LanczosSettings, lanczos};

use super::rows::WeightedShares;

/// How fast a base cluster loses weight as the others disagree on it, and how often base clusterings are trusted anew.
const THETA: f64 = 0.5;
const TRUST_ROUNDS: u32 = 1;

/// Initializations and iterations of k-means.
const RESTARTS: u32 = 10;
const ITERATIONS: u32 = 100;

/// Products after which a search for eigenvectors is half done, for progress.
const PRODUCTS: f64 = 10.0;

/// An object whose line is not longer than this is not reached by the eigenvectors.
const UNREACHED: f64 = 1e-6;

/// The cut, unless its eigenvectors are not found. They and k-means tell how far they are.
pub(super) fn weighted_cut(
    source: WeightedEnsemble<'_>,
    rows: &WeightedShares<'_>,
    seed: Seed,
    (eigenvectors, groups): (&dyn Monitor, &dyn Monitor),
) -> Option<Partition> {
    let strengths = strengths(source, rows);
    let (side, objects) = (strengths.len(), rows.shares.objects());
    let weights = source
        .object_weights
        .map_or_else(|| vec![1.0; objects], |weights| weights.as_slice().to_vec());
    let per_degree = rows
        .gathered(column(&strengths).view())
        .mapv(|degree| 1.0 / degree);
    // D^-½ of every base cluster, times its strength; 0 for an empty one.
    let sizes = rows.products(Array2::ones((objects, 1)).view());
    let root = |(size, strength): (&f64, &f64)| {
        if *size > 0.0 {
            (strength / size).sqrt()
        } else {
            0.0
        }
    };
    let scale = column(&sizes.iter().zip(&strengths).map(root).collect::<Vec<f64>>());
    let mut products = 0.0;
    let product = |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| {
        products += 1.0;
        // A search cannot be left, so that the answer waits for its end.
        let _ = tick_open_ended(eigenvectors, products, PRODUCTS);
        let of_objects = rows.gathered((&x * &scale).view()) * &per_degree;
        y.assign(&(rows.products(of_objects.view()) * &scale));
    };
    let count = rows.clusters.min(side);
    let pairs = lanczos(
        side,
        count,
        product,
        seed.child(0),
        &LanczosSettings::default(),
    )
    .ok()?;
    let mut embedded = rows.gathered((pairs.vectors * &scale).view());
    let total = weights.iter().sum::<f64>().sqrt();
    for (mut line, per_degree) in embedded.outer_iter_mut().zip(&per_degree) {
        let length = line.dot(&line).sqrt();
        let factor = if length * per_degree * total > UNREACHED {
            1.0 / length
        } else {
            0.0
        };
        line.mapv_inplace(|x| x * factor);
    }
    let search = Search {
        clusters: rows.clusters,
        restarts: RESTARTS,
        iterations: ITERATIONS,
        tolerance: 1e-6,
    };
    let labels = kmeans(embedded.view(), &weights, &search, seed.child(1), groups).labels;
    Some(Partition::new(labels, rows.clusters).expect("k-means numbers at most K groups"))
}

/// Bytes that a cut holds at once, at most.
pub(super) fn bytes(size: &ProblemSize) -> u64 {
    let [n, m, side, k] = size.saturating();
    let (width, sums) = (
        k + Saturating(8),
        Saturating(2 * rayon::current_num_threads() as u64 + 3),
    );
    let krylov = side * (width * Saturating(40)).min(side) * Saturating(8);
    let dense = if side <= width * Saturating(3) {
        side * side * Saturating(40)
    } else {
        Saturating(0)
    };
    let whole = if size.soft_shares > 0 {
        side * side * sums
    } else {
        // Tables of pairs of clusters inside base clusterings, and those that merges are made from.
        // Tables of pairs of clusters inside base clusterings, and those that merges are made from.
        side * side / m.max(Saturating(1)) * Saturating(3)
    };
    let groups = k * k.min(side) * Saturating(8 * u64::from(RESTARTS));
    let eigenvectors = krylov + dense + (whole + side * width * sums) * Saturating(8) + groups;
    // How whole base clusters are is counted first.
    let table = eigenvectors.max(Saturating(Entropies::bytes(size)));
    (n * (width * Saturating(24) + Saturating(40)) + table).0
}

/// What an edge to each base cluster weighs: the weight of the base clustering, times how whole the others leave the cluster.
fn strengths(source: WeightedEnsemble<'_>, rows: &WeightedShares<'_>) -> Vec<f64> {
    let mut strengths = trusted_cluster_weights(source, THETA, TRUST_ROUNDS);
    for (ends, weight) in rows.offsets.windows(2).zip(&rows.base_weights) {
        strengths[ends[0]..ends[1]]
            .iter_mut()
            .for_each(|strength| *strength *= weight);
    }
    strengths
}

fn column(values: &[f64]) -> Array2<f64> {
    Array1::from(values.to_vec()).insert_axis(Axis(1))
}
