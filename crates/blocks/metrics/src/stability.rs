//! How decided a co-association is: the consensus CDF.

/// Bins between 0 and 1.
const BINS: usize = 1000;

/// Distribution of co-occurrence values c/N in 0..=1, on a grid of 1/1000 (Monti and others 2003). A consensus
/// that is sure of every pair has values near 0 and 1 only, and a CDF that is flat between.
#[derive(Clone, Debug, PartialEq)]
pub struct ConsensusCdf {
    /// `counts[b]` values lie in ((b − 1)/1000, b/1000]; the first are exactly 0.
    counts: Vec<u64>,
    values: u64,
    sum: f64,
}

impl ConsensusCdf {
    /// The distribution of these values. NaN, as pairs without evidence have, is left out; what lies beyond 0 or
    /// 1 counts as 0 or 1.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut cdf = Self {
            counts: vec![0; BINS + 1],
            values: 0,
            sum: 0.0,
        };
        for value in values.into_iter().filter(|value| !value.is_nan()) {
            let value = value.clamp(0.0, 1.0);
            cdf.counts[bin(value)] += 1;
            cdf.values += 1;
            cdf.sum += value;
        }
        cdf
    }

    /// The distribution of both sets of values.
    #[must_use]
    pub fn merged(mut self, other: &Self) -> Self {
        self.counts
            .iter_mut()
            .zip(&other.counts)
            .for_each(|(a, b)| *a += b);
        self.values += other.values;
        self.sum += other.sum;
        self
    }

    /// Number of values.
    pub fn values(&self) -> u64 {
        self.values
    }

    /// Share of the values that are at most `x`, exact at multiples of 1/1000; NaN when there are none.
    pub fn at(&self, x: f64) -> f64 {
        if x < 0.0 {
            return 0.0 / self.values as f64;
        }
        let below: u64 = self.counts[..=(x.min(1.0) * BINS as f64 + 1e-9) as usize]
            .iter()
            .sum();
        below as f64 / self.values as f64
    }

    /// The curve: share of the values at most 0, 1/1000, 2/1000, … 1; 1001 numbers.
    pub fn curve(&self) -> Vec<f64> {
        let sum = |sum: &mut u64, count: &u64| {
            *sum += count;
            Some(*sum as f64 / self.values as f64)
        };
        self.counts.iter().scan(0, sum).collect()
    }

    /// Area under the CDF from 0 to 1. It is 1 minus the mean value, and computed so; NaN when there are no
    /// values.
    pub fn area(&self) -> f64 {
        1.0 - self.sum / self.values as f64
    }

    /// Proportion of ambiguous clustering (Șenbabaoğlu and others 2014): share of the values in (0.1, 0.9].
    /// 0 = every pair is decided.
    pub fn pac(&self) -> f64 {
        self.pac_between(0.1, 0.9)
    }

    /// Share of the values in (low, high].
    pub fn pac_between(&self, low: f64, high: f64) -> f64 {
        self.at(high) - self.at(low)
    }
}

/// The smallest b with value ≤ b/1000, forgiving rounding of c/N.
fn bin(value: f64) -> usize {
    (value * BINS as f64 - 1e-9).ceil().max(0.0) as usize
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;

    #[test]
    fn decided_pairs_have_no_ambiguity() {
        let decided = ConsensusCdf::of([0.0, 0.0, 1.0, f64::NAN, 0.05]);
        assert_eq!(
            (decided.values(), decided.pac(), decided.at(0.5)),
            (4, 0.0, 0.75)
        );
        let undecided = ConsensusCdf::of([0.5, 0.1, 0.9, 1.0]);
        assert_eq!(undecided.pac(), 0.5);
        assert_eq!(decided.merged(&undecided).pac(), 0.25);
    }

    #[test]
    fn edges_belong_below_for_every_fraction() {
        for total in 1..=40u32 {
            for together in 0..=total {
                let cdf = ConsensusCdf::of([f64::from(together) / f64::from(total)]);
                for edge in 0..=10u32 {
                    let expected = together * 10 <= edge * total;
                    assert_eq!(
                        cdf.at(f64::from(edge) / 10.0) == 1.0,
                        expected,
                        "{together}/{total} {edge}"
                    );
                }
            }
        }
    }

    #[test]
    fn the_area_is_that_under_the_curve() {
        let cdf = ConsensusCdf::of((0..=1000).map(|i| f64::from(i * i % 1000) / 1000.0));
        let steps: f64 = cdf.curve()[..BINS].iter().sum::<f64>() / BINS as f64;
        assert_relative_eq!(cdf.area(), steps, max_relative = 1e-12);
    }
}
