//! Spectral base clusterings (Ng, Jordan and Weiss 2001): one embedding, clustered at many k.
//!
//! ```text
//! a_ij = exp(−‖x_i − x_j‖² / (σ_i σ_j)),  a_ii = 0,  σ_i = distance to the 7th nearest row that is no copy of row i
//! U    = eigenvectors of the k largest eigenvalues of D^−½ A D^−½, rows brought to length 1
//! ```
//! then k-means on the rows of U. The scale σ follows Zelnik-Manor and Perona (2004), so that there is no bandwidth
//! to choose.
//!
//! Up to [`DENSE_ROWS`] rows a_ij is there for all pairs; above, for those in which either row is among the
//! [`NEIGHBOURS`] nearest of the other, so that A is sparse. `spectral-dense` and `spectral-knn` are the one and the other for any
//! number of rows.

mod graph;
pub(crate) mod nearest;

use partita_core::ndarray::{Array2, Axis, s};
use partita_core::{ProgressCounter, Seed, Stopped};
use partita_kmeans::{DenseRows, Fit, Initialization, KMeansSettings, Members, RunSpec, lloyd};
use partita_spectral::{ChebyshevSettings, LanczosSettings, chebyshev, top_eigenpairs};

use crate::BaseKind;
use crate::base_run::BaseRun;
use crate::error::Result;
use crate::plan::Plan;
use crate::run_context::RunContext;
use graph::Graph;
pub(crate) use graph::affinities;
use nearest::{Near, nearest_of_distances, nearest_others};

/// Up to so many rows `spectral` keeps all pairs.
const DENSE_ROWS: usize = 2000;

/// Neighbours kept for each row of a sparse graph.
pub(crate) const NEIGHBOURS: usize = 15;

/// Starts of k-means on the embedding; the best is kept.
const RESTARTS: u64 = 10;

/// Whether a base clusterer keeps all pairs of so many rows; none where it has no graph.
fn keeps_all_pairs(kind: BaseKind, rows: usize) -> Option<bool> {
    match kind {
        BaseKind::Spectral => Some(rows <= DENSE_ROWS),
        BaseKind::SpectralDense => Some(true),
        BaseKind::SpectralKnn => Some(false),
        _ => None,
    }
}

/// Whether a base clusterer is one of these.
pub(crate) fn is_spectral(kind: BaseKind) -> bool {
    keeps_all_pairs(kind, 0).is_some()
}

/// Bytes that a group of plans holds at once, at most: of rows × columns, with up to so many clusters.
pub(crate) fn bytes(kind: BaseKind, rows: usize, columns: usize, clusters: usize) -> u64 {
    let (n, d, k) = (rows as u64, columns as u64, clusters as u64);
    if keeps_all_pairs(kind, rows) == Some(true) {
        return (40 * n).saturating_mul(n);
    }
    let keep = (NEIGHBOURS.min(rows)) as u64;
    // Rows in panels and lists of neighbours, every pair in two lines, six blocks of vectors; k-means in what was freed.
    n.saturating_mul(8 * d + 16 * 5 * keep)
        .saturating_add(n.saturating_mul(6 * 8 * (k + k / 4 + 16)))
}

/// The base clusterings of plans that see the same rows.
pub(crate) fn spectral(plans: &[Plan], context: &RunContext<'_>) -> Result<Vec<Option<BaseRun>>> {
    let (members, rows) = context.sight.rows(&plans[0]);
    let most = plans.iter().map(|plan| plan.k).max().unwrap_or(1);
    let all_pairs = keeps_all_pairs(plans[0].kind, rows.nrows()).unwrap_or(true);
    let seed = plans[0].sample.child(3);
    let progress = context.sink.progress;
    let keep = if all_pairs {
        rows.nrows() - 1
    } else {
        NEIGHBOURS.min(rows.nrows() - 1)
    };
    let near = if context.sight.distances {
        nearest_of_distances(&rows, keep, progress)
    } else {
        nearest_others(&rows, keep, progress)
    };
    let Some(near) = near else {
        return Ok(vec![None; plans.len()]);
    };
    let axes = embedding(&near, all_pairs, most, seed)?;
    let found = |plan: &Plan| {
        let (labels, stopped) = cluster(&axes, plan, progress)?;
        Some(context.finished(plan, &members, labels.into_iter(), stopped))
    };
    Ok(plans.iter().map(found).collect())
}

/// The best of several k-means runs on the first k axes, rows brought to length 1.
fn cluster(
    axes: &Array2<f64>,
    plan: &Plan,
    progress: &ProgressCounter<'_>,
) -> Option<(Vec<u16>, Stopped)> {
    let mut points = axes.slice(s![.., ..plan.k]).to_owned();
    for mut point in points.axis_iter_mut(Axis(0)) {
        let length = point.dot(&point).sqrt();
        if length > 0.0 {
            point /= length;
        }
    }
    let rows = DenseRows::new(points.view(), None, false);
    let jobs = (0..RESTARTS).map(|restart| RunSpec {
        clusters: plan.k,
        initialization: Initialization::Greedy,
        seed: plan.seed.child(restart),
        members: Members::all(points.nrows()),
        given: None,
    });
    let jobs: Vec<RunSpec> = jobs.collect();
    let mut fits: Vec<Option<Fit>> = jobs.iter().map(|_| None).collect();
    let settings = KMeansSettings::default();
    lloyd(&rows, &jobs, &settings, progress, &mut |restart, fit| {
        fits[restart] = Some(fit);
    });
    let fits: Vec<Fit> = fits.into_iter().collect::<Option<_>>()?;
    let best = fits.into_iter().reduce(|best, fit| {
        if fit.inertia < best.inertia {
            fit
        } else {
            best
        }
    })?;
    Some((best.labels, best.stopped))
}

/// The eigenvectors of the `count` largest eigenvalues, n × count.
fn embedding(near: &[Near], all_pairs: bool, count: usize, seed: Seed) -> Result<Array2<f64>> {
    let (n, graph) = (near.len(), Graph::new(near));
    let pairs = if all_pairs {
        let settings = LanczosSettings::default();
        top_eigenpairs(graph.dense().view(), count, seed, &settings)?
    } else {
        let settings = ChebyshevSettings::default();
        chebyshev(n, count, |x, y| graph.multiply(x, y), seed, &settings)?
    };
    Ok(pairs.vectors)
}
