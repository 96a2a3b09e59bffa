//! Spectral base clusterings (Ng, Jordan and Weiss 2001): one embedding, clustered at many k.
//!
//! ```text
//! a_ij = exp(−‖x_i − x_j‖² / (σ_i σ_j)),  a_ii = 0,  σ_i = distance to the 7th nearest other row
//! U    = eigenvectors of the k largest eigenvalues of D^−½ A D^−½, rows brought to length 1
//! ```
//! then k-means on the rows of U. The scale σ follows Zelnik-Manor and Perona (2004), so that there is no bandwidth
//! to choose.

use partita_core::ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis, s};
use partita_core::{Seed, Stopped};
use partita_spectral::{LanczosSettings, lanczos, top_eigenpairs};
use rayon::prelude::*;

use crate::GenerateError;
use crate::base_run::BaseRun;
use crate::plan::Plan;
use crate::run_context::RunContext;
use crate::tree::distance2;
use partita_core::ProgressCounter;
use partita_kmeans::{DenseRows, Fit, Initialization, KMeansSettings, Members, RunSpec, lloyd};

/// Up to so many rows all pairs are kept; above, each row's nearest neighbours.
pub(crate) const DENSE_ROWS: usize = 3000;

/// Neighbours kept for each row of a large table.
pub(crate) const NEIGHBOURS: usize = 30;

/// The neighbour whose distance is a row's own scale.
const SCALE_NEIGHBOUR: usize = 7;

/// Starts of k-means on the embedding; the best is kept.
const RESTARTS: u64 = 10;

/// The base clusterings of plans that see the same rows.
pub(crate) fn spectral(plans: &[Plan], context: &RunContext<'_>) -> Result<Vec<Option<BaseRun>>, GenerateError> {
    let (members, rows) = context.sight.rows(&plans[0]);
    let most = plans.iter().map(|plan| plan.k).max().unwrap_or(1);
    let Some(axes) = embedding(&rows, most, plans[0].sample.child(3), context.progress)? else {
        return Ok(plans.iter().map(|_| None).collect());
    };
    let found = |plan: &Plan| {
        let (labels, stopped) = cluster(&axes, plan, context.progress)?;
        let found = BaseRun::of_members(context.sight.values.nrows(), &members, labels.into_iter(), stopped);
        Some(context.kept(plan, found))
    };
    Ok(plans.iter().map(found).collect())
}

/// The best of several k-means runs on the first k axes, rows brought to length 1.
fn cluster(axes: &Array2<f64>, plan: &Plan, progress: &ProgressCounter<'_>) -> Option<(Vec<u16>, Stopped)> {
    let mut points = axes.slice(s![.., ..plan.k]).to_owned();
    for mut point in points.axis_iter_mut(Axis(0)) {
        let length = point.dot(&point).sqrt();
        if length > 0.0 {
            point /= length;
        }
    }
    let (rows, members) = (DenseRows::new(points.view(), None, false), Members::all(points.nrows()));
    let job = |restart: u64| {
        let (seed, members) = (plan.seed.child(restart), members.clone());
        RunSpec { clusters: plan.k, initialization: Initialization::Greedy, seed, members, given: None }
    };
    let jobs: Vec<RunSpec> = (0..RESTARTS).map(job).collect();
    let mut fits: Vec<Option<Fit>> = jobs.iter().map(|_| None).collect();
    lloyd(&rows, &jobs, &KMeansSettings::default(), progress, &mut |restart, fit| fits[restart] = Some(fit));
    let fits: Vec<Fit> = fits.into_iter().collect::<Option<_>>()?;
    let best = fits.into_iter().reduce(|best, fit| if fit.inertia < best.inertia { fit } else { best })?;
    Some((best.labels, best.stopped))
}

/// The eigenvectors of the `count` largest eigenvalues, n × count; none if the monitor says stop.
fn embedding(
    rows: &Array2<f64>,
    count: usize,
    seed: Seed,
    progress: &ProgressCounter<'_>,
) -> Result<Option<Array2<f64>>, GenerateError> {
    let n = rows.nrows();
    let keep = if n <= DENSE_ROWS { n - 1 } else { NEIGHBOURS };
    let Some(graph) = Graph::new(rows, keep, progress) else { return Ok(None) };
    let pairs = if n <= DENSE_ROWS {
        top_eigenpairs(graph.dense().view(), count, seed, &LanczosSettings::default())?
    } else {
        let mut settings = LanczosSettings::default();
        // An embedding that k-means rounds to labels needs no more.
        settings.tolerance = 1e-6;
        lanczos(n, count, |x, y| graph.multiply(x, y), seed, &settings)?
    };
    Ok(Some(pairs.vectors))
}

/// D^−½ A D^−½ by rows: (column, value), columns rising.
struct Graph(Vec<Vec<(u32, f64)>>);

