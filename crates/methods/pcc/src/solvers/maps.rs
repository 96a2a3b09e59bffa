//! Multiplicative maps of all objects at once: EM for the Kullback–Leibler divergence, and the growth transform of Baum and Eagon for
//! squared differences.
//!
//! EM: `1 − y_i·y_j = (1−y_i)·y_j` makes every pair a draw from a mixture: both in cluster k, or j in k and i elsewhere.
//! Maximum likelihood multiplies every probability by its responsibilities.
//!
//! Growth: `−Σ N (x − p)²` becomes a polynomial with coefficients of 0 or more in all probabilities when a constant is added and
//! written as a product of row sums. Every probability times its derivative then climbs (Baum and Eagon 1967).
//!
//! Copies of an object have the same probabilities: their pairs enter like one more partner of the object, where it is.

use rayon::prelude::*;

use super::iterate::{Iterate, Iteration};
use super::objective::Worker;
use crate::bregman::{Bregman, EDGE};

/// One map: `y_ik ← y_ik Σ_j [c_ij Y_jk/a_ij + (N_ij−c_ij)(1−Y_jk)/(1−a_ij)] / Σ_j N_ij`.
pub(super) fn em<D: Bregman>(iterate: &mut Iterate<'_, D>) -> Iteration {
    // The sum over responsibilities is this constant less the gradient.
    map(iterate, 1.0, |iterate, worker, i| {
        let Worker { near, scratch, y } = worker;
        let (_, counts) = iterate.evidence.pairs_of(i, &iterate.table, near);
        let pairs = counts.c.iter().zip(&counts.n).zip(&scratch.a);
        let rest: f64 = pairs.map(|((c, n), a)| (n - c) / (1.0 - a).max(EDGE)).sum();
        rest + iterate.evidence.copy_pairs(i).apart(y, EDGE)
    })
}

/// One map: `y_ik ← y_ik [Σ_j c_ij Y_jk + Σ_j N_ij − Σ_j N_ij a_ij Y_jk] / norm`.
pub(super) fn growth<D: Bregman>(iterate: &mut Iterate<'_, D>) -> Iteration {
    // The gradient of Σ N (x − p)² is twice what is taken off the sum of N.
    map(iterate, 0.5, |iterate, _, i| iterate.evidence.weight(i))
}

/// `y_ik ← y_ik (constant_i − share g_ik) / norm` with the gradient g of every object.
fn map<D: Bregman>(
    iterate: &mut Iterate<'_, D>,
    share: f64,
    constant: impl Fn(&Iterate<'_, D>, &mut Worker, usize) -> f64 + Sync,
) -> Iteration {
    if iterate.stop_after(1.0) {
        return Iteration::Stopped;
    }
    let clusters = iterate.table.clusters;
    let mut rows = vec![0.0; iterate.evidence.objects() * clusters];
    let worst = (rows.par_chunks_mut(clusters).enumerate())
        .map_init(
            || Worker::new(clusters),
            |worker, (i, out)| {
                let gap = iterate.model.gradient_of(&iterate.table, i, worker);
                let constant = constant(iterate, worker, i);
                let y = &worker.y;
                for ((out, y), g) in out.iter_mut().zip(y).zip(&worker.scratch.g) {
                    *out = y * (constant - share * g).max(0.0);
                }
                let sum: f64 = out.iter().sum();
                if sum > 0.0 {
                    out.iter_mut().for_each(|out| *out /= sum);
                } else {
                    out.copy_from_slice(y);
                }
                gap
            },
        )
        .reduce(|| 0.0, f64::max);
    if worst <= iterate.tolerance {
        return Iteration::Done;
    }
    for (i, row) in rows.chunks(clusters).enumerate() {
        iterate.table.write(i, row);
    }
    Iteration::More
}
