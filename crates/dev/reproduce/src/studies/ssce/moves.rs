//! k-means that ends with moves of single objects.

use anyhow::Result;
use partita::ndarray::{Array2, ArrayView1, ArrayView2};
use partita::{Ensemble, EnsembleBuilder};

/// The base clusterings after moves of single objects, while one lowers the sum of squared distances to the centres.
pub(super) fn moved(table: ArrayView2<'_, f64>, ensemble: &Ensemble) -> Result<Ensemble> {
    let mut builder = EnsembleBuilder::new(table.nrows());
    for (u, base) in ensemble.bases().iter().enumerate() {
        let mut labels: Vec<usize> = ensemble
            .column(u)
            .map(|label| label.expect("k-means labels every object"))
            .collect();
        exchange(table, &mut labels, base.clusters());
        builder.push(base.name(), labels.into_iter().map(Some))?;
    }
    Ok(builder.finish()?)
}

fn exchange(table: ArrayView2<'_, f64>, labels: &mut [usize], clusters: usize) {
    let mut centres = Array2::<f64>::zeros((clusters, table.ncols()));
    let mut sizes = vec![0.0; clusters];
    for (row, &label) in table.outer_iter().zip(&*labels) {
        sizes[label] += 1.0;
        let step = 1.0 / sizes[label];
        centres
            .row_mut(label)
            .zip_mut_with(&row, |centre, x| *centre += (x - *centre) * step);
    }
    let mut still = false;
    while !still {
        still = true;
        for (row, label) in table.outer_iter().zip(&mut *labels) {
            let from = *label;
            if sizes[from] <= 1.0 {
                continue;
            }
            let there = |k: usize| sizes[k] / (sizes[k] + 1.0) * squared(row, centres.row(k));
            let others = (0..clusters).filter(|&k| k != from).map(|k| (k, there(k)));
            let Some((to, added)) = others.min_by(|a, b| a.1.total_cmp(&b.1)) else {
                return;
            };
            // What leaving takes away, less a little: rounding must not move an object for ever.
            let taken =
                sizes[from] / (sizes[from] - 1.0) * squared(row, centres.row(from)) * (1.0 - 1e-12);
            if added < taken {
                let out = 1.0 / (sizes[from] - 1.0);
                let into = 1.0 / (sizes[to] + 1.0);
                centres
                    .row_mut(from)
                    .zip_mut_with(&row, |centre, x| *centre -= (x - *centre) * out);
                centres
                    .row_mut(to)
                    .zip_mut_with(&row, |centre, x| *centre += (x - *centre) * into);
                sizes[from] -= 1.0;
                sizes[to] += 1.0;
                *label = to;
                still = false;
            }
        }
    }
}

fn squared(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

#[cfg(test)]
mod tests {
    use partita::Seed;
    use partita::ndarray::Axis;
    use rand::RngExt;

    use super::*;

    /// Sum of squared distances to the centres.
    fn squares(table: ArrayView2<'_, f64>, labels: &[usize], clusters: usize) -> f64 {
        let part = |k: usize| {
            let rows: Vec<usize> = (0..labels.len()).filter(|&i| labels[i] == k).collect();
            let part = table.select(Axis(0), &rows);
            let Some(centre) = part.mean_axis(Axis(0)) else {
                return 0.0;
            };
            part.outer_iter()
                .map(|row| squared(row, centre.view()))
                .sum()
        };
        (0..clusters).map(part).sum()
    }

    #[test]
    fn ends_where_no_single_move_lowers_the_sum_of_squares() {
        for seed in 0..20 {
            let mut rng = Seed::new(seed).rng();
            let table = Array2::from_shape_simple_fn((30, 2), || rng.random_range(-1.0..1.0));
            let start: Vec<usize> = (0..30).map(|i| i % 4).collect();
            let mut labels = start.clone();
            exchange(table.view(), &mut labels, 4);
            let best = squares(table.view(), &labels, 4);
            assert!(best < squares(table.view(), &start, 4));
            for (i, k) in (0..30).flat_map(|i| (0..4).map(move |k| (i, k))) {
                let mut other = labels.clone();
                other[i] = k;
                assert!(
                    squares(table.view(), &other, 4) >= best - 1e-9,
                    "seed {seed}: {i} to {k}"
                );
            }
        }
    }

    #[test]
    fn one_object_alone_and_one_cluster_stay() {
        let table = Array2::from_shape_fn((3, 1), |(i, _)| [0.0, 0.1, 9.0][i]);
        for (start, clusters) in [([0, 0, 1], 2), ([0, 0, 0], 1)] {
            let mut labels = start;
            exchange(table.view(), &mut labels, clusters);
            assert_eq!(labels, start);
        }
    }
}
