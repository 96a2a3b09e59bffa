//! Mean-field variational inference for NBCE, on label rows in memory.

use std::num::NonZeroU32;

use partita_core::{Monitor, Objective, Outcome, ProgressCounter, Seed, Sense, Settings};
use serde::{Deserialize, Serialize};

use super::posterior::{Posterior, advance};
use crate::error::MixtureError;
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::likelihood::{self, NbceDiagnostics};
use crate::nbce::truncation::varied_statistics;
use crate::shared::multi_start::{Limits, Run, ascend, best_of_finalists, best_on};
use crate::shared::weighted_rows::WeightedRows;

/// Settings of [`nbce_vb`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NbceVbSettings {
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    #[setting(range = 1e-20..=1e20)]
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    #[setting(range = 1e-20..=1e20)]
    pub beta: f64,
    /// Learn α0 and β, both under Gamma(1, 1); the values above are where they start.
    pub learn: bool,
    /// Independent initializations, of every four one by merging small clusters to K, K/2, K, K/4, … ones and three of memberships drawn
    /// at random. All run for 20 rounds, the best quarter goes on, and the highest bound is kept.
    ///
    /// Above 65,536 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most rounds of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when a round gains at most this share of the bound.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NbceVbSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            alpha0: 1.0,
            beta: 1.0,
            learn: false,
            restarts: count(16),
            rounds: count(500),
            tolerance: 1e-6,
        }
    }
}

impl NbceVbSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            rounds: self.rounds,
            tolerance: self.tolerance,
        }
    }
}

/// A Dirichlet-process mixture of label rows with at most `clusters` clusters, by a lower bound on the evidence.
///
/// ```text
/// π ~ Dir(α0/K, …)   θ_ku ~ Dir(β, …)   z_i ~ π   ℓ_iu ~ θ_{z_i u}      q(π) q(θ) q(z)
/// γ_ik ∝ exp( ψ(ξ_k) − ψ(Σξ) + Σ_u [ψ(ρ_kuℓ) − ψ(Σ_j ρ_kuj)] )
/// ξ_k = α0/K + Σ_i w_i γ_ik       ρ_kuj = β + Σ_i w_i γ_ik δ(ℓ_iu = j)
/// ```
///
/// | paper | here |
/// |---|---|
/// | γ | the soft result, n × K |
/// | ξ, ρ | Dirichlet parameters of cluster shares and label shares |
/// | K, α0, β | `clusters`, `alpha0`, `beta` |
///
/// The bound never falls. With learned α0 and β it is the bound plus their log prior densities. Clusters that stay
/// empty are reported as one last cluster, which stands for "none of these" in the saved model. Rows may have any
/// weights. A base clustering of weight ω is ω copies: the exponent of the factor of its labels, and ω times in the bound.
///
/// # Cost
/// O(distinct rows · M · K) time a round, in parallel over restarts and rows; 64 ΣJ K numbers a restart and n K for
/// the result. The memberships are never held while the bound ascends.
///
/// # Differences from the paper
/// The printed update of γ has ln ρ where the bound wants ψ(ρ) − ψ(Σρ); the printed one is not an ascent step and
/// collapses clusters. Eq. 7 sums u over base clusterings, and adds E ln p(π). Missing labels drop out.
///
/// # Errors
/// [`MixtureError::Settings`] for a tolerance below 0, or α0 or β out of range; [`MixtureError::NoClusters`] for K = 0.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010.
#[doc(alias = "Dirichlet process mixture")]
#[doc(alias = "DPMM")]
pub fn nbce_vb(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NbceVbSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<NbceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("nbce-vb", rows = rows.weights().len(), clusters).entered();
    MixtureError::check(settings, &rows.size(clusters))?;
    let progress = settings.limits().progress_of_finalists(monitor, 1);
    let (run, objectives) = best_on(
        rows,
        seed,
        |rows| compete(rows, clusters, seed, settings, &progress),
        |posterior| ascend_on(rows, posterior, settings, &progress),
    );
    Ok(outcome(rows, run, objectives))
}

