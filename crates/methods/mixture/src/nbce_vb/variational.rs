//! Mean-field variational inference for NBCE: one pass a round.

use std::num::NonZeroU32;

use partita_core::{
    Monitor, Objective, PassError, PassRunner, ProgressCounter, RowFit, RowProblem, Seed, Sense,
    Settings,
};
use serde::{Deserialize, Serialize};

use super::posterior::{Posterior, advance};
use crate::error::MixtureError;
use crate::nbce::hyperparameters::Hyperparameters;
use crate::nbce::likelihood::{NbceDiagnostics, NbceFound};
use crate::nbce::truncation::varied_statistics;
use crate::shared::expectation::expect;
use crate::shared::held_rows::HeldRows;
use crate::shared::layout::BaseLayout;
use crate::shared::multi_start::{Competition, Limits, MixtureFit, Run, ascend, best_fit};
use crate::shared::row_passes::{MostProbable, Usage};

/// Settings of [`NBCE_VB`](crate::NBCE_VB). Start from `default()` and change what you mean to change.
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
    /// Above 32,768 distinct rows they compete on a sample, and the best goes on with all rows.
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

/// Variational inference over rows of one layout.
struct Variational<'a> {
    layout: &'a BaseLayout,
    clusters: usize,
    seed: Seed,
    settings: &'a NbceVbSettings,
}

impl MixtureFit for Variational<'_> {
    type State = Posterior;

    fn start(&self, rows: HeldRows<'_>, restart: u32) -> Posterior {
        let hyperparameters = Hyperparameters {
            alpha0: self.settings.alpha0,
            beta: self.settings.beta,
        };
        let sums = varied_statistics(rows, self.clusters, restart, self.seed);
        Posterior::of(sums, hyperparameters, self.layout)
    }

    fn ascend(
        &self,
        rows: &PassRunner<'_>,
        state: Posterior,
        limits: Limits,
        progress: &ProgressCounter<'_>,
    ) -> Result<Run<Posterior>, PassError> {
        ascend(state, limits, progress, |posterior| {
            round(rows, self.layout, posterior, self.settings.learn)
        })
    }

    fn fits(&self, state: &Posterior) -> bool {
        state.fits(self.layout, self.clusters)
    }
}

/// The bound at the best q(z) for `posterior` (plus the log densities of learned α0 and β), and the next posterior.
fn round(
    rows: &PassRunner<'_>,
    layout: &BaseLayout,
    posterior: &Posterior,
    learn: bool,
) -> Result<(f64, Posterior), PassError> {
    let logs = posterior.logs.clone().weighted(layout);
    let sums = expect(rows, &layout.offsets, logs)?;
    Ok(advance(sums, posterior, layout, learn))
}

/// The fit from several initializations.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &NbceVbSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<NbceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("nbce-vb", rows = problem.rows.rows(), clusters).entered();
    let layout = BaseLayout::of(problem);
    let fit = Variational {
        layout: &layout,
        clusters,
        seed: problem.seed,
        settings,
    };
    let Competition { best, objectives } =
        best_fit(&fit, problem, &layout, settings.limits(), monitor)?;
    let posterior = best.result;
    let shares = posterior.means(&layout);
    let logs = posterior.logs.weighted(&layout);
    let usage = Usage { layout, logs };
    let used = problem.passes().run(&usage)?;
    let Usage { layout, logs } = usage;
    let found = NbceFound {
        shares,
        sizes: used.sizes,
        chosen: used.chosen,
        hyperparameters: posterior.hyperparameters,
        objective: objective(best.trace),
        stopped: best.stopped,
        objectives,
    };
    let offsets = layout.offsets.clone();
    found.fit(problem, layout, |places| MostProbable {
        offsets,
        logs,
        places,
    })
}

fn objective(trace: Vec<f64>) -> Objective {
    let (name, sense) = ("lower bound on the log evidence, nats", Sense::Maximise);
    Objective {
        name,
        sense,
        value: trace[trace.len() - 1],
        trace,
    }
}
