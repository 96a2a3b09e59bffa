//! Runs of one number of clusters that are alike.

use partita_core::ndarray::{Array2, Axis};
use rayon::prelude::*;

use crate::Run;
use crate::column_matching::match_columns;

/// Rows that runs are compared on to find which are alike; more are thinned evenly.
const ROWS: usize = 2000;

/// At most [`ROWS`] rows of a run, evenly spread.
pub(crate) fn thinned(run: &Run) -> Array2<f64> {
    let rows = run.objects();
    let kept: Vec<usize> = (0..rows.min(ROWS)).map(|at| at * rows / rows.min(ROWS)).collect();
    run.rows().select(Axis(0), &kept)
}

/// Groups of runs with the same number of columns, the largest first, members of each with the representative first: the run
/// with the most others at this similarity takes them, then the run with the most of those that are left.
pub(crate) fn groups(runs: &[&Array2<f64>], similarity: f64) -> Vec<Vec<usize>> {
    let pairs: Vec<(usize, usize)> = (0..runs.len()).flat_map(|a| (a + 1..runs.len()).map(move |b| (a, b))).collect();
    let alike = |&(a, b): &(usize, usize)| match_columns(runs[a].view(), runs[b].view()).similarity >= similarity;
    let alike: Vec<(usize, usize)> = pairs.into_par_iter().filter(alike).collect();
    let mut neighbours: Vec<Vec<usize>> = (0..runs.len()).map(|run| vec![run]).collect();
    for (a, b) in alike {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    let mut left: Vec<bool> = vec![true; runs.len()];
    let mut groups = Vec::new();
    loop {
        let free = |run: usize| neighbours[run].iter().filter(|&&other| left[other]).count();
        let candidates = (0..runs.len()).filter(|&run| left[run]);
        let best = candidates.reduce(|best, next| if free(next) > free(best) { next } else { best });
        let Some(best) = best else { break groups };
        let members: Vec<usize> = neighbours[best].iter().copied().filter(|&run| left[run]).collect();
        members.iter().for_each(|&run| left[run] = false);
        groups.push(members);
    }
}
