//! The one place that chooses instructions.
//!
//! Every sum runs in eight lanes that are folded in a fixed order, and products are never fused with sums: the
//! same bits come out with SSE2, AVX2 or AVX-512.

#![expect(clippy::inline_always, reason = "loops are compiled into functions with wider vectors only by inlining")]

/// Objects a vector holds. Columns are padded to a multiple of it.
pub(crate) const LANES: usize = 8;

/// A loop that [`fast`] compiles for the widest vectors of this machine. `run` must be `#[inline(always)]`.
pub(crate) trait Loop {
    /// What it computes.
    type Out;
    /// Runs it.
    fn run<I: Machine>(self) -> Self::Out;
}

/// Inner products with the instructions of one machine.
pub(crate) trait Machine {
    /// Inner products of `w` with the columns, in eight lanes. Lengths are equal and multiples of [`LANES`].
    fn lanes<const R: usize>(w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R];
}

/// Any machine.
struct Plain;

impl Machine for Plain {
    #[inline(always)]
    fn lanes<const R: usize>(w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R] {
        columns.map(|column| {
            let mut sum = [0.0; LANES];
            for (w, y) in w.chunks_exact(LANES).zip(column.chunks_exact(LANES)) {
                for lane in 0..LANES {
                    sum[lane] += w[lane] * y[lane];
                }
            }
            sum
        })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{LANES, Loop, Machine};
    use std::arch::x86_64::{
        _mm256_add_pd, _mm256_loadu_pd, _mm256_mul_pd, _mm256_setzero_pd, _mm256_storeu_pd, _mm512_add_pd,
        _mm512_loadu_pd, _mm512_mul_pd, _mm512_setzero_pd, _mm512_storeu_pd,
    };

    /// A machine with AVX-512. Named only inside [`wide`], which is entered after detection.
    struct Wide;
    /// A machine with AVX2. Named only inside [`middle`], which is entered after detection.
    struct Middle;

    impl Machine for Wide {
        #[inline(always)]
        fn lanes<const R: usize>(w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R] {
            let columns = columns.map(|column| &column[..w.len()]);
            let mut out = [[0.0; LANES]; R];
            // SAFETY: AVX-512 was detected before this type was named. Every load starts at a multiple of 8 and
            // ends at most at `w.len()`, to which all slices were cut; the stores fill arrays of 8.
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

    impl Machine for Middle {
        #[inline(always)]
        fn lanes<const R: usize>(w: &[f64], columns: [&[f64]; R]) -> [[f64; LANES]; R] {
            let columns = columns.map(|column| &column[..w.len()]);
            let mut out = [[0.0; LANES]; R];
            // SAFETY: AVX2 was detected before this type was named. Every load starts at a multiple of 4 and ends
            // at most at `w.len()`, to which all slices were cut; the stores fill arrays of 8.
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

    #[target_feature(enable = "avx512f,avx512dq,avx512bw,avx512vl")]
    fn wide<L: Loop>(task: L) -> L::Out {
        task.run::<Wide>()
    }

    #[target_feature(enable = "avx2")]
    fn middle<L: Loop>(task: L) -> L::Out {
        task.run::<Middle>()
    }

    /// Runs a loop with AVX2 even where there is more.
    #[cfg(test)]
    pub(super) fn only_middle<L: Loop>(task: L) -> Option<L::Out> {
        // SAFETY: AVX2 was just detected on this machine.
        std::is_x86_feature_detected!("avx2").then(|| unsafe { middle(task) })
    }

    /// Runs a loop with the widest vectors of this machine, if it has any beyond the plain ones.
    #[inline]
    pub(super) fn fast<L: Loop>(task: L) -> Result<L::Out, L> {
        use std::is_x86_feature_detected as has;
        if has!("avx512f") && has!("avx512dq") && has!("avx512bw") && has!("avx512vl") {
            // SAFETY: the four features that `wide` is compiled for were just detected on this machine.
            return Ok(unsafe { wide(task) });
        }
        if has!("avx2") {
            // SAFETY: the feature that `middle` is compiled for was just detected on this machine.
            return Ok(unsafe { middle(task) });
        }
        Err(task)
    }
}

/// Runs a loop with the widest vectors of this machine.
#[inline]
pub(crate) fn fast<L: Loop>(task: L) -> L::Out {
    #[cfg(target_arch = "x86_64")]
    let task = match x86::fast(task) {
        Ok(out) => return out,
        Err(task) => task,
    };
    task.run::<Plain>()
}

/// Folds eight lanes in a fixed order.
#[inline(always)]
fn fold(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6])) + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// Inner products of one column with `R` others.
#[inline(always)]
pub(crate) fn dots<I: Machine, const R: usize>(w: &[f64], columns: [&[f64]; R]) -> [f64; R] {
    I::lanes(w, columns).map(fold)
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Dots<'a>(&'a [f64], &'a [f64]);

    impl Loop for Dots<'_> {
        type Out = [f64; 2];

        #[inline(always)]
        fn run<I: Machine>(self) -> [f64; 2] {
            dots::<I, 2>(self.0, [self.1, self.0])
        }
    }

    #[test]
    fn every_machine_gives_the_same_bits() {
        for n in [0, 8, 64, 264] {
            let w: Vec<f64> = (0..n).map(|i| (i as f64 * 0.7).sin()).collect();
            let y: Vec<f64> = (0..n).map(|i| (i as f64 * 1.3).cos()).collect();
            let (here, plain) = (fast(Dots(&w, &y)), Dots(&w, &y).run::<Plain>());
            assert_eq!(here.map(f64::to_bits), plain.map(f64::to_bits));
            #[cfg(target_arch = "x86_64")]
            if let Some(middle) = x86::only_middle(Dots(&w, &y)) {
                assert_eq!(middle.map(f64::to_bits), plain.map(f64::to_bits));
            }
            let exact: f64 = w.iter().zip(&y).map(|(a, b)| a * b).sum();
            assert!((here[0] - exact).abs() < 1e-12);
        }
    }
}
