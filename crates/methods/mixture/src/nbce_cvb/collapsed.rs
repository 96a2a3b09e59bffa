//! Collapsed variational inference for NBCE: iterations until nothing moves, one pass each.

use std::num::NonZeroU32;

use partita_core::{
    Monitor, Objective, PassError, PassRunner, ProgressCounter, RowFit, RowProblem, Seed, Sense,
    Settings, Stopped,
};
use serde::{Deserialize, Serialize};

use super::counts::Counts;
use super::second_order::{CvbOrder, Spread};
use super::update::{Collapsed, Update};
use crate::error::MixtureError;
use crate::nbce::hyperparameters::{Hyperparameters, Learn, maximise_collapsed};
use crate::nbce::likelihood::{NbceDiagnostics, NbceFound};
use crate::nbce::prior::{NbcePrior, log_labels};
use crate::nbce::truncation::{number_by_size, varied_statistics};
use crate::shared::held_rows::HeldRows;
use crate::shared::initialization;
use crate::shared::layout::BaseLayout;
use crate::shared::multi_start::{Competition, Limits, MixtureFit, Run, best_fit};
use crate::shared::shares::MixtureShares;
use crate::shared::sufficient_statistics::SufficientStatistics;

/// The share of the tolerance to which memberships of a row agree with themselves.
const SETTLED: f64 = 0.1;

/// Iterations between two looks at α0 and β.
const LEARN_EVERY: usize = 5;

/// Settings of [`NBCE_CVB`](crate::NBCE_CVB). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct NbceCvbSettings {
    /// How the Dirichlet process is made finite: symmetric, or stick-breaking, which expects sizes to fall and, with alpha0 up to 1, finds more clusters.
    pub prior: NbcePrior,
    /// The order of the Taylor expansion of expected logarithms: second is nearer to what is expanded, but takes several times as long an
    /// iteration, and with beta far below 1 may not settle.
    pub order: CvbOrder,
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    #[setting(range = 1e-20..=1e20)]
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    #[setting(range = 1e-20..=1e20)]
    pub beta: f64,
    /// Learn α0 and β: true under Gamma(1, 1), ml by maximum likelihood between 1e-4 and 1e4; the values above are where they start.
    ///
    /// Without a prior the likelihood may rise for ever, to pure clusters (beta) or to one (alpha0): what ran to a limit is said in a warning.
    pub learn: Learn,
    /// Independent initializations, of every four one by merging small clusters to K, K/2, K, K/4, … ones and three of memberships drawn
    /// at random. All run for 20 iterations, the best quarter goes on, and the highest objective is kept.
    ///
    /// Above 32,768 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when no membership changes by more than this in an iteration, nor ln α0 or ln β where they are learned.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for NbceCvbSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            prior: NbcePrior::Symmetric,
            order: CvbOrder::First,
            alpha0: 1.0,
            beta: 1.0,
            learn: Learn::False,
            restarts: count(16),
            iterations: count(300),
            tolerance: 1e-4,
        }
    }
}

impl NbceCvbSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            iterations: self.iterations,
            tolerance: self.tolerance,
        }
    }
}

/// Collapsed inference over rows of one layout.
struct CollapsedFit<'a> {
    layout: &'a BaseLayout,
    clusters: usize,
    seed: Seed,
    settings: &'a NbceCvbSettings,
}

/// What a fit is but for memberships, which follow from it.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Expected {
    sums: SufficientStatistics,
    /// The variances of the counts, where expectations are of second order.
    spread: Option<Spread>,
    hyperparameters: Hyperparameters,
}

