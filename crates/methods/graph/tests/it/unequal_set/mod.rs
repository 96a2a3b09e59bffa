//! A set with the difficulties of KDD'99: one class holds 87 % of the objects, one 9 and one 4; base clusterings by k-means,
//! k from 2 to 10, of half the objects each, so that half of all labels are missing.

use partita_core::ndarray::{Array2, ArrayView1};
use partita_core::{BaseClustering, Ensemble, Partition, Seed};
use rand::{Rng, RngExt};

/// Shares of the classes, in per mille.
const SHARES: [usize; 3] = [870, 90, 40];
const CLASSES: usize = SHARES.len();
const COLUMNS: usize = 8;

/// The ensemble and the classes.
pub(crate) fn unequal_set(objects: usize, bases: usize, seed: Seed) -> (Ensemble, Partition) {
    let mut rng = seed.rng();
    let truth: Vec<u32> = (0..objects).map(|_| class(&mut rng)).collect();
    let centres = Array2::from_shape_fn((CLASSES, COLUMNS), |_| rng.random_range(-6.0..6.0));
    let points = Array2::from_shape_fn((objects, COLUMNS), |(i, d)| {
        centres[[truth[i] as usize, d]] + normal(&mut rng)
    });
    let mut rows = Array2::from_elem((objects, bases), u8::MAX);
    let mut names = Vec::new();
    for u in 0..bases {
        let clusters = rng.random_range(2..=10);
        let seen: Vec<usize> = (0..objects).filter(|_| rng.random_bool(0.5)).collect();
        let labels = kmeans(&points, &seen, clusters, &mut rng);
        seen.iter()
            .zip(labels)
            .for_each(|(&i, label)| rows[[i, u]] = label);
        names.push(BaseClustering::new(
            format!("u{u}"),
            (0..clusters).map(|j| j.to_string()).collect(),
        ));
    }
    // An object that nobody saw would be refused.
    for mut row in rows
        .outer_iter_mut()
        .filter(|row| row.iter().all(|&label| label == u8::MAX))
    {
        row[0] = 0;
    }
    let ensemble = Ensemble::from_bytes(rows, names).expect("labels below k");
    (
        ensemble,
        Partition::new(truth, CLASSES).expect("classes below their number"),
    )
}

fn class(rng: &mut impl Rng) -> u32 {
    let drawn = rng.random_range(0..1000);
    let ends = SHARES.iter().scan(0, |sum, share| {
        *sum += share;
        Some(*sum)
    });
    ends.take_while(|&end| end <= drawn).count() as u32
}

fn normal(rng: &mut impl Rng) -> f64 {
    // Twelve uniform numbers: close enough to normal for a blob.
    (0..12).map(|_| rng.random_range(-0.5..0.5)).sum()
}

/// Ten iterations of Lloyd from random points.
fn kmeans(points: &Array2<f64>, seen: &[usize], clusters: usize, rng: &mut impl Rng) -> Vec<u8> {
    let gap = |a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>| -> f64 {
        a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum()
    };
    let mut centres = Array2::zeros((clusters, COLUMNS));
    centres
        .outer_iter_mut()
        .for_each(|mut c| c.assign(&points.row(seen[rng.random_range(0..seen.len())])));
    let mut labels = vec![0u8; seen.len()];
    for _ in 0..10 {
        let mut sums = Array2::<f64>::zeros((clusters, COLUMNS + 1));
        for (&i, label) in seen.iter().zip(&mut labels) {
            let near = |k: usize| gap(points.row(i), centres.row(k));
            *label = (1..clusters)
                .fold((0, near(0)), |best, k| {
                    if near(k) < best.1 { (k, near(k)) } else { best }
                })
                .0 as u8;
            let mut sum = sums.row_mut(*label as usize);
            sum.iter_mut()
                .zip(points.row(i))
                .for_each(|(sum, x)| *sum += x);
            sum[COLUMNS] += 1.0;
        }
        for (mut centre, sum) in centres
            .outer_iter_mut()
            .zip(sums.outer_iter())
            .filter(|(_, sum)| sum[COLUMNS] > 0.0)
        {
            centre
                .iter_mut()
                .zip(sum.iter())
                .for_each(|(c, x)| *c = x / sum[COLUMNS]);
        }
    }
    labels
}
