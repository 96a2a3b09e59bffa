//! Slice sampling of one positive number (Neal, 2003).

use rand::{Rng, RngExt};

/// One step of slice sampling (stepping out, shrinking) on the logarithm of a positive number.
pub(crate) fn slice(x: f64, rng: &mut impl Rng, log_density: impl Fn(f64) -> f64) -> f64 {
    const WIDTH: f64 = 1.0;
    const RANGE: (f64, f64) = (-9.0, 9.0);
    let at = x.ln().clamp(RANGE.0, RANGE.1);
    let level = log_density(at.exp()) + (1.0 - rng.random::<f64>()).ln();
    let mut low = at - WIDTH * rng.random::<f64>();
    let mut high = low + WIDTH;
    while low > RANGE.0 && log_density(low.exp()) > level {
        low -= WIDTH;
    }
    while high < RANGE.1 && log_density(high.exp()) > level {
        high += WIDTH;
    }
    (low, high) = (low.max(RANGE.0), high.min(RANGE.1));
    loop {
        let new = low + (high - low) * rng.random::<f64>();
        if log_density(new.exp()) > level || high - low < 1e-12 {
            return new.exp();
        }
        if new < at { low = new } else { high = new }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;

    /// Slice sampling of a Gamma(3, 2): mean 1.5, variance 0.75.
    #[test]
    fn slices_have_the_right_moments() {
        let mut rng = Seed::new(5).rng();
        let (mut x, mut sum, mut squares) = (1.0, 0.0, 0.0);
        for _ in 0..40_000 {
            x = slice(x, &mut rng, |x| 3.0 * x.ln() - 2.0 * x);
            sum += x;
            squares += x * x;
        }
        let mean = sum / 40_000.0;
        assert!(
            (mean - 1.5).abs() < 0.03 && (squares / 40_000.0 - mean * mean - 0.75).abs() < 0.05
        );
    }
}
