//! Counting agreements of label rows. The only file of this crate with `unsafe`.
//!
//! Every kernel is written once, in plain safe Rust over blocks of 64 objects, and compiled several times: for the
//! instructions that every machine of the target has, and on x86-64 for AVX2 and AVX-512. The compiler makes one
//! comparison of 32 or 64 labels out of each inner loop (on AArch64 of 16, with NEON, in the first version). What
//! is `unsafe` is only the call of a version whose instructions the machine might not have; [`Simd::detect`] asks
//! the machine first, and a [`Simd`] cannot be made otherwise.

use partita_core::Label;

/// Objects of a block.
pub(crate) const LANES: usize = 64;

/// Base clusterings counted in one byte before they are added up; a multiple of 8.
const SPAN: usize = 248;

/// Labels compared together when pairs are counted.
pub(crate) const WIDTH: usize = 32;

/// Counts of R objects with the objects of a block.
pub(crate) type Tally<const R: usize> = [[u16; LANES]; R];

/// The instructions to use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Simd(Level);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Level {
    Plain,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Simd {
    /// All levels that this machine has, the best for counting first.
    ///
    /// AVX2 comes before AVX-512: comparing bytes makes a mask register there, and going from it back to bytes
    /// costs more than the double width gains (20,000 objects × 100 labels: 0.10 s against 0.16 s on a Zen 4).
    pub(crate) fn detect() -> impl Iterator<Item = Self> {
        let mut levels = vec![];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("popcnt") {
                levels.push(Level::Avx2);
            }
            if is_x86_feature_detected!("avx512bw")
                && is_x86_feature_detected!("avx512vl")
                && is_x86_feature_detected!("avx512dq")
            {
                levels.push(Level::Avx512);
            }
        }
        levels.push(Level::Plain);
        levels.into_iter().map(Self)
    }

    /// The best level for counting.
    pub(crate) fn best() -> Self {
        Self::detect().next().expect("the plain level is always there")
    }
}

