//! Pairs among the copies that one weighted object stands for: their cost and its derivatives.
//!
//! Copies have the same probabilities y, so that their pairs cost `½ n d(c/n, |y|²)`: the ½ because n counts each in both directions.
//! Where copies are always together (c = n, hard labels) such a pair draws y to a corner, so the cost is not convex in y. A Newton step takes
//! what is convex of its second derivatives, which bounds them from above, and its length is chosen by the cost as it is.
//!
//! Copies that could move apart would not, where c = n: let two of them be at y and z, h what the rest costs either, convex. Were neither
//! able to gain, `(∇h(y) + n d′ z)·(z − y) ≥ 0` and `(∇h(z) + n d′ y)·(y − z) ≥ 0` with d′ at y·z, the sum of which is
//! `n d′ |y − z|² − (∇h(y) − ∇h(z))·(y − z)`. Both terms are at most 0, and d′ is below 0 unless y·z = 1: y = z.

use crate::bregman::Bregman;
use crate::kernels::Entries;

/// Counts of the ordered pairs among the copies of one object: together `c` times of `n`. Nothing where it stands for itself alone.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct CopyPairs {
    pub(crate) c: f64,
    pub(crate) n: f64,
}

/// A line through the probabilities of an object as its copies see it: `|y + t d|² = p + 2 t slope + t² bend`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CopyLine {
    pub(crate) p: f64,
    pub(crate) slope: f64,
    pub(crate) bend: f64,
}

impl CopyLine {
    /// The line from `y` along `d`.
    pub(crate) fn new(y: &[f64], d: &Entries) -> Self {
        let slope = d.iter().map(|&(k, d)| y[k] * d).sum();
        Self {
            p: square(y),
            slope,
            bend: d.iter().map(|(_, d)| d * d).sum(),
        }
    }
}

/// First and second derivative of the cost along a direction, at its start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slope {
    pub(crate) first: f64,
    pub(crate) second: f64,
}

/// `|y|²`: the probability that two copies are together.
pub(crate) fn square(y: &[f64]) -> f64 {
    y.iter().map(|y| y * y).sum()
}

impl CopyPairs {
    pub(crate) fn none(self) -> bool {
        self.n == 0.0
    }

    /// What the pairs cost.
    pub(crate) fn cost<D: Bregman>(self, bregman: &D, y: &[f64]) -> f64 {
        if self.none() {
            0.0
        } else {
            0.5 * bregman.cost(self.c, self.n, square(y))
        }
    }

    /// Adds the gradient of that in `y` to `g`.
    pub(crate) fn add_gradient<D: Bregman>(self, bregman: &D, y: &[f64], g: &mut [f64]) {
        if !self.none() {
            let (first, _) = bregman.slopes(self.c, self.n, square(y));
            g.iter_mut().zip(y).for_each(|(g, y)| *g += first * y);
        }
    }

    /// Adds the convex part of the second derivatives between the chosen clusters to `h`: `2 n d″ y yᵀ`, and `n d′` on the diagonal where
    /// that is positive.
    pub(crate) fn add_hessian<D: Bregman>(
        self,
        bregman: &D,
        y: &[f64],
        chosen: &[usize],
        h: &mut [f64],
    ) {
        let (first, second) = bregman.slopes(self.c, self.n, square(y));
        for (row, &k) in h.chunks_exact_mut(chosen.len()).zip(chosen) {
            for (value, &l) in row.iter_mut().zip(chosen) {
                *value += 2.0 * second * y[k] * y[l] + if k == l { first.max(0.0) } else { 0.0 };
            }
        }
    }

    /// What the convex part of the second derivatives makes of a direction.
    pub(crate) fn convex_second<D: Bregman>(self, bregman: &D, line: CopyLine) -> f64 {
        let (first, second) = bregman.slopes(self.c, self.n, line.p);
        2.0 * second * line.slope * line.slope + first.max(0.0) * line.bend
    }

    /// At `t` on a line: by how much the cost has risen at most, and its derivative. In p the cost and its second derivative are convex, so
    /// that what bounds a step of other pairs ([`rise`]) bounds this too, without a difference of costs.
    pub(crate) fn along<D: Bregman>(self, bregman: &D, line: CopyLine, t: f64) -> (f64, f64) {
        if self.none() {
            return (0.0, 0.0);
        }
        let change = t * (2.0 * line.slope + t * line.bend);
        let (before, second) = bregman.slopes(self.c, self.n, line.p);
        let (after, _) = bregman.slopes(self.c, self.n, line.p + change);
        let slope = Slope {
            first: before * change,
            second: second * change * change,
        };
        let rise = 0.5 * rise(bregman, slope, after * change, 1.0);
        (rise, after * (line.slope + t * line.bend))
    }

