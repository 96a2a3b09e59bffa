//! Block coordinate descent: the classifiers W, their centre μ and their covariance Ω in turn.

use std::cell::Cell;

use partita_core::ndarray::Array2;
use partita_core::{Flow, Monitor, ProgressCounter, Stopped};

use crate::curvature::Curvature;
use crate::lbfgs::{Limits, Point, descend};
use crate::loss::Loss;
use crate::prior::{Prior, RIDGE};
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

/// A fit of all classifiers.
pub(crate) struct Fit {
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
    let p = loss.design.width();
    let mut prior = Prior::start(gammas, loss.base_weights, RIDGE)?;
    let mut w = Array2::zeros((p, loss.bases() * loss.classes));
    let mut centre = Array2::zeros((p, loss.classes));
    let mut trace: Vec<f64> = Vec::new();
    let mut stopped = Stopped::IterationLimit;
    let progress = ProgressCounter::new(
        monitor,
        u64::from(settings.alternating_iterations()) * UNITS,
    );
    for _ in 0..settings.alternating_iterations() {
        let (likelihood, next) = classifiers(loss, &prior, &centre, w, &progress.part(UNITS))?;
        w = next;
        centre = prior.centre(&w, settings.shrink, settings.exact);
        prior = prior.adapted(&w, &centre, RIDGE, settings.exact)?;
        let tied = prior.evaluate(&w, &centre).0;
        let value = likelihood + tied + settings.shrink * (&centre * &centre).sum();
        let least = settings.tolerance * value.abs();
        let still = trace.last().is_some_and(|last| last - value <= least);
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
    monitor: &dyn Monitor,
) -> Result<(f64, Array2<f64>), SsceError> {
    let evaluations = Cell::new(0);
    let evaluate = |scaled: &Array2<f64>| {
        let w = &prior.unscaled(scaled.clone());
        let done = evaluations.replace(evaluations.get() + 1);
        let _ = monitor.tick(done, DESCENT.steps as u64 + 1);
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
    let (end, _) = descend(start, DESCENT, evaluate, solve, || {
        monitor.flow() == Flow::Stop
    });
    let w = prior.unscaled(end.at);
    Ok((end.value - prior.evaluate(&w, centre).0, w))
}
