//! A corridor from one cluster to another, learned on one half of the rows.

use partita_core::Seed;
use partita_core::ndarray::Array1;

use crate::crossing::crossing;
use crate::line::Line;
use crate::moments::Moments;
use crate::rows::{NONE, Rows};
use crate::walkers::{HalfSpace, Walker, counted, quantile};
use crate::windows::{BINS, BinCounts, Scale, Windows, best_windows};

/// Share of the rows of the wider of the two clusters that a corridor has.
const WIDE: f64 = 0.9;

/// That of a corridor with a third cluster beside its valley.
const NARROW: f64 = 0.6;

/// Rows of a cluster that a corridor must have.
const LEAST_ROWS: usize = 3;

/// Clusters that have been merged into one so far.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Its clusters, rising.
    pub(crate) clusters: Vec<u32>,
    /// Rows, mean and scatter: of the halves of halving h at 2 h and 2 h + 1.
    pub(crate) moments: Vec<Moments>,
    /// Rows without a missing value.
    pub(crate) rows: usize,
    /// Their mean.
    pub(crate) centre: Array1<f64>,
}

/// Two groups, and which rows are in them.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a, 'r> {
    pub(crate) rows: &'a Rows<'r>,
    pub(crate) first: &'a Group,
    pub(crate) second: &'a Group,
    /// The group of every cluster.
    pub(crate) group_of: &'a [u32],
    /// The numbers of the two groups.
    pub(crate) numbers: [u32; 2],
}

/// Half of the rows in one halving.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Half {
    pub(crate) halving: u32,
    pub(crate) half: u32,
}

impl Half {
    pub(crate) fn other(self) -> Self {
        Self {
            half: 1 - self.half,
            ..self
        }
    }

    pub(crate) fn moments(self, group: &Group) -> &Moments {
        &group.moments[(2 * self.halving + self.half) as usize]
    }
}

/// Why there is no corridor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoCorridor {
    /// All rows or both means are equal, or hardly any row is in it.
    TooFewRows,
    /// No place is emptier than both ends on the rows that it is learned on.
    NoValley,
}

/// What was learned.
pub(crate) struct Corridor {
    line: Line,
    /// The largest r².
    reach: f64,
    half_space: Option<HalfSpace>,
    pub(crate) scale: Scale,
    pub(crate) windows: Windows,
    /// Whether rows lie at few places of the line, so that there are gaps between values.
    pub(crate) few_values: bool,
}

impl Corridor {
    /// Learns line, width and windows on one half.
    pub(crate) fn learn(pair: Pair<'_, '_>, half: Half, seed: Seed) -> Result<Self, NoCorridor> {
        let [a, b] = [pair.first, pair.second].map(|group| half.moments(group));
        let line = Line::between(a, b, pair.rows.dimensions).ok_or(NoCorridor::TooFewRows)?;
        let [first, second] =
            [pair.first, pair.second].map(|group| places(pair.rows, group, half, &line));
        let [reach, narrow] =
            [WIDE, NARROW].map(|share| wide(&first, share).max(wide(&second, share)));
        let [first, second] = [first, second].map(|places| within(places, reach));
        if first.len().min(second.len()) < LEAST_ROWS {
            return Err(NoCorridor::TooFewRows);
        }
        let scale = scale(&first, &second);
        let few_values = has_few_values(first, &second, scale);
        let walkers = walkers(pair, half, &line, reach, None, scale);
        let width = 0.9 * a.rows.min(b.rows).powf(-0.2);
        let counts = counted(&walkers);
        let (z, windows) = best_windows(&counts, scale, width).ok_or(NoCorridor::NoValley)?;
        // A third cluster beside the valley is no way round it.
        let own: Vec<Walker> = walkers
            .iter()
            .filter(|walker| walker.in_pair)
            .copied()
            .collect();
        let mut learned = Self {
            half_space: crossing(pair.rows, &line, &own, &windows, seed),
            line,
            reach,
            scale,
            windows,
            few_values,
        };
        if learned.half_space.is_some() {
            let found = best_windows(&learned.count(pair, half), scale, width);
            learned.windows = found.ok_or(NoCorridor::NoValley)?.1;
        } else if windows.valley.count(&counts.all) > windows.valley.count(&counts.pair) {
            let inside = walkers.iter().filter(|walker| walker.off <= narrow);
            let found = best_windows(&counted(inside), scale, width);
            if let Some((_, windows)) = found.filter(|(better, _)| *better > z) {
                (learned.reach, learned.windows) = (narrow, windows);
            }
        }
        Ok(learned)
    }

