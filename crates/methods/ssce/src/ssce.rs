//! SSCE and SSCE-P: self-supervised consensus on a table or on labels alone.

use std::sync::Arc;

use partita_core::ndarray::Array2;
use partita_core::{
    Clusters, Features, Monitor, Objective, Outcome, ProblemSize, ProgressCounter, Seed, Sense,
    Settings, WeightedEnsemble, WeightsError,
};
use serde::Serialize;

use crate::aligned_labels::{MISSING, Targets};
use crate::alternating::{Fit, State, go_on_in_turn};
use crate::choose::{Choice, Task};
use crate::columns::TableModel;
use crate::compact::compact;
use crate::curvature::EIGEN_WIDTH;
use crate::design::{Design, Scaling, check_table};
use crate::joint::fit_jointly;
use crate::linear::Linear;
use crate::{Solver, SsceError, SsceSettings};

/// Self-supervised consensus on a table: one multinomial logistic regression for each base clustering, tied by a
/// shared mean and a covariance between base clusterings; the mean is the consensus, and labels new objects.
///
/// ```text
/// minimise  Σ_u ω_u Σ_i −ln softmax(w_uᵀ x_i)[ℓ_ui]  +  γ₁ Σ_u ω_u ‖w_u − μ‖²  +  γ₂ tr(D Ω⁻¹ Dᵀ)  +  ρ ‖μ‖²
/// subject to  Ω ⪰ 0, tr Ω ≤ 1          where D = (W − μ1ᵀ) diag(√ω)
/// ```
/// | paper | here |
/// |---|---|
/// | λ_i, L_i | base clusterings, and the same aligned to [`SsceSettings::reference`] |
/// | X | the table, columns centred and scaled to standard deviation 1 |
/// | – | weights of base clusterings ω: one of weight 2 counts as if it were there twice |
/// | W, μ, Ω | the classifiers, their centre, and their covariance (plus [`SsceSettings::ridge`]/Σω on its diagonal, or its pseudo-inverse) |
/// | γ₁, γ₂ | [`SsceSettings::gamma`], [`SsceSettings::gamma2`]: the same where only one is given, as in the paper's experiments |
/// | correspondence of labels (its future work) | [`SsceSettings::joint_names`] |
/// | – | intercepts: a column of [`SsceSettings::intercept_scaling`] in X |
///
/// W is found by limited-memory BFGS with a Kronecker approximation of the Hessian, for all base clusterings at once by
/// matrix products; μ and Ω have closed forms. No step raises the objective. Missing labels leave the loss; shares of soft base
/// clusterings are probabilities to be learned, under the names of the labels of largest share; objects count their weights.
///
/// # Cost
/// O(n p M K) time an iteration of descent, p columns; 10 n p + n M numbers. γ is chosen on at most 1000 objects and
/// 20 base clusterings.
///
/// # Differences from the paper
/// The paper's (8) is the log likelihood, not its negative; (9) and (10) lack a factor 2 on γ₂, and (10) prints a
/// likelihood for a gradient; Ω of (12) is singular. Here μ and Ω minimise the objective exactly (the paper's formulas
/// are [`SsceSettings::paper`]), classifiers have intercepts (the paper prints none,
/// but what it has of one data set needs one: docs/reproduction/ssce.md), ‖μ‖² has a small weight, and γ is chosen by how probable
/// held-out labels of the base clusterings are, where the paper takes the best by the true labels: see [the crate](crate)
/// for the rule and what it costs.
///
/// # Errors
/// [`SsceError`] if K is out of range, or the table, the weights, the reference or the settings do not fit.
///
/// # References
/// Du, Shen, Shen, Wang, Xu, *A self-supervised framework for clustering ensemble*, WAIM 2013.
pub fn ssce<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    features: &Features<'_>,
    clusters: usize,
    seed: Seed,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SsceDiagnostics>, SsceError> {
    let source = source.into();
    let ensemble = source.ensemble;
    let _span = tracing::info_span!("ssce", objects = ensemble.objects(), clusters).entered();
    check(source, clusters, settings)?;
    check_table(features, ensemble.objects())?;
    let scaling = Scaling::weighted(features, source.multiplicities())?;
    let design = Design::Dense(scaling.apply(features.values(), settings.constant()));
    let (mut outcome, mut centre) = solve(source, &design, clusters, seed, settings, monitor)?;
    if let Some(constant) = settings.constant() {
        let mut intercepts = centre.row_mut(features.values().ncols());
        intercepts.mapv_inplace(|weight| weight * constant);
    }
    let rule = Linear::new(settings.intercept, &centre);
    outcome.model = Some(Arc::new(TableModel::new(scaling, rule)));
    Ok(outcome)
}

