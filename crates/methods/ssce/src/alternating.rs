//! Block coordinate descent: the classifiers W, their centre μ and their covariance Ω in turn.

use std::cell::Cell;

use partita_core::ndarray::Array2;
use partita_core::{Flow, Monitor, ProgressCounter, Stopped};

use crate::curvature::Curvature;
use crate::lbfgs::{Limits, Point, descend};
use crate::loss::Loss;
use crate::prior::Prior;
use crate::{SsceError, SsceSettings};

/// Units of progress of an iteration.
const UNITS: u64 = 100;

/// Descent on W for one μ and Ω.
const DESCENT: Limits = Limits {
    steps: 5,
    share: 1e-2,
    memory: 8,
    rounding: 0.0,
};

/// Descent that ends where the classifiers do.
const FULL_DESCENT: Limits = Limits {
    steps: 1000,
    share: 1e-6,
    rounding: 1e-12,
    ..DESCENT
};

/// Classifiers, their centre and their covariance.
#[derive(Clone, Debug)]
pub(crate) struct State {
    /// W, p × M K.
    pub(crate) w: Array2<f64>,
    /// μ, p × K.
    pub(crate) centre: Array2<f64>,
    pub(crate) prior: Prior,
}

impl State {
    /// All zero, and Ω = I/Σω.
    pub(crate) fn start(
        loss: &Loss<'_>,
        gammas: (f64, f64),
        settings: &SsceSettings,
    ) -> Result<Self, SsceError> {
        let p = loss.design.width();
        Ok(Self {
            w: Array2::zeros((p, loss.bases() * loss.classes)),
            centre: Array2::zeros((p, loss.classes)),
            prior: Prior::start(gammas, loss.base_weights, settings.ridge)?,
        })
    }
}

/// A fit of all classifiers.
pub(crate) struct Fit {
    /// W, p × M K, and the prior at the end.
    pub(crate) w: Array2<f64>,
    pub(crate) prior: Prior,
    /// μ, p × K.
    pub(crate) centre: Array2<f64>,
    pub(crate) trace: Vec<f64>,
    /// Iterations, or steps of a joint descent.
    pub(crate) iterations: u64,
    pub(crate) stopped: Stopped,
    /// Norm of the gradient over that at zero, of a joint minimum.
    pub(crate) gradient: Option<f64>,
}

