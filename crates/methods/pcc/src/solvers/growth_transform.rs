//! The growth transform of Baum and Eagon, all objects at once.
//!
//! `−Σ N (x − p)²` becomes a polynomial with coefficients of 0 or more in all probabilities when a constant is added and
//! written as a product of row sums. Every probability times its derivative then climbs (Baum and Eagon 1967). The pairs
//! among the copies of an object are polynomials too, and enter like one more partner of the object, where it is.

use rayon::prelude::*;

use super::iterate::{Iterate, Round};
use super::objective::{Worker, gradient_of};
use crate::bregman::Bregman;

/// One map: `y_ik ← y_ik [Σ_j c_ij Y_jk + Σ_j N_ij − Σ_j N_ij a_ij Y_jk] / norm`.
pub(crate) fn growth<D: Bregman>(iterate: &mut Iterate<'_, D>) -> Round {
    if iterate.stop_after(1.0) {
        return Round::Stopped;
    }
    let (bregman, evidence, table, clusters) = (
        iterate.bregman,
        iterate.evidence,
        &iterate.table,
        iterate.table.clusters,
    );
    let mut rows = vec![0.0; evidence.count() * clusters];
    let one = |worker: &mut Worker, (i, out): (usize, &mut [f64])| {
        let gap = gradient_of(bregman, evidence, table, i, worker);
        // The gradient of Σ N (x − p)² is twice what is taken off the sum of N.
        let most = evidence.weight(i);
        let grown = worker
            .y
            .iter()
            .zip(&worker.scratch.g)
            .map(|(y, g)| y * (most - 0.5 * g).max(0.0));
        out.iter_mut()
            .zip(grown)
            .for_each(|(out, grown)| *out = grown);
        let sum: f64 = out.iter().sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|out| *out /= sum);
        } else {
            out.copy_from_slice(&worker.y);
        }
        gap
    };
    let worst = (rows.par_chunks_mut(clusters).enumerate())
        .map_init(|| Worker::new(clusters), one)
        .reduce(|| 0.0, f64::max);
    if worst <= iterate.tolerance {
        return Round::Done;
    }
    rows.chunks(clusters)
        .enumerate()
        .for_each(|(i, row)| iterate.table.write(i, row));
    Round::More
}
