//! Common columns and colours for many runs, of one number of clusters or of several.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use partita_core::ndarray::{Array2, ArrayView2};
use rayon::prelude::*;

use crate::column_matching::{ColumnMatching, cost, match_columns};
use crate::run_modes::{groups, thinned};
use crate::{ModesError, Run};

/// A run in common columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct AlignedRun {
    /// Its mode: an index of [`RunAlignment::modes`].
    pub mode: usize,
    /// The colour of each of its columns, which alike columns of all runs share; colours count from 0.
    pub colours: Vec<usize>,
    /// Its columns in the order of their colours: how the run is written.
    pub order: Vec<usize>,
    /// ‖P − QΠ‖²_F / (2n) to the representative of its mode.
    pub cost: f64,
    /// G′ = 1 − √cost.
    pub similarity: f64,
}

/// Runs with the same number of columns that are alike.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunMode {
    /// The number of columns.
    pub clusters: usize,
    /// The runs, the representative first.
    pub members: Vec<usize>,
    /// Their share of the runs with this number of columns.
    pub share: f64,
    /// The mode that gave it its colours: of the same number of columns, or of the next larger one. None for the first.
    pub parent: Option<usize>,
    /// The cost of the matching of its representative with that of its parent; 0 for the first.
    pub parent_cost: f64,
}

/// Many runs in common columns.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct RunAlignment {
    /// The runs in their order.
    pub runs: Vec<AlignedRun>,
    /// The modes, more columns first, then more runs.
    pub modes: Vec<RunMode>,
    /// Number of colours: the most columns of a run.
    pub colours: usize,
}

/// Aligns runs: those with the same number of columns that differ by no more than noise, which is found from the runs themselves, form a
/// mode; with `similarity` those that are alike to this degree on average (G′; pong takes 0.97). They are matched to its representative; modes of one number of columns are matched to each other; and from the largest number
/// of columns down, the two most alike modes pass the colours on, a merged column taking that of its largest part.
///
/// # Errors
/// [`ModesError::NoRuns`], [`ModesError::NoColumns`], or [`ModesError::Objects`] for runs of different numbers of objects.
///
/// # Cost
/// O(R n K² + R K³) for R runs, and O(R² min(n, 2000) K²) to find which are alike.
#[doc(alias("CLUMPP", "CLUMPAK", "pong", "Clumppling"))]
pub fn align_runs(runs: &[Run], similarity: Option<f64>) -> Result<RunAlignment, ModesError> {
    let first = runs.first().ok_or(ModesError::NoRuns)?;
    if let Some(empty) = runs.iter().find(|run| run.clusters() == 0) {
        let name = empty.name().to_owned();
        return Err(ModesError::NoColumns { name });
    }
    if let Some(other) = runs.iter().find(|run| run.objects() != first.objects()) {
        return Err(ModesError::Objects {
            first: first.name().to_owned(),
            objects: first.objects(),
            other: other.name().to_owned(),
            others: other.objects(),
        });
    }
    let thin: Vec<Array2<f64>> = runs.par_iter().map(thinned).collect();
    let modes = modes(runs, &thin, similarity);
    let (modes, colours) = coloured(modes, &thin);
    let mut aligned: Vec<Option<AlignedRun>> = vec![None; runs.len()];
    for (at, mode) in modes.iter().enumerate() {
        let representative = runs[mode.members[0]].rows();
        let members = mode.members.par_iter();
        let found = members.map(|&run| member(runs[run].rows(), representative, at, &colours[at]));
        for (&run, found) in mode.members.iter().zip(found.collect::<Vec<_>>()) {
            aligned[run] = Some(found);
        }
    }
    Ok(RunAlignment {
        runs: aligned.into_iter().flatten().collect(),
        modes,
        colours: runs.iter().map(Run::clusters).max().unwrap_or(0),
    })
}

