//! The loop over one object's partners that everything else is made of.
//!
//! Sums run in eight lanes that are folded in a fixed order, and products are never fused with sums: the same bits come
//! out with SSE2 and with AVX2.

#![expect(clippy::inline_always, reason = "loops are compiled into functions with wider vectors only by inlining")]

/// Objects a vector holds. Columns are padded to a multiple of it.
pub(crate) const LANES: usize = 8;

/// Partners in a piece of work whose columns stay in the first-level cache.
const PIECE: usize = 256;

/// The partners of one object: their B, component by component (`stride` numbers each), and the counts of the pairs.
/// Padding has count 0.
#[derive(Clone, Copy)]
pub(crate) struct Partners<'a, T> {
    pub(crate) columns: &'a [f64],
    pub(crate) stride: usize,
    pub(crate) counts: &'a [T],
}

/// `g_r ← Σ_z c_z B_rz / Σ_s q_s B_sz`, with `q_s = p_s B_sy`. Components with `q_r = 0` are left out: they stay at 0.
#[inline(always)]
fn responsibilities<T: Copy + Into<f64>>(partners: Partners<'_, T>, q: &[f64], g: &mut [f64]) {
    let Partners { columns, stride, counts } = partners;
    let mut weight = [0.0; PIECE];
    g.fill(0.0);
    for start in (0..counts.len()).step_by(PIECE) {
        let len = PIECE.min(counts.len() - start);
        let (weight, counts) = (&mut weight[..len], &counts[start..start + len]);
        let column = |r: usize| &columns[r * stride + start..][..len];
        mixture(&column, q, weight);
        for (weight, &count) in weight.iter_mut().zip(counts) {
            let count: f64 = count.into();
            *weight = count / weight.max(f64::MIN_POSITIVE);
        }
        let mut r = 0;
        while r + 4 <= q.len() {
            let sums = dots(weight, [column(r), column(r + 1), column(r + 2), column(r + 3)]);
            (0..4).for_each(|at| g[r + at] += sums[at]);
            r += 4;
        }
        while r < q.len() {
            g[r] += dots(weight, [column(r)])[0];
            r += 1;
        }
    }
}

/// `out_z ← Σ_r q_r B_rz` on one piece, two components at a time.
#[inline(always)]
fn mixture<'a>(column: &impl Fn(usize) -> &'a [f64], q: &[f64], out: &mut [f64]) {
    out.fill(0.0);
    let mut r = 0;
    while r + 2 <= q.len() {
        let ((one, two), (a, b)) = ((q[r], q[r + 1]), (column(r), column(r + 1)));
        for ((out, a), b) in out.iter_mut().zip(a).zip(b) {
            *out += one * a + two * b;
        }
        r += 2;
    }
    if r < q.len() {
        for (out, a) in out.iter_mut().zip(column(r)) {
            *out += q[r] * a;
        }
    }
}

/// Inner products of one column with `R` others. Lengths are multiples of [`LANES`].
#[inline(always)]
fn dots<const R: usize>(w: &[f64], columns: [&[f64]; R]) -> [f64; R] {
    let mut sums = [[0.0; LANES]; R];
    for (at, w) in w.chunks_exact(LANES).enumerate() {
        for r in 0..R {
            let y = &columns[r][at * LANES..(at + 1) * LANES];
            for lane in 0..LANES {
                sums[r][lane] += w[lane] * y[lane];
            }
        }
    }
    sums.map(|l| ((l[0] + l[4]) + (l[2] + l[6])) + ((l[1] + l[5]) + (l[3] + l[7])))
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Partners, responsibilities};

    /// [`responsibilities`], compiled for AVX2.
    #[target_feature(enable = "avx2")]
    pub(super) fn wide<T: Copy + Into<f64>>(partners: Partners<'_, T>, q: &[f64], g: &mut [f64]) {
        responsibilities(partners, q, g);
    }
}

/// [`responsibilities`] with the widest vectors of this machine.
pub(crate) fn expect<T: Copy + Into<f64>>(partners: Partners<'_, T>, q: &[f64], g: &mut [f64]) {
    #[cfg(target_arch = "x86_64")]
    if std::is_x86_feature_detected!("avx2") {
        // SAFETY: the one feature that `wide` is compiled for was just detected on this machine.
        return unsafe { x86::wide(partners, q, g) };
    }
    responsibilities(partners, q, g);
}

/// `Σ_z c_z ln(scale Σ_r q_r B_rz)` over the partners from `from` on that were ever together with the object.
pub(crate) fn log_likelihood<T: Copy + Into<f64>>(partners: Partners<'_, T>, q: &[f64], from: usize) -> f64 {
    let Partners { columns, stride, counts } = partners;
    let mut sum = 0.0;
    let mut chances = [0.0; PIECE];
    for start in (from..counts.len()).step_by(PIECE) {
        let len = PIECE.min(counts.len() - start);
        let chances = &mut chances[..len];
        mixture(&|r: usize| &columns[r * stride + start..][..len], q, chances);
        for (&count, chance) in counts[start..start + len].iter().zip(chances) {
            let count: f64 = count.into();
            if count > 0.0 {
                sum += count * chance.ln();
            }
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_and_plain_give_the_same_bits() {
        for (n, clusters) in [(8, 1), (40, 3), (600, 7)] {
            let columns: Vec<f64> = (0..n * clusters).map(|i| 1.1 + (i as f64 * 0.7).sin()).collect();
            let counts: Vec<u8> = (0..n).map(|i| (i % 5) as u8).collect();
            let q: Vec<f64> = (0..clusters).map(|r| 0.1 + r as f64).collect();
            let partners = Partners { columns: &columns, stride: n, counts: &counts };
            let (mut fast, mut plain) = (vec![0.0; clusters], vec![0.0; clusters]);
            expect(partners, &q, &mut fast);
            responsibilities(partners, &q, &mut plain);
            assert_eq!(fast, plain);
            for r in 0..clusters {
                let chance = |z: usize| (0..clusters).map(|s| q[s] * columns[s * n + z]).sum::<f64>();
                let exact: f64 = (0..n).map(|z| f64::from(counts[z]) * columns[r * n + z] / chance(z)).sum();
                assert!((plain[r] - exact).abs() < 1e-12 * exact);
            }
        }
    }
}