/// Self-supervised consensus on labels alone: [`ssce`] where X are the one-hot labels of all base clusterings, which
/// are never written out.
///
/// # Cost
/// O(n M² K) time an iteration of descent; 8 ΣJ M K numbers for each of a few dozen vectors. With more than 400 inputs and fewer objects, at
/// most 1000, inputs are turned into their principal axes: O(n² M K) time, and n in place of ΣJ.
///
/// # Differences from the paper
/// As [`ssce`]. A missing label is a block of zeros. A base clustering of weight ω is ω copies as an input too: its labels are √ω, which
/// the ties of the classifiers count as ω inputs of 1.
///
/// # Errors
/// As [`ssce`].
///
/// # References
/// As [`ssce`].
pub fn ssce_p<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<SsceDiagnostics>, SsceError> {
    let source = source.into();
    let ensemble = source.ensemble;
    let _span = tracing::info_span!("ssce-p", objects = ensemble.objects(), clusters).entered();
    check(source, clusters, settings)?;
    let design = Design::hot(ensemble, source.base_copies(), settings.constant());
    let design = compact(&design, EIGEN_WIDTH)?.unwrap_or(design);
    Ok(solve(source, &design, clusters, seed, settings, monitor)?.0)
}

/// Facts about a fit of classifiers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct SsceDiagnostics {
    /// How strongly the classifiers are tied.
    pub gamma: f64,
    /// How strongly they are tied by their covariance.
    pub gamma2: f64,
    /// Base clusterings that ended with other names than the reference gave them.
    pub renamed: usize,
    /// Ties that were tried, rising; none where it was given.
    pub gammas_tried: Vec<f64>,
    /// Mean log probability of held-out labels under each of them, nats.
    pub held_out_log_probability: Vec<f64>,
    /// The base clustering whose names the others took, or `clusters of clusters`.
    pub reference: String,
    /// Norm of the gradient where a joint fit stopped, over that where all classifiers are zero: at most 1e-6 where it converged, but for
    /// rounding. None of iterations in turn.
    pub gradient: Option<f64>,
}

fn check(
    source: WeightedEnsemble<'_>,
    clusters: usize,
    settings: &SsceSettings,
) -> Result<(), SsceError> {
    let ensemble = source.ensemble;
    let objects = ensemble.objects();
    if clusters == 0 || clusters > objects.min(usize::from(MISSING) - 1) {
        return Err(SsceError::Clusters { clusters, objects });
    }
    WeightsError::check(source.base_weights, ensemble.bases().len())?;
    Ok(settings.validate(&ProblemSize::of(ensemble, Clusters::Exactly(clusters)))?)
}

/// Units of progress of an iteration over all objects.
const UNITS: u64 = 100;

fn solve(
    source: WeightedEnsemble<'_>,
    design: &Design,
    clusters: usize,
    seed: Seed,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<(Outcome<SsceDiagnostics>, Array2<f64>), SsceError> {
    let ensemble = source.ensemble;
    let weights = source.base_weights;
    let targets = Targets::new(ensemble, weights, clusters, settings.reference.as_deref())?;
    let mut base_weights = vec![1.0; ensemble.bases().len()];
    if let Some(weights) = weights {
        base_weights = weights.copies().to_vec();
    }
    let task = Task {
        design,
        codes: &targets.codes,
        soft: targets.soft.as_ref(),
        objects: source.multiplicities(),
        base_weights: &base_weights,
        clusters,
    };
    let before = task.units(settings, UNITS);
    let last = UNITS * u64::from(settings.alternating_iterations());
    let progress = ProgressCounter::new(monitor, before + last * settings.fits());
    let Choice { gamma, tried } = match settings.gamma {
        Some(gamma) => Choice {
            gamma,
            tried: Vec::new(),
        },
        None => task.choose(seed, settings, &progress.part(before))?,
    };
    let mut fit = fit(&task, gamma, settings, &progress.part(last))?;
    let mut soft = fit.consensus(design);
    let mut named: Option<Targets> = None;
    for _ in 1..settings.fits() {
        let now = named.as_ref().unwrap_or(&targets);
        let next = now.named_by(ensemble, &soft.hard());
        if now.changed(&next) == 0 || progress.stopped() {
            break;
        }
        let task = Task {
            codes: &next.codes,
            soft: next.soft.as_ref(),
            ..task
        };
        let other = self::fit(&task, gamma, settings, &progress.part(last))?;
        if other.value() >= fit.value() {
            break;
        }
        soft = other.consensus(design);
        (fit, named) = (other, Some(next));
    }
    let mut outcome = Outcome::soft(soft, fit.stopped);
    outcome.iterations = fit.iterations;
    outcome.objective = Some(Objective {
        name: "negative log likelihood of the base clusterings and ties between classifiers, nats",
        sense: Sense::Minimise,
        value: fit.value(),
        trace: fit.trace,
    });
    let (gammas_tried, held_out_log_probability) = tried.into_iter().unzip();
    let diagnostics = SsceDiagnostics {
        gamma,
        gamma2: settings.gammas(gamma).1,
        renamed: named.map_or(0, |named| named.changed(&targets)),
        gammas_tried,
        held_out_log_probability,
        reference: targets.reference,
        gradient: fit.gradient,
    };
    Ok((outcome.with(diagnostics), fit.state.centre))
}

/// Classifiers, their centre and their covariance for some labels.
fn fit(
    task: &Task<'_>,
    gamma: f64,
    settings: &SsceSettings,
    monitor: &dyn Monitor,
) -> Result<Fit, SsceError> {
    let loss = task.loss();
    let state = State::start(&loss, settings.gammas(gamma), settings)?;
    match settings.solver {
        Solver::Alternating => go_on_in_turn(&loss, state, settings, monitor),
        Solver::Joint => fit_jointly(&loss, state, settings, monitor),
    }
}
