//! Hashes of label rows, and rows brought together by them.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use crate::Label;
use crate::seed::mix;

/// A hash of a label row that does not depend on the width of stored labels.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct RowHash(pub(crate) u64);

impl RowHash {
    /// The hash of a row.
    pub(crate) fn of<L: Label>(self, row: &[L]) -> u64 {
        row.chunks(4).fold(self.0, |hash, four| {
            let number = |label: &L| label.cluster().map_or(u64::from(u16::MISSING), |cluster| cluster as u64);
            mix(hash ^ four.iter().fold(0, |word, label| word << 16 | number(label)))
        })
    }
}

/// The numbers of things by their hashes; those of equal hashes in the order that `compare` says, then by number.
pub(crate) fn sorted_by_hash(hashes: &[u64], compare: impl Fn(usize, usize) -> Ordering) -> Vec<u32> {
    // The upper half of a hash tells nearly all apart, and fits a word together with the number.
    let upper = |word: u64| word >> 32;
    let mut order: Vec<u64> = hashes.iter().zip(0..).map(|(&hash, at): (_, u64)| upper(hash) << 32 | at).collect();
    order.sort_unstable();
    let number = |word: u64| word as u32 as usize;
    for close in order.chunk_by_mut(|&a, &b| upper(a) == upper(b)).filter(|close| close.len() > 1) {
        let by_hash = |a: usize, b: usize| hashes[a].cmp(&hashes[b]).then_with(|| compare(a, b));
        close.sort_by(|&a, &b| by_hash(number(a), number(b)));
    }
    order.into_iter().map(|word| word as u32).collect()
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::sorted_by_hash;
    use crate::Seed;

    /// As plain sorting has it, also where hashes or their upper halves are equal.
    #[test]
    fn hashes_are_sorted_as_whole_numbers() {
        for seed in 0..200 {
            let mut rng = Seed::new(seed).rng();
            let count = rng.random_range(0..60);
            let hashes: Vec<u64> =
                (0..count).map(|_| rng.random_range(0..3u64) << 40 | rng.random_range(0..3)).collect();
            let sizes: Vec<u32> = (0..count).map(|_| rng.random_range(0..2)).collect();
            let mut plain: Vec<u32> = (0..count as u32).collect();
            plain.sort_by_key(|&at| (hashes[at as usize], sizes[at as usize], at));
            assert_eq!(sorted_by_hash(&hashes, |a, b| sizes[a].cmp(&sizes[b])), plain, "seed {seed}");
        }
    }
}
