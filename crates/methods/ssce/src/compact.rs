//! Inputs in as many columns as there are objects, where there are more inputs than objects.

use std::num::Saturating;

use partita_core::ProblemSize;
use partita_core::ndarray::{Array2, ArrayView1, Axis};
use partita_spectral::symmetric_eigen;

use crate::SsceError;
use crate::design::Design;

/// The most objects whose inner products are made diagonal.
const OBJECTS: usize = 1000;

/// Eigenvalues below this share of the largest are rounding.
const LEAST: f64 = 1e-12;

/// The rows of a design turned into their principal axes, n × rank, where there are more columns than objects and than `wide`.
///
/// With `X Xᵀ = U S Uᵀ` these are the columns of `U √S`. All that a fit asks of inputs are their products with classifiers, whose penalty is
/// the same in all directions, so the best classifiers lie in the span of the rows, and objective and probabilities are what they were.
///
/// # Cost
/// O(n² M + n³) time, n p numbers.
pub(crate) fn compact(design: &Design, wide: usize) -> Result<Option<Design>, SsceError> {
    let n = design.rows();
    if design.width() <= wide.max(n) || n > OBJECTS {
        return Ok(None);
    }
    let mut transposed = Array2::zeros((design.width(), n));
    design.add_transposed(0..n, Array2::eye(n).view(), &mut transposed);
    let products = design.times(0..n, transposed.view());
    let pairs = symmetric_eigen(((&products + &products.t()) * 0.5).view())?;
    let most = pairs.values.iter().copied().fold(0.0, f64::max);
    let kept = (0..n).filter(|&at| pairs.values[at] > LEAST * most);
    let kept: Vec<usize> = kept.collect();
    let roots: Vec<f64> = kept.iter().map(|&at| pairs.values[at].sqrt()).collect();
    let columns: Array2<f64> = pairs.vectors.select(Axis(1), &kept);
    let scaled = columns * ArrayView1::from(&roots);
    Ok(Some(Design::Dense(
        scaled.as_standard_layout().into_owned(),
    )))
}

/// Bytes that [`compact`] holds at once, at most: the inputs turned, their products, and what finds the axes of these.
pub(crate) fn bytes(size: &ProblemSize) -> u64 {
    let [n, _, side, _] = size.saturating();
    if side < n || size.objects > OBJECTS {
        return 0;
    }
    (n * (side + n * Saturating(5)) * Saturating(8)).0
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::SsceSettings;
    use crate::aligned_labels::Targets;
    use crate::alternating::{State, fit_in_turn};
    use crate::joint::fit_jointly;
    use crate::loss::{Loss, probabilities};
    use partita_conformance::ensemble;
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    /// Iterations in turn (whose descent is scaled by eigenvectors of the curvature) and the joint minimum are the same in principal axes, with a
    /// missing label, base clusterings of weight 2 and without intercepts.
    #[test]
    fn fits_are_the_same_in_principal_axes() {
        for seed in 0..6 {
            let mut rng = Seed::new(seed).rng();
            let objects = 14;
            let bases = 6;
            let k = 3;
            let ensemble = ensemble((0..bases).map(|u| {
                let labels = (0..objects).map(|i| {
                    (i != u).then(|| {
                        if rng.random_bool(0.3) {
                            rng.random_range(0..5usize) as u32
                        } else {
                            i as u32 % 5
                        }
                    })
                });
                (format!("u{u}"), labels.collect())
            }));
            let weights: Vec<f64> = (0..bases).map(|u| 1.0 + (u % 2) as f64).collect();
            let wide = Design::hot(&ensemble, Some(&weights), (seed % 2 == 0).then_some(1.0));
            let narrow = compact(&wide, 0).unwrap().unwrap();
            assert!(narrow.width() <= objects && wide.width() > 2 * objects);
            let targets = Targets::new(&ensemble, None, k, None).unwrap();
            let loss = |design| Loss::new(design, &targets.codes, k, &weights);
            let few = SsceSettings {
                iterations: NonZeroU32::new(3),
                ..SsceSettings::default()
            };
            let shrunk = SsceSettings {
                shrink: 0.1,
                ..SsceSettings::default()
            };
            let [one, other] = [&wide, &narrow].map(|design| {
                let fit = fit_in_turn(&loss(design), (1.0, 1.0), &few, &Silent).unwrap();
                let rows = probabilities(design, fit.state.centre.view())
                    .into_iter()
                    .collect();
                let state = State::start(&loss(design), (1.0, 1.0), &shrunk).unwrap();
                let least = fit_jointly(&loss(design), state, &shrunk, &Silent)
                    .unwrap()
                    .trace;
                [fit.trace, rows, least[least.len() - 1..].to_vec()]
            });
            for ((one, other), by) in one.iter().zip(&other).zip([1e-6, 1e-4, 1e-9]) {
                assert_eq!(one.len(), other.len());
                for (a, b) in one.iter().zip(other) {
                    assert!(
                        (a - b).abs() <= by * b.abs().max(1e-3),
                        "{seed}: {one:?} {other:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn what_gains_nothing_is_left() {
        let thirds = ensemble([("a".into(), (0..9).map(|i| Some(i % 3)).collect())]);
        let design = Design::hot(&thirds, None, None);
        assert!(compact(&design, 0).unwrap().is_none() && compact(&design, 400).unwrap().is_none());
    }
}