impl MixtureFit for CollapsedFit<'_> {
    type State = Expected;

    /// Every row in its most probable cluster under the counts of a start.
    fn start(&self, rows: HeldRows<'_>, restart: u32) -> Expected {
        let sums = varied_statistics(rows, self.clusters, restart, self.seed);
        let shares = initialization::begun(self.layout, &sums);
        let mut nearest = rows.nearest(&shares.logs(self.layout));
        number_by_size(&mut nearest, &rows.weights(), self.clusters);
        let sums = rows.given_hard(&nearest, self.clusters);
        Expected {
            spread: (self.settings.order == CvbOrder::Second).then(|| Spread::zero(&sums)),
            sums,
            hyperparameters: Hyperparameters {
                alpha0: self.settings.alpha0,
                beta: self.settings.beta,
            },
        }
    }

    fn ascend(
        &self,
        rows: &PassRunner<'_>,
        state: Expected,
        limits: Limits,
        progress: &ProgressCounter<'_>,
    ) -> Result<Run<Expected>, PassError> {
        self.relax(rows, state, limits, progress)
    }

    fn fits(&self, state: &Expected) -> bool {
        self.layout
            .fits(&state.sums.labels, &state.sums.sizes, self.clusters)
            && state
                .spread
                .as_ref()
                .is_none_or(|spread| spread.fits(&state.sums))
    }
}

impl CollapsedFit<'_> {
    fn counts(&self, state: &Expected) -> Counts {
        Counts::of(
            self.layout,
            &state.sums,
            state.spread.as_ref(),
            state.hyperparameters,
            self.settings.prior,
            (SETTLED * self.settings.tolerance).max(f64::EPSILON),
        )
    }

    /// Log joint at expected counts, of second order where that is asked for, plus the entropy of memberships, plus the log densities of
    /// learned α0 and β.
    fn objective(&self, state: &Expected, entropy: f64) -> f64 {
        let Hyperparameters { alpha0, beta } = state.hyperparameters;
        let settings = self.settings;
        let second = state.spread.as_ref().map_or(0.0, |spread| {
            spread.of_joint(
                &state.sums,
                settings.prior,
                self.layout,
                state.hyperparameters,
            )
        });
        settings.prior.log_partition(&state.sums.sizes, alpha0)
            + log_labels(&state.sums, self.layout, beta)
            + second
            + entropy
            - settings.learn.slope() * (alpha0 + beta)
    }

    /// Iterations until no membership changes, nor α0 and β where they are learned.
    fn relax(
        &self,
        rows: &PassRunner<'_>,
        mut state: Expected,
        limits: Limits,
        progress: &ProgressCounter<'_>,
    ) -> Result<Run<Expected>, PassError> {
        let settings = self.settings;
        let most = limits.iterations.get() as usize;
        let mut trace = Vec::new();
        let mut before: Option<Update> = None;
        let mut moved = f64::INFINITY;
        let stopped = loop {
            // Where counts move so far some row must, and how far need not be asked.
            let weight: f64 = state.sums.sizes.iter().sum();
            let near = moved <= settings.tolerance * weight;
            let update = Update {
                offsets: self.layout.offsets.clone(),
                before: before.take().filter(|_| near).map(|last| last.now),
                now: self.counts(&state),
            };
            let found = rows.run(&update)?;
            let mut change = if update.before.is_some() {
                found.change
            } else {
                f64::INFINITY
            };
            moved = state.sums.distance(&found.sums);
            before = Some(update);
            let still = change <= settings.tolerance;
            state.sums = found.sums;
            state.spread = found.spread;
            if settings.learn.is_on() && (still || trace.len() % LEARN_EVERY == LEARN_EVERY - 1) {
                let learned =
                    maximise_collapsed(settings.learn, settings.prior, &state.sums, self.layout);
                change = change.max(learned.distance(&state.hyperparameters));
                state.hyperparameters = learned;
            }
            trace.push(self.objective(&state, state.sums.log_sum));
            progress.add(1);
            let stop = progress.stopped();
            if still && change <= settings.tolerance {
                break Stopped::Converged;
            }
            if stop {
                break Stopped::Interrupted;
            }
            if trace.len() == most {
                break Stopped::IterationLimit;
            }
        };
        progress.add((most - trace.len()) as u64);
        Ok(Run {
            result: state,
            trace,
            stopped,
        })
    }
}

