//! BCE: Bayesian cluster ensembles, a mixed membership for every object.

use std::num::{NonZeroU32, Saturating};
use std::ops::Range;
use std::sync::Arc;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Clusters, FitError, Label, LabelRows, Method, MethodInfo, Monitor, Objective, Outcome, Problem, ProblemSize, Seed,
    Sense, Settings, SoftPartition, chunks,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use statrs::function::gamma::{digamma, ln_gamma};

use crate::bce_model::Scratch;
use crate::mm::MIXTURE;
use crate::partial::Partial;
use crate::restarts::{Rounds, Run, best_of, bytes_of_rounds, climb};
use crate::table::{lines, normalise_columns};
use crate::{BceModel, MixtureError, Rows, seeding};

/// Rounds of γ within one round of the fit, and the change at which they end.
const ROW_ROUNDS: u32 = 20;
const ROW_TOLERANCE: f64 = 1e-4;

/// Where learned α stays.
const ALPHA: (f64, f64) = (1e-3, 1e3);

/// Settings of [`bce`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BceSettings {
    /// The Dirichlet parameter of every cluster, or where learning starts.
    #[setting(range = 1e-20..=1e20)]
    pub alpha: f64,
    /// Learn α, a value for every cluster, by Newton steps.
    pub learn: bool,
    /// Independent initializations by merging small clusters of label rows; the highest bound is kept whole.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most rounds of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when a round gains at most this share of the bound.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
    /// Labels added to every label value of every cluster; 0 is maximum likelihood.
    #[setting(range = 0.0..=1e100)]
    pub pseudo_count: f64,
}

/// Facts about a mixed-membership model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BceDiagnostics {
    /// The Dirichlet parameter of every cluster, K numbers.
    pub alpha: Vec<f64>,
    /// A lower bound on the log likelihood of the labels, nats.
    pub log_likelihood_bound: f64,
    /// exp of its negative mean a label: an upper bound on the perplexity.
    pub perplexity_bound: f64,
    /// The bound that every initialization reached.
    pub objective_by_restart: Vec<f64>,
}

impl Default for BceSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self { alpha: 0.5, learn: true, restarts: count(4), rounds: count(200), tolerance: 1e-6, pseudo_count: 0.1 }
    }
}

/// Mixed memberships: every object has a distribution over clusters, and every label draws its cluster from it.
///
/// ```text
/// π_i ~ Dir(α)   z_iu ~ π_i   ℓ_iu ~ θ_{z_iu u}       q(π_i) = Dir(γ_i)   q(z_iu) = φ_iu
/// φ_iuk ∝ θ_kuℓ exp(ψ(γ_ik) − ψ(Σγ_i))                γ_ik = α_k + Σ_u φ_iuk
/// ```
///
/// | paper | here |
/// |---|---|
/// | α, β | α, θ |
/// | γ | the soft result is γ_i / Σ γ_i |
///
/// The lower bound (with the pseudo-counts' term) never falls. Missing labels drop out; rows may have any weights.
///
/// # Cost
/// O(distinct rows · M · K) time for each of up to 20 rounds of γ within a round, in parallel over restarts and rows;
/// 2 rows · K and 64 ΣJ K numbers a restart.
///
/// # Differences from the paper
/// Restarts from merged small clusters (as [`mm`](crate::mm)), and a pseudo-count for label shares.
///
/// # Errors
/// [`MixtureError::Settings`] for a setting out of range; [`MixtureError::NoClusters`] for K = 0.
///
/// # References
/// Wang, Shan, Banerjee, *Bayesian cluster ensembles*, SDM 2009.
pub fn bce(
    rows: &Rows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &BceSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<BceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("bce", rows = rows.weights().len(), clusters).entered();
    MixtureError::check_clusters(clusters)?;
    settings.validate(&ProblemSize::of(rows.ensemble(), Clusters::Exactly(clusters)))?;
    let (most, restarts) = (settings.rounds.get(), settings.restarts.get());
    let rounds = Rounds::new(monitor, u64::from(most) * u64::from(restarts));
    let (run, objectives) = best_of(restarts, |restart| {
        let start = Fit::start(rows, clusters, seed.child(u64::from(restart)), settings);
        climb(start, (most, settings.tolerance), &rounds, |fit| {
            let expected = fit.expect(rows);
            let value = expected.sums.log_sum + fit.prior(settings.pseudo_count);
            (value, fit.next(rows, expected, settings))
        })
    });
    Ok(outcome(rows, run, objectives))
}

/// α and θ, and where γ stands.
#[derive(Clone, Debug)]
struct Fit {
    model: BceModel,
    gamma: Vec<f64>,
}

/// What one E-step finds.
struct Expected {
    gamma: Vec<f64>,
    /// Labels by cluster; the bound as `log_sum`; Σ E ln π_k as `sizes`.
    sums: Partial,
    weight: f64,
}

