//! Collapsed variational inference for NBCE: initializations, rounds until nothing moves, and the outcome.

use std::num::NonZeroU32;

use partita_core::ndarray::ArrayView2;
use partita_core::{Monitor, Objective, Outcome, ProgressCounter, Seed, Sense, Settings, Stopped};
use serde::{Deserialize, Serialize};

use super::memberships::Memberships;
use crate::error::MixtureError;
use crate::nbce::hyperparameters::{Hyperparameters, maximise_collapsed};
use crate::nbce::likelihood::{self, NbceDiagnostics};
use crate::nbce::prior::NbcePrior;
use crate::nbce::truncation::{order_by_size, varied_statistics};
use crate::shared::initialization;
use crate::shared::log_probabilities::normalise_by_base;
use crate::shared::multi_start::{Limits, Run, best_of_finalists, best_on};
use crate::shared::sufficient_statistics::SufficientStatistics;
use crate::shared::weighted_rows::WeightedRows;

/// Rounds between two looks at α0 and β.
pub(crate) const LEARN_EVERY: usize = 5;

/// Settings of [`nbce_cvb`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NbceCvbSettings {
    /// How the Dirichlet process is made finite: symmetric, or stick-breaking, which makes fewer and larger clusters.
    pub prior: NbcePrior,
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    #[setting(range = 1e-20..=1e20)]
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    #[setting(range = 1e-20..=1e20)]
    pub beta: f64,
    /// Learn α0 and β, both under Gamma(1, 1); the values above are where they start.
    pub learn: bool,
    /// Independent initializations, of every four one by merging small clusters to K, K/2, K, K/4, … ones and three of memberships drawn
    /// at random. All run for 20 rounds, the best quarter goes on, and the highest objective is kept.
    ///
    /// Above 65,536 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most rounds of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when no membership changes by more than this in a round, nor ln α0 or ln β where they are learned.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NbceCvbSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            prior: NbcePrior::Symmetric,
            alpha0: 1.0,
            beta: 1.0,
            learn: false,
            restarts: count(16),
            rounds: count(300),
            tolerance: 1e-4,
        }
    }
}

impl NbceCvbSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            rounds: self.rounds,
            tolerance: self.tolerance,
        }
    }
}

/// A Dirichlet-process mixture of label rows with at most `clusters` clusters, shares and label shares marginalised,
/// by the first-order approximation of its variational update.
///
/// ```text
/// γ_ik ∝ p(z_i = k | E N^{¬i}) Π_u (β + E N^{¬i}_{kuℓ(i,u)}) / (J_u β + E N^{¬i}_{ku})
/// ```
///
/// The expectations exclude the object itself; the product runs over the labels that are there. All rows move at
/// once, which makes identical rows move together: distinct rows with whole weights are exact. A base clustering of
/// weight ω is ω copies: the exponent of the factor of its labels, and ω times in the objective.
///
/// | paper | here |
/// |---|---|
/// | γ | the soft result, n × K |
/// | `p_FSD`, `p_TSB` | `prior`: `symmetric`, `stick-breaking` |
/// | K, α0, β | `clusters`, `alpha0`, `beta` |
///
/// The objective reported is the log joint at expected counts plus the entropy of γ. It is an approximation, no
/// bound: the update need not ascend it, so starts are compared by it and convergence is judged by γ.
///
/// # Cost
/// O(distinct rows · M · K) time a round, in parallel over restarts and rows; rows · K and 64 ΣJ K numbers a restart.
///
/// Rows that are not held have no memberships to be left out: [`nbce_cvb_rows`](crate::nbce_cvb_rows) finds those that agree with the
/// expected counts, of which the fixed points are the same.
///
/// # Differences from the paper
/// Eq. 10 lacks the δ: only the observed label's count is in the product. Stick-breaking is truncated at v_K = 1, so
/// that the first factor is absent for k = K. Missing labels drop out.
///
/// # Errors
/// [`MixtureError::Settings`] for a tolerance below 0, or α0 or β out of range; [`MixtureError::NoClusters`] for K = 0.
///
/// # References
/// Wang, Domeniconi, Laskey, *Nonparametric Bayesian clustering ensembles*, ECML PKDD 2010; Kurihara, Welling, Teh,
/// *Collapsed variational Dirichlet process mixture models*, IJCAI 2007.
#[doc(alias = "CVB0")]
#[doc(alias = "DPMM")]
pub fn nbce_cvb(
    rows: &WeightedRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &NbceCvbSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<NbceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("nbce-cvb", rows = rows.weights().len(), clusters).entered();
    MixtureError::check(settings, &rows.size(clusters))?;
    let progress = settings.limits().progress_of_finalists(monitor, 1);
    let compete = |rows: &WeightedRows<'_>| compete(rows, (clusters, seed), settings, &progress);
    let (run, objectives) = best_on(rows, seed, compete, |best| {
        let start = begin(rows, (&best.sums, clusters), settings);
        relax(rows, start, (settings, settings.limits()), &progress)
    });
    Ok(outcome(rows, run, objectives, settings.prior))
}

