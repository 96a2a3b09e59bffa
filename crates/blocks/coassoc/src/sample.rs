//! Pairs drawn without replacement.

use partita_core::Seed;
use rand::RngExt;

use crate::CoassocError;

/// Exactly `pairs` different pairs of objects, every set of so many pairs being equally likely; sorted, the smaller
/// object first.
///
/// # Errors
/// [`CoassocError::TooManyPairs`] if there are fewer.
///
/// # Cost
/// O(m log m) time for m pairs (or as many as are left out, if those are fewer), 16 bytes a pair.
pub fn sample_pairs(
    objects: usize,
    pairs: u64,
    seed: Seed,
) -> Result<Vec<(u32, u32)>, CoassocError> {
    let there = objects as u64 * (objects as u64).saturating_sub(1) / 2;
    if pairs > there {
        return Err(CoassocError::TooManyPairs {
            asked: pairs,
            objects,
            there,
        });
    }
    let left_out = there - pairs;
    if pairs <= left_out {
        return Ok(decode(objects, sample(there, pairs, seed).into_iter()));
    }
    let mut out = sample(there, left_out, seed).into_iter().peekable();
    Ok(decode(
        objects,
        (0..there).filter(|&pair| out.next_if_eq(&pair).is_none()),
    ))
}

/// Different numbers below `below`, sorted: the first so many different ones of a sequence of independent draws, which
/// are each set with the same chance. An iteration draws as many as are lacking, so none is drawn in vain after the last.
fn sample(below: u64, count: u64, seed: Seed) -> Vec<u64> {
    let mut rng = seed.rng();
    let mut drawn: Vec<u64> = Vec::with_capacity(count as usize);
    while (drawn.len() as u64) < count {
        let lacking = count - drawn.len() as u64;
        let first = drawn.is_empty();
        drawn.extend((0..lacking).map(|_| rng.random_range(0..below)));
        if first {
            drawn.sort_unstable();
        } else {
            #[expect(
                clippy::stable_sort_primitive,
                reason = "it finds the many that are in order, which few follow"
            )]
            drawn.sort();
        }
        drawn.dedup();
    }
    drawn
}

/// The pairs at ascending places of a packed triangle.
fn decode(objects: usize, places: impl Iterator<Item = u64>) -> Vec<(u32, u32)> {
    let (mut row, mut start, mut length) = (0u32, 0u64, (objects as u64).saturating_sub(1));
    let pair = |place: u64| {
        while place - start >= length {
            start += length;
            length -= 1;
            row += 1;
        }
        (row, row + 1 + (place - start) as u32)
    };
    places.map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exactly_so_many_different_pairs_in_order() {
        for (objects, pairs) in [
            (0, 0),
            (1, 0),
            (2, 1),
            (5, 10),
            (5, 7),
            (5, 3),
            (40, 0),
            (300, 9_000),
        ] {
            for seed in 0..20 {
                let drawn = sample_pairs(objects, pairs, Seed::new(seed)).unwrap();
                assert_eq!(drawn.len() as u64, pairs);
                assert!(drawn.is_sorted_by(|a, b| a < b));
                assert!(drawn.iter().all(|&(i, j)| i < j && (j as usize) < objects));
            }
        }
        let error = sample_pairs(5, 11, Seed::new(0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "asked for 11 different pairs of 5 objects; there are 10"
        );
    }

    #[test]
    fn every_pair_is_as_likely() {
        // 6 of 10 pairs, 4,000 times: each 2,400 times, give or take 31.
        for pairs in [3u64, 6] {
            let mut times = [[0u32; 5]; 5];
            for seed in 0..4_000 {
                for (i, j) in sample_pairs(5, pairs, Seed::new(seed)).unwrap() {
                    times[i as usize][j as usize] += 1;
                }
            }
            let expected = 400 * pairs as i64;
            for (i, row) in times.iter().enumerate() {
                assert!(
                    row[i + 1..]
                        .iter()
                        .all(|&count| (i64::from(count) - expected).abs() < 160),
                    "{times:?}"
                );
            }
        }
    }
}
