//! Block coordinate descent: the classifiers W, their centre μ and their covariance Ω in turn.

use std::cell::Cell;
use std::num::NonZeroU32;

use partita_core::ndarray::Array2;
use partita_core::{Flow, Monitor, ProgressCounter, SettingChoice, Settings, Stopped};
use serde::{Deserialize, Serialize};

use crate::SsceError;
use crate::curvature::Curvature;
use crate::joint::fit_jointly;
use crate::lbfgs::{Limits, Point, descend};
use crate::loss::Loss;
use crate::prior::{Prior, RIDGE};

/// Units of progress of a round.
const UNITS: u64 = 100;

/// Descent on W for one μ and Ω.
const DESCENT: Limits = Limits { steps: 5, share: 1e-2, memory: 8, rounding: 0.0 };

/// Settings of [`ssce`](crate::ssce) and [`ssce_p`](crate::ssce_p). Start from `default()` or [`SsceSettings::paper`]
/// and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SsceSettings {
    /// How strongly the classifiers are tied (paper: γ₁ = γ₂). Unset chooses it by how probable held-out labels are.
    ///
    /// Chosen is the strongest of 100, 10, 1, 0.1, 0.01 under which the consensus of some objects makes the base labels of others
    /// at most a quarter of a nat less probable than under the best one; no true label takes part.
    #[setting(above = 0.0, range = ..=1e100)]
    pub gamma: Option<f64>,
    /// The base clustering whose cluster names the others take, by its name. Unset takes the one that overlaps most with all.
    pub reference: Option<String>,
    /// Whether classifiers have an intercept.
    pub intercept: bool,
    /// What the column of the intercept holds, where all others are standardised: the larger, the less intercepts are held
    /// back.
    ///
    /// γ and `shrink` count the square of an intercept by 1 over the square of this, so that from 100 on it is next to free.
    #[setting(range = 1e-100..=1e100)]
    pub intercept_scaling: f64,
    /// Whether centre and covariance of the classifiers are the exact minimisers; if not, they are the paper's (eq. 11 and 12).
    pub exact: bool,
    /// Weight of the squared centre, which keeps classifiers finite where clusters can be separated perfectly.
    #[setting(range = 0.0..=1e100)]
    pub shrink: f64,
    /// How classifiers, centre and covariance are found: by a few rounds of each in turn, or as the joint minimum.
    ///
    /// Stopped early, rounds in turn agree better with classes than the minimum, which goes far to repeat the base clusterings:
    /// see the documents of the crate.
    pub solver: Solver,
    /// The most rounds of classifiers, centre and covariance, or steps of descent to the joint minimum. Unset takes 5 rounds, or 10,000
    /// steps.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: Option<NonZeroU32>,
    /// Stop when a round gains at most this share of the objective. The joint minimum is there when the gradient has fallen to a millionth.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

/// How classifiers, centre and covariance are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Solver {
    /// Rounds of each in turn, from zero, as the paper has it.
    #[default]
    Alternating,
    /// L-BFGS over classifiers and centre, where the covariance is always the best one: the minimum of the objective.
    Joint,
}

impl Default for SsceSettings {
    fn default() -> Self {
        Self {
            gamma: None,
            reference: None,
            intercept: true,
            intercept_scaling: 1.0,
            exact: true,
            shrink: 1e-3,
            solver: Solver::Alternating,
            rounds: None,
            tolerance: 1e-4,
        }
    }
}

impl SsceSettings {
    /// The choices of the paper: no intercept, the mean as μ, Ω by eq. 12, no weight of ‖μ‖².
    pub fn paper() -> Self {
        let rounds = NonZeroU32::new(30);
        Self { intercept: false, exact: false, shrink: 0.0, rounds, ..Self::default() }
    }

    /// The most rounds, or steps.
    pub(crate) fn most(&self) -> u32 {
        let unset = match self.solver {
            Solver::Alternating => 5,
            Solver::Joint => 10_000,
        };
        self.rounds.map_or(unset, NonZeroU32::get)
    }

    /// What the column of the intercept holds, if there is one.
    pub(crate) fn constant(&self) -> Option<f64> {
        self.intercept.then_some(self.intercept_scaling)
    }
}

/// A fit of all classifiers.
pub(crate) struct Fit {
    /// μ, p × K.
    pub(crate) centre: Array2<f64>,
    pub(crate) trace: Vec<f64>,
    /// Rounds, or steps of a joint descent.
    pub(crate) rounds: u64,
    pub(crate) stopped: Stopped,
    /// Norm of the gradient over that at zero, of a joint minimum.
    pub(crate) gradient: Option<f64>,
}

/// Fits all classifiers of a loss.
pub(crate) fn fit(
    loss: &Loss<'_>,
    gamma: f64,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Fit, SsceError> {
    if settings.solver == Solver::Joint {
        return fit_jointly(loss, gamma, settings, monitor);
    }
    let (p, k, bases) = (loss.design.width(), loss.classes, loss.bases());
    let mut prior = Prior::start((gamma, gamma), loss.base_weights, RIDGE)?;
    let (mut w, mut centre) = (Array2::zeros((p, bases * k)), Array2::zeros((p, k)));
    let (mut trace, mut stopped): (Vec<f64>, Stopped) = (Vec::new(), Stopped::RoundLimit);
    let progress = ProgressCounter::new(monitor, u64::from(settings.most()) * UNITS);
    for _ in 0..settings.most() {
        let (likelihood, next) = classifiers(loss, &prior, &centre, w, &progress.part(UNITS))?;
        w = next;
        centre = prior.centre(&w, settings.shrink, settings.exact);
        prior = prior.adapted(&w, &centre, RIDGE, settings.exact)?;
        let tied = prior.evaluate(&w, &centre).0;
        let value = likelihood + tied + settings.shrink * (&centre * &centre).sum();
        let still = trace.last().is_some_and(|last| last - value <= settings.tolerance * value.abs());
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
    Ok(Fit { centre, rounds: trace.len() as u64, trace, stopped, gradient: None })
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
        let _ = monitor.tick(evaluations.replace(evaluations.get() + 1), DESCENT.steps as u64 + 1);
        let ((likelihood, mut gradient), (tied, pull)) = (loss.evaluate(w), prior.evaluate(w, centre));
        gradient += &pull;
        (likelihood + tied, prior.unscaled(gradient))
    };
    let w = prior.scaled(w);
    let curvature = Curvature::new(loss, centre)?;
    let (value, gradient) = evaluate(&w);
    let (end, _) = descend(
        Point { at: w, value, gradient },
        DESCENT,
        evaluate,
        |g| curvature.solve(g, (&prior.eigen.0, &prior.eigen.1)),
        || monitor.flow() == Flow::Stop,
    );
    let w = prior.unscaled(end.at);
    Ok((end.value - prior.evaluate(&w, centre).0, w))
}
