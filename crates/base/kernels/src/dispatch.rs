//! Run-time choice of instructions: which the processor has, and code compiled for them.

use std::sync::OnceLock;

/// Lanes of a sum. Columns are padded to a multiple of it.
pub const LANES: usize = 8;

/// A loop to be compiled for every [`Level`]. Pass it to [`dispatch`].
///
/// `run` and what it calls must be `#[inline(always)]`: a loop is compiled for wider vectors only where it is inlined into the
/// function that enables them.
pub trait Kernel: Sized {
    /// What it computes.
    type Output;

    /// Whether vectors of 512 bits are faster than those of 256 for this loop. They are not where it compares bytes: going from a
    /// mask register back to bytes costs more than the double width gains.
    const GAINS_FROM_512_BITS: bool = true;

    /// Runs it with the instructions that `simd` stands for.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// A set of instructions that this processor has: [`Baseline`], [`Avx2`] or [`Avx512`].
pub trait Simd: Copy + sealed::Sealed {
    /// Inner products of `w` with some columns, in [`LANES`] lanes that are not folded yet. What stands beyond the last
    /// multiple of [`LANES`] of `w` is left out.
    ///
    /// # Panics
    /// If a column is shorter than `w`.
    fn lanes<const R: usize>(self, w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R];
}

mod sealed {
    /// Only the levels of this crate are levels.
    pub trait Sealed {}
    impl Sealed for super::Baseline {}
    #[cfg(target_arch = "x86_64")]
    impl Sealed for super::Avx2 {}
    #[cfg(target_arch = "x86_64")]
    impl Sealed for super::Avx512 {}
}

/// The instructions that every processor of the target has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Baseline;

impl Simd for Baseline {
    #[inline(always)]
    fn lanes<const R: usize>(self, w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R] {
        columns.map(|column| {
            let mut sum = [0.0; LANES];
            for (w, y) in w
                .chunks_exact(LANES)
                .zip(column[..w.len()].chunks_exact(LANES))
            {
                for lane in 0..LANES {
                    sum[lane] += w[lane] * y[lane];
                }
            }
            sum
        })
    }
}

#[cfg(target_arch = "x86_64")]
pub use x86::{Avx2, Avx512};

#[cfg(target_arch = "x86_64")]
#[expect(
    unsafe_code,
    reason = "instructions that not every processor has are called on the proof of a token"
)]
mod x86 {
    use std::arch::x86_64::{
        _mm256_add_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_setzero_pd, _mm256_storeu_pd,
        _mm512_add_pd, _mm512_loadu_pd, _mm512_mul_pd, _mm512_setzero_pd, _mm512_storeu_pd,
    };

    use super::{Kernel, LANES, Simd};

    /// Proof that this processor has AVX2, FMA and POPCNT.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Avx2(());

    /// Proof that this processor has AVX-512 F, BW, DQ and VL.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct Avx512(());

    impl Avx2 {
        /// The proof, if the processor has them.
        pub fn detect() -> Option<Self> {
            use std::is_x86_feature_detected as has;
            (has!("avx2") && has!("fma") && has!("popcnt")).then_some(Self(()))
        }

