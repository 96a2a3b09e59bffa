//! k-means from random rows, on the numbers as they are; an empty cluster takes the row farthest from its centre.

use partita_core::Seed;
use partita_core::ndarray::{Array1, Array2, ArrayView1, ArrayView2, Axis};
use rand::seq::index;

pub(crate) fn k_means(x: ArrayView2<'_, f64>, k: usize, seed: Seed) -> Vec<u32> {
    let first = index::sample(&mut seed.rng(), x.nrows(), k).into_vec();
    let mut centres = x.select(Axis(0), &first);
    let mut labels = vec![u32::MAX; x.nrows()];
    for _ in 0..300 {
        let rows = x.outer_iter();
        let next: Vec<u32> = rows.map(|row| nearest(row, &centres)).collect();
        if next == labels {
            break;
        }
        labels = next;
        let mut sums = Array2::<f64>::zeros(centres.dim());
        let mut sizes = vec![0.0; k];
        for (row, &label) in x.outer_iter().zip(&labels) {
            sums.row_mut(label as usize).scaled_add(1.0, &row);
            sizes[label as usize] += 1.0;
        }
        for (c, &size) in sizes.iter().enumerate() {
            let centre = match size {
                0.0 => farthest(x, &centres, &labels),
                _ => &sums.row(c) / size,
            };
            centres.row_mut(c).assign(&centre);
        }
    }
    labels
}

fn square(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
}

fn nearest(row: ArrayView1<'_, f64>, centres: &Array2<f64>) -> u32 {
    let far: Vec<f64> = centres.outer_iter().map(|c| square(row, c)).collect();
    let nearest = (0..far.len()).min_by(|&a, &b| far[a].total_cmp(&far[b]));
    nearest.map_or(0, |c| c as u32)
}

/// The row that is farthest from its centre. Tables with equal rows (zoo) start many clusters empty.
fn farthest(x: ArrayView2<'_, f64>, centres: &Array2<f64>, labels: &[u32]) -> Array1<f64> {
    let far = |i: usize| square(x.row(i), centres.row(labels[i] as usize));
    let far: Vec<f64> = (0..x.nrows()).map(far).collect();
    let most = (0..far.len()).fold(0, |most, i| if far[i] > far[most] { i } else { most });
    x.row(most).to_owned()
}
