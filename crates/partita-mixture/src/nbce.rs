//! What the three ways of inference for NBCE share.

use std::sync::Arc;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{BaseClustering, Clusters, Outcome, Problem, Seed, SettingsError, SoftPartition, Stopped};

use crate::partial::Partial;
use crate::table::{normalise_columns, offsets};
use crate::{MixtureError, RowModel, Rows, seeding};

/// The truncation of a problem: what it asks for, or twice the clusters of its largest base clustering, and never
/// more than objects.
pub(crate) fn truncation(problem: &Problem<'_>) -> usize {
    let largest = problem.ensemble.bases().iter().map(partita_core::BaseClustering::clusters).max().unwrap_or(1);
    match problem.clusters {
        Clusters::Exactly(clusters) => clusters,
        Clusters::Auto => (2 * largest).clamp(2, problem.ensemble.objects().max(2)),
    }
}

pub(crate) fn check(clusters: usize, tolerance: f64, alpha0: f64, beta: f64) -> Result<(), MixtureError> {
    MixtureError::check_clusters(clusters)?;
    SettingsError::not_negative("tolerance", tolerance)?;
    MixtureError::check_concentration("alpha0", alpha0)?;
    MixtureError::check_concentration("beta", beta)
}

/// The clusters in use, largest first. Those that are no row's most probable one and hold less than half an object
/// are one last cluster together: "none of these".
pub(crate) fn in_use(rows: &Rows<'_>, soft: ArrayView2<'_, f64>) -> Vec<usize> {
    let clusters = soft.ncols();
    let (mut sizes, mut chosen) = (vec![0.0; clusters], vec![false; clusters]);
    for (row, &weight) in soft.outer_iter().zip(rows.weights()) {
        let best = (0..clusters).fold(0, |best, k| if row[k] > row[best] { k } else { best });
        chosen[best] = true;
        sizes.iter_mut().zip(row).for_each(|(size, p)| *size += weight * p);
    }
    by_use(&sizes, &chosen)
}

/// The same from the sizes of all clusters, and which are some row's most probable one.
pub(crate) fn by_use(sizes: &[f64], chosen: &[bool]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..sizes.len()).filter(|&k| chosen[k] || sizes[k] >= 0.5).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    order
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
pub(crate) fn merged_model(bases: &[BaseClustering], prior: &[f64], theta: &[f64], order: &[usize]) -> RowModel {
    let clusters = prior.len();
    let prior = ArrayView2::from_shape((1, clusters), prior).expect("K shares");
    let joint = Array2::from_shape_fn((theta.len() / clusters, clusters), |(line, k)| {
        theta[line * clusters + k] * prior[[0, k]]
    });
    let shares = merged(prior, order).into_iter().collect::<Vec<f64>>();
    let mut theta: Vec<f64> = merged(joint.view(), order).into_iter().collect();
    normalise_columns(&mut theta, &offsets(bases), shares.len());
    RowModel::from_parts(bases.to_vec(), shares, theta)
}

/// The outcome of a variational fit: memberships (one line a row), shares and label shares of all K clusters.
pub(crate) fn outcome(
    rows: &Rows<'_>,
    soft: ArrayView2<'_, f64>,
    (prior, theta): (&[f64], &[f64]),
    stopped: Stopped,
) -> Outcome {
    let order = in_use(rows, soft);
    let model = merged_model(rows.ensemble().bases(), prior, theta, &order);
    let soft = rows.expand(merged(soft, &order));
    let mut outcome = Outcome::soft(SoftPartition::new(soft).expect("normalised probabilities"), stopped);
    tell_fit(&mut outcome, rows, &model);
    outcome.details.insert("clusters_at_most".into(), prior.len().into());
    outcome.model = Some(Arc::new(model));
    outcome
}

/// How well the saved model explains the rows.
pub(crate) fn tell_fit(outcome: &mut Outcome, rows: &Rows<'_>, model: &RowModel) {
    let log_likelihood = rows.expect(model.table()).log_sum;
    outcome.details.insert("clusters_in_use".into(), outcome.partition.live_clusters().into());
    outcome.details.insert("log_likelihood".into(), log_likelihood.into());
    outcome.details.insert("perplexity".into(), (-log_likelihood / rows.labels()).exp().into());
}

/// Clusters that a start begins with: every other begins with all K, those between with K/2, K/4, K/8 in turn (at
/// least 2), since clusters that begin apart seldom meet.
pub(crate) fn begin_with(clusters: usize, restart: u32) -> usize {
    let halvings = if restart.is_multiple_of(2) { 0 } else { restart / 2 % 3 + 1 };
    (clusters >> halvings).max(2).min(clusters)
}

/// What the rows of one start add up to, with room for all K clusters.
pub(crate) fn begin(rows: &Rows<'_>, clusters: usize, restart: u32, seed: Seed) -> Partial {
    let begun = begin_with(clusters, restart);
    seeding::begin(rows, begun, seed.child(u64::from(restart))).widened(clusters)
}

/// The largest clusters first: under stick-breaking, order matters.
pub(crate) fn by_size(rows: &Rows<'_>, labels: &mut [u32], clusters: usize) {
    let mut sizes = vec![0.0; clusters];
    labels.iter().zip(rows.weights()).for_each(|(&k, w)| sizes[k as usize] += w);
    let mut order: Vec<usize> = (0..clusters).collect();
    order.sort_by(|&a, &b| sizes[b].total_cmp(&sizes[a]).then(a.cmp(&b)));
    let mut place = vec![0u32; clusters];
    order.iter().enumerate().for_each(|(at, &k)| place[k] = at as u32);
    labels.iter_mut().for_each(|k| *k = place[*k as usize]);
}