impl Graph {
    /// Keeps the pairs in which either is among the `keep` nearest of the other.
    fn new(rows: &Array2<f64>, keep: usize, progress: &ProgressCounter<'_>) -> Option<Self> {
        let near: Vec<(Vec<(f64, u32)>, f64)> = (0..rows.nrows())
            .into_par_iter()
            .map(|i| {
                let stop = if i.is_multiple_of(64) { progress.stopped() } else { progress.was_stopped() };
                if stop { (Vec::new(), 0.0) } else { neighbours(rows, i, keep) }
            })
            .collect();
        if progress.was_stopped() {
            return None;
        }
        let mut lines: Vec<Vec<(u32, f64)>> = vec![Vec::new(); near.len()];
        for (i, (list, scale)) in near.iter().enumerate() {
            for &(square, j) in list {
                let affinity = (-square / (scale * near[j as usize].1)).exp();
                // A pair that both keep is written by the smaller of the two.
                let twice = (j as usize) < i && keeps(&near[j as usize].0, i as u32);
                if !twice && affinity > 0.0 {
                    lines[i].push((j, affinity));
                    lines[j as usize].push((i as u32, affinity));
                }
            }
        }
        lines.iter_mut().for_each(|line| line.sort_unstable_by_key(|&(j, _)| j));
        Some(Self(lines).normalised())
    }

    fn normalised(mut self) -> Self {
        let root = |line: &Vec<(u32, f64)>| {
            let degree: f64 = line.iter().map(|&(_, a)| a).sum();
            if degree > 0.0 { degree.sqrt().recip() } else { 0.0 }
        };
        let roots: Vec<f64> = self.0.iter().map(root).collect();
        for (line, i) in self.0.iter_mut().zip(0..) {
            line.iter_mut().for_each(|(j, a)| {
                // The product of the smaller first: the matrix is symmetric to the last bit.
                let (low, high) = (roots[i.min(*j as usize)], roots[i.max(*j as usize)]);
                *a *= low * high;
            });
        }
        self
    }

    fn dense(&self) -> Array2<f64> {
        let mut dense = Array2::zeros((self.0.len(), self.0.len()));
        for (mut row, line) in dense.axis_iter_mut(Axis(0)).zip(&self.0) {
            line.iter().for_each(|&(j, a)| row[j as usize] = a);
        }
        dense
    }

    fn multiply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        y.axis_iter_mut(Axis(0)).into_par_iter().zip(&self.0).for_each(|(mut to, line)| {
            to.fill(0.0);
            line.iter().for_each(|&(j, a)| to.scaled_add(a, &x.row(j as usize)));
        });
    }
}

/// Squared distances of a row's nearest others, sorted by number, and the row's own scale.
fn neighbours(rows: &Array2<f64>, i: usize, keep: usize) -> (Vec<(f64, u32)>, f64) {
    let others = (0..rows.nrows()).filter(|&j| j != i);
    let mut all: Vec<(f64, u32)> = others.map(|j| (distance2(rows.row(i), rows.row(j)), j as u32)).collect();
    let order = |a: &(f64, u32), b: &(f64, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
    // Copies of the row say nothing about its scale.
    let mut apart: Vec<f64> = all.iter().map(|&(square, _)| square).filter(|&square| square > 0.0).collect();
    let place = SCALE_NEIGHBOUR.min(apart.len());
    let scale = if place == 0 { 1.0 } else { apart.select_nth_unstable_by(place - 1, f64::total_cmp).1.sqrt() };
    if keep < all.len() {
        all.select_nth_unstable_by(keep - 1, order);
        all.truncate(keep);
    }
    all.sort_unstable_by_key(|&(_, j)| j);
    (all, scale)
}

fn keeps(list: &[(f64, u32)], j: u32) -> bool {
    list.binary_search_by_key(&j, |&(_, other)| other).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Silent;

    /// Two rings, one inside the other, and a few copies.
    fn rings(n: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, 2), |(i, p)| {
            let (radius, angle) = (1.0 + 4.0 * (i % 2) as f64, (i.max(4) as f64) * 2.4);
            radius * if p == 0 { angle.cos() } else { angle.sin() }
        })
    }

    #[test]
    fn few_neighbours_see_what_all_pairs_see() {
        let rows = rings(160);
        let progress = ProgressCounter::new(&Silent, 1);
        for keep in [159, 12] {
            let graph = Graph::new(&rows, keep, &progress).unwrap();
            let dense = graph.dense();
            assert_eq!(dense, dense.t());
            let x = Array2::from_shape_fn((160, 3), |(i, p)| ((i * 7 + p) % 11) as f64);
            let mut y = Array2::zeros((160, 3));
            graph.multiply(x.view(), y.view_mut());
            for (found, expected) in y.iter().zip(&dense.dot(&x)) {
                approx::assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
            }
            let top = top_eigenpairs(dense.view(), 2, Seed::new(1), &LanczosSettings::default()).unwrap();
            assert!((top.values[0] - 1.0).abs() < 1e-10, "the largest eigenvalue of a normalised graph is 1");
        }
    }
}
