//! The derivative of the digamma function.

/// The derivative of the digamma function, for positive numbers.
pub(crate) fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 8.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let (i, s) = (1.0 / x, 1.0 / (x * x));
    sum + i
        + s / 2.0
        + i * s
            * (1.0 / 6.0 - s * (1.0 / 30.0 - s * (1.0 / 42.0 - s * (1.0 / 30.0 - s * 5.0 / 66.0))))
}
