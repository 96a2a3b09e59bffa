//! The joint minimum over the classifiers W, their centre μ and their covariance Ω.

use std::cell::RefCell;

use partita_core::ndarray::{Array2, ArrayView2, Axis, concatenate, s};
use partita_core::{Flow, Monitor, Stopped};

use crate::alternating::{Fit, State};
use crate::curvature::Curvature;
use crate::lbfgs::{Limits, Point, descend, norm};
use crate::loss::Loss;
use crate::prior::Prior;
use crate::{SsceError, SsceSettings};

/// Norm of the gradient at which the minimum counts as reached, over that where W and μ are zero.
const GOAL: f64 = 1e-6;

/// Steps of descent before the curvature of the loss is looked at again; each time twice as many.
const FIRST_LOOK: usize = 20;

/// Steps that a direction of descent is made of.
const MEMORY: usize = 20;

/// The minimum over W, μ and Ω: convex in all three together. Ω is the best one for the W and μ of every evaluation, so that the
/// function of W and μ that is left has the gradient that it has for this Ω.
pub(crate) fn fit_jointly(
    loss: &Loss<'_>,
    state: State,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Fit, SsceError> {
    let most = settings.joint_steps() as usize;
    let task = Joint {
        loss,
        shrink: settings.shrink,
        ridge: settings.ridge,
        prior: RefCell::new(state.prior.clone()),
    };
    let zero = Array2::zeros((loss.design.width(), (loss.bases() + 1) * loss.classes));
    let all = norm(&task.evaluate(&zero).1);
    task.prior.replace(state.prior.clone());
    let at = concatenate![Axis(1), state.prior.scaled(state.w), state.centre];
    let (value, gradient) = task.evaluate(&at);
    let mut point = Point {
        at,
        value,
        gradient,
    };
    let mut trace = vec![value];
    let mut stopped = Stopped::IterationLimit;
    let mut done = 0;
    let mut look = FIRST_LOOK;
    let left = |point: &Point| {
        if all > 0.0 {
            norm(&point.gradient) / all
        } else {
            0.0
        }
    };
    while done < most && left(&point) > GOAL {
        if monitor.tick(done as u64, most as u64) == Flow::Stop {
            stopped = Stopped::Interrupted;
            break;
        }
        let before = point.value;
        let curvature = Curvature::new(loss, &task.split(&point.at).1.to_owned())?;
        let share = left(&point);
        let limits = Limits {
            steps: look.min(most - done),
            share: GOAL / share,
            memory: MEMORY,
            rounding: 1e-12,
        };
        let solve = |gradient: &Array2<f64>| task.solve(&curvature, gradient);
        let stop = || monitor.flow() == Flow::Stop;
        let steps;
        (point, steps) = descend(point, limits, |at| task.evaluate(at), solve, stop);
        trace.push(point.value);
        done += steps;
        if point.value >= before && left(&point) >= share && monitor.flow() != Flow::Stop {
            // Rounding leaves no step that lowers the value or shortens the gradient.
            stopped = Stopped::Converged;
            break;
        }
        look *= 2;
    }
    if left(&point) <= GOAL {
        stopped = Stopped::Converged;
    }
    let centre = task.centre(&point.at)?;
    let prior = task.prior.into_inner();
    let width = loss.bases() * loss.classes;
    let gradient = Some(left(&point));
    let w = prior.unscaled(point.at.slice(s![.., ..width]).to_owned());
    Ok(Fit {
        state: State { w, centre, prior },
        gradient,
        trace,
        iterations: done as u64,
        stopped,
    })
}

/// The objective as a function of W diag(√ω) and μ beside each other, p × (M + 1) K.
struct Joint<'a, 'b> {
    loss: &'a Loss<'b>,
    shrink: f64,
    ridge: f64,
    /// That of the last evaluation.
    prior: RefCell<Prior>,
}

impl Joint<'_, '_> {
    fn split<'a>(&self, both: &'a Array2<f64>) -> (ArrayView2<'a, f64>, ArrayView2<'a, f64>) {
        let width = self.loss.bases() * self.loss.classes;
        both.view().split_at(Axis(1), width)
    }

    /// The best centre for the W and Ω of a point: where ties are so weak that the gradient hardly knows of them, descent leaves it behind.
    fn centre(&self, both: &Array2<f64>) -> Result<Array2<f64>, SsceError> {
        let (scaled, centre) = self.split(both);
        let prior = self.prior.borrow();
        let w = prior.unscaled(scaled.to_owned());
        let adapted = prior.adapted(&w, &centre.to_owned(), self.ridge, true)?;
        Ok(adapted.centre(&w, self.shrink, true))
    }

    /// Value and gradient; infinity where numbers overflow.
    fn evaluate(&self, both: &Array2<f64>) -> (f64, Array2<f64>) {
        let (scaled, centre) = self.split(both);
        let w = self.prior.borrow().unscaled(scaled.to_owned());
        let centre = centre.to_owned();
        let Ok(prior) = self.prior.borrow().adapted(&w, &centre, self.ridge, true) else {
            return (f64::INFINITY, Array2::zeros(both.dim()));
        };
        let (likelihood, mut gradient) = self.loss.evaluate(&w);
        let (tied, pull) = prior.evaluate(&w, &centre);
        gradient += &pull;
        let mut of_centre = &centre * (2.0 * self.shrink);
        for pull in pull.axis_chunks_iter(Axis(1), self.loss.classes) {
            of_centre -= &pull;
        }
        let gradient = concatenate![Axis(1), prior.unscaled(gradient), of_centre];
        self.prior.replace(prior);
        let value = likelihood + tied + self.shrink * (&centre * &centre).sum();
        (value, gradient)
    }

    /// The inverse of an approximate Hessian applied to a gradient, by elimination of μ: its part is quadratic.
    fn solve(&self, curvature: &Curvature, gradient: &Array2<f64>) -> Array2<f64> {
        let k = self.loss.classes;
        let block = |u: usize| s![.., u * k..(u + 1) * k];
        let profile = self.prior.borrow().without_centre(self.shrink);
        let (own, of_centre) = self.split(gradient);
        let mut own = own.to_owned();
        for (u, pull) in profile.pulls.iter().enumerate() {
            let mut block = own.slice_mut(block(u));
            block.scaled_add(pull / profile.total, &of_centre);
        }
        let solved = curvature.solve(&own, &profile.values, &profile.vectors);
        let mut centre = &of_centre / (2.0 * profile.total);
        for (u, pull) in profile.pulls.iter().enumerate() {
            centre.scaled_add(pull / profile.total, &solved.slice(block(u)));
        }
        concatenate![Axis(1), solved, centre]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::aligned_labels::Targets;
    use crate::design::Design;
    use crate::prior::RIDGE;
    use partita_conformance::ensemble;
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    /// The objective of W, μ and the best Ω, from the formula: Ω by its eigenvalues.
    fn objective(
        loss: &Loss<'_>,
        gamma: f64,
        shrink: f64,
        w: &Array2<f64>,
        centre: &Array2<f64>,
    ) -> f64 {
        let prior = Prior::start((gamma, gamma), loss.base_weights, RIDGE).unwrap();
        let prior = prior.adapted(w, centre, RIDGE, true).unwrap();
        loss.evaluate(w).0 + prior.evaluate(w, centre).0 + shrink * (centre * centre).sum()
    }

    #[test]
    fn no_plain_descent_from_random_starts_ends_below_the_joint_minimum() {
        for seed in 0..6 {
            let mut rng = Seed::new(seed).rng();
            let (objects, bases, k) = (24, 4, 2 + seed as usize % 2);
            let table =
                Array2::from_shape_fn((objects, 3), |(i, _)| rng.random::<f64>() + (i % k) as f64);
            let design = Design::Dense(table);
            let drawn = ensemble((0..bases).map(|u| {
                let labels = (0..objects).map(|i| {
                    (!rng.random_bool(0.1)).then(|| {
                        if rng.random_bool(0.2) {
                            0
                        } else {
                            (i % k) as u32
                        }
                    })
                });
                (format!("u{u}"), labels.collect())
            }));
            let targets = Targets::new(&drawn, None, k, None).unwrap();
            let base_weights: Vec<f64> = (0..bases).map(|u| 1.0 + u as f64 % 2.0).collect();
            let loss = Loss::new(&design, &targets.codes, k, &base_weights);
            let settings = SsceSettings {
                shrink: 0.1,
                ..SsceSettings::default()
            };
            let gamma = [0.1, 1.0, 30.0][seed as usize % 3];
            let state = State::start(&loss, (gamma, gamma), &settings).unwrap();
            let fit = fit_jointly(&loss, state, &settings, &Silent).unwrap();
            assert_eq!(fit.stopped, Stopped::Converged);
            assert!(fit.gradient.unwrap() <= GOAL, "{:?}", fit.gradient);
            let found = fit.trace[fit.trace.len() - 1];
            assert!(found < fit.trace[0]);
            for _ in 0..8 {
                // Steepest descent with halved and doubled steps, by differences.
                let mut draw = |width: usize| {
                    Array2::from_shape_simple_fn((3, width), || rng.random::<f64>() * 4.0 - 2.0)
                };
                let mut w = draw(bases * k);
                let mut centre = draw(k);
                let mut value = objective(&loss, gamma, 0.1, &w, &centre);
                let mut step = 1e-2;
                for _ in 0..300 {
                    let prior = Prior::start((gamma, gamma), &base_weights, RIDGE).unwrap();
                    let prior = prior.adapted(&w, &centre, RIDGE, true).unwrap();
                    let pull = prior.evaluate(&w, &centre).1;
                    let mut down = &centre * 0.2;
                    for pull in pull.axis_chunks_iter(Axis(1), k) {
                        down -= &pull;
                    }
                    let gradient = loss.evaluate(&w).1 + pull;
                    let next = &w - &(&gradient * step);
                    let other = &centre - &(&down * step);
                    let lower = objective(&loss, gamma, 0.1, &next, &other);
                    if lower < value {
                        w = next;
                        centre = other;
                        value = lower;
                        step *= 2.0;
                    } else {
                        step /= 2.0;
                    }
                }
                let bound = found * (1.0 - 1e-9);
                assert!(value >= bound, "{seed}: {value} below {found}");
            }
        }
    }

    #[test]
    fn alternation_goes_to_the_same_minimum() {
        let ensemble = ensemble((0..3).map(|u| {
            let labels = (0..12).map(|i| Some((i + u32::from(i == u)) % 2));
            (format!("u{u}"), labels.collect())
        }));
        let design = Design::hot(&ensemble, None, Some(1.0));
        let targets = Targets::new(&ensemble, None, 2, None).unwrap();
        let loss = Loss::new(&design, &targets.codes, 2, &[1.0; 3]);
        let settings = SsceSettings {
            shrink: 1.0,
            iterations: std::num::NonZeroU32::new(20_000),
            tolerance: 1e-13,
            ..SsceSettings::default()
        };
        let slow = crate::alternating::fit_in_turn(&loss, (1.0, 1.0), &settings, &Silent);
        let state = State::start(&loss, (1.0, 1.0), &settings).unwrap();
        let quick = fit_jointly(&loss, state, &settings, &Silent);
        let [slow, quick] = [slow, quick].map(|fit| *fit.unwrap().trace.last().unwrap());
        let near = quick <= slow * (1.0 + 1e-9) && slow <= quick * 1.001;
        assert!(near, "{slow} {quick}");
    }
}