        /// Runs a loop compiled for them.
        pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
            #[target_feature(enable = "avx2,fma,popcnt")]
            fn compiled<K: Kernel>(token: Avx2, kernel: K) -> K::Output {
                kernel.run(token)
            }
            // SAFETY: the function needs nothing but AVX2, FMA and POPCNT, and `self` exists only where they were found.
            unsafe { compiled(self, kernel) }
        }
    }

    impl Avx512 {
        /// The proof, if the processor has them.
        pub fn detect() -> Option<Self> {
            use std::is_x86_feature_detected as has;
            (has!("avx512f") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl"))
                .then_some(Self(()))
        }

        /// Runs a loop compiled for them.
        pub(super) fn run<K: Kernel>(self, kernel: K) -> K::Output {
            #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl")]
            fn compiled<K: Kernel>(token: Avx512, kernel: K) -> K::Output {
                kernel.run(token)
            }
            // SAFETY: the function needs nothing but AVX-512 F, BW, DQ and VL, and `self` exists only where they were found.
            unsafe { compiled(self, kernel) }
        }
    }

    impl Simd for Avx512 {
        #[inline(always)]
        fn lanes<const R: usize>(self, w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R] {
            let columns = columns.map(|column| &column[..w.len()]);
            let mut out = [[0.0; LANES]; R];
            // SAFETY: `self` proves AVX-512. Every load starts at a multiple of 8 and ends at most at `w.len()`, to which all
            // slices were cut; the stores fill arrays of 8.
            unsafe {
                let mut sums = [_mm512_setzero_pd(); R];
                for start in (0..w.len() / LANES * LANES).step_by(LANES) {
                    let w = _mm512_loadu_pd(w.as_ptr().add(start));
                    for r in 0..R {
                        let y = _mm512_loadu_pd(columns[r].as_ptr().add(start));
                        sums[r] = _mm512_add_pd(sums[r], _mm512_mul_pd(w, y));
                    }
                }
                for r in 0..R {
                    _mm512_storeu_pd(out[r].as_mut_ptr(), sums[r]);
                }
            }
            out
        }
    }

    impl Simd for Avx2 {
        #[inline(always)]
        fn lanes<const R: usize>(self, w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R] {
            let columns = columns.map(|column| &column[..w.len()]);
            let mut out = [[0.0; LANES]; R];
            // SAFETY: `self` proves AVX2. Every load starts at a multiple of 4 and ends at most at `w.len()`, to which all slices
            // were cut; the stores fill arrays of 8.
            unsafe {
                let mut sums = [[_mm256_setzero_pd(); 2]; R];
                for start in (0..w.len() / LANES * LANES).step_by(LANES) {
                    for half in 0..2 {
                        let w = _mm256_loadu_pd(w.as_ptr().add(start + 4 * half));
                        for r in 0..R {
                            let y = _mm256_loadu_pd(columns[r].as_ptr().add(start + 4 * half));
                            sums[r][half] = _mm256_add_pd(sums[r][half], _mm256_mul_pd(w, y));
                        }
                    }
                }
                for r in 0..R {
                    for half in 0..2 {
                        _mm256_storeu_pd(out[r].as_mut_ptr().add(4 * half), sums[r][half]);
                    }
                }
            }
            out
        }
    }
}

/// Instructions to run a [`Kernel`] with. It is made only by asking the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// What every processor of the target has.
    Baseline(Baseline),
    /// Vectors of 256 bits.
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    /// Vectors of 512 bits.
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
}

impl Level {
    /// All levels that this processor has, the widest first and [`Level::Baseline`] last. Tests run a kernel on each.
    pub fn all() -> Vec<Self> {
        let mut levels = Vec::new();
        #[cfg(target_arch = "x86_64")]
        {
            levels.extend(Avx512::detect().map(Self::Avx512));
            levels.extend(Avx2::detect().map(Self::Avx2));
        }
        levels.push(Self::Baseline(Baseline));
        levels
    }

    /// The widest level, or the widest of at most 256 bits. The processor is asked once.
    #[inline]
    pub fn widest(with_512_bits: bool) -> Self {
        static LEVELS: OnceLock<[Level; 2]> = OnceLock::new();
        let levels = LEVELS.get_or_init(|| {
            let all = Self::all();
            let narrow = all.iter().copied().find(|level| level.bits() <= 256);
            [narrow.unwrap_or(Self::Baseline(Baseline)), all[0]]
        });
        levels[usize::from(with_512_bits)]
    }

    /// Bits of a vector, about: 128 for [`Level::Baseline`].
    pub fn bits(self) -> u32 {
        match self {
            Self::Baseline(_) => 128,
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(_) => 256,
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(_) => 512,
        }
    }

    /// Runs a loop compiled for this level.
    #[inline]
    pub fn run<K: Kernel>(self, kernel: K) -> K::Output {
        match self {
            Self::Baseline(token) => kernel.run(token),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2(token) => token.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Self::Avx512(token) => token.run(kernel),
        }
    }
}

/// Runs a loop with the widest vectors of this processor that it gains from.
#[inline]
pub fn dispatch<K: Kernel>(kernel: K) -> K::Output {
    Level::widest(K::GAINS_FROM_512_BITS).run(kernel)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_fall_in_width_and_end_with_the_baseline() {
        let levels = Level::all();
        assert_eq!(levels.last(), Some(&Level::Baseline(Baseline)));
        assert!(
            levels
                .windows(2)
                .all(|pair| pair[0].bits() > pair[1].bits())
        );
        assert_eq!(Level::widest(true), levels[0]);
        assert!(Level::widest(false).bits() <= 256);
        #[cfg(target_arch = "x86_64")]
        assert_eq!(
            levels.len() > 1,
            is_x86_feature_detected!("avx2") || is_x86_feature_detected!("avx512bw")
        );
    }
}
