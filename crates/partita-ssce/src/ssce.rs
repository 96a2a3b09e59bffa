//! SSCE and SSCE-P.

use std::sync::Arc;

use partita_core::ndarray::{Array2, Axis};
use partita_core::{BaseWeights, Ensemble, Features, Objective, Outcome, Seed, Sense, SoftPartition, Watch};
use rand::{RngExt, seq::index};

use crate::design::{Design, Scaling};
use crate::fit::{Fit, fit};
use crate::linear::LinearModel;
use crate::loss::{Loss, probabilities};
use crate::targets::{MISSING, Targets};
use crate::{SsceError, SsceSettings};

/// Ties between classifiers that are tried, the most usual first.
const GAMMAS: [f64; 5] = [1.0, 0.1, 10.0, 0.01, 100.0];

/// Objects on which they are tried, and the parts that take turns at being held out.
const TRIED: usize = 2000;
const FOLDS: usize = 3;

/// The least probability of a held-out label that counts: one surprise shall not decide.
const LEAST: f64 = 1e-12;

/// Self-supervised consensus on a table: one multinomial logistic regression for each base clustering, tied by a
/// shared mean and a covariance between base clusterings; the mean is the consensus, and labels new objects.
///
/// ```text
/// minimise  Σ_u ω_u Σ_i −ln softmax(w_uᵀ x_i)[ℓ_ui]  +  γ Σ_u ω_u ‖w_u − μ‖²  +  γ tr(D Ω⁻¹ Dᵀ)  +  ρ ‖μ‖²
/// subject to  Ω ⪰ 0, tr Ω ≤ 1          where D = (W − μ1ᵀ) diag(√ω)
/// ```
/// | paper | here |
/// |---|---|
/// | λ_i, L_i | base clusterings, and the same aligned to the one that overlaps most with all |
/// | X | the table, columns centred and scaled to standard deviation 1 |
/// | – | weights of base clusterings ω, mean 1: one of weight 2 counts as if it were there twice (Ω starts at I/M, so not to the bit) |
/// | W, μ, Ω | the classifiers, their centre, and their covariance (plus 1e-3/M on its diagonal) |
/// | γ₁ = γ₂ | [`SsceSettings::gamma`] |
///
/// W is found by limited-memory BFGS with a Kronecker approximation of the Hessian, for all base clusterings at once by
/// matrix products; μ and Ω have closed forms. No step raises the objective. Missing labels leave the loss. The
/// certainty of an object is the probability that the consensus classifier gives its label.
///
/// # Cost
/// O(n p M K) time a round of descent, p columns; 10 n p + n M numbers. γ is chosen on at most 2000 objects.
///
/// # Differences from the paper
/// The paper's (8) is the log likelihood, not its negative; (9) and (10) lack a factor 2 on γ₂, and (10) prints a
/// likelihood for a gradient; Ω of (12) is singular. Here μ and Ω minimise the objective exactly (the paper's formulas
/// are [`SsceSettings::paper`]), classifiers have intercepts, ‖μ‖² has a small weight, and γ is chosen by how probable
/// held-out labels of the base clusterings are, where the paper takes the best by the true labels. That choice can only
/// know how well a table explains the base clusterings: where these come from columns on other scales than the table
/// that SSCE reads (wine: standardised columns, base clusterings of raw ones), it takes the weakest tie, which repeats
/// the base clusterings, and a stronger γ set by hand can do better.
///
/// # Errors
/// [`SsceError`] if K is out of range, or the table, the weights or the settings do not fit.
///
/// # References
/// Du, Shen, Shen, Wang, Xu, *A self-supervised framework for clustering ensemble*, WAIM 2013.
pub fn ssce(
    ensemble: &Ensemble,
    features: &Features<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &SsceSettings,
    watch: &dyn Watch,
) -> Result<Outcome, SsceError> {
    let _span = tracing::info_span!("ssce", objects = ensemble.objects(), clusters).entered();
    check(ensemble, weights, clusters, settings)?;
    check_table(features, ensemble.objects())?;
    let scaling = Scaling::of(features)?;
    let design = Design::Dense(scaling.apply(features.values(), settings.intercept));
    let (mut outcome, centre) = solve(ensemble, design, weights, clusters, seed, settings, watch)?;
    outcome.model = Some(Arc::new(LinearModel::new(scaling, settings.intercept, centre)));
    Ok(outcome)
}

/// Self-supervised consensus on labels alone: [`ssce`] where X are the one-hot labels of all base clusterings, which
/// are never written out.
///
/// # Cost
/// O(n M² K) time a round of descent; 8 ΣJ M K numbers for each of a few dozen vectors.
///
/// # Differences from the paper
/// As [`ssce`]. A missing label is a block of zeros. Weights of base clusterings say how much their classifiers count;
/// as inputs all labels are alike.
///
/// # Errors
/// As [`ssce`].
///
/// # References
/// As [`ssce`].
pub fn ssce_p(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &SsceSettings,
    watch: &dyn Watch,
) -> Result<Outcome, SsceError> {
    let _span = tracing::info_span!("ssce-p", objects = ensemble.objects(), clusters).entered();
    check(ensemble, weights, clusters, settings)?;
    let design = Design::hot(ensemble, settings.intercept);
    Ok(solve(ensemble, design, weights, clusters, seed, settings, watch)?.0)
}

fn check(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    settings: &SsceSettings,
) -> Result<(), SsceError> {
    let (objects, bases) = (ensemble.objects(), ensemble.bases().len());
    if clusters == 0 || clusters > objects.min(usize::from(MISSING) - 1) {
        return Err(SsceError::Clusters { clusters, objects });
    }
    if let Some(found) = weights.map(|weights| weights.as_slice().len()).filter(|&found| found != bases) {
        return Err(SsceError::Weights { found, bases });
    }
    settings.check()
}

