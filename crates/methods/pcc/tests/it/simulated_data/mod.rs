//! The simulated data of the PCC paper, section 7: soft truth, and an ensemble drawn from it.

use partita_core::ndarray::Array2;
use partita_core::{Ensemble, EnsembleBuilder, Seed, SoftPartition};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

/// Four Gaussians in the plane with unit variance and `each` objects, one in each orthant, coordinates of the means
/// between `least` and `most` from 0: the probability of every point having come from each.
pub(crate) fn truth(each: usize, (least, most): (f64, f64), seed: Seed) -> SoftPartition {
    let mut rng = seed.rng();
    let means: [[f64; 2]; 4] = std::array::from_fn(|k| {
        let signs = [
            if k % 2 == 0 { 1.0 } else { -1.0 },
            if k < 2 { 1.0 } else { -1.0 },
        ];
        signs.map(|sign| sign * rng.random_range(least..most))
    });
    let mut rows = Array2::zeros((4 * each, 4));
    for (i, mut row) in rows.outer_iter_mut().enumerate() {
        let point: [f64; 2] = means[i / each]
            .map(|mean| mean + Distribution::<f64>::sample(&StandardNormal, &mut rng));
        for (k, mean) in means.iter().enumerate() {
            let distance: f64 = point.iter().zip(mean).map(|(x, m)| (x - m) * (x - m)).sum();
            row[k] = (-0.5 * distance).exp();
        }
        let sum = row.sum();
        row.mapv_inplace(|p| p / sum);
    }
    SoftPartition::new(rows).expect("rows were divided by their sums")
}

/// Hard partitions with every label drawn from the object's probabilities.
pub(crate) fn ensemble(truth: &SoftPartition, bases: usize, seed: Seed) -> Ensemble {
    let mut rng = seed.rng();
    let mut builder = EnsembleBuilder::new(truth.objects());
    for u in 0..bases {
        let mut drawn = |row: partita_core::ndarray::ArrayView1<'_, f64>| {
            let mut left: f64 = rng.random();
            let found = row.iter().position(|p| {
                left -= p;
                left < 0.0
            });
            found.unwrap_or(row.len() - 1)
        };
        let labels: Vec<Option<usize>> = truth
            .rows()
            .outer_iter()
            .map(|row| Some(drawn(row)))
            .collect();
        builder
            .push(format!("u{u}"), labels)
            .expect("a label an object");
    }
    builder.finish().expect("there are objects")
}
