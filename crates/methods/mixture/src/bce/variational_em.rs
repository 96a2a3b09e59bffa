//! Variational EM for mixed memberships of objects.

use std::num::NonZeroU32;
use std::ops::Range;
use std::sync::Arc;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    Label, LabelRows, Memberships, Monitor, Objective, Outcome, ProgressCounter, Seed, Sense,
    Settings, SoftPartition, chunks, map_parallel,
};
use serde::{Deserialize, Serialize};

use super::dirichlet::learn;
use super::inference::{BceParameters, Once, RowScratch, SoftRow};
use super::model::BceModel;
use crate::error::MixtureError;
use crate::shared::initialization;
use crate::shared::log_probabilities::{lines, normalise_by_base};
use crate::shared::multi_start::{Limits, Run, ascend, best_of_finalists};
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// Rounds of γ within one round of the fit, and the change at which they end.
const ROW_ROUNDS: u32 = 20;
const ROW_TOLERANCE: f64 = 1e-4;

/// Settings of [`bce`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct BceSettings {
    /// The Dirichlet parameter of every cluster, or where learning starts.
    #[setting(range = 1e-20..=1e20)]
    pub alpha: f64,
    /// Learn α, a value for every cluster, by Newton steps. The bound then grows towards an α near 0, where every object belongs to one
    /// cluster: shares come back less well, and more initializations are needed for the highest bound.
    pub learn: bool,
    /// Independent initializations, of every four one by merging small clusters of label rows and three of memberships drawn at random.
    /// All run for 20 rounds, the best quarter goes on, and the highest bound is kept.
    ///
    /// Above 33,554,432 labels they compete on a sample, and the best goes on with all rows.
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
        Self {
            alpha: 0.5,
            learn: false,
            restarts: count(12),
            rounds: count(1000),
            tolerance: 1e-6,
            pseudo_count: 0.1,
        }
    }
}

impl BceSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            rounds: self.rounds,
            tolerance: self.tolerance,
        }
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
/// The lower bound (with the pseudo-counts' term) never falls. Missing labels drop out; rows may have any weights. A label of a base
/// clustering of weight w counts as w labels. A row of shares of a soft base clustering is one label whose value is not known: it draws
/// one cluster, by the expected log likelihood Σ_j s_iuj ln θ_kuj. (Were each share a label of its own, with a cluster of its own, the
/// memberships would explain the shares and the clusters nothing.)
///
/// # Cost
/// O(distinct rows · M · K) time for each of up to 20 rounds of γ within a round, in parallel over restarts and rows;
/// 2 rows · K and 64 ΣJ K numbers a restart.
///
/// # Differences from the paper
/// α is not learned unless asked for. Restarts from merged small clusters and from random memberships (as [`mm`](crate::mm)), and a
/// pseudo-count for label shares.
///
/// # Errors
/// [`MixtureError::Settings`] for a setting out of range; [`MixtureError::NoClusters`] for K = 0.
///
/// # References
/// Wang, Shan, Banerjee, *Bayesian cluster ensembles*, SDM 2009.
#[doc(alias = "Bayesian cluster ensemble")]
#[doc(alias = "latent Dirichlet allocation")]
pub fn bce(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &BceSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<BceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("bce", rows = rows.weights().len(), clusters).entered();
    MixtureError::check(settings, &rows.size(clusters))?;
    let progress = settings.limits().progress_of_finalists(monitor, 0);
    let (run, objectives) = compete(rows, clusters, seed, settings, &progress);
    Ok(outcome(rows, run, objectives))
}

/// The best of all initializations, and the bounds of all.
pub(crate) fn compete(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &BceSettings,
    progress: &ProgressCounter<'_>,
) -> (Run<BceState>, Vec<f64>) {
    let start = |restart| BceState::start(rows, clusters, restart, seed, settings);
    best_of_finalists(settings.limits(), progress, start, |start, limits| {
        ascend(start, limits, progress, |state| {
            let BceExpectation {
                gamma,
                sums,
                weight,
            } = state.expect(rows);
            let pseudo = PseudoCounts {
                each: settings.pseudo_count,
                offsets: rows.offsets(),
                weights: rows.base_weights(),
            };
            let value = sums.log_sum + state.parameters.log_prior(&pseudo);
            let parameters = state.parameters.next(sums, weight, &pseudo, settings.learn);
            (value, BceState { parameters, gamma })
        })
    })
}

