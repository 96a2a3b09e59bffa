//! Lloyd's algorithm on one-hot labels (KC, QMI), and voting (IPVC).

use partita::extend::rand::RngExt;
use partita::extend::rand::rngs::StdRng;

use super::LabelTable;

/// The sum of squares about the means.
pub(super) fn kc(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    squares(table) - most(table, clusters, &vec![1.0; table.sizes.len()], false, rng)
}

/// Category utility: every base clustering counts the same, however few objects it labels.
pub(super) fn qmi(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    let all = table
        .counts(&vec![vec![1.0]; table.rows.len()], 0.0)
        .remove(0);
    let factors: Vec<f64> = all
        .iter()
        .zip(&table.weights.0)
        .map(|(labels, weight)| weight / labels.iter().sum::<f64>())
        .collect();
    let alone = all
        .iter()
        .zip(&factors)
        .map(|(labels, factor)| factor * square_over_size(labels));
    most(table, clusters, &factors, false, rng) - alone.sum::<f64>()
}

/// Shares of own labels, summed.
pub(super) fn ipvc(table: &LabelTable, clusters: usize, rng: &mut StdRng) -> f64 {
    most(table, clusters, &vec![1.0; table.sizes.len()], true, rng)
}

/// The squares of all shares.
fn squares(table: &LabelTable) -> f64 {
    let of_base = |(labels, weight): (&Vec<(usize, f64)>, &f64)| {
        weight * labels.iter().map(|(_, share)| share * share).sum::<f64>()
    };
    let of_row =
        |row: &Vec<Vec<(usize, f64)>>| row.iter().zip(&table.weights.0).map(of_base).sum::<f64>();
    table
        .rows
        .iter()
        .zip(&table.weights.1)
        .map(|(row, weight)| weight * of_row(row))
        .sum()
}

/// Size times the square of the mean, from the sums of labels.
fn square_over_size(labels: &[f64]) -> f64 {
    let size: f64 = labels.iter().sum();
    if size > 0.0 {
        labels.iter().map(|count| count * count).sum::<f64>() / size
    } else {
        0.0
    }
}

/// The most squares of means (times size and factor, over base clusterings and clusters) of rounds from K objects drawn as centres.
/// Objects go to the nearest mean, or where `votes` to the cluster in which their labels are most common.
fn most(
    table: &LabelTable,
    clusters: usize,
    factors: &[f64],
    votes: bool,
    rng: &mut StdRng,
) -> f64 {
    let objects = table.rows.len();
    let mut order: Vec<usize> = (0..objects).collect();
    (0..clusters.min(objects)).for_each(|at| order.swap(at, rng.random_range(at..objects)));
    let mut means = table.filled(clusters, 0.0);
    for (k, mean) in means.iter_mut().enumerate() {
        let row = &table.rows[order[k % objects]];
        row.iter()
            .zip(mean)
            .for_each(|(row, mean)| row.iter().for_each(|&(j, share)| mean[j] = share));
    }
    let mut best = f64::NEG_INFINITY;
    for _ in 0..200 {
        let labels: Vec<usize> = (0..objects)
            .map(|i| nearest(table, i, &means, factors, votes))
            .collect();
        let soft: Vec<Vec<f64>> = labels
            .iter()
            .map(|&own| {
                (0..clusters)
                    .map(|k| f64::from(u8::from(k == own)))
                    .collect()
            })
            .collect();
        means = table.counts(&soft, 0.0);
        let mut found = 0.0;
        for (labels, factor) in means
            .iter_mut()
            .flat_map(|bases| bases.iter_mut().zip(factors))
        {
            found += factor * square_over_size(labels);
            let size: f64 = labels.iter().sum();
            labels
                .iter_mut()
                .filter(|_| size > 0.0)
                .for_each(|count| *count /= size);
        }
        if found <= best {
            break;
        }
        best = found;
    }
    best
}

fn nearest(
    table: &LabelTable,
    i: usize,
    means: &[Vec<Vec<f64>>],
    factors: &[f64],
    votes: bool,
) -> usize {
    let score = |mean: &Vec<Vec<f64>>| -> f64 {
        let of_base = |(u, weight): (usize, f64)| {
            let product: f64 = table.rows[i][u]
                .iter()
                .map(|&(j, share)| share * mean[u][j])
                .sum();
            let square: f64 = mean[u].iter().map(|p| p * p).sum();
            factors[u]
                * weight
                * if votes {
                    product
                } else {
                    2.0 * product - square
                }
        };
        table.bases(i).map(of_base).sum()
    };
    let scores: Vec<f64> = means.iter().map(score).collect();
    (0..scores.len()).fold(0, |best, k| if scores[k] > scores[best] { k } else { best })
}
