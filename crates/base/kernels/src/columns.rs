//! Inner products with padded columns of numbers, and sums of such columns.

use crate::dispatch::{LANES, Simd};

/// Folds eight lanes in a fixed order.
#[inline(always)]
fn fold(lanes: [f64; LANES]) -> f64 {
    ((lanes[0] + lanes[4]) + (lanes[2] + lanes[6]))
        + ((lanes[1] + lanes[5]) + (lanes[3] + lanes[7]))
}

/// Inner products of `w` with `R` columns of its length, a multiple of [`LANES`].
///
/// # Panics
/// If a column is shorter than `w`.
#[inline(always)]
pub fn dots<S: Simd, const R: usize>(simd: S, w: &[f64], columns: [&[f64]; R]) -> [f64; R] {
    simd.lanes(w, columns).map(fold)
}

/// `g_k += w · column(k)` for every k, four columns at a time. Lengths are as in [`dots`].
#[inline(always)]
pub fn accumulate<'a, S: Simd>(
    simd: S,
    w: &[f64],
    column: impl Fn(usize) -> &'a [f64],
    g: &mut [f64],
) {
    let mut k = 0;
    while k + 4 <= g.len() {
        let sums = dots(
            simd,
            w,
            [column(k), column(k + 1), column(k + 2), column(k + 3)],
        );
        (0..4).for_each(|r| g[k + r] += sums[r]);
        k += 4;
    }
    while k < g.len() {
        g[k] += dots(simd, w, [column(k)])[0];
        k += 1;
    }
}

/// `out ← Σ_t factor_t column_t` over so many terms, two at a time: `term(t)` gives the factor and the column, as long as `out`.
/// Without a term `out` is 0.
#[inline(always)]
pub fn combine<'a>(terms: usize, term: impl Fn(usize) -> (f64, &'a [f64]), out: &mut [f64]) {
    let len = out.len();
    let term = |t: usize| {
        let (factor, column) = term(t);
        (factor, &column[..len])
    };
    let mut fresh = true;
    let mut t = 0;
    while t + 2 <= terms {
        let ((y, p), (z, q)) = (term(t), term(t + 1));
        for j in 0..len {
            let sum = y * p[j] + z * q[j];
            out[j] = if fresh { sum } else { out[j] + sum };
        }
        fresh = false;
        t += 2;
    }
    if t < terms {
        let (y, p) = term(t);
        for j in 0..len {
            out[j] = if fresh { y * p[j] } else { out[j] + y * p[j] };
        }
    } else if fresh {
        out.fill(0.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kernel, Level};

    struct Sums<'a> {
        w: &'a [f64],
        columns: &'a [f64],
        g: &'a mut [f64],
    }

    impl Kernel for Sums<'_> {
        type Output = Vec<f64>;

        #[inline(always)]
        fn run<S: Simd>(self, simd: S) -> Vec<f64> {
            let n = self.w.len();
            let column = |k: usize| &self.columns[k * n..(k + 1) * n];
            accumulate(simd, self.w, column, self.g);
            let mut out = vec![9.0; n];
            combine(self.g.len(), |k| (self.g[k], column(k)), &mut out);
            out
        }
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        for (n, clusters) in [(0usize, 3usize), (8, 1), (8, 0), (64, 5), (264, 9)] {
            let w: Vec<f64> = (0..n).map(|i| (i as f64).sin()).collect();
            let columns: Vec<f64> = (0..n * clusters).map(|i| (i as f64 * 1.3).cos()).collect();
            let sums = |level: Level| {
                let mut g = vec![0.5; clusters];
                let out = level.run(Sums {
                    w: &w,
                    columns: &columns,
                    g: &mut g,
                });
                let bits =
                    |values: &[f64]| values.iter().map(|x| x.to_bits()).collect::<Vec<u64>>();
                (bits(&g), bits(&out))
            };
            let reference = sums(Level::Baseline(crate::Baseline));
            for level in Level::all() {
                assert_eq!(sums(level), reference, "{level:?} {n} {clusters}");
            }
        }
    }

    #[test]
    fn sums_are_right() {
        let (w, columns) = (
            [1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            [[1.0; 8], [2.0; 8], [0.5; 8]].concat(),
        );
        for level in Level::all() {
            let mut g = [1.0, 0.0, 0.0];
            let out = level.run(Sums {
                w: &w,
                columns: &columns,
                g: &mut g,
            });
            assert_eq!((g, out), ([37.0, 72.0, 18.0], vec![37.0 + 144.0 + 9.0; 8]));
        }
    }
}
