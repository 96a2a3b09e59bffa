//! Where fits start: k-means++ on label rows, and Dirichlet draws.

use partita_core::ndarray::{ArrayView1, ArrayView2};
use partita_core::{Label, LabelRows, Seed};
use rand::{Rng, RngExt};
use rand_distr::{Distribution, Exp1};

use crate::table::normalise_columns;
use crate::{RowModel, Rows};

/// Memberships of one restart: every row belongs to the nearest of K rows, drawn as k-means++ does. The distance of
/// two rows is the share of labels on which they differ, among those that both have: half the squared distance of
/// their one-hot rows, were they as long.
///
/// # Cost
/// O(rows · M · K) time.
pub(crate) fn plus_plus(rows: &Rows<'_>, clusters: usize, seed: Seed) -> Vec<u32> {
    match rows.ensemble().rows() {
        LabelRows::Bytes(labels) => draw(rows, labels, clusters, seed),
        LabelRows::Words(labels) => draw(rows, labels, clusters, seed),
    }
}

fn draw<L: Label>(rows: &Rows<'_>, labels: ArrayView2<'_, L>, clusters: usize, seed: Seed) -> Vec<u32> {
    let mut rng = seed.rng();
    // A row that says little makes a poor centre.
    let share = |i: usize| rows.labels_of(i) as f64 / labels.ncols() as f64;
    let weights: Vec<f64> = rows.weights().iter().enumerate().map(|(i, w)| w * share(i)).collect();
    let mut nearest = vec![0u32; weights.len()];
    let mut distance = vec![f64::INFINITY; weights.len()];
    for cluster in 0..clusters {
        let chances: Vec<f64> =
            if cluster == 0 { weights.clone() } else { weights.iter().zip(&distance).map(|(w, d)| w * d).collect() };
        let Some(centre) = pick(&chances, &mut rng) else { break };
        for (i, row) in labels.outer_iter().enumerate() {
            let d = differ(row, labels.row(centre));
            if d < distance[i] {
                (distance[i], nearest[i]) = (d, cluster as u32);
            }
        }
    }
    nearest
}

/// An index in proportion to its chance, if any has one.
pub(crate) fn pick(chances: &[f64], rng: &mut impl Rng) -> Option<usize> {
    let total: f64 = chances.iter().sum();
    let mut left = rng.random::<f64>() * total;
    let mut last = None;
    for (i, &chance) in chances.iter().enumerate() {
        if chance > 0.0 {
            last = Some(i);
            left -= chance;
            if left < 0.0 {
                break;
            }
        }
    }
    last
}

fn differ<L: Label>(a: ArrayView1<'_, L>, b: ArrayView1<'_, L>) -> f64 {
    let (mut both, mut different) = (0u32, 0u32);
    for (&a, &b) in a.iter().zip(&b) {
        let seen = a != L::MISSING && b != L::MISSING;
        both += u32::from(seen);
        different += u32::from(seen && a != b);
    }
    if both == 0 { 1.0 } else { f64::from(different) / f64::from(both) }
}

/// A mixture whose label shares are drawn from Dirichlet(1), with equal clusters.
pub(crate) fn dirichlet(rows: &Rows<'_>, clusters: usize, seed: Seed) -> RowModel {
    let mut rng = seed.rng();
    let mut theta: Vec<f64> = (0..rows.label_values() * clusters).map(|_| Exp1.sample(&mut rng)).collect();
    normalise_columns(&mut theta, rows.offsets(), clusters);
    RowModel::from_parts(rows.ensemble().bases().to_vec(), vec![1.0 / clusters as f64; clusters], theta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn distinct_rows_become_centres_before_any_is_drawn_twice() {
        let mut builder = EnsembleBuilder::new(9);
        for u in 0..3u32 {
            builder.push(format!("u{u}"), (0..9).map(|i| Some(i % 3))).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        for seed in 0..20 {
            let nearest = plus_plus(&Rows::of(&ensemble), 3, Seed::new(seed));
            assert_eq!(nearest.len(), 3);
            assert!((0..3).all(|k| nearest.contains(&k)));
        }
    }

    #[test]
    fn missing_labels_are_not_compared() {
        let missing = u8::MISSING;
        let rows = partita_core::ndarray::array![[0, 1, missing], [0, 2, 3], [missing, missing, 1]];
        assert_eq!(differ(rows.row(0), rows.row(1)), 0.5);
        assert_eq!(differ(rows.row(0), rows.row(2)), 1.0);
    }
}
