//! Cells of a matrix of sums, and the least score in a row of them.
#![expect(
    clippy::inline_always,
    reason = "loops are compiled for wide vectors only where they are inlined"
)]

use partita_kernels::{Kernel, Simd, dispatch};

/// Columns looked at together.
const BLOCK: usize = 512;

/// A whole number of 32 or 64 bits.
pub(crate) trait Cell: Copy + Default + Ord + Send + Sync {
    fn of(value: u64) -> Self;
    fn exact(self) -> u64;
    fn value(self) -> f64;
    fn plus(self, other: Self) -> Self;
}

macro_rules! cell {
    ($type:ty) => {
        impl Cell for $type {
            fn of(value: u64) -> Self {
                value as $type
            }
            fn exact(self) -> u64 {
                u64::from(self)
            }
            fn value(self) -> f64 {
                self as f64
            }
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }
        }
    };
}
cell!(u32);
cell!(u64);

/// The smallest score and the first place that has it. NaN is never the smallest.
pub(crate) fn least<T: Cell>(
    row: &[T],
    sizes: &[f64],
    spread: &[f64],
    score: impl Fn(f64, f64, f64) -> f64 + Copy,
) -> (f64, usize) {
    dispatch(Least {
        row,
        sizes,
        spread,
        score,
    })
}

/// [`least`], compiled for the vectors of this processor.
struct Least<'a, T, S> {
    row: &'a [T],
    sizes: &'a [f64],
    spread: &'a [f64],
    score: S,
}

impl<T: Cell, S: Fn(f64, f64, f64) -> f64 + Copy> Kernel for Least<'_, T, S> {
    type Output = (f64, usize);

    #[inline(always)]
    fn run<V: Simd>(self, _: V) -> (f64, usize) {
        let Self {
            row,
            sizes,
            spread,
            score,
        } = self;
        let mut best = f64::INFINITY;
        let mut start = 0;
        let blocks = row
            .chunks(BLOCK)
            .zip(sizes.chunks(BLOCK))
            .zip(spread.chunks(BLOCK))
            .enumerate();
        for (at, ((row, sizes), spread)) in blocks {
            let here = block_least(row, sizes, spread, score);
            if here < best {
                (best, start) = (here, at * BLOCK);
            }
        }
        let place =
            (start..row.len()).find(|&at| score(row[at].value(), sizes[at], spread[at]) == best);
        (best, place.expect("a cluster has another besides it"))
    }
}

#[inline(always)]
fn block_least<T: Cell>(
    row: &[T],
    sizes: &[f64],
    spread: &[f64],
    score: impl Fn(f64, f64, f64) -> f64 + Copy,
) -> f64 {
    const LANES: usize = 8;
    let mut best = [f64::INFINITY; LANES];
    let (rows, rest) = row.as_chunks::<LANES>();
    let (size_lanes, size_rest) = sizes.as_chunks::<LANES>();
    let (spread_lanes, spread_rest) = spread.as_chunks::<LANES>();
    for ((row, sizes), spread) in rows.iter().zip(size_lanes).zip(spread_lanes) {
        for lane in 0..LANES {
            let here = score(row[lane].value(), sizes[lane], spread[lane]);
            best[lane] = if here < best[lane] { here } else { best[lane] };
        }
    }
    let rest = rest
        .iter()
        .zip(size_rest)
        .zip(spread_rest)
        .map(|((cell, &b), &v)| score(cell.value(), b, v));
    best.into_iter().chain(rest).fold(
        f64::INFINITY,
        |least, here| if here < least { here } else { least },
    )
}