/// α and θ, and where γ stands.
#[derive(Clone, Debug)]
pub(crate) struct BceState {
    pub(crate) parameters: BceParameters,
    gamma: Vec<f64>,
}

/// What one E-step finds.
struct BceExpectation {
    gamma: Vec<f64>,
    /// Labels by cluster; the bound as `log_sum`; Σ E ln π_k as `sizes`.
    sums: SufficientStatistics,
    weight: f64,
}

impl BceState {
    fn start(
        rows: &WeightedRows<'_>,
        clusters: usize,
        restart: u32,
        seed: Seed,
        settings: &BceSettings,
    ) -> Self {
        let sums = initialization::varied_statistics(rows, clusters, restart, seed);
        let shares = initialization::model(rows, &sums);
        let nearest = rows.nearest(shares.logs());
        let parameters = BceParameters {
            alpha: vec![settings.alpha; clusters],
            theta: shares.theta,
        };
        let mut gamma = Vec::with_capacity(nearest.len() * clusters);
        for (i, &k) in nearest.iter().enumerate() {
            let labels = rows.counted_labels(i).1.iter().sum::<f64>();
            let share = |j: usize| if j == k as usize { 0.9 * labels } else { 0.0 } + 0.1 * labels / clusters as f64;
            gamma.extend((0..clusters).map(|j| settings.alpha + share(j)));
        }
        Self { parameters, gamma }
    }

    fn expect(&self, rows: &WeightedRows<'_>) -> BceExpectation {
        if let Some(shares) = rows.shares() {
            return self.expect_shares(rows, shares);
        }
        if rows.base_weights().is_some() {
            return self.expect_in(rows, |i, parameters, gamma, scratch, sums| {
                let (lines, counts) = rows.counted_labels(i);
                let row = parameters.labels(&lines, &counts[..]);
                let bound = parameters.infer(row, gamma, (ROW_ROUNDS, ROW_TOLERANCE), scratch);
                parameters.add_row((row, rows.weights()[i]), bound, scratch, sums);
            });
        }
        match rows.ensemble().rows() {
            LabelRows::Bytes(labels) => self.expect_labels(rows, labels),
            LabelRows::Words(labels) => self.expect_labels(rows, labels),
        }
    }

    fn expect_labels<L: Label>(
        &self,
        rows: &WeightedRows<'_>,
        labels: ArrayView2<'_, L>,
    ) -> BceExpectation {
        self.expect_in(rows, |i, parameters, gamma, scratch, sums| {
            let lines: Vec<usize> = lines(labels.row(i), rows.offsets()).collect();
            let row = parameters.labels(&lines, Once);
            let bound = parameters.infer(row, gamma, (ROW_ROUNDS, ROW_TOLERANCE), scratch);
            parameters.add_row((row, rows.weights()[i]), bound, scratch, sums);
        })
    }

    fn expect_shares(&self, rows: &WeightedRows<'_>, shares: &Memberships) -> BceExpectation {
        let bases = (rows.offsets(), rows.base_weights());
        self.expect_in(rows, |i, parameters, gamma, scratch, sums| {
            let mut row = SoftRow::default();
            row.read(&parameters.theta, (shares, i), bases);
            let bound = parameters.infer(row.labels(), gamma, (ROW_ROUNDS, ROW_TOLERANCE), scratch);
            parameters.add_soft_row((&row, (shares, i), rows.weights()[i]), bound, scratch, sums);
        })
    }