/// The modes of every number of columns, without parents.
fn modes(runs: &[Run], thin: &[Array2<f64>], similarity: Option<f64>) -> Vec<RunMode> {
    let mut by_clusters: BTreeMap<Reverse<usize>, Vec<usize>> = BTreeMap::new();
    for (at, run) in runs.iter().enumerate() {
        let runs = by_clusters.entry(Reverse(run.clusters())).or_default();
        runs.push(at);
    }
    let mut modes = Vec::new();
    for (Reverse(clusters), members) in by_clusters {
        let tables: Vec<&Array2<f64>> = members.iter().map(|&run| &thin[run]).collect();
        for group in groups(&tables, similarity) {
            modes.push(RunMode {
                clusters,
                share: group.len() as f64 / members.len() as f64,
                members: group.into_iter().map(|place| members[place]).collect(),
                parent: None,
                parent_cost: 0.0,
            });
        }
    }
    modes
}

/// The modes with their parents, and the colours of the columns of their representatives.
fn coloured(mut modes: Vec<RunMode>, thin: &[Array2<f64>]) -> (Vec<RunMode>, Vec<Vec<usize>>) {
    let mut colours: Vec<Vec<usize>> = vec![Vec::new(); modes.len()];
    let tables: Vec<ArrayView2<'_, f64>> = modes
        .iter()
        .map(|mode| thin[mode.members[0]].view())
        .collect();
    let mut begin = 0;
    let mut above = 0..0;
    while begin < modes.len() {
        let clusters = modes[begin].clusters;
        let same = modes[begin..]
            .iter()
            .take_while(|mode| mode.clusters == clusters);
        let level = begin..begin + same.count();
        // The two modes of this and the next larger number of columns that are most alike.
        let pairs = level
            .clone()
            .flat_map(|own| above.clone().map(move |parent| (own, parent)));
        let pairs: Vec<(usize, usize)> = pairs.collect();
        let matched = pairs
            .par_iter()
            .map(|&(own, parent)| match_columns(tables[parent], tables[own]));
        let matched: Vec<ColumnMatching> = matched.collect();
        let anchor = (0..pairs.len()).reduce(|best, next| {
            if matched[next].cost < matched[best].cost {
                next
            } else {
                best
            }
        });
        let reference = match anchor {
            None => {
                colours[begin] = (0..clusters).collect();
                begin
            }
            Some(at) => {
                let (own, parent) = pairs[at];
                let columns = &matched[at].columns;
                colours[own] = merged(tables[parent], columns, &colours[parent], clusters);
                modes[own].parent = Some(parent);
                modes[own].parent_cost = matched[at].cost;
                own
            }
        };
        for own in level.clone().filter(|&own| own != reference) {
            let found = match_columns(tables[own], tables[reference]);
            let columns = found.columns.iter();
            colours[own] = columns.map(|&column| colours[reference][column]).collect();
            modes[own].parent = Some(reference);
            modes[own].parent_cost = found.cost;
        }
        begin = level.end;
        above = level;
    }
    (modes, colours)
}

/// The colour of each column that parts of `table` were added to: that of its largest part.
fn merged(
    table: ArrayView2<'_, f64>,
    columns: &[usize],
    colours: &[usize],
    clusters: usize,
) -> Vec<usize> {
    let mut largest: Vec<Option<(f64, usize)>> = vec![None; clusters];
    for (part, &column) in columns.iter().enumerate() {
        let size = table.column(part).sum();
        if largest[column].is_none_or(|(best, _)| size > best) {
            largest[column] = Some((size, colours[part]));
        }
    }
    // Every column has a part.
    let largest = largest.into_iter();
    largest
        .map(|part| part.map_or(0, |(_, colour)| colour))
        .collect()
}

fn member(
    run: ArrayView2<'_, f64>,
    representative: ArrayView2<'_, f64>,
    mode: usize,
    colours: &[usize],
) -> AlignedRun {
    let found = match_columns(run, representative);
    let colours: Vec<usize> = found
        .columns
        .iter()
        .map(|&column| colours[column])
        .collect();
    let mut order: Vec<usize> = (0..colours.len()).collect();
    order.sort_by_key(|&column| colours[column]);
    debug_assert!((cost(run, representative, &found.columns) - found.cost).abs() < 1e-12);
    AlignedRun {
        mode,
        colours,
        order,
        cost: found.cost,
        similarity: found.similarity,
    }
}
