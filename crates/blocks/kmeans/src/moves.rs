//! Moves of single rows at the end of k-means: a row goes where the sum of squares becomes smaller, not merely to the nearest centre.

use partita_core::ProgressCounter;
use partita_core::ndarray::{Array2, ArrayView1, ArrayView2};

use crate::run::UNLABELLED;

/// Moves rows one by one, each to the cluster that lowers Σ w‖x − c‖² most, until none does (the step of Hartigan and Wong 1979; what MATLAB's
/// `kmeans` does after its batch phase). `labels` are below `clusters`, or [`UNLABELLED`] for rows that take no part; no cluster loses its
/// last row. Gives the sum of squares, and how often all rows were looked at; none where it was interrupted.
///
/// ```text
/// from a to b where  S_b w / (S_b + w) ‖x − c_b‖²  <  S_a w / (S_a − w) ‖x − c_a‖²        S: weight of a cluster
/// ```
///
/// # Cost
/// O(n·d·k) time each time all rows are looked at; (n + k)·d numbers.
pub fn move_single_rows(
    values: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    labels: &mut [u16],
    clusters: usize,
    progress: &ProgressCounter<'_>,
) -> Option<(f64, usize)> {
    let unit = unit(values);
    let table = values.mapv(|x| x / unit);
    let mut state = Clusters {
        centres: Array2::zeros((clusters, table.ncols())),
        sizes: vec![0.0; clusters],
    };
    let weight = |i: usize| weights.map_or(1.0, |weights| weights[i]);
    for (i, (row, &label)) in table.outer_iter().zip(&*labels).enumerate() {
        if label != UNLABELLED {
            state.shift(row, usize::from(label), weight(i));
        }
    }
    let (mut moved, mut passes) = (true, 0);
    while moved {
        if progress.stopped() {
            return None;
        }
        (moved, passes) = (false, passes + 1);
        for (i, (row, label)) in table.outer_iter().zip(&mut *labels).enumerate() {
            if *label == UNLABELLED {
                continue;
            }
            if let Some(to) = state.better(row, usize::from(*label), weight(i)) {
                state.shift(row, usize::from(*label), -weight(i));
                state.shift(row, to, weight(i));
                *label = to as u16;
                moved = true;
            }
        }
    }
    let far = |(i, (row, &label)): (usize, (ArrayView1<'_, f64>, &u16))| match label {
        UNLABELLED => 0.0,
        _ => weight(i) * squared(row, state.centres.row(usize::from(label))),
    };
    let sum: f64 = table.outer_iter().zip(&*labels).enumerate().map(far).sum();
    Some((sum * unit * unit, passes))
}

/// A power of two near the largest number, so that squares neither overflow nor vanish.
fn unit(values: ArrayView2<'_, f64>) -> f64 {
    let largest = values.iter().fold(0.0f64, |most, x| most.max(x.abs()));
    if largest > 0.0 {
        largest.log2().floor().exp2()
    } else {
        1.0
    }
}

struct Clusters {
    centres: Array2<f64>,
    sizes: Vec<f64>,
}

impl Clusters {
    /// The cluster that a row of this weight had better be in than in its own, if one is.
    fn better(&self, row: ArrayView1<'_, f64>, from: usize, weight: f64) -> Option<usize> {
        let left = self.sizes[from] - weight;
        if left <= 1e-9 * weight {
            return None;
        }
        let there =
            |k: usize| self.sizes[k] / (self.sizes[k] + weight) * squared(row, self.centres.row(k));
        let others = (0..self.sizes.len())
            .filter(|&k| k != from)
            .map(|k| (k, there(k)));
        let (to, added) = others.min_by(|a, b| a.1.total_cmp(&b.1))?;
        // What leaving takes away, less a little: rounding must not move a row for ever.
        let own = squared(row, self.centres.row(from));
        let taken = self.sizes[from] / left * own * (1.0 - 1e-12);
        (added < taken).then_some(to)
    }

    /// Puts a row of this weight into a cluster, or takes it out where the weight is negative.
    fn shift(&mut self, row: ArrayView1<'_, f64>, k: usize, weight: f64) {
        self.sizes[k] += weight;
        let step = weight / self.sizes[k];
        let mut centre = self.centres.row_mut(k);
        centre.zip_mut_with(&row, |centre, x| *centre += (x - *centre) * step);
    }
}

fn squared(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    use super::*;

    /// The weighted sum of squared distances to the centres, from its definition.
    fn squares(table: &Array2<f64>, weights: &[f64], labels: &[u16]) -> f64 {
        let part = |k: u16| {
            let rows: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == k).collect();
            let size: f64 = rows.iter().map(|&i| weights[i]).sum();
            let column = |p: usize| {
                let mean = rows
                    .iter()
                    .map(|&i| weights[i] * table[[i, p]])
                    .sum::<f64>()
                    / size;
                rows.iter()
                    .map(|&i| weights[i] * (table[[i, p]] - mean).powi(2))
                    .sum::<f64>()
            };
            (0..table.ncols()).map(column).sum::<f64>()
        };
        (0..4).map(part).sum()
    }

    #[test]
    fn it_ends_where_no_single_move_lowers_the_sum_of_squares() {
        for seed in 0..20 {
            let mut rng = Seed::new(seed).rng();
            let table = Array2::from_shape_simple_fn((30, 2), || rng.random_range(-3.0..3.0));
            let weights: Vec<f64> = (0..30).map(|i| 1.0 + (i * seed % 3) as f64).collect();
            let start: Vec<u16> = (0..30)
                .map(|i| if i == 7 { UNLABELLED } else { i % 4 })
                .collect();
            let mut labels = start.clone();
            let progress = ProgressCounter::new(&Silent, 1);
            let (sum, _) =
                move_single_rows(table.view(), Some(&weights), &mut labels, 4, &progress).unwrap();
            let best = squares(&table, &weights, &labels);
            assert!((sum - best).abs() < 1e-9 && best < squares(&table, &weights, &start));
            assert_eq!(labels[7], UNLABELLED);
            for (i, k) in (0..30)
                .flat_map(|i| (0..4).map(move |k| (i, k)))
                .filter(|(i, _)| *i != 7)
            {
                let mut other = labels.clone();
                other[i] = k;
                assert!(
                    squares(&table, &weights, &other) >= best - 1e-9,
                    "seed {seed}: {i} to {k}"
                );
            }
        }
    }
}