    /// The E-step where `add` infers the γ of a row and adds what follows from it.
    fn expect_in(
        &self,
        rows: &WeightedRows<'_>,
        add: impl Fn(usize, &BceParameters, &mut [f64], &mut RowScratch, &mut SufficientStatistics)
        + Sync,
    ) -> BceExpectation {
        let clusters = self.parameters.clusters();
        let mut gamma = self.gamma.clone();
        let ranges = chunks(rows.weights().len(), rows.part_size());
        let part = |(gamma, range): (&mut [f64], Range<usize>)| {
            let mut part = SufficientStatistics::zero(rows.label_values(), clusters);
            let mut scratch = RowScratch::new(clusters);
            for (i, gamma) in range.zip(gamma.chunks_exact_mut(clusters)) {
                add(i, &self.parameters, gamma, &mut scratch, &mut part);
            }
            part
        };
        let parts = map_parallel(
            gamma.chunks_mut(rows.part_size() * clusters).zip(ranges),
            part,
        );
        let sums = parts
            .into_iter()
            .reduce(SufficientStatistics::merged)
            .expect("an ensemble has objects");
        BceExpectation {
            gamma,
            sums,
            weight: rows.weights().iter().sum(),
        }
    }
}

/// Labels added to every label value of every cluster: as often as the base clustering counts.
pub(crate) struct PseudoCounts<'a> {
    pub(crate) each: f64,
    pub(crate) offsets: &'a [usize],
    pub(crate) weights: Option<&'a [f64]>,
}

impl PseudoCounts<'_> {
    /// Calls `take` with what is added to the labels of each base clustering, and where their lines are.
    fn by_base(&self, clusters: usize, mut take: impl FnMut(f64, Range<usize>)) {
        match self.weights {
            None => take(
                self.each,
                0..self.offsets[self.offsets.len() - 1] * clusters,
            ),
            Some(weights) => self
                .offsets
                .windows(2)
                .zip(weights)
                .for_each(|(ends, weight)| {
                    take(self.each * weight, ends[0] * clusters..ends[1] * clusters);
                }),
        }
    }
}

impl BceParameters {
    /// The pseudo-counts' part of the objective.
    pub(crate) fn log_prior(&self, pseudo: &PseudoCounts<'_>) -> f64 {
        let mut sum = 0.0;
        if pseudo.each > 0.0 {
            let logs = |range: Range<usize>| self.theta[range].iter().map(|p| p.ln()).sum::<f64>();
            pseudo.by_base(self.clusters(), |count, range| sum += count * logs(range));
        }
        sum
    }

    /// The M-step: the parameters after a round whose E-step found `sums` over rows of so much weight.
    pub(crate) fn next(
        &self,
        sums: SufficientStatistics,
        weight: f64,
        pseudo: &PseudoCounts<'_>,
        learns: bool,
    ) -> Self {
        let mut theta = sums.labels;
        pseudo.by_base(self.clusters(), |more, range| {
            theta[range].iter_mut().for_each(|count| *count += more);
        });
        normalise_by_base(&mut theta, pseudo.offsets, self.clusters());
        let mut alpha = self.alpha.clone();
        if learns {
            let means: Vec<f64> = sums.sizes.iter().map(|sum| sum / weight).collect();
            learn(&mut alpha, &means);
        }
        Self { alpha, theta }
    }
}

fn outcome(
    rows: &WeightedRows<'_>,
    run: Run<BceState>,
    objective_by_restart: Vec<f64>,
) -> Outcome<BceDiagnostics> {
    let fit = run.result;
    let expected = fit.expect(rows);
    let clusters = fit.parameters.clusters();
    let mut soft = expected.gamma;
    for line in soft.chunks_exact_mut(clusters) {
        let total: f64 = line.iter().sum();
        line.iter_mut().for_each(|g| *g /= total);
    }
    let soft =
        Array2::from_shape_vec((rows.weights().len(), clusters), soft).expect("K values a row");
    let soft = SoftPartition::new(rows.expand(soft)).expect("normalised memberships");
    let mut outcome = Outcome::soft(soft, run.stopped);
    outcome.rounds = run.trace.len() as u64;
    outcome.objective = Some(objective(run.trace));
    let diagnostics = BceDiagnostics {
        alpha: fit.parameters.alpha.clone(),
        log_likelihood_bound: expected.sums.log_sum,
        perplexity_bound: (-expected.sums.log_sum / rows.labels()).exp(),
        objective_by_restart,
    };
    outcome.model = Some(Arc::new(BceModel {
        bases: rows.ensemble().bases().to_vec(),
        parameters: fit.parameters,
        weights: rows.base_weights().map(<[f64]>::to_vec),
    }));
    outcome.with(diagnostics)
}