pub(crate) fn check_table(features: &Features<'_>, objects: usize) -> Result<(), SsceError> {
    let (rows, columns) = features.values().dim();
    match (rows == objects, columns) {
        (false, _) => Err(SsceError::Rows { rows, objects }),
        (true, 0) => Err(SsceError::NoColumns),
        (true, _) => Ok(()),
    }
}

fn solve(
    ensemble: &Ensemble,
    design: Design,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &SsceSettings,
    watch: &dyn Watch,
) -> Result<(Outcome, Array2<f64>), SsceError> {
    let targets = Targets::new(ensemble, weights, clusters);
    let trust = weights.map_or_else(|| vec![1.0; ensemble.bases().len()], |weights| weights.as_slice().to_vec());
    let rounds = u64::from(settings.rounds.get());
    let tries = if settings.gamma.is_none() { (GAMMAS.len() * FOLDS) as u64 } else { 0 };
    let ticks = (watch, 0, rounds * (tries + 1));
    let task = Task { design: &design, codes: &targets.codes, trust: &trust, clusters };
    let (gamma, agreement) = match settings.gamma {
        Some(gamma) => (gamma, Vec::new()),
        None => task.choose(seed, settings, ticks)?,
    };
    let Fit { centre, trace, stopped } = fit(&task.loss(), gamma, settings, (watch, rounds * tries, ticks.2))?;
    let soft = SoftPartition::new(probabilities(&design, centre.view())).expect("a softmax is on the simplex");
    let mut outcome = Outcome::soft(soft, stopped);
    outcome.rounds = trace.len() as u64;
    outcome.settings = serde_json::to_value(settings).expect("settings are plain data");
    outcome.details.insert("gamma".into(), gamma.into());
    outcome.details.insert("held_out_log_probability".into(), agreement.into());
    outcome.details.insert("reference".into(), targets.reference.into());
    outcome.objective = Some(Objective {
        name: "negative log likelihood of the base clusterings and ties between classifiers, nats",
        sense: Sense::Minimise,
        value: trace.last().copied().unwrap_or(f64::NAN),
        trace,
    });
    Ok((outcome, centre))
}

/// Inputs and labels.
#[derive(Clone, Copy)]
struct Task<'a> {
    design: &'a Design,
    codes: &'a Array2<u16>,
    trust: &'a [f64],
    clusters: usize,
}

impl<'a> Task<'a> {
    fn loss(&self) -> Loss<'a> {
        Loss { design: self.design, codes: self.codes.view(), classes: self.clusters, trust: self.trust, soft: None }
    }

    /// The γ whose consensus agrees best with the base clusterings on objects that it has not seen, and the
    /// agreement of all that were tried, by rising γ.
    fn choose(
        &self,
        seed: Seed,
        settings: &SsceSettings,
        (watch, mut done, total): (&dyn Watch, u64, u64),
    ) -> Result<(f64, Vec<f64>), SsceError> {
        let folds = self.folds(seed);
        let (mut best, mut tried) = ((GAMMAS[0], f64::NEG_INFINITY), Vec::new());
        for gamma in GAMMAS {
            let mut agreement = 0.0;
            for held in 0..FOLDS {
                let (seen, unseen): (Vec<_>, Vec<_>) = folds.iter().partition(|(_, fold)| *fold != held);
                agreement +=
                    self.agreement(&objects(&seen), &objects(&unseen), gamma, settings, (watch, done, total))?;
                done += u64::from(settings.rounds.get());
            }
            tried.push((gamma, agreement / FOLDS as f64));
            if agreement > best.1 {
                best = (gamma, agreement);
            }
        }
        tried.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok((best.0, tried.into_iter().map(|(_, agreement)| agreement).collect()))
    }

    /// Some objects, each with the fold in which it is held out.
    fn folds(&self, seed: Seed) -> Vec<(usize, usize)> {
        let mut rng = seed.child(1).rng();
        let rows = self.design.rows();
        let mut chosen = index::sample(&mut rng, rows, rows.min(TRIED)).into_vec();
        chosen.sort_unstable();
        chosen.into_iter().map(|object| (object, rng.random_range(0..FOLDS))).collect()
    }

    /// Mean log probability, in nats, that the consensus of the seen objects gives to the labels of the unseen. The
    /// share of labels predicted rightly would say less: many γ differ in no label.
    fn agreement(
        &self,
        seen: &[usize],
        unseen: &[usize],
        gamma: f64,
        settings: &SsceSettings,
        ticks: (&dyn Watch, u64, u64),
    ) -> Result<f64, SsceError> {
        if seen.is_empty() || unseen.is_empty() {
            return Ok(0.0);
        }
        let (design, codes) = (self.design.select(seen), self.codes.select(Axis(0), seen));
        let some = Task { design: &design, codes: &codes, ..*self };
        let centre = fit(&some.loss(), gamma, settings, ticks)?.centre;
        let predicted = probabilities(&self.design.select(unseen), centre.view());
        let (mut agree, mut all) = (0.0, 0.0);
        for (&object, row) in unseen.iter().zip(predicted.outer_iter()) {
            for (&code, trust) in self.codes.row(object).iter().zip(self.trust).filter(|(code, _)| **code != MISSING) {
                all += trust;
                agree += trust * row[usize::from(code)].max(LEAST).ln();
            }
        }
        Ok(if all > 0.0 { agree / all } else { 0.0 })
    }
}

fn objects(folds: &[&(usize, usize)]) -> Vec<usize> {
    folds.iter().map(|(object, _)| *object).collect()
}
