//! Block coordinate descent: the classifiers W, their centre μ and their covariance Ω in turn.

use std::cell::Cell;

use partita_core::ndarray::Array2;
use partita_core::{Flow, Monitor, ProgressCounter, SoftPartition, Stopped};

use crate::curvature::Curvature;
use crate::design::Design;
use crate::lbfgs::{Limits, Point, descend};
use crate::loss::{Loss, probabilities};
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
    pub(crate) state: State,
    pub(crate) trace: Vec<f64>,
    /// Iterations, or steps of a joint descent.
    pub(crate) iterations: u64,
    pub(crate) stopped: Stopped,
    /// Norm of the gradient over that at zero, of a joint minimum.
    pub(crate) gradient: Option<f64>,
}

impl Fit {
    /// The objective at the end.
    pub(crate) fn value(&self) -> f64 {
        self.trace.last().copied().unwrap_or(f64::NAN)
    }

    /// What the centre says of every object.
    pub(crate) fn consensus(&self, design: &Design) -> SoftPartition {
        SoftPartition::new(probabilities(design, self.state.centre.view()))
            .expect("a softmax is on the simplex")
    }
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
        state: State { w, centre, prior },
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
    use partita_conformance::ensemble;
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    const BASES: usize = 4;
    const CLUSTERS: usize = 3;

    /// A table of two columns, the labels of four base clusterings, and a fit by the paper's formulas without a ridge.
    fn fitted(iterations: u32) -> (Array2<f64>, Targets, Fit) {
        let mut rng = Seed::new(3).rng();
        let table = Array2::from_shape_fn((30, 2), |(i, _)| {
            rng.random::<f64>() + (i % CLUSTERS) as f64
        });
        let drawn = ensemble((0..BASES).map(|u| {
            let mut label =
                |i: usize| Some(((i + usize::from(rng.random_bool(0.2))) % CLUSTERS) as u32);
            (format!("u{u}"), (0..30).map(&mut label).collect())
        }));
        let targets = Targets::new(&drawn, None, CLUSTERS, None).unwrap();
        let settings = SsceSettings {
            iterations: NonZeroU32::new(iterations),
            converge: true,
            ridge: 0.0,
            ..SsceSettings::paper()
        };
        let design = Design::Dense(table.clone());
        let loss = Loss::new(&design, &targets.codes, CLUSTERS, &[1.0; BASES]);
        let fit = fit_in_turn(&loss, (0.3, 0.7), &settings, &Silent).unwrap();
        (table, targets, fit)
    }

    /// One round of Algorithm 1 as printed, from W at μ = 0 and Ω = I/M, against plain descent: each classifier for itself minimises
    /// Σ −ln softmax + (γ₁ + γ₂ M) ‖w‖², and μ is their mean.
    #[test]
    fn one_round_is_the_algorithm_as_printed() {
        let (table, targets, fit) = fitted(1);
        let tie = 0.3 + 0.7 * BASES as f64;
        let design = Design::Dense(table.clone());
        let mut mean = Array2::<f64>::zeros((2, CLUSTERS));
        for u in 0..BASES {
            let mut w = Array2::<f64>::zeros((2, CLUSTERS));
            for _ in 0..4000 {
                let mut off = probabilities(&design, w.view());
                for (mut row, &code) in off.outer_iter_mut().zip(targets.codes.column(u)) {
                    row[usize::from(code)] -= 1.0;
                }
                w = &w - &((table.t().dot(&off) + &w * (2.0 * tie)) * 5e-3);
            }
            mean = mean + &w / BASES as f64;
        }
        let far = (&fit.state.centre - &mean).mapv(f64::abs).sum();
        assert!(far < 1e-5, "{far}");
    }

    /// Rounds with a pseudo-inverse end, and the prior has one in the sense of Penrose.
    #[test]
    fn rounds_with_a_pseudo_inverse_end() {
        let Fit { state, stopped, .. } = fitted(500).2;
        assert_eq!(stopped, Stopped::Converged);
        let omega = state.prior.covariance(&state.w, &state.centre, 0.0, false);
        let omega = omega.unwrap().unwrap();
        let inverse = (&state.prior.a - &(Array2::<f64>::eye(BASES) * 0.3)) / 0.7;
        for (one, other) in [(&omega, &inverse), (&inverse, &omega)] {
            let most = one.mapv(f64::abs).sum();
            let apart = one.dot(other).dot(one) - one;
            assert!(apart.mapv(f64::abs).sum() < 1e-8 * most, "{apart}");
        }
    }
}
