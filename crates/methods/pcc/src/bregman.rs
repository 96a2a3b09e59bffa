//! Bregman divergences: cost of a probability where a share was observed, and its derivatives.

#![expect(
    clippy::inline_always,
    reason = "loops are compiled into functions with wider vectors only by inlining"
)]

use crate::divergence::DivergenceError;

/// Probabilities are kept this far from 0 and 1 inside logarithms and quotients, and nowhere else.
pub(crate) const EDGE: f64 = 1e-12;

#[inline(always)]
#[expect(
    clippy::manual_clamp,
    reason = "clamp asserts, which keeps loops from becoming vectors"
)]
fn clip(p: f64) -> f64 {
    p.max(EDGE).min(1.0 - EDGE)
}

/// The cost `d(x, p)` of the probability `p` where the share `x` was observed.
///
/// What the solvers guarantee, a monotone objective, needs `d` and `∂²d/∂p²` convex in `p`. [`crate::descend`] tries
/// both on a grid and refuses a divergence that fails; [`crate::Divergence`] lists divergences that hold.
pub trait Bregman: Sync {
    /// `d(x, p)`, 0 at `p = x` and positive elsewhere.
    fn value(&self, x: f64, p: f64) -> f64;

    /// `∂d/∂p`.
    fn first(&self, x: f64, p: f64) -> f64;

    /// `∂²d/∂p²`.
    fn second(&self, x: f64, p: f64) -> f64;

    /// Whether `∂²d/∂p²` grows without bound towards `p = 0`. Solvers then leave an object's improbable clusters
    /// some probability in early iterations.
    fn steep(&self) -> bool {
        true
    }

    /// Whether `d(x, 0)` is infinite for positive `x`, so that starts must give every pair that was ever together
    /// a positive probability of it.
    fn barrier(&self) -> bool {
        false
    }

    /// Whether this is Kullback–Leibler, which is also the likelihood of a mixture: what [`crate::Solver::Em`] needs.
    fn mixture(&self) -> bool {
        false
    }

    /// Whether this is `(x−p)²`, which is what [`crate::Solver::Growth`] needs.
    fn squared(&self) -> bool {
        false
    }

    /// `n d(c/n, p)`, 0 where `n` is 0.
    #[inline(always)]
    fn cost(&self, c: f64, n: f64, p: f64) -> f64 {
        n * self.value(c / n.max(EDGE), p)
    }

    /// `n ∂d/∂p` and `n ∂²d/∂p²` at `x = c/n`, 0 where `n` is 0.
    #[inline(always)]
    fn slopes(&self, c: f64, n: f64, p: f64) -> (f64, f64) {
        let x = c / n.max(EDGE);
        (n * self.first(x, p), n * self.second(x, p))
    }
}

/// Kullback–Leibler: `x ln(x/p) + (1−x) ln((1−x)/(1−p))`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kl;

impl Bregman for Kl {
    #[inline(always)]
    fn value(&self, x: f64, p: f64) -> f64 {
        let p = clip(p);
        let here = (x / p).max(f64::MIN_POSITIVE);
        let there = ((1.0 - x) / (1.0 - p)).max(f64::MIN_POSITIVE);
        x * ln(here) + (1.0 - x) * ln(there)
    }

    #[inline(always)]
    fn first(&self, x: f64, p: f64) -> f64 {
        let p = clip(p);
        (p - x) / (p * (1.0 - p))
    }

    #[inline(always)]
    fn second(&self, x: f64, p: f64) -> f64 {
        let p = clip(p);
        let q = 1.0 - p;
        x / (p * p) + (1.0 - x) / (q * q)
    }

    fn barrier(&self) -> bool {
        true
    }

    fn mixture(&self) -> bool {
        true
    }

    #[inline(always)]
    fn slopes(&self, c: f64, n: f64, p: f64) -> (f64, f64) {
        let p = clip(p);
        let q = 1.0 - p;
        let r = 1.0 / (p * q);
        let qr = q * r;
        let pr = p * r;
        ((n * p - c) * r, c * (qr * qr) + (n - c) * (pr * pr))
    }
}

/// Squared difference: `(x−p)²`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct L2;

impl Bregman for L2 {
    #[inline(always)]
    fn value(&self, x: f64, p: f64) -> f64 {
        (x - p) * (x - p)
    }