/// Compiles a safe kernel for every level and calls the one asked for.
macro_rules! versions {
    ($(#[$doc:meta])* fn $name:ident[$($generic:tt)*]($($argument:ident: $type:ty),* $(,)?) = $body:ident[$($pass:tt)*]) => {
        $(#[$doc])*
        pub(crate) fn $name<$($generic)*>(simd: Simd, $($argument: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,popcnt")]
            fn avx2<$($generic)*>($($argument: $type),*) {
                $body::<$($pass)*>($($argument),*);
            }
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq")]
            fn avx512<$($generic)*>($($argument: $type),*) {
                $body::<$($pass)*>($($argument),*);
            }
            match simd.0 {
                Level::Plain => $body::<$($pass)*>($($argument),*),
                // SAFETY: the function is safe but for needing AVX2 and POPCNT, and `Simd::detect`, the only maker
                // of this level, has found both.
                #[cfg(target_arch = "x86_64")]
                Level::Avx2 => unsafe { avx2::<$($pass)*>($($argument),*) },
                // SAFETY: as above, with AVX-512 F (implied by BW), BW, VL and DQ.
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => unsafe { avx512::<$($pass)*>($($argument),*) },
            }
        }
    };
}

versions! {
    /// Adds to `tally[r]` how often the labels of `block` equal those of object `first + r` of `rows`; a missing
    /// label equals a missing label. Both blocks hold one column of labels a base clustering.
    fn agreements[L: Label, const R: usize](
        block: &[[L; LANES]], rows: &[[L; LANES]], first: usize, tally: &mut Tally<R>,
    ) = agreements_body[L, R]
}

versions! {
    /// Adds to `tally[r]` how many bits are set both in the columns of `block` and in those of object `first + r`
    /// of `rows`.
    fn common_bits[const R: usize](
        block: &[[u8; LANES]], rows: &[[u8; LANES]], first: usize, tally: &mut Tally<R>,
    ) = common_bits_body[R]
}

versions! {
    /// Adds to `sum` the weight of every label that equals those of `block`: `row` has a label and its weight for
    /// every base clustering. The weights must add up to less than 2³².
    fn weighted_agreements[L: Label](
        block: &[[L; LANES]], row: &[(L, u32)], sum: &mut [u32; LANES],
    ) = weighted_agreements_body[L]
}

versions! {
    /// For every pair of rows, in how many places they are equal; a row is `chunks` elements of `rows`.
    fn pair_agreements[L: Label](
        rows: &[[L; WIDTH]], chunks: usize, pairs: &[(u32, u32)], counts: &mut [u16],
    ) = pair_agreements_body[L]
}

versions! {
    /// For every pair of rows, how many bits are set in both; a row is `words` elements of `rows`.
    fn pair_common_bits[](
        rows: &[u64], words: usize, pairs: &[(u32, u32)], counts: &mut [u16],
    ) = pair_common_bits_body[]
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the body must be compiled with the instructions of its caller")]
fn pair_agreements_body<L: Label>(rows: &[[L; WIDTH]], chunks: usize, pairs: &[(u32, u32)], counts: &mut [u16]) {
    let row = |i: u32| &rows[i as usize * chunks..][..chunks];
    for (&(i, j), count) in pairs.iter().zip(counts) {
        let mut total = 0;
        for (a, b) in row(i).chunks(SPAN).zip(row(j).chunks(SPAN)) {
            let mut equal = [0u8; WIDTH];
            for (a, b) in a.iter().zip(b) {
                for lane in 0..WIDTH {
                    equal[lane] += u8::from(a[lane] == b[lane]);
                }
            }
            total += equal.iter().map(|&count| u16::from(count)).sum::<u16>();
        }
        *count = total;
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the body must be compiled with the instructions of its caller")]
fn pair_common_bits_body(rows: &[u64], words: usize, pairs: &[(u32, u32)], counts: &mut [u16]) {
    let row = |i: u32| &rows[i as usize * words..][..words];
    for (&(i, j), count) in pairs.iter().zip(counts) {
        *count = row(i).iter().zip(row(j)).map(|(a, b)| (a & b).count_ones() as u16).sum();
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the body must be compiled with the instructions of its caller")]
fn agreements_body<L: Label, const R: usize>(
    block: &[[L; LANES]],
    rows: &[[L; LANES]],
    first: usize,
    tally: &mut Tally<R>,
) {
    for (block, rows) in block.chunks(SPAN).zip(rows.chunks(SPAN)) {
        let mut equal = [[0u8; LANES]; R];
        for (column, own) in block.iter().zip(rows) {
            for r in 0..R {
                let label = own[first + r];
                for lane in 0..LANES {
                    equal[r][lane] += u8::from(column[lane] == label);
                }
            }
        }
        add(tally, &equal);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the body must be compiled with the instructions of its caller")]
fn common_bits_body<const R: usize>(block: &[[u8; LANES]], rows: &[[u8; LANES]], first: usize, tally: &mut Tally<R>) {
    for (block, rows) in block.chunks(SPAN / 8).zip(rows.chunks(SPAN / 8)) {
        let mut common = [[0u8; LANES]; R];
        for (column, own) in block.iter().zip(rows) {
            for r in 0..R {
                let bits = own[first + r];
                for lane in 0..LANES {
                    common[r][lane] += (column[lane] & bits).count_ones() as u8;
                }
            }
        }
        add(tally, &common);
    }
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the body must be compiled with the instructions of its caller")]
fn weighted_agreements_body<L: Label>(block: &[[L; LANES]], row: &[(L, u32)], sum: &mut [u32; LANES]) {
    let mut total = *sum;
    for (column, &(label, weight)) in block.iter().zip(row) {
        for lane in 0..LANES {
            total[lane] += if column[lane] == label { weight } else { 0 };
        }
    }
    *sum = total;
}

#[inline(always)]
#[expect(clippy::inline_always, reason = "the body must be compiled with the instructions of its caller")]
fn add<const R: usize>(tally: &mut Tally<R>, counts: &[[u8; LANES]; R]) {
    for (tally, counts) in tally.iter_mut().zip(counts) {
        for lane in 0..LANES {
            tally[lane] += u16::from(counts[lane]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use rand::{Rng, RngExt};

    /// Blocks of labels, few of them so that many are equal.
    fn columns<L: Label, const N: usize>(count: usize, rng: &mut impl Rng) -> Vec<[L; N]> {
        (0..count).map(|_| std::array::from_fn(|_| L::of(rng.random_range(0..5) * 60))).collect()
    }

    fn blocks_are_counted<L: Label>(bases: usize, rng: &mut impl Rng) {
        let (block, rows): (Vec<[L; LANES]>, Vec<[L; LANES]>) = (columns(bases, rng), columns(bases, rng));
        for level in Simd::detect() {
            let mut equal = [[3; LANES]; 4];
            agreements(level, &block, &rows, 60, &mut equal);
            let row: Vec<(L, u32)> = (0..bases).map(|u| (rows[u][5], u as u32)).collect();
            let mut sum = [3; LANES];
            weighted_agreements(level, &block, &row, &mut sum);
            for lane in 0..LANES {
                let count = |r: usize| (0..bases).filter(|&u| block[u][lane] == rows[u][60 + r]).count() as u16;
                assert!((0..4).all(|r| equal[r][lane] == 3 + count(r)), "{level:?} {bases}");
                let count: usize = (0..bases).filter(|&u| block[u][lane] == rows[u][5]).sum();
                assert_eq!(sum[lane], 3 + count as u32, "{level:?} {bases}");
            }
        }
    }

    fn bits_are_counted(bases: usize, rng: &mut impl Rng) {
        let (block, rows): (Vec<[u8; LANES]>, Vec<[u8; LANES]>) = (columns(bases, rng), columns(bases, rng));
        for level in Simd::detect() {
            let mut bits = [[3; LANES]; 2];
            common_bits(level, &block, &rows, 62, &mut bits);
            for (lane, r) in (0..LANES).flat_map(|lane| (0..2).map(move |r| (lane, r))) {
                let count: u32 = (0..bases).map(|u| (block[u][lane] & rows[u][62 + r]).count_ones()).sum();
                assert_eq!(u32::from(bits[r][lane]), 3 + count, "{level:?} {bases}");
            }
        }
    }

    fn pairs_are_counted<L: Label>(chunks: usize, rng: &mut impl Rng) {
        let rows: Vec<[L; WIDTH]> = columns(6 * chunks, rng);
        let words: Vec<u64> = (0..6 * chunks).map(|_| rng.random()).collect();
        let pairs: Vec<(u32, u32)> = (0..6).flat_map(|i| (0..i).map(move |j| (i, j))).collect();
        for level in Simd::detect() {
            let (mut equal, mut bits) = (vec![9; pairs.len()], vec![9; pairs.len()]);
            pair_agreements(level, &rows, chunks, &pairs, &mut equal);
            pair_common_bits(level, &words, chunks, &pairs, &mut bits);
            for (at, &(i, j)) in pairs.iter().enumerate() {
                let of = |i: u32| i as usize * chunks..(i as usize + 1) * chunks;
                let (a, b) = (rows[of(i)].as_flattened(), rows[of(j)].as_flattened());
                let count = a.iter().zip(b).filter(|(a, b)| a == b).count();
                assert_eq!(usize::from(equal[at]), count, "{level:?} {chunks}");
                let both = words[of(i)].iter().zip(&words[of(j)]).map(|(a, b)| (a & b).count_ones());
                assert_eq!(u32::from(bits[at]), both.sum::<u32>(), "{level:?} {chunks}");
            }
        }
    }

    #[test]
    fn all_levels_count_what_the_definition_says() {
        let mut rng = Seed::new(1).rng();
        for bases in [1, 7, 31, 32, 100, 248, 249, 600] {
            blocks_are_counted::<u8>(bases, &mut rng);
            blocks_are_counted::<u16>(bases, &mut rng);
            bits_are_counted(bases, &mut rng);
        }
        for chunks in [1, 3, 248, 249] {
            pairs_are_counted::<u8>(chunks, &mut rng);
            pairs_are_counted::<u16>(chunks, &mut rng);
        }
    }

    /// The plain version is always among those tried, and on a machine with AVX2 a vector version is too.
    #[test]
    fn the_plain_version_is_tried_and_the_best_one() {
        let levels: Vec<Simd> = Simd::detect().collect();
        assert_eq!(levels.last(), Some(&Simd(Level::Plain)));
        #[cfg(target_arch = "x86_64")]
        assert_eq!(levels.len() > 1, is_x86_feature_detected!("avx2") || is_x86_feature_detected!("avx512dq"));
    }
}
