//! Newton step on one object's probabilities, all others held: a convex problem on the simplex.

use partita_kernels::dispatch;

use super::l2_gram::GramOfObject;
use super::rows_seen::RowsSeen;
use super::simplex_qp::quadratic;
use crate::bregman::Bregman;
use crate::copy_pairs::{CopyLine, CopyPairs, Slope, rise};
use crate::kernels::{Combine, Gradient, Hessian, Line};
use crate::memberships::{Memberships, SNAP};
use crate::pair_counts::PairCounts;

/// Limits of a Newton step.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StepLimits {
    /// Violations up to this are left alone.
    pub(crate) small: f64,
    /// No probability shrinks below this share of itself in one step.
    pub(crate) keep: f64,
    /// Only where the violation is larger than this.
    pub(crate) keep_above: f64,
    /// Steps longer than the Newton step by this factor, where the simplex allows it.
    pub(crate) over: f64,
}

/// What a step found and did.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepOutcome {
    /// Violation of the conditions before: highest gradient where there is probability, less the lowest of all.
    pub(crate) gap: f64,
    /// By how much the cost fell, at least; 0 where nothing moved.
    pub(crate) fall: f64,
}

/// Workspace of steps.
#[derive(Debug)]
pub(crate) struct Scratch {
    pub(crate) a: Vec<f64>,
    pub(crate) w2: Vec<f64>,
    b: Vec<f64>,
    pub(crate) g: Vec<f64>,
    pub(crate) h: Vec<f64>,
    pub(crate) entries: Vec<(usize, f64)>,
    pub(crate) chosen: Vec<usize>,
    rows: RowsSeen,
    q: Vec<f64>,
    z: Vec<f64>,
}

impl Scratch {
    pub(crate) fn new(clusters: usize) -> Self {
        Self {
            a: Vec::new(),
            w2: Vec::new(),
            b: Vec::new(),
            g: vec![0.0; clusters],
            h: Vec::new(),
            entries: Vec::new(),
            chosen: Vec::new(),
            rows: RowsSeen::default(),
            q: Vec::new(),
            z: Vec::new(),
        }
    }

    pub(crate) fn resize(&mut self, objects: usize) {
        for values in [&mut self.a, &mut self.w2, &mut self.b] {
            values.resize(objects, 0.0);
        }
    }

    /// The gradient of the object of `entries` into `g`.
    pub(crate) fn gradient<D: Bregman>(
        &mut self,
        bregman: &D,
        others: &Memberships,
        counts: &PairCounts,
    ) {
        self.resize(others.stride);
        dispatch(Gradient {
            bregman,
            others,
            counts,
            y: &self.entries,
            a: &mut self.a,
            w2: &mut self.w2,
            g: &mut self.g,
        });
    }
}

/// Entries that are not 0.
pub(crate) fn support(y: &[f64], entries: &mut Vec<(usize, f64)>) {
    entries.clear();
    entries.extend(y.iter().copied().enumerate().filter(|&(_, y)| y > 0.0));
}

/// The violation of the optimality conditions of one object: highest gradient where there is probability, less the
/// lowest of all. 0 at a stationary point.
pub(crate) fn violation(g: &[f64], entries: &[(usize, f64)]) -> f64 {
    let lowest = g.iter().copied().fold(f64::INFINITY, f64::min);
    let seen = entries.iter().filter(|entry| entry.1 > SNAP);
    seen.map(|&(k, _)| g[k]).fold(f64::NEG_INFINITY, f64::max) - lowest
}

/// What an object sees when it moves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Seen<'a> {
    pub(crate) others: Others<'a>,
    pub(crate) counts: &'a PairCounts,
    /// The pairs among its copies.
    pub(crate) among: CopyPairs,
}

/// The probabilities of the objects that one sees.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Others<'a> {
    /// By columns, and what saves work where the divergence is the squared difference.
    Columns(&'a Memberships, Option<GramOfObject<'a>>),
    /// Some rows of a table by rows, with squared differences.
    Rows(&'a Memberships, &'a [u32]),
}

impl Others<'_> {
    /// Whether the Hessian is that of all pairs, so that the cost along a line is known without looking at them again.
    fn exact(self) -> bool {
        match self {
            Self::Columns(_, squares) => squares.is_some_and(|squares| squares.exact),
            Self::Rows(..) => true,
        }
    }
}