    /// The second derivative at `t` on a line.
    pub(crate) fn second_along<D: Bregman>(self, bregman: &D, line: CopyLine, t: f64) -> f64 {
        let slope = line.slope + t * line.bend;
        let (first, second) = bregman.slopes(self.c, self.n, line.p + t * (line.slope + slope));
        2.0 * second * slope * slope + first * line.bend
    }

    /// What EM adds to the constant of an object's responsibilities: `(n − c) / (1 − |y|²)`.
    pub(crate) fn apart(self, y: &[f64], edge: f64) -> f64 {
        if self.none() {
            0.0
        } else {
            (self.n - self.c) / (1.0 - square(y)).max(edge)
        }
    }
}

/// By how much `φ(t)` is above `φ(0)` at most, with φ′(0), φ″(0) and φ′(t) known.
///
/// φ″ is convex in t because the second derivative of every divergence is: φ(t) − φ(0) is then at most
/// `t (⅔ φ′(0) + ⅓ φ′(t)) + t² φ″(0) / 6`, and a step is safe without a logarithm. Squares are quadratic: φ(t) − φ(0) is the mean of φ′(0)
/// and φ′(t) times t, whatever φ″(0) was thought to be.
#[inline]
pub(crate) fn rise<D: Bregman>(bregman: &D, slope: Slope, at_t: f64, t: f64) -> f64 {
    if bregman.squared() {
        0.5 * t * (slope.first + at_t)
    } else {
        t * (2.0 / 3.0 * slope.first + at_t / 3.0) + t * t * slope.second / 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bregman::{Beta, Kl, L2};
    use partita_core::Seed;
    use rand::RngExt;

    fn follows(bregman: &impl Bregman, share: f64, seed: u64) {
        let mut rng = Seed::new(seed).rng();
        let n = 7.0;
        let pairs = CopyPairs { c: share * n, n };
        let mut drawn = || -> Vec<f64> {
            let row: Vec<f64> = (0..4).map(|_| rng.random_range(0.01..1.0)).collect();
            row.iter().map(|y| y / row.iter().sum::<f64>()).collect()
        };
        let y = drawn();
        let other = drawn();
        let d: Vec<(usize, f64)> = (0..4).map(|k| (k, other[k] - y[k])).collect();
        let at = |t: f64| d.iter().map(|&(k, d)| y[k] + t * d).collect::<Vec<f64>>();
        let line = CopyLine::new(&y, &d);
        let cost = |t: f64| pairs.cost(bregman, &at(t));
        let mut g = vec![0.0; 4];
        pairs.add_gradient(bregman, &y, &mut g);
        let h = 1e-5;
        let slope: f64 = g.iter().zip(&d).map(|(g, (_, d))| g * d).sum();
        assert!((slope - (cost(h) - cost(-h)) / (2.0 * h)).abs() < 1e-5 * (1.0 + slope.abs()));
        let t = rng.random_range(0.0..1.0);
        let (rise, first) = pairs.along(bregman, line, t);
        let change = cost(t) - cost(0.0);
        assert!(
            rise >= change - 1e-12 * cost(0.0),
            "seed {seed}: {rise} {change}"
        );
        let expected = (cost(t + h) - cost(t - h)) / (2.0 * h);
        assert!((first - expected).abs() < 1e-5 * (1.0 + first.abs()));
        let [left, right] = [t - h, t + h].map(|t| pairs.along(bregman, line, t).1);
        let second = (right - left) / (2.0 * h);
        let found = pairs.second_along(bregman, line, t);
        assert!((second - found).abs() < 1e-5 * (1.0 + second.abs()));
        let chosen = [0, 1, 2, 3];
        let mut hessian = vec![0.0; 16];
        pairs.add_hessian(bregman, &y, &chosen, &mut hessian);
        let second = (0..16).map(|at| hessian[at] * d[at / 4].1 * d[at % 4].1);
        let second: f64 = second.sum();
        assert!((second - pairs.convex_second(bregman, line)).abs() < 1e-9 * (1.0 + second));
        let bent = (cost(1e-3) + cost(-1e-3) - 2.0 * cost(0.0)) / 1e-6;
        let near = 1e-3 * (1.0 + bent.abs());
        assert!(second >= bent - near, "seed {seed}: {second} {bent}");
    }

    #[test]
    fn derivatives_are_those_of_the_cost_and_bounds_hold() {
        for seed in 0..300 {
            let share = if seed % 3 == 0 { 0.6 } else { 1.0 };
            follows(&Kl, share, seed);
            follows(&L2, share, seed);
            follows(&Beta(1.5), share, seed);
        }
    }
}