/// The fit from several initializations.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &NbceCvbSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<NbceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("nbce-cvb", rows = problem.rows.rows(), clusters).entered();
    let layout = BaseLayout::of(problem);
    let fit = CollapsedFit {
        layout: &layout,
        clusters,
        seed: problem.seed,
        settings,
    };
    let Competition { best, objectives } =
        best_fit(&fit, problem, &layout, settings.limits(), monitor)?;
    let state = best.result;
    let update = Update {
        offsets: layout.offsets.clone(),
        before: None,
        now: fit.counts(&state),
    };
    let last = problem.passes().run(&update)?;
    let Hyperparameters { alpha0, beta } = state.hyperparameters;
    let found = NbceFound {
        shares: MixtureShares {
            prior: settings.prior.expected_shares(&state.sums.sizes, alpha0),
            theta: MixtureShares::of_sums(&state.sums, &layout, beta, 0.0).theta,
        },
        sizes: last.sums.sizes,
        chosen: last.chosen,
        hyperparameters: state.hyperparameters,
        learn: settings.learn,
        objective: Objective::of_trace(
            "log joint at expected counts plus entropy, nats",
            Sense::Maximise,
            best.trace,
        ),
        stopped: best.stopped,
        objectives,
    };
    let counts = update.now;
    found.fit(problem, layout, |places| Collapsed { counts, places })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture::{self, Held};
    use partita_core::Silent;

    /// Runs of three initializations on a drawn ensemble, and how far one more iteration moves memberships, α0 and β.
    fn runs(seed: u64, settings: &NbceCvbSettings) -> Vec<(Run<Expected>, f64)> {
        let held = Held::of(&fixture::drawn(seed));
        let copies: Vec<f64> = (0..held.layout.len()).map(|u| 0.5 + u as f64).collect();
        let held = held.with_copies((seed % 3 == 1).then_some(copies));
        let fit = CollapsedFit {
            layout: &held.layout,
            clusters: 5,
            seed: Seed::new(seed),
            settings,
        };
        let (rows, limits) = (held.rows(), settings.limits());
        let progress = limits.progress(&Silent, 1);
        let run = |restart: u32| {
            let start = fit.start(rows, restart);
            let run = fit.relax(&rows.passes(), start, limits, &progress).unwrap();
            let mut next = run.result.clone();
            let now = fit.counts(&next);
            let update = |before, now| Update {
                offsets: held.layout.offsets.clone(),
                before,
                now,
            };
            let found = rows.passes().run(&update(None, now.clone())).unwrap();
            next.sums = found.sums;
            next.spread = found.spread;
            let moved = update(Some(now), fit.counts(&next));
            let moved = rows.passes().run(&moved).unwrap().change;
            let learned =
                maximise_collapsed(settings.learn, settings.prior, &next.sums, &held.layout);
            let learned = if settings.learn.is_on() {
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
        let mut converged = 0;
        for seed in 0..60 {
            let prior = [NbcePrior::Symmetric, NbcePrior::StickBreaking][seed as usize % 2];
            // Of small β, as are learned ones, the expansion of second order says little.
            let (order, betas) = [
                (CvbOrder::First, [0.2, 1.0]),
                (CvbOrder::Second, [1.0, 3.0]),
            ][seed as usize / 4 % 2];
            let settings = NbceCvbSettings {
                prior,
                order,
                learn: [Learn::False, Learn::True]
                    [usize::from(seed % 5 == 0 && order == CvbOrder::First)],
                alpha0: [0.5, 1.0, 3.0][seed as usize % 3],
                beta: betas[seed as usize / 2 % 2],
                iterations: NonZeroU32::new(3000).unwrap(),
                ..NbceCvbSettings::default()
            };
            for (run, moved) in runs(seed, &settings) {
                let over = run.stopped == Stopped::Converged;
                converged += u32::from(over);
                assert!(
                    !over || moved <= 20.0 * settings.tolerance,
                    "ensemble {seed} said that it converged and moved by {moved}"
                );
            }
        }
        assert!(converged >= 170, "{converged} of 180");
    }
}
