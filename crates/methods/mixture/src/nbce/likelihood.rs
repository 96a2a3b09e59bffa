//! The outcome of an NBCE fit: clusters in use, the saved model, and the likelihood of the rows under it.

use std::sync::Arc;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{BaseClustering, Outcome, Partition, SoftPartition, Stopped};
use serde::Serialize;

use crate::shared::log_probabilities::normalise_by_base;
use crate::shared::row_model::RowModel;
use crate::shared::weighted_rows::WeightedRows;

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
pub(crate) fn in_use(rows: &WeightedRows<'_>, soft: ArrayView2<'_, f64>) -> Vec<usize> {
    let clusters = soft.ncols();
    let (mut sizes, mut chosen) = (vec![0.0; clusters], vec![false; clusters]);
    for (row, &weight) in soft.outer_iter().zip(rows.weights()) {
        let best = (0..clusters).fold(0, |best, k| if row[k] > row[best] { k } else { best });
        chosen[best] = true;
        sizes
            .iter_mut()
            .zip(row)
            .for_each(|(size, p)| *size += weight * p);
    }
    in_use_by_size(&sizes, &chosen)
}

/// The same from the sizes of all clusters, and which are some row's most probable one.
pub(crate) fn in_use_by_size(sizes: &[f64], chosen: &[bool]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len())
        .filter(|&k| chosen[k] || sizes[k] >= 0.5)
        .collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    order
}

/// The place of each of K clusters in a result, and how many places there are: clusters that are not in use are one last cluster together.
pub(crate) fn places(order: &[usize], clusters: usize) -> (Vec<usize>, usize) {
    let place = |k: usize| {
        order
            .iter()
            .position(|&cluster| cluster == k)
            .unwrap_or(order.len())
    };
    (
        (0..clusters).map(place).collect(),
        order.len() + usize::from(order.len() < clusters),
    )
}

/// Sums the columns of clusters that are not in use into a last one, where there are some.
fn merged(soft: ArrayView2<'_, f64>, order: &[usize]) -> Array2<f64> {
    let rest: Vec<usize> = (0..soft.ncols()).filter(|k| !order.contains(k)).collect();
    let columns = order.len() + usize::from(!rest.is_empty());
    Array2::from_shape_fn((soft.nrows(), columns), |(i, k)| match order.get(k) {
        Some(&cluster) => soft[[i, cluster]],
        None => rest.iter().map(|&cluster| soft[[i, cluster]]).sum(),
    })
}

/// The model with the clusters of [`merged`]: the last one has the total share of those it stands for, and their
/// mean label shares.
pub(crate) fn merged_model(
    bases: &[BaseClustering],
    prior: &[f64],
    theta: &[f64],
    order: &[usize],
) -> RowModel {
    let clusters = prior.len();
    let prior = ArrayView2::from_shape((1, clusters), prior).expect("K shares");
    let joint = Array2::from_shape_fn((theta.len() / clusters, clusters), |(line, k)| {
        theta[line * clusters + k] * prior[[0, k]]
    });
    let shares = merged(prior, order).into_iter().collect::<Vec<f64>>();
    let mut theta: Vec<f64> = merged(joint.view(), order).into_iter().collect();
    normalise_by_base(&mut theta, &BaseClustering::offsets(bases), shares.len());
    RowModel::from_parts(bases.to_vec(), shares, theta)
}

/// The outcome of a variational fit: memberships (one line a row), shares and label shares of all K clusters.
pub(crate) fn outcome(
    rows: &WeightedRows<'_>,
    soft: ArrayView2<'_, f64>,
    (prior, theta): (&[f64], &[f64]),
    stopped: Stopped,
) -> Outcome<RowLikelihood> {
    let order = in_use(rows, soft);
    let model =
        merged_model(rows.ensemble().bases(), prior, theta, &order).weighted(rows.base_weights());
    let soft = rows.expand(merged(soft, &order));
    let mut outcome = Outcome::soft(
        SoftPartition::new(soft).expect("normalised probabilities"),
        stopped,
    );
    let fit = likelihood(&outcome.partition, prior.len(), rows, &model);
    outcome.model = Some(Arc::new(model));
    outcome.with(fit)
}

/// How well the saved model explains the rows.
pub(crate) fn likelihood(
    partition: &Partition,
    clusters_at_most: usize,
    rows: &WeightedRows<'_>,
    model: &RowModel,
) -> RowLikelihood {
    let log_likelihood = rows.expect(model.logs()).log_sum;
    let perplexity = (-log_likelihood / rows.labels()).exp();
    RowLikelihood {
        clusters_in_use: partition.live_clusters(),
        log_likelihood,
        perplexity,
        clusters_at_most,
    }
}