    #[inline(always)]
    fn first(&self, x: f64, p: f64) -> f64 {
        2.0 * (p - x)
    }

    #[inline(always)]
    fn second(&self, _x: f64, _p: f64) -> f64 {
        2.0
    }

    fn steep(&self) -> bool {
        false
    }

    fn squared(&self) -> bool {
        true
    }

    #[inline(always)]
    fn slopes(&self, c: f64, n: f64, p: f64) -> (f64, f64) {
        (2.0 * (n * p - c), 2.0 * n)
    }
}

/// The Bregman divergence of `φ(x) = x^p` with 1 < p < 2, on `(x, 1−x)`:
/// `Σ a^p − b^p − p b^(p−1) (a−b)` over `(a, b) = (x, p)` and `(1−x, 1−p)`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Beta(pub(crate) f64);

/// The divergence of `beta:p`.
///
/// # Errors
/// [`DivergenceError::Power`] unless 1 < p < 2; at 2 take [`L2`], which is half of it.
pub fn beta(power: f64) -> Result<Beta, DivergenceError> {
    if power > 1.0 && power < 2.0 {
        Ok(Beta(power))
    } else {
        Err(DivergenceError::Power(power.to_string()))
    }
}

impl Beta {
    fn half(self, a: f64, b: f64) -> f64 {
        let power = b.powf(self.0 - 1.0);
        a.powf(self.0) - power * b - self.0 * power * (a - b)
    }
}

impl Bregman for Beta {
    fn value(&self, x: f64, p: f64) -> f64 {
        let p = clip(p);
        self.half(x, p) + self.half(1.0 - x, 1.0 - p)
    }

    #[inline(always)]
    fn first(&self, x: f64, p: f64) -> f64 {
        let p = clip(p);
        let power = self.0 - 2.0;
        self.0 * (self.0 - 1.0) * (p - x) * (p.powf(power) + (1.0 - p).powf(power))
    }

    #[inline(always)]
    fn second(&self, x: f64, p: f64) -> f64 {
        let p = clip(p);
        let q = 1.0 - p;
        let power = self.0 - 2.0;
        let here = p.powf(power);
        let there = q.powf(power);
        self.0 * (self.0 - 1.0) * (here + there + power * (p - x) * (here / p - there / q))
    }
}

/// The Bregman divergence of `φ(x) = e^x` on `(x, 1−x)`: `Σ e^a − (a − b + 1) e^b` over `(a, b) = (x, p)` and `(1−x, 1−p)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exponential;

impl Bregman for Exponential {
    fn value(&self, x: f64, p: f64) -> f64 {
        let d = x - p;
        let (here, there) = (p.exp(), (1.0 - p).exp());
        here * (d.exp() - 1.0 - d) + there * ((-d).exp() - 1.0 + d)
    }

    #[inline(always)]
    fn first(&self, x: f64, p: f64) -> f64 {
        (p - x) * (p.exp() + (1.0 - p).exp())
    }

    #[inline(always)]
    fn second(&self, x: f64, p: f64) -> f64 {
        let here = p.exp();
        let there = (1.0 - p).exp();
        here + there + (p - x) * (here - there)
    }

    fn steep(&self) -> bool {
        false
    }
}

/// Natural logarithm of a positive normal number without a branch, so that loops over it become vectors.
/// Within two units in the last place (the polynomial of fdlibm).
#[inline(always)]
fn ln(x: f64) -> f64 {
    const LN2_HIGH: f64 = 6.931_471_803_691_238e-1;
    const LN2_LOW: f64 = 1.908_214_929_270_587_7e-10;
    const ROOT_HALF: u64 = 0x3fe6_a09e_0000_0000;
    // The exponent becomes a number through the bits of 2^52 + 1023 + e; the mantissa goes to [√½, √2).
    let shifted = x.to_bits().wrapping_sub(ROOT_HALF);
    let exponent = (shifted.wrapping_add(1023 << 52) >> 52) | 0x4330_0000_0000_0000;
    let exponent = f64::from_bits(exponent) - 4_503_599_627_371_519.0;
    let f = f64::from_bits((shifted & 0x000f_ffff_ffff_ffff).wrapping_add(ROOT_HALF)) - 1.0;
    let s = f / (2.0 + f);
    let z = s * s;
    let w = z * z;
    let even = w
        * (3.999_999_999_940_942e-1
            + w * (2.222_219_843_214_978_4e-1 + w * 1.531_383_769_920_937_3e-1));
    let odd = w
        * (2.857_142_874_366_239e-1
            + w * (1.818_357_216_161_805e-1 + w * 1.479_819_860_511_658_6e-1));
    let odd = z * (6.666_666_666_666_735e-1 + odd);
    let half = 0.5 * f * f;
    exponent * LN2_HIGH - ((half - (s * (half + even + odd) + exponent * LN2_LOW)) - f)
}

