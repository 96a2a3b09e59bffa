//! Scaled products: many factors multiplied as mantissa · 2^exponent, one product a cluster, without logarithms.

/// Factors that may be multiplied before [`ScaledProduct::renormalise`] must be called: each lies in 1e-30..1e30.
pub(crate) const RENORMALISE_AFTER: usize = 8;

const EXPONENT: u64 = 0x7ff << 52;
const ONE: u64 = 1023 << 52;

/// K products as mantissa · 2^exponent. Exact up to the rounding of the multiplications, for any number of factors:
/// what logarithms would do, at the price of two bit operations every few factors.
#[derive(Clone, Debug)]
pub(crate) struct ScaledProduct {
    pub(crate) mantissas: Vec<f64>,
    pub(crate) exponents: Vec<i64>,
}

impl ScaledProduct {
    pub(crate) fn new(clusters: usize) -> Self {
        Self {
            mantissas: vec![1.0; clusters],
            exponents: vec![0; clusters],
        }
    }

    /// Moves the powers of two from the mantissas to the exponents.
    pub(crate) fn renormalise(&mut self) {
        for (mantissa, exponent) in self.mantissas.iter_mut().zip(&mut self.exponents) {
            (*mantissa, *exponent) = split(*mantissa, *exponent);
        }
    }

    /// Multiplies by factors of any size, given by their logarithms, but for a factor that is the same for all.
    pub(crate) fn raise(&mut self, logs: &[f64]) {
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        self.mantissas
            .iter_mut()
            .zip(logs)
            .for_each(|(mantissa, log)| *mantissa *= (log - top).exp());
        self.renormalise();
    }

    /// Writes the products in proportion, the largest between 1 and 2, and returns their sum.
    pub(crate) fn weights(&self, weights: &mut [f64]) -> f64 {
        let top = self.exponents.iter().copied().max().unwrap_or(0);
        let mut sum = 0.0;
        for ((weight, &mantissa), &exponent) in
            weights.iter_mut().zip(&self.mantissas).zip(&self.exponents)
        {
            *weight = mantissa * power(exponent - top);
            sum += *weight;
        }
        sum
    }
}

/// A positive number as one in 1..2 and its power of two, on top of `exponent`.
pub(crate) fn split(number: f64, exponent: i64) -> (f64, i64) {
    let bits = number.to_bits();
    (
        f64::from_bits((bits & !EXPONENT) | ONE),
        exponent + ((bits & EXPONENT) >> 52) as i64 - 1023,
    )
}

/// 2^exponent for exponents up to 0; below the smallest normal number it is 0.
fn power(exponent: i64) -> f64 {
    f64::from_bits((((exponent + 1023).max(0)) as u64) << 52)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_any_size_keep_their_proportions() {
        let mut product = ScaledProduct::new(3);
        for iteration in 0..1000 {
            let last = if iteration == 999 {
                [1.0, 3.0, 1e-200]
            } else {
                [1.0; 3]
            };
            let factors = last.map(|last| 1e-30 * last);
            product
                .mantissas
                .iter_mut()
                .zip(factors)
                .for_each(|(mantissa, factor)| *mantissa *= factor);
            product.renormalise();
        }
        let mut weights = [0.0; 3];
        let sum = product.weights(&mut weights);
        assert_eq!(sum, weights.iter().sum::<f64>());
        assert!((1.0..2.0).contains(&weights[1]));
        assert!((weights[1] / weights[0] - 3.0).abs() < 1e-12);
        assert!((weights[2] / weights[0] / 1e-200 - 1.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_too_small_is_nothing() {
        let product = ScaledProduct {
            mantissas: vec![1.5, 1.5],
            exponents: vec![0, -2000],
        };
        let mut weights = [1.0; 2];
        assert_eq!((product.weights(&mut weights), weights), (1.5, [1.5, 0.0]));
    }
}