impl Fit {
    fn start(rows: &Rows<'_>, clusters: usize, seed: Seed, settings: &BceSettings) -> Self {
        let shares = seeding::model(rows, &seeding::begin(rows, clusters, seed));
        let nearest = rows.nearest(shares.table());
        let model = BceModel { bases: shares.bases, alpha: vec![settings.alpha; clusters], theta: shares.theta };
        let mut gamma = Vec::with_capacity(nearest.len() * clusters);
        for (i, &k) in nearest.iter().enumerate() {
            let labels = rows.labels_of(i) as f64;
            let share = |j: usize| if j == k as usize { 0.9 * labels } else { 0.0 } + 0.1 * labels / clusters as f64;
            gamma.extend((0..clusters).map(|j| settings.alpha + share(j)));
        }
        Self { model, gamma }
    }

    fn expect(&self, rows: &Rows<'_>) -> Expected {
        match rows.ensemble().rows() {
            LabelRows::Bytes(labels) => self.expect_in(rows, labels),
            LabelRows::Words(labels) => self.expect_in(rows, labels),
        }
    }

    fn expect_in<L: Label>(&self, rows: &Rows<'_>, labels: ArrayView2<'_, L>) -> Expected {
        let clusters = self.model.clusters();
        let mut gamma = self.gamma.clone();
        let ranges: Vec<_> = chunks(rows.weights().len(), rows.part_size()).collect();
        let part = |(gamma, range): (&mut [f64], Range<usize>)| {
            let mut part = Partial::zero(rows.label_values(), clusters);
            let mut scratch = Scratch::new(clusters);
            for (i, gamma) in range.zip(gamma.chunks_exact_mut(clusters)) {
                let lines: Vec<usize> = lines(labels.row(i), rows.offsets()).collect();
                self.expect_row(&lines, rows.weights()[i], gamma, &mut scratch, &mut part);
            }
            part
        };
        let parts: Vec<Partial> = gamma.par_chunks_mut(rows.part_size() * clusters).zip(ranges).map(part).collect();
        let sums = parts.into_iter().reduce(Partial::merged).expect("an ensemble has objects");
        Expected { gamma, sums, weight: rows.weights().iter().sum() }
    }

    fn expect_row(&self, lines: &[usize], weight: f64, gamma: &mut [f64], scratch: &mut Scratch, part: &mut Partial) {
        let clusters = gamma.len();
        part.log_sum += weight * self.model.infer(lines, gamma, (ROW_ROUNDS, ROW_TOLERANCE), scratch);
        part.sizes.iter_mut().zip(&scratch.logs).for_each(|(sum, log)| *sum += weight * log);
        for &line in lines {
            let scale = weight / self.model.normaliser(line, &scratch.geometric);
            let phi = self.model.line(line).iter().zip(&scratch.geometric);
            let counts = &mut part.labels[line * clusters..][..clusters];
            counts.iter_mut().zip(phi).for_each(|(count, (theta, g))| *count += scale * theta * g);
        }
    }

    fn prior(&self, pseudo_count: f64) -> f64 {
        if pseudo_count > 0.0 { pseudo_count * self.model.theta.iter().map(|p| p.ln()).sum::<f64>() } else { 0.0 }
    }

    fn next(&self, rows: &Rows<'_>, expected: Expected, settings: &BceSettings) -> Self {
        let mut theta = expected.sums.labels;
        theta.iter_mut().for_each(|count| *count += settings.pseudo_count);
        normalise_columns(&mut theta, rows.offsets(), self.model.clusters());
        let mut alpha = self.model.alpha.clone();
        if settings.learn {
            let means: Vec<f64> = expected.sums.sizes.iter().map(|sum| sum / expected.weight).collect();
            learn(&mut alpha, &means);
        }
        Self { model: BceModel { bases: self.model.bases.clone(), alpha, theta }, gamma: expected.gamma }
    }
}

/// Maximises ln Γ(Σα) − Σ ln Γ(α_k) + Σ (α_k − 1) t_k by Newton steps, halved until they ascend. The Hessian is a
/// diagonal plus a constant, so that a step costs O(K).
fn learn(alpha: &mut [f64], means: &[f64]) {
    let value = |a: &[f64]| {
        let terms: f64 = a.iter().zip(means).map(|(&a, t)| (a - 1.0) * t - ln_gamma(a)).sum();
        ln_gamma(a.iter().sum()) + terms
    };
    let mut current = value(alpha);
    for _ in 0..20 {
        let total: f64 = alpha.iter().sum();
        let gradient: Vec<f64> = alpha.iter().zip(means).map(|(&a, t)| digamma(total) - digamma(a) + t).collect();
        let inverse: Vec<f64> = alpha.iter().map(|&a| -1.0 / trigamma(a)).collect();
        let dot: f64 = gradient.iter().zip(&inverse).map(|(g, q)| g * q).sum();
        let shift = dot / (1.0 / trigamma(total) + inverse.iter().sum::<f64>());
        let mut step = 1.0;
        let better = loop {
            let moved = alpha.iter().zip(&gradient).zip(&inverse);
            let next: Vec<f64> =
                moved.map(|((a, g), q)| (a - step * (g - shift) * q).clamp(ALPHA.0, ALPHA.1)).collect();
            let after = value(&next);
            if after > current {
                break Some((next, after));
            }
            step *= 0.5;
            if step < 1e-6 {
                break None;
            }
        };
        let Some((next, after)) = better else { break };
        let gain = after - current;
        alpha.copy_from_slice(&next);
        current = after;
        if gain < 1e-12 {
            break;
        }
    }
}