/// Where a divergence is not convex in `p`, or its second derivative is not: the first `(x, p)` of a grid.
pub(crate) fn concave_at(bregman: &impl Bregman) -> Option<(f64, f64)> {
    for i in 0..=64 {
        for j in 1..64 {
            let x = f64::from(i) / 64.0;
            let p = f64::from(j) / 64.0;
            let [left, here, right] =
                [p - 1.0 / 256.0, p, p + 1.0 / 256.0].map(|p| bregman.second(x, p));
            let slack = 1e-9 * (left.abs() + right.abs());
            let broken = here < 0.0 || left + right < 2.0 * here - slack;
            if broken || [left, here, right].iter().any(|value| !value.is_finite()) {
                return Some((x, p));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_logarithm_is_right() {
        assert_eq!(ln(1.0), 0.0);
        let mut x = f64::MIN_POSITIVE;
        while x < 1e300 {
            assert!(
                (ln(x) - x.ln()).abs() <= 5e-16 * x.ln().abs(),
                "ln {x} = {}, not {}",
                ln(x),
                x.ln()
            );
            x *= 1.037;
        }
    }

    fn follows(bregman: &impl Bregman) {
        assert_eq!(concave_at(bregman), None);
        for i in 0..=20 {
            for j in 1..20 {
                let c = f64::from(i);
                let n = 20.0;
                let p = f64::from(j) / 20.0;
                let x = c / n;
                let h = 1e-5;
                assert!(bregman.value(x, p) >= -1e-15 && bregman.value(p, p).abs() < 1e-12);
                let first = (bregman.value(x, p + h) - bregman.value(x, p - h)) / (2.0 * h);
                let near = 1e-6 * (1.0 + first.abs());
                assert!((first - bregman.first(x, p)).abs() < near, "{x} {p}");
                let second = (bregman.first(x, p + h) - bregman.first(x, p - h)) / (2.0 * h);
                let near = 1e-5 * (1.0 + second.abs());
                assert!((second - bregman.second(x, p)).abs() < near, "{x} {p}");
                let (one, two) = bregman.slopes(c, n, p);
                assert!((one - n * bregman.first(x, p)).abs() < 1e-9 * (1.0 + one.abs()));
                assert!((two - n * bregman.second(x, p)).abs() < 1e-9 * (1.0 + two.abs()));
            }
        }
        assert_eq!(bregman.cost(0.0, 0.0, 0.3), 0.0);
        assert_eq!(bregman.slopes(0.0, 0.0, 0.3), (0.0, 0.0));
    }

    #[test]
    fn derivatives_are_those_of_the_value() {
        follows(&Kl);
        follows(&L2);
        follows(&Exponential);
        // By the definition φ(x) − φ(p) − φ′(p) (x − p).
        let half = |x: f64, p: f64| x.exp() - p.exp() - p.exp() * (x - p);
        let plain = half(0.2, 0.7) + half(0.8, 0.3);
        assert!((Exponential.value(0.2, 0.7) - plain).abs() < 1e-15);
        for power in [1.1, 1.5, 1.9] {
            follows(&Beta(power));
        }
    }

    /// Itakura–Saito: x/p − ln(x/p) − 1, which is concave beyond p = 2x.
    struct ItakuraSaito;

    impl Bregman for ItakuraSaito {
        fn value(&self, x: f64, p: f64) -> f64 {
            x / p - (x / p).ln() - 1.0
        }
        fn first(&self, x: f64, p: f64) -> f64 {
            (p - x) / (p * p)
        }
        fn second(&self, x: f64, p: f64) -> f64 {
            (2.0 * x - p) / (p * p * p)
        }
    }

    #[test]
    fn a_divergence_without_the_guarantee_is_found_out() {
        assert!(concave_at(&ItakuraSaito).is_some());
    }
}
