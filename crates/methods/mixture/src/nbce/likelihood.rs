//! The outcome of an NBCE fit: clusters in use, the saved model, and the likelihood of the rows under it.

use std::sync::Arc;

use partita_core::{
    BaseClustering, Objective, PassError, PassRunner, RowFit, RowLabeller, RowProblem, Stopped,
};
use serde::Serialize;

use super::hyperparameters::{Hyperparameters, Learn};
use super::truncation::order_by_size;
use crate::error::MixtureError;
use crate::shared::layout::BaseLayout;
use crate::shared::row_model::RowModel;
use crate::shared::row_passes::{Places, Usage};
use crate::shared::shares::MixtureShares;

/// How well the saved model explains the rows.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RowLikelihood {
    /// Clusters that have objects.
    pub clusters_in_use: usize,
    /// Log likelihood of the labels under the model, nats.
    pub log_likelihood: f64,
    /// exp of the mean negative log likelihood of a label: how many values a label is as uncertain as.
    pub perplexity: f64,
    /// Clusters that it might have used.
    pub clusters_at_most: usize,
}

/// Facts about a variational fit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct NbceDiagnostics {
    /// How well the saved model explains the rows.
    #[serde(flatten)]
    pub fit: RowLikelihood,
    /// Concentration α0, learned or given.
    pub alpha0: f64,
    /// Label pseudo-count β, learned or given.
    pub beta: f64,
    /// The objective that every initialization reached, on the rows on which they compete.
    pub objective_by_restart: Vec<f64>,
}

/// The clusters in use, largest first. Those that are not the most probable one of any row and hold less than half an object
/// are one last cluster together: "none of these".
fn in_use(sizes: &[f64], chosen: &[bool]) -> Vec<usize> {
    let mut order = order_by_size(sizes);
    order.retain(|&k| chosen[k] || sizes[k] >= 0.5);
    order
}

/// The place of each of K clusters in a result: clusters that are not in use are one last cluster together.
fn places(order: &[usize], clusters: usize) -> Places {
    let place = |k: usize| {
        let found = order.iter().position(|&cluster| cluster == k);
        found.unwrap_or(order.len())
    };
    Places((0..clusters).map(place).collect())
}

/// The model whose clusters have these places: one that stands for several has their total share, and their mean label shares.
pub(crate) fn merged_model(
    bases: &[BaseClustering],
    layout: &BaseLayout,
    shares: &MixtureShares,
    places: &Places,
) -> RowModel {
    let clusters = places.count();
    let mut prior = vec![0.0; clusters];
    for (share, &place) in shares.prior.iter().zip(&places.0) {
        prior[place] += share;
    }
    let mut theta = vec![0.0; layout.label_values() * clusters];
    let lines = shares.theta.chunks_exact(shares.prior.len());
    for (merged, line) in theta.chunks_exact_mut(clusters).zip(lines) {
        for ((p, share), &place) in line.iter().zip(&shares.prior).zip(&places.0) {
            merged[place] += p * share;
        }
    }
    layout.normalise(&mut theta, clusters);
    let shares = MixtureShares { prior, theta };
    RowModel::of_shares(bases.to_vec(), shares, layout.copies.as_deref())
}

/// What a variational fit found.
pub(crate) struct NbceFound {
    /// E π and E θ.
    pub(crate) shares: MixtureShares,
    /// The expected weight of every cluster, and whether it is some row's most probable one.
    pub(crate) sizes: Vec<f64>,
    pub(crate) chosen: Vec<bool>,
    pub(crate) hyperparameters: Hyperparameters,
    pub(crate) learn: Learn,
    pub(crate) objective: Objective,
    pub(crate) stopped: Stopped,
    /// Objectives of all initializations.
    pub(crate) objectives: Vec<f64>,
}

impl NbceFound {
    /// The fit with clusters in use by size, in which `labels` labels rows by the places of clusters.
    pub(crate) fn fit<L: RowLabeller>(
        self,
        problem: &RowProblem<'_>,
        layout: BaseLayout,
        labels: impl FnOnce(Places) -> L,
    ) -> Result<RowFit<NbceDiagnostics>, MixtureError> {
        let clusters = self.sizes.len();
        let order = in_use(&self.sizes, &self.chosen);
        let places = places(&order, clusters);
        let model = merged_model(problem.rows.bases(), &layout, &self.shares, &places);
        let details = NbceDiagnostics {
            fit: likelihood(&problem.passes(), layout, &model, order.len(), clusters)?,
            alpha0: self.hyperparameters.alpha0,
            beta: self.hyperparameters.beta,
            objective_by_restart: self.objectives,
        };
        let mut fit = RowFit::new(places.count(), self.stopped, labels(places), details);
        fit.iterations = self.objective.trace.len() as u64;
        fit.objective = Some(self.objective);
        fit.model = Some(Arc::new(model));
        fit.warnings = self.learn.warnings(self.hyperparameters);
        Ok(fit)
    }
}

/// How well the saved model explains the rows, of which so many clusters are in use.
pub(crate) fn likelihood(
    rows: &PassRunner<'_>,
    layout: BaseLayout,
    model: &RowModel,
    clusters_in_use: usize,
    clusters_at_most: usize,
) -> Result<RowLikelihood, PassError> {
    let logs = model.logs().clone();
    let used = rows.run(&Usage { layout, logs })?;
    Ok(RowLikelihood {
        clusters_in_use,
        log_likelihood: used.log_sum,
        perplexity: (-used.log_sum / used.labels).exp(),
        clusters_at_most,
    })
}
