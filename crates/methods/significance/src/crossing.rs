//! The crossing step: whether one can walk round a valley. A straight corridor between two parts of a bent cluster leaves the cluster;
//! in the half of the corridor at the side to which the cluster bends, the valley is less empty.

use partita_core::Seed;
use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::{Array1, Array2, Axis, Slice};
use partita_spectral::{LanczosSettings, top_eigenpairs};

use crate::line::Line;
use crate::rows::Rows;
use crate::walkers::{HalfSpace, Walker, counted, quantile};
use crate::windows::{BinCounts, Windows};

/// Standard errors by which the valley must be less empty in a half of the corridor.
const GAIN: f64 = 1.25;

/// Share of the rows near the valley that are outside of a half.
const OUTSIDE: f64 = 0.1;

/// An eigenvalue below this share of the root of the sum of all squares is 0: residuals have one dimension less than the table.
const RANK: f64 = 1e-6;

/// Rows whose products are added at once.
const BLOCK: usize = 256;

/// The half of the corridor in which the valley is less empty, where there is one.
pub(crate) fn crossing(
    rows: &Rows<'_>,
    line: &Line,
    walkers: &[Walker],
    windows: &Windows,
    seed: Seed,
) -> Option<HalfSpace> {
    if rows.columns() == 1 {
        return None;
    }
    let search = Search {
        rows,
        line,
        windows,
        reach: reach(walkers, windows),
        seed: seed.child(u64::MAX),
    };
    let coin = |walker: &&Walker| seed.child(walker.row.into()).number() & 1 == 0;
    let (proposing, judging): (Vec<&Walker>, Vec<&Walker>) = walkers.iter().partition(coin);
    let whole = Emptiness::of(&counted(judging.iter().copied()), windows);
    let mut best = (GAIN, None);
    for (normal, beyond) in search.candidates(&proposing)? {
        let lean = normal.dot(&line.direction);
        let from = f64::NEG_INFINITY;
        let mut half = HalfSpace { normal, lean, from };
        let Some(counts) = search.cut(&mut half, beyond, &judging) else {
            continue;
        };
        let part = Emptiness::of(&counts, windows);
        let gain = (part.log_ratio - whole.log_ratio) / (part.variance + whole.variance).sqrt();
        if gain > best.0 {
            best = (gain, Some(half));
        }
    }
    best.1
}

/// How empty the valley is beside the emptier of both ends.
struct Emptiness {
    log_ratio: f64,
    variance: f64,
}

impl Emptiness {
    fn of(counts: &BinCounts, windows: &Windows) -> Self {
        let [first, valley, second] = counts.counts(windows).map(|rows| f64::from(rows) + 0.5);
        let ends = [
            (first, windows.first_end.width),
            (second, windows.second_end.width),
        ];
        let [one, other] = ends.map(|(rows, width)| ((rows / width as f64).ln(), 1.0 / rows));
        let (end, variance) = if one.0 <= other.0 { one } else { other };
        Self {
            log_ratio: (valley / windows.valley.width as f64).ln() - end,
            variance: 1.0 / valley + variance,
        }
    }
}

/// Bins from the middle of the valley.
fn apart(walker: Walker, windows: &Windows) -> f64 {
    let middle = windows.valley.first as f64 + 0.5 * windows.valley.width as f64;
    (f64::from(walker.bin) + 0.5 - middle).abs()
}

/// Within how many bins of the middle of the valley rows are near it.
fn reach(walkers: &[Walker], windows: &Windows) -> f64 {
    let mut all: Vec<f64> = walkers
        .iter()
        .map(|walker| apart(*walker, windows))
        .collect();
    all.sort_unstable_by(f64::total_cmp);
    quantile(&all, 0.25).max(0.5 * windows.valley.width as f64)
}

/// The normal of a half, and where its rows near the valley begin.
type Candidate = (Array1<f64>, f64);