/// Fits all classifiers of a loss in iterations, tied to their centre by the first γ and by their covariance with the second.
pub(crate) fn fit_in_turn(
    loss: &Loss<'_>,
    gammas: (f64, f64),
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Fit, SsceError> {
    go_on_in_turn(
        loss,
        State::start(loss, gammas, settings)?,
        settings,
        monitor,
    )
}

/// [`fit_in_turn`] from a state.
pub(crate) fn go_on_in_turn(
    loss: &Loss<'_>,
    State {
        mut w,
        mut centre,
        mut prior,
    }: State,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Fit, SsceError> {
    let limits = if settings.converge {
        FULL_DESCENT
    } else {
        DESCENT
    };
    let mut trace: Vec<f64> = Vec::new();
    let mut stopped = Stopped::IterationLimit;
    let progress = ProgressCounter::new(
        monitor,
        u64::from(settings.alternating_iterations()) * UNITS,
    );
    for _ in 0..settings.alternating_iterations() {
        let (likelihood, next) =
            classifiers(loss, &prior, &centre, w, limits, &progress.part(UNITS))?;
        w = next;
        centre = prior.centre(&w, settings.shrink, settings.exact);
        prior = prior.adapted(&w, &centre, settings.ridge, settings.exact)?;
        let tied = prior.evaluate(&w, &centre).0;
        let value = likelihood + tied + settings.shrink * (&centre * &centre).sum();
        let least = settings.tolerance * value.abs();
        // Under a pseudo-inverse the objective may rise.
        let rises = |last: &f64| settings.ridge == 0.0 && value - last > least;
        let still = trace
            .last()
            .is_some_and(|last| last - value <= least && !rises(last));
        trace.push(value);
        if still {
            stopped = Stopped::Converged;
            break;
        }
        if progress.stopped() {
            stopped = Stopped::Interrupted;
            break;
        }
    }
    Ok(Fit {
        w,
        prior,
        centre,
        iterations: trace.len() as u64,
        trace,
        stopped,
        gradient: None,
    })
}

/// Better W for this μ and Ω, with its negative log likelihood. The descent is that of W diag(√ω).
fn classifiers(
    loss: &Loss<'_>,
    prior: &Prior,
    centre: &Array2<f64>,
    w: Array2<f64>,
    limits: Limits,
    monitor: &dyn Monitor,
) -> Result<(f64, Array2<f64>), SsceError> {
    let evaluations = Cell::new(0);
    let evaluate = |scaled: &Array2<f64>| {
        let w = &prior.unscaled(scaled.clone());
        let done = evaluations.replace(evaluations.get() + 1);
        let _ = monitor.tick(done, limits.steps as u64 + 1);
        let (likelihood, mut gradient) = loss.evaluate(w);
        let (tied, pull) = prior.evaluate(w, centre);
        gradient += &pull;
        (likelihood + tied, prior.unscaled(gradient))
    };
    let w = prior.scaled(w);
    let curvature = Curvature::new(loss, centre)?;
    let (value, gradient) = evaluate(&w);
    let start = Point {
        at: w,
        value,
        gradient,
    };
    let (values, vectors) = &prior.eigen;
    let solve = |g: &Array2<f64>| curvature.solve(g, values, vectors);
    let (end, _) = descend(start, limits, evaluate, solve, || {
        monitor.flow() == Flow::Stop
    });
    let w = prior.unscaled(end.at);
    Ok((end.value - prior.evaluate(&w, centre).0, w))
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use crate::aligned_labels::Targets;
    use crate::design::Design;
    use crate::loss::probabilities;
    use partita_conformance::ensemble;
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    /// One round of Algorithm 1 as printed, from W at μ = 0 and Ω = I/M, against plain descent: each classifier for itself minimises
    /// Σ −ln softmax + (γ₁ + γ₂ M) ‖w‖², and μ is their mean.
    #[test]
    fn one_round_is_the_algorithm_as_printed() {
        let mut rng = Seed::new(3).rng();
        let (objects, bases, k) = (30, 4, 3);
        let table =
            Array2::from_shape_fn((objects, 2), |(i, _)| rng.random::<f64>() + (i % k) as f64);
        let drawn = ensemble((0..bases).map(|u| {
            let labels =
                (0..objects).map(|i| Some(((i + usize::from(rng.random_bool(0.2))) % k) as u32));
            (format!("u{u}"), labels.collect())
        }));
        let design = Design::Dense(table);
        let targets = Targets::new(&drawn, None, k, None).unwrap();
        let (gamma, gamma2) = (0.3, 0.7);
        let settings = SsceSettings {
            iterations: Some(NonZeroU32::MIN),
            converge: true,
            ridge: 0.0,
            ..SsceSettings::paper()
        };
        let weights = vec![1.0; bases];
        let loss = Loss::new(&design, &targets.codes, k, &weights);
        let fit = fit_in_turn(&loss, (gamma, gamma2), &settings, &Silent).unwrap();
        let tie = gamma + gamma2 * bases as f64;
        let mut mean = Array2::<f64>::zeros((2, k));
        let Design::Dense(table) = &design else {
            panic!("a table")
        };
        for u in 0..bases {
            let mut w = Array2::<f64>::zeros((2, k));
            for _ in 0..4000 {
                let mut off = probabilities(&design, w.view());
                for (i, mut row) in off.outer_iter_mut().enumerate() {
                    row[usize::from(targets.codes[[i, u]])] -= 1.0;
                }
                w = &w - &((table.t().dot(&off) + &w * (2.0 * tie)) * 5e-3);
            }
            mean = mean + &w / bases as f64;
        }
        for (found, expected) in fit.centre.iter().zip(&mean) {
            assert!((found - expected).abs() < 1e-5, "{found} and {expected}");
        }
    }

    /// Rounds with a pseudo-inverse end, and the prior has one in the sense of Penrose.
    #[test]
    fn rounds_with_a_pseudo_inverse_end() {
        let mut rng = Seed::new(4).rng();
        let drawn = ensemble((0..5).map(|u| {
            let labels = (0..20).map(|i| Some((i + u32::from(rng.random_bool(0.2))) % 2));
            (format!("u{u}"), labels.collect())
        }));
        let table = Array2::from_shape_fn((20, 3), |(i, _)| rng.random::<f64>() + (i % 2) as f64);
        let design = Design::Dense(table);
        let targets = Targets::new(&drawn, None, 2, None).unwrap();
        let loss = Loss::new(&design, &targets.codes, 2, &[1.0; 5]);
        let settings = SsceSettings {
            ridge: 0.0,
            converge: true,
            iterations: NonZeroU32::new(500),
            ..SsceSettings::paper()
        };
        let fit = fit_in_turn(&loss, (1.0, 0.5), &settings, &Silent).unwrap();
        assert_eq!(fit.stopped, Stopped::Converged);
        assert!(fit.centre.iter().all(|weight| weight.is_finite()));
        let omega = fit
            .prior
            .covariance(&fit.w, &fit.centre, 0.0, false)
            .unwrap()
            .unwrap();
        let inverse = (&fit.prior.a - &Array2::<f64>::eye(5)) / 0.5;
        let twice = omega.dot(&inverse).dot(&omega);
        assert!((&twice - &omega).iter().all(|far| far.abs() < 1e-8));
        let twice = inverse.dot(&omega).dot(&inverse);
        let most = inverse.iter().fold(0.0f64, |most, x| most.max(x.abs()));
        assert!(
            (&twice - &inverse)
                .iter()
                .all(|far| far.abs() < 1e-8 * most)
        );
    }
}