    /// Counts the rows of a half in its bins.
    pub(crate) fn count(&self, pair: Pair<'_, '_>, half: Half) -> BinCounts {
        counted(&walkers(
            pair,
            half,
            &self.line,
            self.reach,
            self.half_space.as_ref(),
            self.scale,
        ))
    }
}

/// s and r² of the rows of a group in a half.
fn places(rows: &Rows<'_>, group: &Group, half: Half, line: &Line) -> Vec<(f64, f64)> {
    let mut centred = vec![0.0; rows.columns()];
    let mut places = Vec::new();
    for &cluster in &group.clusters {
        for &row in &rows.members[cluster as usize] {
            if rows.half(row, half.halving) == half.half {
                let along = line.along(rows.row(row), &mut centred);
                let off = line.off(&centred, along, f64::INFINITY);
                places.extend(off.map(|off| (along, off)));
            }
        }
    }
    places
}

/// The r² within which a share of the rows of a group are.
fn wide(places: &[(f64, f64)], share: f64) -> f64 {
    let mut off: Vec<f64> = places.iter().map(|place| place.1).collect();
    off.sort_unstable_by(f64::total_cmp);
    quantile(&off, share)
}

/// s of the rows within the corridor, rising.
fn within(places: Vec<(f64, f64)>, reach: f64) -> Vec<f64> {
    let inside = places.into_iter().filter(|(_, off)| *off <= reach);
    let mut along: Vec<f64> = inside.map(|(along, _)| along).collect();
    along.sort_unstable_by(f64::total_cmp);
    along
}

/// From behind the first group to behind the second, a little beyond their outer quantiles.
fn scale(first: &[f64], second: &[f64]) -> Scale {
    let (low, median) = (quantile(first, 0.02), quantile(first, 0.5));
    let (high, other_median) = (quantile(second, 0.98), quantile(second, 0.5));
    Scale {
        from: (low - 0.25 * (median - low)).min(quantile(second, 0.02)),
        to: (high + 0.25 * (high - other_median)).max(quantile(first, 0.98)),
    }
}

/// Whether rows lie at fewer places than there are bins, and at most at half as many as there are rows.
fn has_few_values(mut along: Vec<f64>, second: &[f64], scale: Scale) -> bool {
    along.extend(second);
    along.sort_unstable_by(f64::total_cmp);
    let equal = 1e-9 * (scale.to - scale.from);
    let steps = along.windows(2).filter(|two| two[1] - two[0] > equal);
    let distinct = 1 + steps.count();
    distinct < BINS && 2 * distinct <= along.len()
}

/// The rows of a half that are in a corridor, of whatever cluster.
fn walkers(
    pair: Pair<'_, '_>,
    half: Half,
    line: &Line,
    reach: f64,
    half_space: Option<&HalfSpace>,
    scale: Scale,
) -> Vec<Walker> {
    let rows = pair.rows;
    let mut centred = vec![0.0; rows.columns()];
    let mut walkers = Vec::new();
    for &row in &rows.complete {
        if rows.half(row, half.halving) != half.half {
            continue;
        }
        let along = line.along(rows.row(row), &mut centred);
        let Some(bin) = scale.bin(along) else {
            continue;
        };
        let beyond = half_space.is_some_and(|half| half.across(&centred, along) < half.from);
        let off = line.off(&centred, along, reach);
        let Some(off) = off.filter(|_| !beyond) else {
            continue;
        };
        let cluster = rows.cluster[row as usize];
        let in_pair = cluster != NONE && pair.numbers.contains(&pair.group_of[cluster as usize]);
        walkers.push(Walker {
            row,
            bin: bin as u8,
            off,
            in_pair,
        });
    }
    walkers
}
