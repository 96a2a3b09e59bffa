//! EM for the Kullback–Leibler divergence: one multiplicative map of all objects at once.
//!
//! `1 − y_i·y_j = (1−y_i)·y_j` makes every pair a draw from a mixture: both in cluster k, or j in k and i elsewhere.
//! Maximum likelihood by EM multiplies every probability by its responsibilities, all objects at once. Copies of an object have the same
//! probabilities: their pairs are one more partner of the object, where it is.

use rayon::prelude::*;

use super::iterate::{Iterate, Round};
use super::objective::{Worker, gradient_of};
use crate::bregman::{Bregman, EDGE};

/// One map: `y_ik ← y_ik Σ_j [c_ij Y_jk/a_ij + (N_ij−c_ij)(1−Y_jk)/(1−a_ij)] / Σ_j N_ij`.
pub(crate) fn em<D: Bregman>(iterate: &mut Iterate<'_, D>) -> Round {
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
        let Worker { near, scratch, y } = worker;
        let (_, counts) = evidence.pairs_of(i, table, near);
        // The sum over responsibilities is this constant less the gradient.
        let rest = |j: usize| (counts.n[j] - counts.c[j]) / (1.0 - scratch.a[j]).max(EDGE);
        let rest: f64 = (0..counts.c.len()).map(rest).sum();
        let rest = rest + evidence.copy_pairs(i).apart(y, EDGE);
        out.iter_mut()
            .zip(&*y)
            .zip(&scratch.g)
            .for_each(|((out, y), g)| *out = y * (rest - g).max(0.0));
        let sum: f64 = out.iter().sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|out| *out /= sum);
        } else {
            out.copy_from_slice(y);
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
