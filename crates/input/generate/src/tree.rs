//! Hierarchical base clusterings: one tree, cut at many k.

use partita_core::Stopped;
use partita_core::ndarray::{Array2, ArrayView1};
use partita_linkage::{Linkage, cut, link};
use rayon::prelude::*;

use crate::BaseKind;
use crate::base_run::BaseRun;
use crate::error::Result;
use crate::plan::Plan;
use crate::run_context::RunContext;

/// The linkage of a base clusterer, where it is one.
pub(crate) fn linkage(kind: BaseKind) -> Option<Linkage> {
    match kind {
        BaseKind::Single => Some(Linkage::Single),
        BaseKind::Average => Some(Linkage::Average),
        BaseKind::Complete => Some(Linkage::Complete),
        BaseKind::Ward => Some(Linkage::Ward),
        BaseKind::Centroid => Some(Linkage::Centroid),
        _ => None,
    }
}

/// The base clusterings of plans that see the same rows.
pub(crate) fn trees(
    plans: &[Plan],
    linkage: Linkage,
    context: &RunContext<'_>,
) -> Result<Vec<Option<BaseRun>>> {
    let (members, rows) = context.sight.rows(&plans[0]);
    let Some(distances) = condensed(&rows, context) else {
        return Ok(vec![None; plans.len()]);
    };
    let tree = link(distances, members.len(), linkage)?;
    let found = |plan: &Plan| {
        let partition = cut(&tree, plan.k);
        let labels = partition.labels().iter().map(|&label| label as u16);
        Some(context.finished(plan, &members, labels, Stopped::Exact))
    };
    Ok(plans.iter().map(found).collect())
}

/// Distances of all pairs of rows in SciPy's order, Euclidean where they are not given; none if the monitor says stop.
pub(crate) fn condensed(rows: &Array2<f64>, context: &RunContext<'_>) -> Option<Vec<f64>> {
    let (n, progress) = (rows.nrows(), context.sink.progress);
    let mut all = vec![0.0; n * n.saturating_sub(1) / 2];
    let mut parts: Vec<(usize, &mut [f64])> = Vec::with_capacity(n);
    let mut rest = all.as_mut_slice();
    for i in 0..n.saturating_sub(1) {
        let (part, tail) = rest.split_at_mut(n - 1 - i);
        parts.push((i, part));
        rest = tail;
    }
    parts.into_par_iter().for_each(|(i, part)| {
        if i.is_multiple_of(64) && progress.stopped() || progress.was_stopped() {
            return;
        }
        let row = rows.row(i);
        for (to, j) in part.iter_mut().zip(i + 1..n) {
            *to = if context.sight.distances {
                row[j]
            } else {
                distance2(row, rows.row(j)).sqrt()
            };
        }
    });
    (!progress.was_stopped()).then_some(all)
}

/// Squared Euclidean distance, summed in eight strands.
pub(crate) fn distance2(a: ArrayView1<'_, f64>, b: ArrayView1<'_, f64>) -> f64 {
    let (a, b) = (
        a.to_slice().unwrap_or_default(),
        b.to_slice().unwrap_or_default(),
    );
    let mut sums = [0.0; 8];
    let (head, tail) = a.split_at(a.len() & !7);
    for (a, b) in head.chunks_exact(8).zip(b.chunks_exact(8)) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += (a - b) * (a - b);
        }
    }
    let rest: f64 = tail
        .iter()
        .zip(&b[head.len()..])
        .map(|(a, b)| (a - b) * (a - b))
        .sum();
    sums.iter().sum::<f64>() + rest
}
