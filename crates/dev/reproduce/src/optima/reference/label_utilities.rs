//! Lloyd's algorithm for other criteria of labels in clusters: mutual information (KCC) and the normalised cut (SEC).

use partita::extend::rand::RngExt;
use partita::extend::rand::rngs::StdRng;

use super::LabelTable;

/// `[cluster][base clustering][label]`.
type Counts = Vec<Vec<Vec<f64>>>;

/// What is added to every cluster, distributed as all objects are, since a label that a cluster lacks would be impossible in it.
const SMOOTHING: f64 = 0.01;

/// The mean mutual information of clusters and base clusterings, nats, summed over base clusterings.
pub(super) fn kcc(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let objects: f64 = table.weights.1.iter().sum();
    let all = table
        .counts(&vec![vec![1.0]; table.rows.len()], 0.0)
        .remove(0);
    let negentropy = |labels: &Vec<f64>| {
        let size: f64 = labels.iter().sum();
        labels
            .iter()
            .filter(|count| **count > 0.0)
            .map(|count| count * (count / size).ln())
            .sum::<f64>()
    };
    let worth = |bases: &Vec<Vec<f64>>| bases.iter().map(negentropy).sum::<f64>();
    let score = |cluster: &Vec<Vec<f64>>, i: usize| {
        let log = |(u, j, label): (usize, usize, f64)| {
            let total: f64 = all[u].iter().sum();
            let size: f64 = cluster[u].iter().sum();
            label * ((cluster[u][j] + SMOOTHING * all[u][j] / total) / (size + SMOOTHING)).ln()
        };
        table.labels(i).map(log).sum()
    };
    let value = |counts: &Counts| (counts.iter().map(worth).sum::<f64>() - worth(&all)) / objects;
    highest(table, clusters, score, value, rng)
}

/// The normalised cut of the co-association.
pub(super) fn sec(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let all = table
        .counts(&vec![vec![1.0]; table.rows.len()], 0.0)
        .remove(0);
    // Sums have the weight of their base clustering in them: of two it counts once.
    let inverse: Vec<f64> = table
        .weights
        .0
        .iter()
        .map(|weight| weight.recip())
        .collect();
    let product = |a: &[Vec<f64>], b: &[Vec<f64>]| -> f64 {
        let of_base = |((a, b), inverse): ((&Vec<f64>, &Vec<f64>), &f64)| {
            inverse * a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>()
        };
        a.iter().zip(b).zip(&inverse).map(of_base).sum()
    };
    let own = |i: usize, sums: &[Vec<f64>]| -> f64 {
        table
            .labels(i)
            .map(|(u, j, label)| inverse[u] * label * sums[u][j])
            .sum()
    };
    let score = |cluster: &Vec<Vec<f64>>, i: usize| {
        let degrees = product(cluster, &all);
        2.0 * own(i, cluster) / degrees / own(i, &all).max(f64::MIN_POSITIVE)
            - product(cluster, cluster) / (degrees * degrees)
    };
    let kept = |cluster: &Vec<Vec<f64>>| {
        let degrees = product(cluster, &all);
        if degrees > 0.0 {
            product(cluster, cluster) / degrees
        } else {
            0.0
        }
    };
    let value = |counts: &Counts| counts.iter().map(kept).sum::<f64>();
    clusters as f64 - highest(table, clusters, score, value, rng)
}

/// The highest `value` of rounds from K objects drawn as clusters, in which all objects go to the cluster of the highest `score`.
fn highest(
    table: &LabelTable,
    clusters: usize,
    score: impl Fn(&Vec<Vec<f64>>, usize) -> f64,
    value: impl Fn(&Counts) -> f64,
    rng: &mut StdRng,
) -> f64 {
    let objects = table.rows.len();
    let mut order: Vec<usize> = (0..objects).collect();
    (0..clusters.min(objects)).for_each(|at| order.swap(at, rng.random_range(at..objects)));
    let one_hot = |own: usize| {
        (0..clusters)
            .map(|k| f64::from(u8::from(k == own)))
            .collect::<Vec<f64>>()
    };
    let mut soft = vec![vec![0.0; clusters]; objects];
    (0..clusters.min(objects)).for_each(|k| soft[order[k]] = one_hot(k));
    let mut counts = table.counts(&soft, 0.0);
    let mut best = f64::NEG_INFINITY;
    for _ in 0..200 {
        let assign = |i: usize| {
            let scores: Vec<f64> = counts.iter().map(|cluster| score(cluster, i)).collect();
            one_hot(
                (0..clusters).fold(0, |best, k| if scores[k] > scores[best] { k } else { best }),
            )
        };
        let soft: Vec<Vec<f64>> = (0..objects).map(assign).collect();
        counts = table.counts(&soft, 0.0);
        let reached = value(&counts);
        if reached <= best {
            break;
        }
        best = reached;
    }
    best
}