/// The derivative of the digamma function, for positive numbers.
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 8.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let (i, s) = (1.0 / x, 1.0 / (x * x));
    sum + i + s / 2.0 + i * s * (1.0 / 6.0 - s * (1.0 / 30.0 - s * (1.0 / 42.0 - s * (1.0 / 30.0 - s * 5.0 / 66.0))))
}

fn outcome(rows: &Rows<'_>, run: Run<Fit>, objective_by_restart: Vec<f64>) -> Outcome<BceDiagnostics> {
    let fit = run.result;
    let expected = fit.expect(rows);
    let clusters = fit.model.clusters();
    let mut soft = expected.gamma;
    for line in soft.chunks_exact_mut(clusters) {
        let total: f64 = line.iter().sum();
        line.iter_mut().for_each(|g| *g /= total);
    }
    let soft = Array2::from_shape_vec((rows.weights().len(), clusters), soft).expect("K values a row");
    let soft = SoftPartition::new(rows.expand(soft)).expect("normalised memberships");
    let mut outcome = Outcome::soft(soft, run.stopped);
    outcome.rounds = run.trace.len() as u64;
    outcome.objective = Some(Objective {
        name: "lower bound on the log likelihood with pseudo-counts, nats",
        sense: Sense::Maximise,
        value: run.trace[run.trace.len() - 1],
        trace: run.trace,
    });
    let diagnostics = BceDiagnostics {
        alpha: fit.model.alpha.clone(),
        log_likelihood_bound: expected.sums.log_sum,
        perplexity_bound: (-expected.sums.log_sum / rows.labels()).exp(),
        objective_by_restart,
    };
    outcome.model = Some(Arc::new(fit.model));
    outcome.with(diagnostics)
}

/// [`bce`] as a method.
#[derive(Debug)]
pub struct Bce;

/// Mixed memberships, [`bce`].
pub static BCE: Bce = Bce;

static INFO: MethodInfo = MethodInfo {
    name: "bce",
    summary: "mixed memberships by variational EM: an object may belong to several clusters",
    reference: "Wang, Shan, Banerjee, Bayesian cluster ensembles, SDM 2009",
    certainty: "expected share of the label in the object's membership",
    time: "restarts · rounds · 20 n M K",
    memory: "n (M + 24 K) + restarts · (16 n K + 512 ΣJ K) bytes",
    remedy: "ask for fewer clusters, set restarts lower, or take mm",
    ..MIXTURE
};

impl Method for Bce {
    type Settings = BceSettings;
    type Diagnostics = BceDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &BceSettings) -> u64 {
        let [n, _, _, k] = size.saturating();
        let memberships = n * k * Saturating(16 * u64::from(settings.restarts.get()));
        (Saturating(bytes_of_rounds(size, settings.restarts)) + memberships).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &BceSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<BceDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(bce(&Rows::of(problem.ensemble), clusters, problem.seed, settings, monitor)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixture;
    use partita_core::Silent;

    #[test]
    fn the_bound_never_falls_and_repeated_rows_change_nothing() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let settings = BceSettings {
                pseudo_count: [0.0, 0.1][seed as usize % 2],
                learn: seed % 3 > 0,
                ..BceSettings::default()
            };
            let fit = |rows: &Rows<'_>| bce(rows, 3, Seed::new(seed), &settings, &Silent).unwrap();
            let outcome = fit(&Rows::of(&ensemble));
            let trace = &outcome.objective.as_ref().unwrap().trace;
            assert!(trace.windows(2).all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()), "seed {seed}: {trace:?}");

            let n = ensemble.objects() as u32;
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let twice = ensemble.select(&(0..2 * n).map(|i| i % n).collect::<Vec<_>>(), &bases);
            let again = fit(&Rows::weighted(&twice, &vec![0.5; twice.objects()]).unwrap());
            assert_eq!(again.objective, outcome.objective);
        }
    }

    #[test]
    fn alpha_is_where_the_slope_is_zero() {
        let means = [-1.2, -2.5, -0.8];
        let mut alpha = [0.5; 3];
        learn(&mut alpha, &means);
        let total: f64 = alpha.iter().sum();
        assert!(alpha.iter().zip(means).all(|(&a, t)| (digamma(total) - digamma(a) + t).abs() < 1e-5), "{alpha:?}");
        assert!((trigamma(1.0) - std::f64::consts::PI.powi(2) / 6.0).abs() < 1e-12);
    }

    #[test]
    fn the_model_labels_the_training_rows_alike() {
        let ensemble = fixture::drawn(4);
        let outcome = bce(&Rows::of(&ensemble), 3, Seed::new(4), &BceSettings::default(), &Silent).unwrap();
        let model = BceModel::from_json(&outcome.model.unwrap().to_json()).unwrap();
        let told = outcome.details.perplexity_bound;
        assert!((model.perplexity(&ensemble).unwrap() / told - 1.0).abs() < 0.02);
    }
}
