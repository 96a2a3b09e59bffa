//! Runs of one number of clusters that are alike.

use partita_core::ndarray::{Array2, ArrayView2, Axis, Slice, concatenate};
use rayon::prelude::*;

use crate::Run;
use crate::column_matching::{distances, match_columns, places, squares};

/// Rows that runs are compared on to find which are alike; more are thinned evenly.
const ROWS: usize = 2000;

/// At most [`ROWS`] rows of a run, evenly spread.
pub(crate) fn thinned(run: &Run) -> Array2<f64> {
    let rows = run.objects();
    let most = rows.min(ROWS);
    let kept: Vec<usize> = (0..most).map(|at| at * rows / most).collect();
    run.rows().select(Axis(0), &kept)
}

/// Groups of runs with the same number of columns, the largest first, members of each with the representative first: the run
/// with the most others at this similarity takes them, then the run with the most of those that are left.
pub(crate) fn groups(runs: &[&Array2<f64>], similarity: f64) -> Vec<Vec<usize>> {
    let alike = alike(runs, similarity);
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
        let best =
            candidates.reduce(|best, next| if free(next) > free(best) { next } else { best });
        let Some(best) = best else { break groups };
        let members = neighbours[best].iter().copied().filter(|&run| left[run]);
        let members: Vec<usize> = members.collect();
        members.iter().for_each(|&run| left[run] = false);
        groups.push(members);
    }
}

/// Runs whose products with others are taken at once.
const BLOCK: usize = 32;

/// A similarity that is nearer to the one asked for than this is computed again from the rows.
const ROUNDING: f64 = 1e-6;

/// The pairs of runs at this similarity, in their order.
fn alike(runs: &[&Array2<f64>], similarity: f64) -> Vec<(usize, usize)> {
    let own: Vec<Vec<f64>> = runs.par_iter().map(|run| squares(run.view())).collect();
    let blocks: Vec<Array2<f64>> = runs.chunks(BLOCK).map(side_by_side).collect();
    let pairs = (0..blocks.len()).flat_map(|a| (a..blocks.len()).map(move |b| (a, b)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let runs_of = |block: usize| block * BLOCK..((block + 1) * BLOCK).min(runs.len());
    let alike = pairs.into_par_iter().flat_map_iter(|(first, second)| {
        let products = blocks[first].t().dot(&blocks[second]);
        let mut alike = Vec::new();
        for a in runs_of(first) {
            let width = runs[a].ncols();
            let part = |run: usize| Slice::from(run % BLOCK * width..(run % BLOCK + 1) * width);
            let lines = products.slice_axis(Axis(0), part(a));
            for b in runs_of(second).filter(|&b| b > a) {
                let products = lines.slice_axis(Axis(1), part(b));
                let mut found = similar(&own[a], &own[b], products, runs[a].nrows());
                if (found - similarity).abs() <= ROUNDING {
                    found = match_columns(runs[a].view(), runs[b].view()).similarity;
                }
                if found >= similarity {
                    alike.push((a, b));
                }
            }
        }
        alike
    });
    let mut alike: Vec<(usize, usize)> = alike.collect();
    alike.sort_unstable();
    alike
}

/// G′ of two runs with the same number of columns, from squares and products of these.
fn similar(of_q: &[f64], of_p: &[f64], products: ArrayView2<'_, f64>, rows: usize) -> f64 {
    let distances = distances(of_q, of_p, products, rows);
    let columns = places(distances.view()).into_iter().enumerate();
    let sum: f64 = columns.map(|(a, b)| distances[[a, b]]).sum();
    1.0 - (0.5 * sum).max(0.0).sqrt()
}

fn side_by_side(runs: &[&Array2<f64>]) -> Array2<f64> {
    let views: Vec<ArrayView2<'_, f64>> = runs.iter().map(|run| run.view()).collect();
    concatenate(Axis(1), &views).expect("runs of the same objects")
}
