//! The sums of an EM step of a mixture whose components are columns of numbers.

use crate::columns::{accumulate, combine};
use crate::dispatch::{Kernel, Simd, dispatch};

/// Numbers in a piece of work whose columns stay in the first-level cache.
const PIECE: usize = 256;

/// What one object's pairs say: the other objects' values, component by component (`stride` numbers each), and the counts of
/// the pairs. Padding has count 0.
#[derive(Clone, Copy, Debug)]
pub struct Partners<'a, T> {
    /// The values, `stride` numbers for every component.
    pub columns: &'a [f64],
    /// Numbers of one component, a multiple of [`LANES`](crate::LANES).
    pub stride: usize,
    /// How often each pair was seen; at most `stride` of them, a multiple of [`LANES`](crate::LANES).
    pub counts: &'a [T],
}

impl<'a, T> Partners<'a, T> {
    /// One piece of the column of component `r`.
    #[inline(always)]
    fn piece(&self, r: usize, start: usize, len: usize) -> &'a [f64] {
        &self.columns[r * self.stride + start..][..len]
    }
}

struct Responsibilities<'a, T> {
    partners: Partners<'a, T>,
    q: &'a [f64],
    g: &'a mut [f64],
}

impl<T: Copy + Into<f64>> Kernel for Responsibilities<'_, T> {
    type Output = ();
    const GAINS_FROM_512_BITS: bool = false;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        responsibilities_body(simd, self.partners, self.q, self.g);
    }
}

#[inline(always)]
fn responsibilities_body<S: Simd, T: Copy + Into<f64>>(
    simd: S,
    partners: Partners<'_, T>,
    q: &[f64],
    g: &mut [f64],
) {
    let mut weight = [0.0; PIECE];
    g.fill(0.0);
    for start in (0..partners.counts.len()).step_by(PIECE) {
        let len = PIECE.min(partners.counts.len() - start);
        let (weight, counts) = (&mut weight[..len], &partners.counts[start..start + len]);
        combine(q.len(), |r| (q[r], partners.piece(r, start, len)), weight);
        for (weight, &count) in weight.iter_mut().zip(counts) {
            let count: f64 = count.into();
            *weight = count / weight.max(f64::MIN_POSITIVE);
        }
        accumulate(
            simd,
            weight,
            |r| partners.piece(r, start, len),
            &mut g[..q.len()],
        );
    }
}

/// `g_r ← Σ_z c_z B_rz / Σ_s q_s B_sz` over the partners z of an object.
///
/// # Panics
/// If `g` is shorter than `q`, or a column than the counts.
pub fn responsibilities<T: Copy + Into<f64>>(partners: Partners<'_, T>, q: &[f64], g: &mut [f64]) {
    dispatch(Responsibilities { partners, q, g });
}

/// `Σ_z c_z ln(Σ_r q_r B_rz)` over the partners from `from` on that have a count. A sum too small for a number is the smallest there is.
///
/// # Panics
/// If a column is shorter than the counts.
pub fn log_likelihood<T: Copy + Into<f64>>(
    partners: Partners<'_, T>,
    q: &[f64],
    from: usize,
) -> f64 {
    let counts = partners.counts;
    let mut sum = 0.0;
    let mut chances = [0.0; PIECE];
    for start in (from..counts.len()).step_by(PIECE) {
        let len = PIECE.min(counts.len() - start);
        let chances = &mut chances[..len];
        combine(q.len(), |r| (q[r], partners.piece(r, start, len)), chances);
        for (&count, chance) in counts[start..start + len].iter().zip(chances) {
            let count: f64 = count.into();
            if count > 0.0 {
                sum += count * chance.max(f64::MIN_POSITIVE).ln();
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Baseline, Level};

    #[test]
    fn every_level_gives_the_same_bits_and_the_sums_are_right() {
        for (n, clusters) in [(8, 1), (40, 3), (600, 7)] {
            let columns: Vec<f64> = (0..n * clusters)
                .map(|i| 1.1 + (i as f64 * 0.7).sin())
                .collect();
            let counts: Vec<u8> = (0..n).map(|i| (i % 5) as u8).collect();
            let q: Vec<f64> = (0..clusters).map(|r| 0.1 + r as f64).collect();
            let partners = Partners {
                columns: &columns,
                stride: n,
                counts: &counts,
            };
            let sums = |level: Level| {
                let mut g = vec![0.0; clusters];
                level.run(Responsibilities {
                    partners,
                    q: &q,
                    g: &mut g,
                });
                g
            };
            let reference = sums(Level::Baseline(Baseline));
            assert!(
                Level::all()
                    .into_iter()
                    .all(|level| sums(level) == reference)
            );
            for r in 0..clusters {
                let chance = |z: usize| {
                    (0..clusters)
                        .map(|s| q[s] * columns[s * n + z])
                        .sum::<f64>()
                };
                let exact: f64 = (0..n)
                    .map(|z| f64::from(counts[z]) * columns[r * n + z] / chance(z))
                    .sum();
                assert!((reference[r] - exact).abs() < 1e-12 * exact);
            }
            let exact = |z: usize| {
                (0..clusters)
                    .map(|s| q[s] * columns[s * n + z])
                    .sum::<f64>()
                    .ln()
            };
            let exact: f64 = (8..n).map(|z| f64::from(counts[z]) * exact(z)).sum();
            assert!((log_likelihood(partners, &q, 8) - exact).abs() <= 1e-12 * exact.abs());
        }
    }
}
