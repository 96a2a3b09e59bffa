//! Block coordinate descent: the classifiers W, their centre μ and their covariance Ω in turn.

use std::cell::Cell;
use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, ArrayView1, s};
use partita_core::{Flow, Monitor, ProgressCounter, Settings, Stopped};
use partita_spectral::symmetric_eigen;
use serde::{Deserialize, Serialize};

use crate::SsceError;
use crate::lbfgs::{Point, descend};
use crate::loss::Loss;
use crate::prior::{Prior, RIDGE};

/// Inputs up to which the curvature of the loss is known by its eigenvectors, beyond by its diagonal.
const EIGEN_WIDTH: usize = 400;

/// Units of progress of a round.
const UNITS: u64 = 100;

/// Rounds of descent on W for one μ and Ω, and the share of the gradient that is left where it stops.
const DESCENT: (usize, f64) = (5, 1e-2);

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
    /// The most rounds of classifiers, centre and covariance.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when a round gains at most this share of the objective.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for SsceSettings {
    fn default() -> Self {
        let rounds = NonZeroU32::new(5).expect("not zero");
        Self {
            gamma: None,
            reference: None,
            intercept: true,
            intercept_scaling: 1.0,
            exact: true,
            shrink: 1e-3,
            rounds,
            tolerance: 1e-4,
        }
    }
}

impl SsceSettings {
    /// The choices of the paper: no intercept, the mean as μ, Ω by eq. 12, no weight of ‖μ‖².
    pub fn paper() -> Self {
        let rounds = NonZeroU32::new(30).expect("not zero");
        Self { intercept: false, exact: false, shrink: 0.0, rounds, ..Self::default() }
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
    pub(crate) stopped: Stopped,
}

/// Fits all classifiers of a loss.
pub(crate) fn fit(
    loss: &Loss<'_>,
    gamma: f64,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Fit, SsceError> {
    let (p, k, bases) = (loss.design.width(), loss.classes, loss.bases());
    let mut prior = Prior::start((gamma, gamma), loss.base_weights, RIDGE)?;
    let (mut w, mut centre) = (Array2::zeros((p, bases * k)), Array2::zeros((p, k)));
    let (mut trace, mut stopped): (Vec<f64>, Stopped) = (Vec::new(), Stopped::RoundLimit);
    let progress = ProgressCounter::new(monitor, u64::from(settings.rounds.get()) * UNITS);
    for _ in 0..settings.rounds.get() {
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
    Ok(Fit { centre, trace, stopped })
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
        let _ = monitor.tick(evaluations.replace(evaluations.get() + 1), DESCENT.0 as u64 + 1);
        let ((likelihood, mut gradient), (tied, pull)) = (loss.evaluate(w), prior.evaluate(w, centre));
        gradient += &pull;
        (likelihood + tied, prior.unscaled(gradient))
    };
    let w = prior.scaled(w);
    let curvature = Curvature::new(loss, prior, centre)?;
    let (value, gradient) = evaluate(&w);
    let end = descend(
        Point { at: w, value, gradient },
        DESCENT,
        evaluate,
        |g| curvature.solve(g),
        || monitor.flow() == Flow::Stop,
    );
    let w = prior.unscaled(end.at);
    Ok((end.value - prior.evaluate(&w, centre).0, w))
}

/// An approximate Hessian, `H ⊗ I + 2 A`: all classifiers are taken to curve as μ does times
/// their weights, and their classes alike.
struct Curvature<'a> {
    prior: &'a Prior,
    values: Vec<f64>,
    /// Eigenvectors of H, where it is not diagonal.
    vectors: Option<Array2<f64>>,
}

impl<'a> Curvature<'a> {
    fn new(loss: &Loss<'_>, prior: &'a Prior, centre: &Array2<f64>) -> Result<Self, SsceError> {
        let weights = loss.curvature(centre);
        if loss.design.width() > EIGEN_WIDTH {
            return Ok(Self { prior, values: loss.design.squares(&weights), vectors: None });
        }
        let gram = loss.design.gram(&weights);
        let pairs = symmetric_eigen(((&gram + &gram.t()) * 0.5).view())?;
        let values = pairs.values.iter().map(|value| value.max(0.0)).collect();
        Ok(Self { prior, values, vectors: Some(pairs.vectors) })
    }

    /// The inverse applied to a gradient, p × M K.
    fn solve(&self, gradient: &Array2<f64>) -> Array2<f64> {
        let (values, vectors) = &self.prior.eigen;
        let mut turned = self.vectors.as_ref().map_or_else(|| gradient.clone(), |v| v.t().dot(gradient));
        let (bases, k) = (values.len(), gradient.ncols() / values.len());
        for (mut row, h) in turned.outer_iter_mut().zip(&self.values) {
            let block = row.to_shape((bases, k)).expect("M K numbers").to_owned();
            let mut inner = vectors.t().dot(&block);
            for (mut line, a) in inner.outer_iter_mut().zip(values) {
                line /= h + 2.0 * a;
            }
            let outer = vectors.dot(&inner);
            row.assign(&ArrayView1::from(outer.as_standard_layout().as_slice().expect("standard layout")));
        }
        match &self.vectors {
            Some(v) => v.dot(&turned),
            None => turned.slice(s![.., ..]).to_owned(),
        }
    }
}