/// The best of all initializations, and the objectives of all.
pub(crate) fn compete(
    rows: &WeightedRows<'_>,
    (clusters, seed): (usize, Seed),
    settings: &NbceCvbSettings,
    progress: &ProgressCounter<'_>,
) -> (Run<Memberships>, Vec<f64>) {
    best_of_finalists(
        settings.limits(),
        progress,
        |restart| {
            begin(
                rows,
                (&varied_statistics(rows, clusters, restart, seed), clusters),
                settings,
            )
        },
        |state, limits| relax(rows, state, (settings, limits), progress),
    )
}

/// Every row in its most probable cluster under expected counts.
fn begin(
    rows: &WeightedRows<'_>,
    (sums, clusters): (&SufficientStatistics, usize),
    settings: &NbceCvbSettings,
) -> Memberships {
    let mut nearest = rows.nearest(initialization::model(rows, sums).logs());
    order_by_size(rows, &mut nearest, clusters);
    let hyperparameters = Hyperparameters {
        alpha0: settings.alpha0,
        beta: settings.beta,
    };
    Memberships {
        hyperparameters,
        ..Memberships::of_hard(rows, &nearest, clusters)
    }
}

/// Updates until nothing moves: memberships, and α0 and β where they are learned. Where rounds go to and
/// fro, all rows go half of the way from then on, which has the same fixed points.
fn relax(
    rows: &WeightedRows<'_>,
    mut state: Memberships,
    (settings, limits): (&NbceCvbSettings, Limits),
    progress: &ProgressCounter<'_>,
) -> Run<Memberships> {
    let most = limits.rounds.get() as usize;
    let (mut trace, mut oscillation) = (Vec::new(), Oscillation::new(&state.sums));
    let stopped = loop {
        let mut change = state.update(rows, settings.prior);
        let still = change <= settings.tolerance;
        if settings.learn && (still || trace.len() % LEARN_EVERY == LEARN_EVERY - 1) {
            let learned = maximise_collapsed(
                settings.prior,
                &state.sums,
                (rows.offsets(), rows.base_weights()),
            );
            change = change.max(learned.distance(&state.hyperparameters));
            state.hyperparameters = learned;
        }
        trace.push(state.objective(rows, settings.prior, settings.learn));
        progress.add(1);
        let stop = progress.stopped();
        if still && change <= settings.tolerance {
            break Stopped::Converged;
        }
        if oscillation.found(&state.sums) {
            state.step *= 0.5;
        }
        if stop {
            break Stopped::Interrupted;
        }
        if trace.len() == most {
            break Stopped::RoundLimit;
        }
    };
    progress.add((most - trace.len()) as u64);
    Run {
        result: state,
        trace,
        stopped,
    }
}

/// Looks for rounds that go to and fro: steps of the expected counts that point against those before them.
pub(crate) struct Oscillation {
    sums: SufficientStatistics,
    step: Vec<f64>,
    rounds: u32,
}

impl Oscillation {
    /// So many steps in a row that turn back are an oscillation.
    const ROUNDS: u32 = 10;
    /// The cosine of the angle between two steps below which the second turns back.
    const BACK: f64 = -0.5;

    pub(crate) fn new(sums: &SufficientStatistics) -> Self {
        Self {
            sums: sums.clone(),
            step: Vec::new(),
            rounds: 0,
        }
    }

    /// Whether the counts have turned back in each of the last rounds.
    pub(crate) fn found(&mut self, sums: &SufficientStatistics) -> bool {
        let differences = |now: &[f64], before: &[f64]| {
            now.iter()
                .zip(before)
                .map(|(a, b)| a - b)
                .collect::<Vec<_>>()
        };
        let mut step = differences(&sums.sizes, &self.sums.sizes);
        step.extend(differences(&sums.labels, &self.sums.labels));
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let lengths = (dot(&step, &step) * dot(&self.step, &self.step)).sqrt();
        let back = dot(&step, &self.step) < Self::BACK * lengths;
        self.rounds = if back { self.rounds + 1 } else { 0 };
        (self.sums, self.step) = (sums.clone(), step);
        let found = self.rounds == Self::ROUNDS;
        if found {
            self.rounds = 0;
        }
        found
    }
}

