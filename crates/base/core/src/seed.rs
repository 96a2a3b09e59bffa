//! Chance belongs to the unit of work, not to the thread.

#[cfg(feature = "passes")]
use rand::SeedableRng;
#[cfg(feature = "passes")]
use rand_xoshiro::Xoshiro256PlusPlus;

/// Where a stream of random numbers starts.
///
/// Give every run, restart, chain or chunk a [`child`](Seed::child) of its own: the same seed then gives
/// the same bits for any number of threads and any order of execution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// The seed with this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number that [`Seed::new`] would take.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// The seed of one unit of work. Children of different units, and of different parents, do not overlap
    /// in practice (two rounds of the SplitMix64 finaliser over both numbers).
    #[must_use]
    pub const fn child(self, unit: u64) -> Self {
        Self(mix(mix(self.0) ^ unit.wrapping_mul(0xD1B5_4A32_D192_ED03)))
    }

    /// A generator that starts here (xoshiro256++).
    #[cfg(feature = "passes")]
    pub fn rng(self) -> impl rand::Rng + Clone {
        Xoshiro256PlusPlus::seed_from_u64(self.0)
    }
}

/// SplitMix64: a bijection of 64 bits in which every input bit reaches every output bit.
pub(crate) const fn mix(x: u64) -> u64 {
    let x = x.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let x = (x ^ (x >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    x ^ (x >> 31)
}

#[cfg(all(test, feature = "passes"))]
mod tests {
    use super::*;
    use rand::RngExt;
    use std::collections::BTreeSet;

    #[test]
    fn children_are_distinct_and_repeat() {
        let seen: BTreeSet<u64> = (0..100)
            .flat_map(|parent| (0..100).map(move |unit| Seed::new(parent).child(unit).number()))
            .collect();
        assert_eq!(seen.len(), 10_000);
        let (a, b): (u64, u64) = (
            Seed::new(7).child(3).rng().random(),
            Seed::new(7).child(3).rng().random(),
        );
        assert_eq!(a, b);
    }
}