impl Seen<'_> {
    /// The gradient into `s.g`, with what the Hessian needs.
    fn gradient<D: Bregman>(&self, bregman: &D, y: &[f64], s: &mut Scratch) {
        let counts = self.counts;
        match self.others {
            Others::Columns(others, Some(squares)) if squares.exact => {
                return squares.gradient(others, counts, y, &mut s.g);
            }
            Others::Columns(others, _) => s.gradient(bregman, others, counts),
            Others::Rows(table, partners) => {
                s.rows.read(table, partners);
                s.rows.gradient(counts, &s.entries, &mut s.g);
            }
        }
        self.among.add_gradient(bregman, y, &mut s.g);
    }

    /// The Hessian between the chosen clusters into `s.h`.
    fn hessian<D: Bregman>(&self, bregman: &D, y: &[f64], s: &mut Scratch) {
        match self.others {
            Others::Columns(_, Some(squares)) => return squares.hessian(y, &s.chosen, &mut s.h),
            Others::Columns(others, None) => {
                s.h.resize(s.chosen.len() * s.chosen.len(), 0.0);
                dispatch(Hessian {
                    others,
                    chosen: &s.chosen,
                    w2: &s.w2,
                    h: &mut s.h,
                });
            }
            Others::Rows(..) => s.rows.hessian(self.counts, &s.chosen, &mut s.h),
        }
        if !self.among.none() {
            self.among.add_hessian(bregman, y, &s.chosen, &mut s.h);
        }
    }

    /// How far to go along the direction in `s.entries`, up to `longest`, and by how much the cost falls at least, which [`rise`] bounds.
    fn length<D: Bregman>(
        &self,
        bregman: &D,
        y: &[f64],
        s: &mut Scratch,
        slope: Slope,
        longest: f64,
    ) -> (f64, f64) {
        let among = self.among;
        let counts = self.counts;
        let line = CopyLine::new(y, &s.entries);
        // What is left of the slope without the pairs among copies.
        let mut others = slope;
        if !among.none() {
            others.first -= among.along(bregman, line, 0.0).1;
            others.second = (slope.second - among.convex_second(bregman, line)).max(0.0);
        }
        let exact = self.others.exact();
        if let (false, Others::Columns(others, _)) = (exact, self.others) {
            dispatch(Combine {
                others,
                y: &s.entries,
                out: &mut s.b,
            });
        }
        let mut t = longest;
        for _ in 0..60 {
            let first = if exact {
                others.first + t * others.second
            } else {
                let line = Line {
                    bregman,
                    counts,
                    a: &s.a,
                    b: &s.b,
                    t,
                };
                dispatch(line).0
            };
            // Pairs among copies are bounded by themselves, since their cost along the line is not convex.
            let (own_rise, own) = among.along(bregman, line, t);
            let change = rise(bregman, others, first, t) + own_rise;
            if change <= 0.05 * t * slope.first {
                return (t, -change);
            }
            t *= (slope.first / (slope.first - first - own)).clamp(0.1, 0.8);
        }
        (0.0, 0.0)
    }
}

/// Improves the probabilities `y` of one object by one Newton step on the simplex.
pub(crate) fn newton_step<D: Bregman>(
    bregman: &D,
    seen: Seen<'_>,
    y: &mut [f64],
    scratch: &mut Scratch,
    limits: StepLimits,
) -> StepOutcome {
    let s = scratch;
    support(y, &mut s.entries);
    seen.gradient(bregman, y, s);
    let gap = violation(&s.g, &s.entries);
    if gap <= limits.small {
        return StepOutcome { gap, fall: 0.0 };
    }
    let keep = if gap > limits.keep_above {
        limits.keep
    } else {
        0.0
    };
    let mean: f64 = s.entries.iter().map(|&(k, y)| s.g[k] * y).sum();
    s.chosen.clear();
    let promising = (0..y.len()).filter(|&k| y[k] > 0.0 || s.g[k] < mean);
    s.chosen.extend(promising);
    seen.hessian(bregman, y, s);
    let slope = direction(y, s, 0.1 * gap, keep);
    if slope.first >= 0.0 {
        return StepOutcome { gap, fall: 0.0 };
    }
    let falling = s.entries.iter().filter(|entry| entry.1 < 0.0);
    let inside = falling.map(|&(k, d)| -y[k] * (1.0 - keep) / d);
    let longest = inside.fold(limits.over, f64::min).max(1.0);
    let (t, fall) = seen.length(bregman, y, s, slope, longest);
    for &(k, d) in &s.entries {
        let moved = y[k] + t * d;
        y[k] = if moved <= SNAP { 0.0 } else { moved };
    }
    let sum: f64 = y.iter().sum();
    y.iter_mut().for_each(|y| *y /= sum);
    StepOutcome { gap, fall }
}

/// The Newton direction on the simplex into `entries`.
fn direction(y: &[f64], s: &mut Scratch, tolerance: f64, keep: f64) -> Slope {
    s.q.clear();
    s.q.extend(s.chosen.iter().map(|&k| s.g[k]));
    s.z.clear();
    s.z.extend(s.chosen.iter().map(|&k| y[k] * (1.0 - keep)));
    quadratic(&s.h, &mut s.q, &mut s.z, tolerance, 100 * s.chosen.len());
    s.entries.clear();
    let mut slope = Slope {
        first: 0.0,
        second: 0.0,
    };
    for (p, &k) in s.chosen.iter().enumerate() {
        let d = s.z[p] - y[k] * (1.0 - keep);
        if d != 0.0 {
            s.entries.push((k, d));
            slope.first += s.g[k] * d;
            slope.second += (s.q[p] - s.g[k]) * d;
        }
    }
    slope
}
