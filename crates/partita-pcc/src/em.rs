//! The simultaneous EM map of KL.
//!
//! `1 − y_i·y_j = (1−y_i)·y_j` makes every pair a draw from a mixture: both in cluster k, or j in k and i elsewhere.
//! Maximum likelihood by EM multiplies every probability by its responsibilities, all objects at once.

use rayon::prelude::*;

use crate::descent::{Race, Round};
use crate::laws::{Bregman, EDGE};
use crate::survey::{Worker, look};

/// One map: `y_ik ← y_ik Σ_j [c_ij Y_jk/a_ij + (N_ij−c_ij)(1−Y_jk)/(1−a_ij)] / Σ_j N_ij`.
pub(crate) fn em<D: Bregman>(race: &mut Race<'_, D>) -> Round {
    if race.stop() {
        return Round::Stopped;
    }
    let (law, evidence, table, clusters) = (race.law, race.evidence, &race.table, race.table.clusters);
    let mut rows = vec![0.0; evidence.count() * clusters];
    let one = |worker: &mut Worker, (i, out): (usize, &mut [f64])| {
        let gap = look(law, evidence, table, i, worker);
        let Worker { near, scratch, y } = worker;
        let (_, counts) = evidence.look(i, table, near);
        // The sum over responsibilities is this constant less the gradient.
        let rest = |j: usize| (counts.n[j] - counts.c[j]) / (1.0 - scratch.a[j]).max(EDGE);
        let rest: f64 = (0..counts.c.len()).map(rest).sum();
        out.iter_mut().zip(&*y).zip(&scratch.g).for_each(|((out, y), g)| *out = y * (rest - g).max(0.0));
        let sum: f64 = out.iter().sum();
        if sum > 0.0 {
            out.iter_mut().for_each(|out| *out /= sum);
        } else {
            out.copy_from_slice(y);
        }
        gap
    };
    let worst =
        (rows.par_chunks_mut(clusters).enumerate()).map_init(|| Worker::new(clusters), one).reduce(|| 0.0, f64::max);
    if worst <= race.tolerance {
        return Round::Done;
    }
    rows.chunks(clusters).enumerate().for_each(|(i, row)| race.table.write(i, row));
    Round::More
}
