//! Lloyd's algorithm on one-hot labels (KC, QMI), and voting (IPVC).

use partita::rand::RngExt;
use partita::rand::rngs::StdRng;

use super::LabelTable;

/// The sum of squares about the means.
pub(super) fn kc(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let weights = vec![1.0; table.sizes.len()];
    lowest(table, clusters, &weights, false, rng)
}

/// Category utility: every base clustering counts the same, however few objects it labels.
pub(super) fn qmi(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let objects = table.rows.len() as f64;
    let all = table.counts(&vec![vec![1.0]; table.rows.len()], 0.0);
    let labelled: Vec<f64> = all[0].iter().map(|labels| labels.iter().sum()).collect();
    let weights: Vec<f64> = labelled.iter().map(|count| objects / count).collect();
    let alone: f64 = (all[0].iter().zip(&labelled))
        .map(|(labels, all)| 1.0 - labels.iter().map(|count| (count / all).powi(2)).sum::<f64>())
        .sum();
    alone - lowest(table, clusters, &weights, false, rng) / objects
}

/// Shares of own labels, summed.
pub(super) fn ipvc(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let weights = vec![1.0; table.sizes.len()];
    table.count() - lowest(table, clusters, &weights, true, rng)
}

/// The lowest sum of squares of rounds from K objects drawn as centres. Objects go to the nearest mean, or where `votes` to the cluster
/// in which their labels are most common.
fn lowest(table: &LabelTable, clusters: usize, weights: &[f64], votes: bool, rng: &mut StdRng) -> f64 {
    let objects = table.rows.len();
    let mut order: Vec<usize> = (0..objects).collect();
    (0..clusters.min(objects)).for_each(|at| order.swap(at, rng.random_range(at..objects)));
    let mut means = table.filled(clusters, 0.0);
    for (k, mean) in means.iter_mut().enumerate() {
        table.labels(order[k % objects]).for_each(|(u, j, _)| mean[u][j] = 1.0);
    }
    let mut best = f64::INFINITY;
    for _ in 0..200 {
        let labels: Vec<usize> = (0..objects).map(|i| nearest(table, i, &means, weights, votes)).collect();
        let soft: Vec<Vec<f64>> =
            labels.iter().map(|&own| (0..clusters).map(|k| f64::from(u8::from(k == own))).collect()).collect();
        means = table.counts(&soft, 0.0);
        let mut squares = 0.0;
        for (labels, weight) in means.iter_mut().flat_map(|bases| bases.iter_mut().zip(weights)) {
            let size: f64 = labels.iter().sum();
            if size > 0.0 {
                squares += weight * (size - labels.iter().map(|count| count * count).sum::<f64>() / size);
                labels.iter_mut().for_each(|count| *count /= size);
            }
        }
        if squares >= best {
            break;
        }
        best = squares;
    }
    best
}

fn nearest(table: &LabelTable, i: usize, means: &[Vec<Vec<f64>>], weights: &[f64], votes: bool) -> usize {
    let score = |mean: &Vec<Vec<f64>>| -> f64 {
        let term = |(u, j, _): (usize, usize, f64)| {
            let square: f64 = mean[u].iter().map(|p| p * p).sum();
            weights[u] * if votes { mean[u][j] } else { 2.0 * mean[u][j] - square }
        };
        table.labels(i).map(term).sum()
    };
    let scores: Vec<f64> = means.iter().map(score).collect();
    (0..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best })
}
