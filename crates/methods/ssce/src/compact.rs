//! Inputs in as many columns as there are objects, where there are more inputs than objects.

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
    let kept: Vec<usize> = (0..n)
        .filter(|&at| pairs.values[at] > LEAST * most)
        .collect();
    let roots: Vec<f64> = kept.iter().map(|&at| pairs.values[at].sqrt()).collect();
    let columns: Array2<f64> = pairs.vectors.select(Axis(1), &kept);
    Ok(Some(Design::Dense(
        (columns * ArrayView1::from(&roots))
            .as_standard_layout()
            .into_owned(),
    )))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::SsceSettings;
    use crate::aligned_labels::Targets;
    use crate::alternating::fit_in_turn;
    use crate::joint::fit_jointly;
    use crate::loss::{Loss, probabilities};
    use partita_core::{EnsembleBuilder, Seed, Silent};
    use rand::RngExt;

    /// Rounds in turn (whose descent is scaled by eigenvectors of the curvature) and the joint minimum are the same in principal axes, with a
    /// missing label, base clusterings of weight 2 and without intercepts.
    #[test]
    fn fits_are_the_same_in_principal_axes() {
        for seed in 0..6 {
            let mut rng = Seed::new(seed).rng();
            let (objects, bases, k) = (14, 6, 3);
            let mut builder = EnsembleBuilder::new(objects);
            for u in 0..bases {
                let label = |i: usize| {
                    (i != u).then(|| {
                        if rng.random_bool(0.3) {
                            rng.random_range(0..5)
                        } else {
                            i % 5
                        }
                    })
                };
                builder
                    .push(format!("u{u}"), (0..objects).map(label).collect::<Vec<_>>())
                    .unwrap();
            }
            let ensemble = builder.finish().unwrap();
            let weights: Vec<f64> = (0..bases).map(|u| 1.0 + (u % 2) as f64).collect();
            let wide = Design::hot(&ensemble, Some(&weights), (seed % 2 == 0).then_some(1.0));
            let narrow = compact(&wide, 0).unwrap().unwrap();
            assert!(narrow.width() <= objects && wide.width() > 2 * objects);
            let targets = Targets::new(&ensemble, None, k, None).unwrap();
            let loss = |design| Loss {
                design,
                codes: targets.codes.view(),
                classes: k,
                base_weights: &weights,
                soft: None,
                objects: None,
            };
            let settings = SsceSettings {
                rounds: NonZeroU32::new(3),
                ..SsceSettings::default()
            };
            let [one, other] = [&wide, &narrow].map(|design| {
                let fit = fit_in_turn(&loss(design), (1.0, 1.0), &settings, &Silent).unwrap();
                (fit.trace, probabilities(design, fit.centre.view()))
            });
            let near = |a: &f64, b: &f64, by: f64| (a - b).abs() <= by * b.abs().max(1e-3);
            assert!(
                one.0.iter().zip(&other.0).all(|(a, b)| near(a, b, 1e-6)),
                "{seed}: {:?} {:?}",
                one.0,
                other.0
            );
            assert!(
                one.1.iter().zip(&other.1).all(|(a, b)| near(a, b, 1e-4)),
                "{seed}"
            );
            let settings = SsceSettings {
                shrink: 0.1,
                ..SsceSettings::default()
            };
            let least = [&wide, &narrow].map(|design| {
                let trace = fit_jointly(&loss(design), 1.0, &settings, &Silent)
                    .unwrap()
                    .trace;
                trace[trace.len() - 1]
            });
            assert!(near(&least[0], &least[1], 1e-9), "{seed}: {least:?}");
        }
    }

    #[test]
    fn what_gains_nothing_is_left() {
        let mut builder = EnsembleBuilder::new(9);
        builder.push("a", (0..9).map(|i| Some(i % 3))).unwrap();
        let design = Design::hot(&builder.finish().unwrap(), None, None);
        assert!(compact(&design, 0).unwrap().is_none() && compact(&design, 400).unwrap().is_none());
    }
}
