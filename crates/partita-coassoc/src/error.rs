//! What can go wrong.

use partita_core::BudgetError;

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
    /// A pair that is none.
    #[error("({left}, {right}) is no pair of {objects} objects")]
    NoPair {
        /// The first object.
        left: u32,
        /// The second object.
        right: u32,
        /// Objects.
        objects: usize,
    },
    /// Arrays that are no sparse evidence.
    #[error("this is no sparse evidence: {reason}")]
    Parts {
        /// What is wrong.
        reason: String,
    },
    /// The watch asked to stop.
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
