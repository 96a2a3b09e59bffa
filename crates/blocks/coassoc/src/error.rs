//! Errors of counting pairs.

use partita_core::{BudgetError, MemoryBudget, WeightsError};

/// Why there are no pair statistics.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CoassocError {
    /// They would not fit.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A count would not fit two bytes.
    #[error("{base_clusterings} base clusterings; pairs can be counted over at most 65535")]
    TooManyBaseClusterings {
        /// Base clusterings given.
        base_clusterings: usize,
    },
    /// More pairs asked for than there are.
    #[error("asked for {asked} different pairs of {objects} objects; there are {there}")]
    TooManyPairs {
        /// Pairs asked for.
        asked: u64,
        /// Objects.
        objects: usize,
        /// Pairs there are.
        there: u64,
    },
    /// A pair that is not two different objects of the ensemble.
    #[error("({left}, {right}) is not a pair of two of the {objects} objects")]
    NoPair {
        /// The first object.
        left: u32,
        /// The second object.
        right: u32,
        /// Objects.
        objects: usize,
    },
    /// Weights that do not fit.
    #[error(transparent)]
    Weights(#[from] WeightsError),
    /// The monitor asked to stop.
    #[error("stopped before all pairs were counted")]
    Interrupted,
}

impl CoassocError {
    /// Refuses more base clusterings than a count of two bytes can count.
    pub(crate) fn check_bases(base_clusterings: usize) -> Result<(), Self> {
        if base_clusterings > usize::from(u16::MAX) {
            return Err(Self::TooManyBaseClusterings { base_clusterings });
        }
        Ok(())
    }
}

/// The largest number up to `most` whose `bytes`, which grow with it, stay within the budget: what would fit.
pub fn most_that_fit(budget: MemoryBudget, most: u64, bytes: impl Fn(u64) -> u64) -> u64 {
    let (mut fits, mut above) = (0, most.saturating_add(1));
    while above - fits > 1 {
        let middle = fits + (above - fits) / 2;
        if bytes(middle) <= budget.bytes() {
            fits = middle;
        } else {
            above = middle;
        }
    }
    fits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_that_fits_is_found() {
        for budget in 0..200 {
            let found = most_that_fit(MemoryBudget::new(budget), 12, |n| n * n);
            assert_eq!(found, budget.isqrt().min(12));
        }
    }
}
