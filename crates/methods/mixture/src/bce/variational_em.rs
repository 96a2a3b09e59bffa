//! Variational EM for mixed memberships of objects: one pass an iteration.

use std::num::NonZeroU32;
use std::sync::Arc;

use partita_core::{
    Monitor, Objective, PassError, PassRunner, ProgressCounter, RowFit, RowProblem, Seed, Sense,
    Settings,
};
use serde::{Deserialize, Serialize};

use super::dirichlet::learn;
use super::inference::BceParameters;
use super::model::BceModel;
use super::passes::{Expected, RowInference};
use crate::error::MixtureError;
use crate::shared::held_rows::HeldRows;
use crate::shared::initialization::{self, varied_statistics};
use crate::shared::layout::BaseLayout;
use crate::shared::multi_start::{Competition, Limits, MixtureFit, Run, ascend, best_fit};
use crate::shared::sufficient_statistics::add;

/// Settings of [`BCE`](crate::BCE). Start from `default()` and change what you mean to change.
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
    /// All run for 20 iterations, the best quarter goes on, and the highest bound is kept.
    ///
    /// Above 32,768 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when an iteration gains at most this share of the bound.
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
            iterations: count(1000),
            tolerance: 1e-6,
            pseudo_count: 0.1,
        }
    }
}

impl BceSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            iterations: self.iterations,
            tolerance: self.tolerance,
        }
    }
}

/// Variational EM over rows of one layout.
struct MembershipEm<'a> {
    layout: &'a BaseLayout,
    clusters: usize,
    seed: Seed,
    settings: &'a BceSettings,
}

impl MixtureFit for MembershipEm<'_> {
    type State = BceParameters;

    fn start(&self, rows: HeldRows<'_>, restart: u32) -> BceParameters {
        let sums = varied_statistics(rows, self.clusters, restart, self.seed);
        BceParameters {
            alpha: vec![self.settings.alpha; self.clusters],
            theta: initialization::begun(self.layout, &sums).theta,
        }
    }

    fn ascend(
        &self,
        rows: &PassRunner<'_>,
        state: BceParameters,
        limits: Limits,
        progress: &ProgressCounter<'_>,
    ) -> Result<Run<BceParameters>, PassError> {
        ascend(state, limits, progress, |parameters| {
            let found = rows.run(&self.pass(parameters))?;
            let value = found.sums.log_sum + self.log_prior(parameters);
            Ok((value, self.next(parameters, found)))
        })
    }

    fn fits(&self, state: &BceParameters) -> bool {
        self.layout.fits(&state.theta, &state.alpha, self.clusters)
    }
}

impl MembershipEm<'_> {
    fn pass(&self, parameters: &BceParameters) -> RowInference {
        RowInference {
            layout: self.layout.clone(),
            parameters: parameters.clone(),
        }
    }

    /// The pseudo-counts' part of the objective: as often as a base clustering counts.
    fn log_prior(&self, parameters: &BceParameters) -> f64 {
        let each = self.settings.pseudo_count;
        if each == 0.0 {
            return 0.0;
        }
        let mut logs: Vec<f64> = parameters.theta.iter().map(|p| each * p.ln()).collect();
        self.layout.weigh(&mut logs, self.clusters);
        logs.iter().sum()
    }

    /// The M-step.
    fn next(&self, parameters: &BceParameters, found: Expected) -> BceParameters {
        let mut theta = vec![self.settings.pseudo_count; found.sums.labels.len()];
        self.layout.weigh(&mut theta, self.clusters);
        add(&mut theta, &found.sums.labels);
        self.layout.normalise(&mut theta, self.clusters);
        let mut alpha = parameters.alpha.clone();
        if self.settings.learn {
            let logs = found.sums.sizes.iter();
            let means: Vec<f64> = logs.map(|sum| sum / found.weight).collect();
            learn(&mut alpha, &means);
        }
        BceParameters { alpha, theta }
    }
}

/// The fit from several initializations.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &BceSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<BceDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("bce", rows = problem.rows.rows(), clusters).entered();
    let layout = BaseLayout::of(problem);
    let fit = MembershipEm {
        layout: &layout,
        clusters,
        seed: problem.seed,
        settings,
    };
    let Competition { best, objectives } =
        best_fit(&fit, problem, &layout, settings.limits(), monitor)?;
    let labels = fit.pass(&best.result);
    let found = problem.passes().run(&labels)?;
    let bound = found.sums.log_sum;
    let details = BceDiagnostics {
        alpha: best.result.alpha.clone(),
        log_likelihood_bound: bound,
        perplexity_bound: (-bound / found.labels).exp(),
        objective_by_restart: objectives,
    };
    let mut fit = RowFit::new(clusters, best.stopped, labels, details);
    fit.iterations = best.trace.len() as u64;
    fit.objective = Some(Objective::of_trace(
        "lower bound on the log likelihood with pseudo-counts, nats",
        Sense::Maximise,
        best.trace,
    ));
    fit.model = Some(Arc::new(BceModel {
        bases: problem.rows.bases().to_vec(),
        parameters: best.result,
        weights: layout.copies,
    }));
    Ok(fit)
}
