//! EM for a finite mixture of products of label distributions: one pass an iteration.

use std::num::NonZeroU32;
use std::sync::Arc;

use partita_core::{
    Confusion, Monitor, Objective, PassError, PassRunner, ProgressCounter, RowFit, RowProblem,
    Seed, Sense, Settings,
};
use serde::{Deserialize, Serialize};

use crate::error::MixtureError;
use crate::shared::expectation::expect;
use crate::shared::held_rows::HeldRows;
use crate::shared::initialization::{self, varied_statistics};
use crate::shared::layout::BaseLayout;
use crate::shared::multi_start::{Competition, Limits, MixtureFit, Run, ascend, best_fit};
use crate::shared::row_model::RowModel;
use crate::shared::row_passes::{MostProbable, Places, Usage};
use crate::shared::shares::MixtureShares;

/// Settings of [`MM`](crate::MM). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct MmSettings {
    /// Independent initializations, of every four one by merging small clusters and three of memberships drawn at random. All run for
    /// 20 iterations, the best quarter goes on, and the highest objective is kept.
    ///
    /// Above 32,768 distinct rows they compete on a sample, and the best goes on with all rows.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when an iteration gains at most this share of the objective.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
    /// Labels added to every label value of every cluster; 0 is maximum likelihood.
    #[setting(range = 0.0..=1e100)]
    pub pseudo_count: f64,
    /// Labels of the same name are the same class in all base clusterings, as those of tools that name cell types are.
    ///
    /// The clusters are the classes that labels name, so that the number of clusters follows from the labels, and every base
    /// clustering has a confusion matrix (Dawid and Skene). Labels "unknown" and "unassigned" are taken as missing.
    pub named: bool,
    /// With named=true: an object is called unknown where its most probable class has less than this.
    #[setting(range = 0.0..=1.0)]
    pub threshold: f64,
}

/// Facts about a mixture.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MmDiagnostics {
    /// Log likelihood of the labels, nats.
    pub log_likelihood: f64,
    /// exp of the mean negative log likelihood of a label: how many values a label is as uncertain as.
    pub perplexity: f64,
    /// The objective that every initialization reached, on the rows on which they compete.
    pub objective_by_restart: Vec<f64>,
    /// Names of the classes, where labels name some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub names: Option<Vec<String>>,
    /// How every base clustering calls objects of each class, where labels name classes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub confusion: Option<Vec<Confusion>>,
}

impl Default for MmSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            restarts: count(12),
            iterations: count(500),
            tolerance: 1e-7,
            pseudo_count: 0.1,
            named: false,
            threshold: 0.5,
        }
    }
}

impl MmSettings {
    pub(crate) fn limits(&self) -> Limits {
        Limits {
            restarts: self.restarts,
            iterations: self.iterations,
            tolerance: self.tolerance,
        }
    }
}

/// EM over rows of one layout.
pub(super) struct MixtureEm<'a> {
    pub(super) layout: &'a BaseLayout,
    pub(super) clusters: usize,
    pub(super) seed: Seed,
    pub(super) pseudo_count: f64,
}

impl MixtureFit for MixtureEm<'_> {
    type State = MixtureShares;

    fn start(&self, rows: HeldRows<'_>, restart: u32) -> MixtureShares {
        let sums = varied_statistics(rows, self.clusters, restart, self.seed);
        initialization::begun(self.layout, &sums)
    }

    fn ascend(
        &self,
        rows: &PassRunner<'_>,
        state: MixtureShares,
        limits: Limits,
        progress: &ProgressCounter<'_>,
    ) -> Result<Run<MixtureShares>, PassError> {
        ascend(state, limits, progress, |shares| {
            self.iteration(rows, shares)
        })
    }

    fn fits(&self, state: &MixtureShares) -> bool {
        state.fits(self.layout, self.clusters)
    }
}

impl MixtureEm<'_> {
    /// The objective at `shares`, and the shares after one iteration.
    fn iteration(
        &self,
        rows: &PassRunner<'_>,
        shares: &MixtureShares,
    ) -> Result<(f64, MixtureShares), PassError> {
        let logs = shares.logs(self.layout);
        let prior = if self.pseudo_count > 0.0 {
            self.pseudo_count * logs.lines.iter().sum::<f64>()
        } else {
            0.0
        };
        let sums = expect(rows, &self.layout.offsets, logs)?;
        let next = MixtureShares::of_sums(&sums, self.layout, self.pseudo_count, 0.0);
        Ok((sums.log_sum + prior, next))
    }
}