/// The best of all initializations, and the bounds of all.
pub(crate) fn compete(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NbceVbSettings,
    progress: &ProgressCounter<'_>,
) -> (Run<Posterior>, Vec<f64>) {
    let hyperparameters = Hyperparameters {
        alpha0: settings.alpha0,
        beta: settings.beta,
    };
    best_of_finalists(
        settings.limits(),
        progress,
        |restart| {
            let sums = varied_statistics(rows, clusters, restart, seed);
            Posterior::of(sums, hyperparameters, rows.offsets())
        },
        |start, limits| {
            ascend(start, limits, progress, |posterior| {
                round(rows, posterior, settings.learn)
            })
        },
    )
}

fn ascend_on(
    rows: &WeightedRows<'_>,
    start: Posterior,
    settings: &NbceVbSettings,
    progress: &ProgressCounter<'_>,
) -> Run<Posterior> {
    ascend(start, settings.limits(), progress, |posterior| {
        round(rows, posterior, settings.learn)
    })
}

/// The bound at the best q(z) for `posterior` (plus the log densities of learned α0 and β), and the next posterior.
fn round(rows: &WeightedRows<'_>, posterior: &Posterior, learn: bool) -> (f64, Posterior) {
    let sums = rows.expect(&posterior.logs.weighted(rows.base_weights(), rows.offsets()));
    advance(
        sums,
        posterior,
        (rows.offsets(), rows.base_weights()),
        learn,
    )
}

fn outcome(
    rows: &WeightedRows<'_>,
    run: Run<Posterior>,
    objective_by_restart: Vec<f64>,
) -> Outcome<NbceDiagnostics> {
    let posterior = run.result;
    let soft = rows.memberships(&posterior.logs.weighted(rows.base_weights(), rows.offsets()));
    let (prior, theta) = posterior.means(rows.offsets());
    let mut outcome = likelihood::outcome(rows, soft.view(), (&prior, &theta), run.stopped);
    outcome.rounds = run.trace.len() as u64;
    outcome.objective = Some(objective(run.trace));
    let (alpha0, beta) = (
        posterior.hyperparameters.alpha0,
        posterior.hyperparameters.beta,
    );
    outcome.map_details(|fit| NbceDiagnostics {
        fit,
        alpha0,
        beta,
        objective_by_restart,
    })
}