struct Search<'a, 'r> {
    rows: &'a Rows<'r>,
    line: &'a Line,
    windows: &'a Windows,
    reach: f64,
    /// Of the first vectors of a search for an eigenvector.
    seed: Seed,
}

impl Search<'_, '_> {
    fn is_near(&self, walker: Walker) -> bool {
        apart(walker, self.windows) <= self.reach
    }

    /// The directions in which rows near the valley differ from the rest: in mean, and most in spread.
    fn candidates(&self, walkers: &[&Walker]) -> Option<Vec<Candidate>> {
        let (near, rest): (Vec<&Walker>, Vec<&Walker>) =
            walkers.iter().partition(|walker| self.is_near(***walker));
        if near.len() < 2 || rest.len() < 2 {
            return None;
        }
        let usual = self.mean(&rest);
        let shift = self.mean(&near) - &usual;
        let mut candidates = vec![(shift, f64::NEG_INFINITY)];
        let spread = self.spread(&near, &usual) - self.spread(&rest, &usual);
        let largest = spread.iter().map(|x| x * x).sum::<f64>().sqrt();
        let settings = LanczosSettings::default();
        if let Ok(pairs) = top_eigenpairs(spread.view(), 1, self.seed, &settings)
            && pairs.values[0] > RANK * largest
        {
            let axis = pairs.vectors.column(0).to_owned();
            let middle = axis.dot(&usual);
            candidates.push((-&axis, -middle));
            candidates.push((axis, middle));
        }
        Some(candidates)
    }

    /// What of a row is not along the line, in the table's own metric.
    fn residual(&self, walker: Walker, held: &mut [f64]) {
        let along = self.line.along(self.rows.row(walker.row), held);
        for (x, direction) in held.iter_mut().zip(&self.line.direction) {
            *x -= along * direction;
        }
    }

    fn mean(&self, walkers: &[&Walker]) -> Array1<f64> {
        let mut mean = Array1::zeros(self.rows.columns());
        let mut held = vec![0.0; self.rows.columns()];
        for walker in walkers {
            self.residual(**walker, &mut held);
            mean.iter_mut().zip(&held).for_each(|(sum, x)| *sum += x);
        }
        mean / walkers.len() as f64
    }

    /// Second moments of residuals about a point.
    fn spread(&self, walkers: &[&Walker], about: &Array1<f64>) -> Array2<f64> {
        let columns = self.rows.columns();
        let mut products = Array2::zeros((columns, columns));
        let mut block = Array2::<f64>::zeros((BLOCK.min(walkers.len()), columns));
        for some in walkers.chunks(BLOCK) {
            for (mut held, walker) in block.axis_iter_mut(Axis(0)).zip(some) {
                if let Some(held) = held.as_slice_mut() {
                    self.residual(**walker, held);
                }
                held -= about;
            }
            let filled = block.slice_axis(Axis(0), Slice::from(..some.len()));
            general_mat_mul(1.0, &filled.t(), &filled, 1.0, &mut products);
        }
        products / walkers.len() as f64
    }

    /// Moves a half so that it has most rows near the valley that are beyond a point, and counts what is in it.
    fn cut(&self, half: &mut HalfSpace, beyond: f64, walkers: &[&Walker]) -> Option<BinCounts> {
        let mut held = vec![0.0; self.rows.columns()];
        let mut across = Vec::with_capacity(walkers.len());
        for walker in walkers {
            let along = self.line.along(self.rows.row(walker.row), &mut held);
            across.push(half.across(&held, along));
        }
        let places = walkers.iter().zip(&across);
        let near = places.filter(|(walker, across)| self.is_near(***walker) && **across >= beyond);
        let mut near: Vec<f64> = near.map(|(_, across)| *across).collect();
        if near.is_empty() {
            return None;
        }
        near.sort_unstable_by(f64::total_cmp);
        half.from = quantile(&near, OUTSIDE);
        let inside = walkers.iter().zip(&across);
        let inside = inside.filter(|(_, across)| **across >= half.from);
        Some(counted(inside.map(|(walker, _)| *walker)))
    }
}