/// The fit from several initializations.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MmDiagnostics>, MixtureError> {
    let _span = tracing::info_span!("mm", rows = problem.rows.rows(), clusters).entered();
    let layout = BaseLayout::of(problem);
    let fit = MixtureEm {
        layout: &layout,
        clusters,
        seed: problem.seed,
        pseudo_count: settings.pseudo_count,
    };
    let found = best_fit(&fit, problem, &layout, settings.limits(), monitor)?;
    finished(problem, layout, found)
}

/// One run from given shares.
pub(super) fn go_on(
    problem: &RowProblem<'_>,
    start: &MixtureShares,
    settings: &MmSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MmDiagnostics>, MixtureError> {
    let layout = BaseLayout::of(problem);
    let fit = MixtureEm {
        layout: &layout,
        clusters: start.prior.len(),
        seed: problem.seed,
        pseudo_count: settings.pseudo_count,
    };
    let limits = settings.limits().of_one_run();
    let progress = limits.progress(monitor, 0);
    let best = fit.ascend(&problem.passes(), start.clone(), limits, &progress)?;
    let objectives = vec![best.objective()];
    finished(problem, layout, Competition { best, objectives })
}

fn finished(
    problem: &RowProblem<'_>,
    layout: BaseLayout,
    found: Competition<MixtureShares>,
) -> Result<RowFit<MmDiagnostics>, MixtureError> {
    let Competition { best, objectives } = found;
    let shares = best.result;
    let clusters = shares.prior.len();
    let logs = shares.logs(&layout);
    let usage = Usage { layout, logs };
    let used = problem.passes().run(&usage)?;
    let Usage { layout, logs } = usage;
    let details = MmDiagnostics {
        log_likelihood: used.log_sum,
        perplexity: (-used.log_sum / used.labels).exp(),
        objective_by_restart: objectives,
        names: None,
        confusion: None,
    };
    let labels = MostProbable {
        offsets: layout.offsets,
        logs,
        places: Places((0..clusters).collect()),
    };
    let mut fit = RowFit::new(clusters, best.stopped, labels, details);
    fit.iterations = best.trace.len() as u64;
    fit.objective = Some(objective(best.trace));
    let bases = problem.rows.bases().to_vec();
    let model = RowModel::of_shares(bases, shares, layout.copies.as_deref());
    fit.model = Some(Arc::new(model));
    Ok(fit)
}

pub(crate) fn objective(trace: Vec<f64>) -> Objective {
    let (name, sense) = ("log likelihood with pseudo-counts, nats", Sense::Maximise);
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
    use crate::shared::fixture::{self, Held};
    use crate::shared::held_rows::GivenMemberships;
    use partita_core::Model;

    #[test]
    fn one_step_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let expected = &fixtures["mm"];
        let held = Held::each(&ensemble);
        let start = fixture::matrix(&expected["R0"]);
        let lines = GivenMemberships::Lines(start.iter().copied().collect());
        let sums = held.rows().given(lines, start.ncols());
        let shares = MixtureShares::of_sums(&sums, &held.layout, 0.0, 0.0);
        fixture::assert_close(&shares.prior, &fixture::vector(&expected["pi"]));
        let model = RowModel::of_shares(ensemble.bases().to_vec(), shares.clone(), None);
        for (u, theta) in expected["theta"].as_array().unwrap().iter().enumerate() {
            let found = model.label_probabilities(u);
            let found: Vec<f64> = found.t().iter().copied().collect();
            let told: Vec<f64> = fixture::matrix(theta).iter().copied().collect();
            fixture::assert_close(&found, &told);
        }
        let logs = model.log_probabilities(&ensemble).unwrap();
        fixture::assert_close(&logs, &fixture::vector(&expected["loglik_per_object"]));
        let fit = MixtureEm {
            layout: &held.layout,
            clusters: start.ncols(),
            seed: Seed::new(0),
            pseudo_count: 0.0,
        };
        let usage = Usage {
            layout: held.layout.clone(),
            logs: shares.logs(&held.layout),
        };
        let used = held.rows().passes().run(&usage).unwrap();
        let found = [
            fit.round(&held.rows().passes(), &shares).unwrap().0,
            model.perplexity(&ensemble).unwrap(),
            used.labels,
        ];
        let told =
            ["loglik", "perplexity", "n_labels"].map(|name| expected[name].as_f64().unwrap());
        fixture::assert_close(&found, &told);
        assert!(model.to_json().is_object());
    }
}
