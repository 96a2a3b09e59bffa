//! Hashes of label rows, and sorting by hashes: how equal rows are found and objects put in the canonical order.

use std::cmp::Ordering;

#[cfg(feature = "passes")]
use serde::{Deserialize, Serialize};

use crate::Label;
use crate::seed::mix;

/// A hash of a label row that does not depend on the width of stored labels.
#[derive(Clone, Copy)]
#[cfg_attr(feature = "passes", derive(Serialize, Deserialize))]
pub(crate) struct RowHash(pub(crate) u64);

impl RowHash {
    /// The hash of a row.
    pub(crate) fn of<L: Label>(self, row: &[L]) -> u64 {
        row.chunks(4).fold(self.0, |hash, four| {
            let number = |label: &L| {
                label
                    .cluster()
                    .map_or(u64::from(u16::MISSING), |cluster| cluster as u64)
            };
            mix(hash
                ^ four
                    .iter()
                    .fold(0, |word, label| word << 16 | number(label)))
        })
    }
}

/// Parts of all hashes that are sorted one after the other, in the memory of one.
const PARTS: usize = 256;

/// The numbers of things by their hashes; those of equal hashes in the order that `compare` says, then by number.
pub(crate) fn sorted_by_hash(
    hashes: &[u64],
    compare: impl Fn(usize, usize) -> Ordering,
) -> Vec<u32> {
    let part = |hash: u64| (hash >> 56) as usize;
    let mut ends = [0; PARTS + 1];
    hashes.iter().for_each(|&hash| ends[part(hash) + 1] += 1);
    (0..PARTS).for_each(|at| ends[at + 1] += ends[at]);
    let mut order = vec![0u32; hashes.len()];
    for (&hash, at) in hashes.iter().zip(0..) {
        order[ends[part(hash)]] = at;
        ends[part(hash)] += 1;
    }
    // The next half of a hash tells nearly all apart, and fits a word together with the number.
    let half = |hash: u64| hash << 8 >> 32 << 32;
    let number = |word: u64| word as u32 as usize;
    let by_hash = |a: usize, b: usize| hashes[a].cmp(&hashes[b]).then_with(|| compare(a, b));
    let (mut words, mut start) = (Vec::new(), 0);
    for &end in &ends[..PARTS] {
        let own = &mut order[start..end];
        start = end;
        words.clear();
        words.extend(
            own.iter()
                .map(|&at| half(hashes[at as usize]) | u64::from(at)),
        );
        words.sort_unstable();
        for close in words
            .chunk_by_mut(|a, b| a >> 32 == b >> 32)
            .filter(|close| close.len() > 1)
        {
            close.sort_by(|&a, &b| by_hash(number(a), number(b)));
        }
        own.iter_mut()
            .zip(&words)
            .for_each(|(at, &word)| *at = word as u32);
    }
    order
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
            let hashes: Vec<u64> = (0..count)
                .map(|_| {
                    rng.random_range(0..3u64) << 60
                        | rng.random_range(0..3) << 40
                        | rng.random_range(0..3)
                })
                .collect();
            let sizes: Vec<u32> = (0..count).map(|_| rng.random_range(0..2)).collect();
            let mut plain: Vec<u32> = (0..count as u32).collect();
            plain.sort_by_key(|&at| (hashes[at as usize], sizes[at as usize], at));
            assert_eq!(
                sorted_by_hash(&hashes, |a, b| sizes[a].cmp(&sizes[b])),
                plain,
                "seed {seed}"
            );
        }
    }
}