pub(crate) fn objective(trace: Vec<f64>) -> Objective {
    let (name, sense) = ("lower bound on the log evidence, nats", Sense::Maximise);
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
    use crate::nbce::prior::{NbcePrior, log_labels};
    use crate::shared::log_probabilities::normalise;
    use crate::shared::{fixture, initialization};
    use partita_core::ndarray::{Array2, ArrayView2};
    use partita_core::{Ensemble, Silent};

    /// The bound at any memberships, with the best q(π) and q(θ) for them.
    fn bound(
        rows: &WeightedRows<'_>,
        soft: ArrayView2<'_, f64>,
        hyperparameters: Hyperparameters,
    ) -> f64 {
        let sums = rows.given_soft(soft);
        let posterior = Posterior::of(sums.clone(), hyperparameters, rows.offsets());
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let expected =
            dot(&sums.sizes, &posterior.logs.prior) + dot(&sums.labels, &posterior.logs.lines);
        let entropy: f64 = soft.iter().filter(|p| **p > 0.0).map(|p| -p * p.ln()).sum();
        expected + entropy - posterior.divergence((rows.offsets(), None))
    }

    const HYPERPARAMETERS: Hyperparameters = Hyperparameters {
        alpha0: 0.8,
        beta: 0.3,
    };

    #[test]
    fn one_round_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["nbce_vb"];
        let rows = WeightedRows::unfolded(&ensemble);
        let soft = fixture::matrix(&told["R0"]);
        let posterior = Posterior::of(
            rows.given_soft(soft.view()),
            HYPERPARAMETERS,
            rows.offsets(),
        );
        let after = rows.memberships(&posterior.logs);
        let flat = |matrix: &Array2<f64>| matrix.iter().copied().collect::<Vec<_>>();
        fixture::assert_close(&flat(&after), &flat(&fixture::matrix(&told["R1"])));
        let found = [
            bound(&rows, soft.view(), HYPERPARAMETERS),
            bound(&rows, after.view(), HYPERPARAMETERS),
        ];
        fixture::assert_close(
            &found,
            &["elbo_at_R0", "elbo_after_update"].map(|name| told[name].as_f64().unwrap()),
        );
    }

    /// From one posterior a base clustering of weight 3 gives the bound and the next posterior of three copies, learned or not; the bound
    /// never falls where weights are fractions.
    #[test]
    fn a_weight_is_so_many_copies() {
        for seed in 0..20 {
            let ensemble = fixture::drawn(seed);
            let bases = ensemble.bases().len() as u32;
            let objects: Vec<u32> = (0..ensemble.objects() as u32).collect();
            let copied = ensemble.select(
                &objects,
                &[&[0, 0][..], &(0..bases).collect::<Vec<u32>>()].concat(),
            );
            let weights: Vec<f64> = (0..bases).map(|u| if u == 0 { 3.0 } else { 1.0 }).collect();
            let rows = WeightedRows::of(&ensemble).with_base_weights(Some(weights));
            let copies = WeightedRows::of(&copied);
            let nearest = initialization::kmeans_plus_plus(&rows, 3, Seed::new(seed));
            let start = |rows: &WeightedRows<'_>| {
                let posterior = Posterior::of(
                    rows.given_hard(&nearest, 4),
                    HYPERPARAMETERS,
                    rows.offsets(),
                );
                let (bound, next) = round(rows, &posterior, true);
                (bound, next.hyperparameters, round(rows, &next, true).0)
            };
            let ((one, learned, next), (other, expected, last)) = (start(&rows), start(&copies));
            assert!(
                (one - other).abs() < 1e-12 * one.abs() && (next - last).abs() < 1e-12 * next.abs(),
                "seed {seed}"
            );
            assert!(learned.distance(&expected) < 1e-9, "seed {seed}");

            let fractions: Vec<f64> = (0..bases).map(|u| 0.25 + 0.5 * f64::from(u)).collect();
            let rows = WeightedRows::of(&ensemble).with_base_weights(Some(fractions));
            let found = nbce_vb(
                &rows,
                5,
                Seed::new(seed),
                &NbceVbSettings::default(),
                &Silent,
            )
            .unwrap();
            let trace = found.objective.unwrap().trace;
            assert!(
                trace
                    .windows(2)
                    .all(|pair| pair[1] >= pair[0] - 1e-10 * pair[0].abs()),
                "seed {seed}: {trace:?}"
            );
        }
    }

    #[test]
    fn the_bound_never_falls() {
        for seed in 0..240 {
            let ensemble = fixture::drawn(seed);
            let (alpha0, beta) = (
                [0.3, 1.0, 3.0][seed as usize % 3],
                [0.1, 1.0][seed as usize % 2],
            );
            let settings = NbceVbSettings {
                alpha0,
                beta,
                learn: seed % 4 == 0,
                ..NbceVbSettings::default()
            };
            let outcome = nbce_vb(
                &WeightedRows::of(&ensemble),
                6,
                Seed::new(seed),
                &settings,
                &Silent,
            )
            .unwrap();
            let trace = outcome.objective.unwrap().trace;
            assert!(
                trace
                    .windows(2)
                    .all(|pair| pair[1] >= pair[0] - 1e-10 * pair[0].abs()),
                "seed {seed}: {trace:?}"
            );
        }
    }

    /// With ln ρ in place of ψ(ρ) − ψ(Σρ), the update that the paper prints, the bound falls.
    #[test]
    fn the_printed_update_does_not_ascend() {
        let mut falls = 0;
        for seed in 0..50 {
            let ensemble = fixture::drawn(seed);
            let rows = WeightedRows::unfolded(&ensemble);
            let nearest = initialization::kmeans_plus_plus(&rows, 4, Seed::new(seed));
            let mut sums = rows.given_hard(&nearest, 4);
            let mut before = f64::NEG_INFINITY;
            for _ in 0..20 {
                let mut posterior = Posterior::of(sums, HYPERPARAMETERS, rows.offsets());
                posterior.logs.lines = posterior.labels.iter().map(|label| label.ln()).collect();
                let soft = rows.memberships(&posterior.logs);
                let after = bound(&rows, soft.view(), HYPERPARAMETERS);
                falls += u32::from(after < before - 1e-3);
                before = after;
                sums = rows.given_soft(soft.view());
            }
        }
        assert!(falls > 50, "the printed update fell {falls} times of 950");
    }

    /// ln p(labels), by all assignments of the objects.
    fn evidence(ensemble: &Ensemble, clusters: usize, hyperparameters: Hyperparameters) -> f64 {
        let rows = WeightedRows::unfolded(ensemble);
        let n = ensemble.objects() as u32;
        let joint = |code: usize| {
            let z: Vec<u32> = (0..n)
                .map(|i| (code / clusters.pow(i) % clusters) as u32)
                .collect();
            let sums = rows.given_hard(&z, clusters);
            NbcePrior::Symmetric.log_partition(&sums.sizes, hyperparameters.alpha0)
                + log_labels(&sums, (rows.offsets(), None), hyperparameters.beta)
        };
        normalise(&mut (0..clusters.pow(n)).map(joint).collect::<Vec<f64>>())
    }

    #[test]
    fn the_bound_is_below_the_evidence() {
        for seed in 0..20 {
            let drawn = fixture::drawn(seed);
            let bases: Vec<u32> = (0..drawn.bases().len() as u32).collect();
            let ensemble = drawn.select(&[0, 1, 2, 3, 4, 5], &bases);
            let settings = NbceVbSettings {
                alpha0: 0.8,
                beta: 0.3,
                ..NbceVbSettings::default()
            };
            let outcome = nbce_vb(
                &WeightedRows::of(&ensemble),
                3,
                Seed::new(seed),
                &settings,
                &Silent,
            )
            .unwrap();
            let (bound, evidence) = (
                outcome.objective.unwrap().value,
                evidence(&ensemble, 3, HYPERPARAMETERS),
            );
            assert!(
                bound <= evidence && bound > evidence - 6.0,
                "seed {seed}: {bound} and {evidence}"
            );
        }
    }

    #[test]
    fn repeated_rows_with_halved_weights_change_nothing() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let n = ensemble.objects() as u32;
            let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
            let twice = ensemble.select(&(0..2 * n).map(|i| i % n).collect::<Vec<_>>(), &bases);
            let fit = |rows: &WeightedRows<'_>| {
                nbce_vb(
                    rows,
                    5,
                    Seed::new(seed),
                    &NbceVbSettings::default(),
                    &Silent,
                )
                .unwrap()
            };
            let once = fit(&WeightedRows::of(&ensemble));
            let again = fit(&WeightedRows::weighted(&twice, &vec![0.5; twice.objects()]).unwrap());
            assert_eq!(again.objective, once.objective);
            assert_eq!(
                again.partition.labels()[..n as usize],
                *once.partition.labels()
            );
            assert_eq!(
                again.partition.labels()[n as usize..],
                *once.partition.labels()
            );
        }
    }

    /// From the same posterior, distinct rows with weights and every row for itself give the same round.
    #[test]
    fn distinct_rows_are_exact() {
        for seed in 0..40 {
            let ensemble = fixture::drawn(seed);
            let (folded, each) = (
                WeightedRows::of(&ensemble),
                WeightedRows::unfolded(&ensemble),
            );
            let start = rows_start(&folded, seed);
            let ((one, next), (other, last)) =
                (round(&folded, &start, true), round(&each, &start, true));
            assert!((one - other).abs() < 1e-10 * one.abs());
            fixture::assert_close(&next.labels, &last.labels);
        }
    }

    fn rows_start(rows: &WeightedRows<'_>, seed: u64) -> Posterior {
        let nearest = initialization::kmeans_plus_plus(rows, 3, Seed::new(seed));
        Posterior::of(
            rows.given_hard(&nearest, 4),
            HYPERPARAMETERS,
            rows.offsets(),
        )
    }

    /// With very many distinct rows, initializations compete on a sample.
    #[test]
    fn initializations_compete_on_a_sample_of_many_rows() {
        let ensemble = fixture::many(75_000, 16, 5);
        let rows = WeightedRows::of(&ensemble);
        assert!(
            initialization::sample(&rows, crate::shared::multi_start::SAMPLE_ROWS, Seed::new(1))
                .is_some()
        );
        let settings = NbceVbSettings {
            restarts: NonZeroU32::new(2).unwrap(),
            ..NbceVbSettings::default()
        };
        let outcome = nbce_vb(&rows, 5, Seed::new(1), &settings, &Silent).unwrap();
        let right = (0..75_000)
            .filter(|&i| outcome.partition.labels()[i] == outcome.partition.labels()[i % 5])
            .count();
        assert!(right > 74_000, "{right}");
    }
}
