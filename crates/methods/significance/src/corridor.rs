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
    /// All groups that are left, by number.
    pub(crate) groups: &'a [Option<Group>],
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
    walls: Walls,
    pub(crate) scale: Scale,
    pub(crate) windows: Windows,
    /// Whether rows lie at few places of the line, so that there are gaps between values.
    pub(crate) few_values: bool,
}

/// What a corridor is made of: a convex set of what of a row is not along the line.
struct Walls {
    line: Line,
    /// The largest r².
    reach: f64,
    /// By group: the rows that are nearer to the line than to the mean of a third group, which has a place of its own beside the valley.
    beside: Vec<Option<HalfSpace>>,
    /// The side to which the two groups bend.
    bend: Option<HalfSpace>,
}

impl Corridor {
    /// Learns line, width and windows on one half.
    pub(crate) fn learn(pair: Pair<'_, '_>, half: Half, seed: Seed) -> Result<Self, NoCorridor> {
        let [a, b] = [pair.first, pair.second].map(|group| half.moments(group));
        let line = Line::between(a, b, pair.rows.dimensions).ok_or(NoCorridor::TooFewRows)?;
        let mut walls = Walls {
            beside: beside(pair, half, &line),
            line,
            reach: f64::INFINITY,
            bend: None,
        };
        let [first, second] =
            [pair.first, pair.second].map(|group| walls.places(pair.rows, group, half));
        walls.reach = wide(&first).max(wide(&second));
        let [first, second] = [first, second].map(|places| within(places, walls.reach));
        if first.len().min(second.len()) < LEAST_ROWS {
            return Err(NoCorridor::TooFewRows);
        }
        let scale = scale(&first, &second);
        let few_values = has_few_values(first, &second, scale);
        let walkers = walls.walkers(pair, half, scale);
        let width = 0.9 * a.rows.min(b.rows).powf(-0.2);
        let mut windows =
            best_windows(&counted(&walkers), scale, width).ok_or(NoCorridor::NoValley)?;
        // A third cluster in the valley is no way round it.
        let own: Vec<Walker> = walkers
            .iter()
            .filter(|walker| walker.in_pair)
            .copied()
            .collect();
        walls.bend = crossing(pair.rows, &walls.line, &own, &windows, seed);
        if walls.bend.is_some() {
            let counts = counted(&walls.walkers(pair, half, scale));
            windows = best_windows(&counts, scale, width).ok_or(NoCorridor::NoValley)?;
        }
        Ok(Self {
            walls,
            scale,
            windows,
            few_values,
        })
    }

    /// Counts the rows of a half in its bins.
    pub(crate) fn count(&self, pair: Pair<'_, '_>, half: Half) -> BinCounts {
        counted(&self.walls.walkers(pair, half, self.scale))
    }
}

/// Planes half way between a line and the means of all other groups.
fn beside(pair: Pair<'_, '_>, half: Half, line: &Line) -> Vec<Option<HalfSpace>> {
    let of = |(number, group): (usize, &Option<Group>)| {
        let third = group.as_ref()?;
        let own = pair.numbers.contains(&(number as u32));
        (!own).then(|| line.nearer_than(&half.moments(third).mean))
    };
    pair.groups.iter().enumerate().map(of).collect()
}

impl Walls {
    /// Whether a row is between all planes; that of its own group is asked first.
    fn holds(&self, group: Option<usize>, centred: &[f64], along: f64) -> bool {
        let inside = |plane: &HalfSpace| plane.across(centred, along) >= plane.from;
        let own = group.and_then(|group| self.beside[group].as_ref());
        own.is_none_or(inside)
            && self.beside.iter().flatten().all(inside)
            && self.bend.as_ref().is_none_or(inside)
    }

    /// s and r² of the rows of a group in a half.
    fn places(&self, rows: &Rows<'_>, group: &Group, half: Half) -> Vec<(f64, f64)> {
        let mut centred = vec![0.0; rows.columns()];
        let mut places = Vec::new();
        for &cluster in &group.clusters {
            for &row in &rows.members[cluster as usize] {
                if rows.half(row, half.halving) == half.half {
                    let along = self.line.along(rows.row(row), &mut centred);
                    if !self.holds(None, &centred, along) {
                        continue;
                    }
                    let off = self.line.off(&centred, along, self.reach);
                    places.extend(off.map(|off| (along, off)));
                }
            }
        }
        places
    }

    /// The rows of a half that are in the corridor, of whatever cluster.
    fn walkers(&self, pair: Pair<'_, '_>, half: Half, scale: Scale) -> Vec<Walker> {
        let rows = pair.rows;
        let mut centred = vec![0.0; rows.columns()];
        let mut walkers = Vec::new();
        for &row in &rows.complete {
            if rows.half(row, half.halving) != half.half {
                continue;
            }
            let along = self.line.along(rows.row(row), &mut centred);
            let Some(bin) = scale.bin(along) else {
                continue;
            };
            let cluster = rows.cluster[row as usize];
            let group = (cluster != NONE).then(|| pair.group_of[cluster as usize]);
            if !self.holds(group.map(|group| group as usize), &centred, along)
                || self.line.off(&centred, along, self.reach).is_none()
            {
                continue;
            }
            walkers.push(Walker {
                row,
                bin: bin as u8,
                in_pair: group.is_some_and(|group| pair.numbers.contains(&group)),
            });
        }
        walkers
    }
}

/// The r² within which a corridor has its share of the rows of a group.
fn wide(places: &[(f64, f64)]) -> f64 {
    let mut off: Vec<f64> = places.iter().map(|place| place.1).collect();
    off.sort_unstable_by(f64::total_cmp);
    quantile(&off, WIDE)
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