pub(crate) fn objective(trace: Vec<f64>) -> Objective {
    let (name, sense) = (
        "lower bound on the log likelihood with pseudo-counts, nats",
        Sense::Maximise,
    );
    Objective {
        name,
        sense,
        value: trace[trace.len() - 1],
        trace,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture;
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
            let fit = |rows: &WeightedRows<'_>| {
                bce(rows, 3, Seed::new(seed), &settings, &Silent).unwrap()
            };
            let outcome = fit(&WeightedRows::of(&ensemble));
            let trace = &outcome.objective.as_ref().unwrap().trace;
            assert!(
                trace
                    .windows(2)
                    .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()),
                "seed {seed}: {trace:?}"
            );

            let n = ensemble.objects() as u32;
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let twice = ensemble.select(&(0..2 * n).map(|i| i % n).collect::<Vec<_>>(), &bases);
            let again = fit(&WeightedRows::weighted(&twice, &vec![0.5; twice.objects()]).unwrap());
            assert_eq!(again.objective, outcome.objective);
        }
    }

    /// Shares of 1 take the other path here, which must say the same to the bit.
    #[test]
    fn shares_of_one_count_as_labels() {
        for seed in 0..20 {
            let ensemble = fixture::drawn(seed);
            let shares = ensemble.shares();
            let weights: Vec<f64> = (0..ensemble.bases().len())
                .map(|u| 0.5 + u as f64)
                .collect();
            for weights in [None, Some(weights)] {
                let rows = WeightedRows::unfolded(&ensemble).with_base_weights(weights);
                let state = BceState::start(
                    &rows,
                    3,
                    seed as u32,
                    Seed::new(seed),
                    &BceSettings::default(),
                );
                let (hard, soft) = (state.expect(&rows), state.expect_shares(&rows, &shares));
                assert_eq!(
                    (hard.gamma, hard.sums),
                    (soft.gamma, soft.sums),
                    "seed {seed}"
                );
            }
        }
    }

    #[test]
    fn the_bound_never_falls_with_shares_and_weights() {
        for seed in 0..20 {
            let drawn = partita_conformance::draw_shares(Seed::new(seed));
            let named = drawn
                .tables
                .iter()
                .enumerate()
                .map(|(u, table)| (format!("u{u}"), table));
            let ensemble = partita_conformance::ensemble_of_shares(named);
            let weights = (0..drawn.tables.len())
                .map(|u| 0.5 + (u % 3) as f64)
                .collect();
            let rows =
                WeightedRows::of(&ensemble).with_base_weights((seed % 2 == 0).then_some(weights));
            let found = bce(
                &rows,
                drawn.clusters,
                Seed::new(seed),
                &BceSettings::default(),
                &Silent,
            )
            .unwrap();
            let trace = found.objective.unwrap().trace;
            assert!(
                trace
                    .windows(2)
                    .all(|pair| pair[1] >= pair[0] - 1e-9 * pair[0].abs()),
                "seed {seed}: {trace:?}"
            );
        }
    }

    #[test]
    fn the_model_labels_the_training_rows_alike() {
        let ensemble = fixture::drawn(4);
        let outcome = bce(
            &WeightedRows::of(&ensemble),
            3,
            Seed::new(4),
            &BceSettings::default(),
            &Silent,
        )
        .unwrap();
        let model = BceModel::from_json(&outcome.model.unwrap().to_json()).unwrap();
        let told = outcome.details.perplexity_bound;
        assert!((model.perplexity(&ensemble).unwrap() / told - 1.0).abs() < 0.02);
    }
}