fn outcome(
    rows: &WeightedRows<'_>,
    run: Run<Memberships>,
    objective_by_restart: Vec<f64>,
    prior: NbcePrior,
) -> Outcome<NbceDiagnostics> {
    let Memberships {
        soft,
        sums,
        hyperparameters,
        ..
    } = run.result;
    let clusters = sums.sizes.len();
    let soft =
        ArrayView2::from_shape((rows.weights().len(), clusters), &soft).expect("K values a row");
    let mut theta: Vec<f64> = sums
        .labels
        .iter()
        .map(|count| hyperparameters.beta + count)
        .collect();
    normalise_by_base(&mut theta, rows.offsets(), clusters);
    let shares = prior.expected_shares(&sums.sizes, hyperparameters.alpha0);
    let mut outcome = likelihood::outcome(rows, soft, (&shares, &theta), run.stopped);
    outcome.rounds = run.trace.len() as u64;
    outcome.objective = Some(reported(run.trace));
    let (alpha0, beta) = (hyperparameters.alpha0, hyperparameters.beta);
    outcome.map_details(|fit| NbceDiagnostics {
        fit,
        alpha0,
        beta,
        objective_by_restart,
    })
}

pub(crate) fn reported(trace: Vec<f64>) -> Objective {
    let (name, sense) = (
        "log joint at expected counts plus entropy, nats",
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
    fn learning_and_both_priors_reach_an_end() {
        for seed in 0..20 {
            let ensemble = fixture::drawn(seed);
            let prior = [NbcePrior::Symmetric, NbcePrior::StickBreaking][seed as usize % 2];
            let settings = NbceCvbSettings {
                prior,
                learn: seed % 3 == 0,
                ..NbceCvbSettings::default()
            };
            let outcome = nbce_cvb(
                &WeightedRows::of(&ensemble),
                6,
                Seed::new(seed),
                &settings,
                &Silent,
            )
            .unwrap();
            assert!(outcome.partition.live_clusters() <= 6);
            assert!(outcome.objective.unwrap().value.is_finite());
        }
    }

    /// The starts of [`nbce_cvb`] on a drawn ensemble, run to their ends.
    fn runs(seed: u64, settings: &NbceCvbSettings) -> Vec<(Run<Memberships>, f64)> {
        let ensemble = fixture::drawn(seed);
        let rows = WeightedRows::of(&ensemble);
        let progress = settings.limits().progress(&Silent, 1);
        let run = |start: u32| {
            let sums = varied_statistics(&rows, 5, start, Seed::new(seed));
            let begun = begin(&rows, (&sums, 5), settings);
            let run = relax(&rows, begun, (settings, settings.limits()), &progress);
            let mut next = run.result.clone();
            let moved = next.update(&rows, settings.prior);
            let learned = maximise_collapsed(settings.prior, &next.sums, (rows.offsets(), None));
            let learned = if settings.learn {
                learned.distance(&next.hyperparameters)
            } else {
                0.0
            };
            (run, moved.max(learned))
        };
        (0..3).map(run).collect()
    }

    #[test]
    fn converged_means_that_nothing_moves_any_more() {
        for seed in 0..60 {
            let settings = NbceCvbSettings {
                learn: seed % 2 == 0,
                alpha0: 0.5,
                beta: 0.2,
                ..NbceCvbSettings::default()
            };
            for (run, moved) in runs(seed, &settings) {
                let held = run.stopped != Stopped::Converged || moved <= 5.0 * settings.tolerance;
                assert!(
                    held,
                    "ensemble {seed} said that it converged and moved by {moved}"
                );
            }
        }
    }

    #[test]
    fn rounds_that_repeat_each_other_are_damped() {
        let settings = NbceCvbSettings {
            alpha0: 0.5,
            beta: 0.2,
            ..NbceCvbSettings::default()
        };
        let runs: Vec<_> = (0..120).flat_map(|seed| runs(seed, &settings)).collect();
        let damped = runs.iter().filter(|(run, _)| run.result.step < 1.0).count();
        let far = runs.iter().map(|(_, moved)| *moved).fold(0.0, f64::max);
        assert!(damped > 0, "no ensemble goes to and fro: draw others");
        assert!(
            far < 0.01,
            "of {} runs, {damped} of them damped, one ends where rows move by {far}",
            runs.len()
        );
    }
}
