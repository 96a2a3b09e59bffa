//! Kernels over the pairs of one object: gradients, Hessians, costs, sums of columns.

#![expect(
    clippy::inline_always,
    reason = "loops are compiled into functions with wider vectors only by inlining"
)]

use partita_kernels::{Kernel, LANES, Simd, accumulate, combine, dots};

use crate::bregman::Bregman;
use crate::memberships::{Memberships, SNAP};
use crate::pair_counts::PairCounts;

/// Objects in a piece of work whose columns stay in the first-level cache.
const PIECE: usize = 256;
/// The same where there are few objects: a block is cleared before it is used, which takes longer than the work.
const FEW: usize = 64;

/// Some of K entries: (cluster, value).
pub(crate) type Entries = [(usize, f64)];

/// The gradient of one object's cost in its probabilities `y`: `a ← Σ_k y_k Y_k`, `w2` ← second derivatives,
/// `g_k ← Σ_j w1_j Y_jk` for all K.
pub(crate) struct Gradient<'a, D> {
    pub(crate) bregman: &'a D,
    pub(crate) others: &'a Memberships,
    pub(crate) counts: &'a PairCounts,
    pub(crate) y: &'a Entries,
    pub(crate) a: &'a mut [f64],
    pub(crate) w2: &'a mut [f64],
    pub(crate) g: &'a mut [f64],
}

impl<D: Bregman> Kernel for Gradient<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if self.others.stride <= FEW {
            self.pieces::<S, FEW>(simd);
        } else {
            self.pieces::<S, PIECE>(simd);
        }
    }
}

impl<D: Bregman> Gradient<'_, D> {
    #[inline(always)]
    fn pieces<S: Simd, const P: usize>(self, simd: S) {
        let others = self.others;
        let mut w1 = [0.0; P];
        self.g.fill(0.0);
        for start in (0..others.stride).step_by(P) {
            let end = (start + P).min(others.stride);
            let a = &mut self.a[start..end];
            let w2 = &mut self.w2[start..end];
            let w1 = &mut w1[..end - start];
            let c = &self.counts.c[start..end];
            let n = &self.counts.n[start..end];
            combine_piece(others, start, self.y, a);
            for j in 0..a.len() {
                (w1[j], w2[j]) = self.bregman.slopes(c[j], n[j], a[j]);
            }
            accumulate_piece(simd, others, start, w1, self.g);
        }
    }
}

/// `out ← Σ_k y_k Y_k` on one piece.
#[inline(always)]
fn combine_piece(others: &Memberships, start: usize, y: &Entries, out: &mut [f64]) {
    let end = start + out.len();
    combine(
        y.len(),
        |at| (y[at].1, &others.column(y[at].0)[start..end]),
        out,
    );
}

/// `g_k += w · Y_k` on one piece, all K.
#[inline(always)]
fn accumulate_piece<S: Simd>(
    simd: S,
    others: &Memberships,
    start: usize,
    w: &[f64],
    g: &mut [f64],
) {
    accumulate(simd, w, |k| &others.column(k)[start..start + w.len()], g);
}

/// `h_pq = Σ_j w2_j Y_jp Y_jq` over the chosen clusters, a full symmetric matrix.
pub(crate) struct Hessian<'a> {
    pub(crate) others: &'a Memberships,
    pub(crate) chosen: &'a [usize],
    pub(crate) w2: &'a [f64],
    pub(crate) h: &'a mut [f64],
}

impl Kernel for Hessian<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        if self.others.stride <= FEW {
            self.pieces::<S, FEW>(simd);
        } else {
            self.pieces::<S, PIECE>(simd);
        }
    }
}

impl Hessian<'_> {
    #[inline(always)]
    fn pieces<S: Simd, const P: usize>(self, simd: S) {
        let Self {
            others,
            chosen,
            w2,
            h,
        } = self;
        let size = chosen.len();
        let mut weighted = [0.0; P];
        h.fill(0.0);
        for start in (0..others.stride).step_by(P) {
            let end = (start + P).min(others.stride);
            let column = |at: usize| &others.column(chosen[at])[start..end];
            let w2 = &w2[start..end];
            let weighted = &mut weighted[..end - start];
            for p in 0..size {
                let own = column(p);
                for j in 0..weighted.len() {
                    weighted[j] = w2[j] * own[j];
                }
                let row = &mut h[p * size..][..=p];
                accumulate(simd, weighted, column, row);
            }
        }
        for p in 0..size {
            (0..p).for_each(|q| h[q * size + p] = h[p * size + q]);
        }
    }
}

/// `out ← Σ_k y_k Y_k`.
pub(crate) struct Combine<'a> {
    pub(crate) others: &'a Memberships,
    pub(crate) y: &'a Entries,
    pub(crate) out: &'a mut [f64],
}

impl Kernel for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (piece, out) in self.out.chunks_mut(PIECE).enumerate() {
            combine_piece(self.others, piece * PIECE, self.y, out);
        }
    }
}

/// First and second derivative of `t ↦ Σ_j d(c_j, n_j, a_j + t b_j)`.
pub(crate) struct Line<'a, D> {
    pub(crate) bregman: &'a D,
    pub(crate) counts: &'a PairCounts,
    pub(crate) a: &'a [f64],
    pub(crate) b: &'a [f64],
    pub(crate) t: f64,
}

impl<D: Bregman> Kernel for Line<'_, D> {
    type Output = (f64, f64);

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> (f64, f64) {
        if self.b.len() <= FEW {
            self.pieces::<S, FEW>(simd)
        } else {
            self.pieces::<S, PIECE>(simd)
        }
    }
}

impl<D: Bregman> Line<'_, D> {
    #[inline(always)]
    fn pieces<S: Simd, const P: usize>(self, simd: S) -> (f64, f64) {
        let Self {
            bregman,
            counts,
            a,
            b,
            t,
        } = self;
        let mut w1 = [0.0; P];
        let mut w2 = [0.0; P];
        let mut square = [0.0; P];
        let mut first = 0.0;
        let mut second = 0.0;
        for start in (0..b.len()).step_by(P) {
            let end = (start + P).min(b.len());
            let c = &counts.c[start..end];
            let n = &counts.n[start..end];
            let a = &a[start..end];
            let b = &b[start..end];
            let w1 = &mut w1[..b.len()];
            let w2 = &mut w2[..b.len()];
            let square = &mut square[..b.len()];
            for j in 0..b.len() {
                (w1[j], w2[j]) = bregman.slopes(c[j], n[j], a[j] + t * b[j]);
                square[j] = b[j] * b[j];
            }
            first += dots(simd, w1, [b])[0];
            second += dots(simd, w2, [square])[0];
        }
        (first, second)
    }
}

/// `Σ_j d(c_j, n_j, Σ_k y_k Y_jk)` over the objects from `from` on, a multiple of [`LANES`].
pub(crate) struct Cost<'a, D> {
    pub(crate) bregman: &'a D,
    pub(crate) others: &'a Memberships,
    pub(crate) counts: &'a PairCounts,
    pub(crate) y: &'a Entries,
    pub(crate) from: usize,
}

impl<D: Bregman> Kernel for Cost<'_, D> {
    type Output = f64;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> f64 {
        if self.others.stride - self.from <= FEW {
            self.pieces::<S, FEW>(simd)
        } else {
            self.pieces::<S, PIECE>(simd)
        }
    }
}

impl<D: Bregman> Cost<'_, D> {
    #[inline(always)]
    fn pieces<S: Simd, const P: usize>(self, simd: S) -> f64 {
        const ONES: [f64; PIECE] = [1.0; PIECE];
        let others = self.others;
        debug_assert_eq!(self.from % LANES, 0);
        let mut work = [0.0; P];
        let mut sum = 0.0;
        for start in (self.from..others.stride).step_by(P) {
            let end = (start + P).min(others.stride);
            let c = &self.counts.c[start..end];
            let n = &self.counts.n[start..end];
            let work = &mut work[..end - start];
            combine_piece(others, start, self.y, work);
            for j in 0..work.len() {
                work[j] = self.bregman.cost(c[j], n[j], work[j]);
            }
            sum += dots(simd, work, [&ONES[..work.len()]])[0];
        }
        sum
    }
}

/// Some rows of a table as columns of a multiple of [`LANES`], the last row repeated. Eight rows at once: they come from anywhere
/// in memory, and waiting for one is waiting for all.
pub(crate) struct Gather<'a> {
    pub(crate) rows: &'a [f64],
    pub(crate) chosen: &'a [u32],
    pub(crate) columns: &'a mut [f64],
    pub(crate) clusters: usize,
}

impl Gather<'_> {
    /// With the length of rows known when this is compiled.
    #[inline(always)]
    fn of<const K: usize>(self) {
        let (rows, _) = self.rows.as_chunks::<K>();
        let stride = self.columns.len() / K;
        for (at, eight) in self.chosen.chunks(LANES).enumerate() {
            let found: [&[f64; K]; LANES] =
                std::array::from_fn(|lane| &rows[eight[lane.min(eight.len() - 1)] as usize]);
            for (k, column) in self.columns.chunks_exact_mut(stride).enumerate() {
                let (lanes, _) = column.as_chunks_mut::<LANES>();
                lanes[at] = std::array::from_fn(|lane| found[lane][k]);
            }
        }
    }

    #[inline(always)]
    fn of_any(self) {
        let stride = self.columns.len() / self.clusters;
        for (at, eight) in self.chosen.chunks(LANES).enumerate() {
            let found: [&[f64]; LANES] = std::array::from_fn(|lane| {
                let start = eight[lane.min(eight.len() - 1)] as usize * self.clusters;
                &self.rows[start..start + self.clusters]
            });
            for (k, column) in self.columns.chunks_exact_mut(stride).enumerate() {
                let (lanes, _) = column.as_chunks_mut::<LANES>();
                lanes[at] = std::array::from_fn(|lane| found[lane][k]);
            }
        }
    }
}

impl Kernel for Gather<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        if self.chosen.is_empty() {
            return;
        }
        match self.clusters {
            2 => self.of::<2>(),
            3 => self.of::<3>(),
            4 => self.of::<4>(),
            5 => self.of::<5>(),
            6 => self.of::<6>(),
            8 => self.of::<8>(),
            10 => self.of::<10>(),
            _ => self.of_any(),
        }
    }
}

/// Widens stored counts to numbers.
pub(crate) struct Widen<'a, T>(pub(crate) &'a [T], pub(crate) &'a mut [f64]);

impl<T: Copy + Into<f64>> Kernel for Widen<'_, T> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let Self(from, to) = self;
        let len = from.len().min(to.len());
        let whole = len / LANES * LANES;
        // The last eight overlap those before: numbers one by one take as long as the rest.
        let last = if whole < len {
            len.saturating_sub(LANES)
        } else {
            len
        };
        for range in [0..whole, last..len] {
            for (to, &from) in to[range.clone()].iter_mut().zip(&from[range]) {
                *to = from.into();
            }
        }
    }
}

/// What a step `step` along `b` does to the first derivatives: `weight_j ← w1(a_j + step b_j)`, `change_j` ← that less
/// `w1(a_j)`.
pub(crate) struct Shift<'a, D> {
    pub(crate) bregman: &'a D,
    pub(crate) counts: &'a PairCounts,
    pub(crate) a: &'a [f64],
    pub(crate) b: &'a [f64],
    pub(crate) step: f64,
    pub(crate) change: &'a mut [f64],
    pub(crate) weight: &'a mut [f64],
}

impl<D: Bregman> Kernel for Shift<'_, D> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let len = self.change.len();
        let c = &self.counts.c[..len];
        let n = &self.counts.n[..len];
        let a = &self.a[..len];
        let b = &self.b[..len];
        let weight = &mut self.weight[..len];
        for j in 0..len {
            let (before, _) = self.bregman.slopes(c[j], n[j], a[j]);
            let (after, _) = self.bregman.slopes(c[j], n[j], a[j] + self.step * b[j]);
            weight[j] = after;
            self.change[j] = after - before;
        }
    }
}

/// `g_k ← Σ_j w_j Y_jk` for all K.
pub(crate) struct Weighted<'a> {
    pub(crate) others: &'a Memberships,
    pub(crate) w: &'a [f64],
    pub(crate) g: &'a mut [f64],
}

impl Kernel for Weighted<'_> {
    type Output = ();

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) {
        self.g.fill(0.0);
        for (piece, w) in self.w.chunks(PIECE).enumerate() {
            accumulate_piece(simd, self.others, piece * PIECE, w, self.g);
        }
    }
}

/// The violation of every object from gradients by columns, and the object with the largest (the first of these).
pub(crate) struct Extremes<'a> {
    pub(crate) g: &'a Memberships,
    pub(crate) table: &'a Memberships,
    pub(crate) gaps: &'a mut [f64],
}

impl Kernel for Extremes<'_> {
    type Output = (usize, f64);

    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> (usize, f64) {
        let Self { g, table, gaps } = self;
        let mut winner = 0;
        let mut most = f64::NEG_INFINITY;
        let mut low = [0.0; PIECE];
        let mut high = [0.0; PIECE];
        for (piece, gaps) in gaps.chunks_mut(PIECE).enumerate() {
            let start = piece * PIECE;
            let len = gaps.len();
            let low = &mut low[..len];
            let high = &mut high[..len];
            low.fill(f64::INFINITY);
            high.fill(f64::NEG_INFINITY);
            for k in 0..g.clusters {
                let g = &g.column(k)[start..start + len];
                let y = &table.column(k)[start..start + len];
                for j in 0..len {
                    low[j] = if g[j] < low[j] { g[j] } else { low[j] };
                    let higher = y[j] > SNAP && g[j] > high[j];
                    high[j] = if higher { g[j] } else { high[j] };
                }
            }
            let mut lanes = [f64::NEG_INFINITY; LANES];
            for j in 0..len {
                gaps[j] = high[j] - low[j];
            }
            for gaps in gaps.chunks(LANES) {
                for (lane, &gap) in lanes.iter_mut().zip(gaps) {
                    *lane = if gap > *lane { gap } else { *lane };
                }
            }
            let here = lanes.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            if here > most {
                most = here;
                winner = start + gaps.iter().position(|&gap| gap == here).unwrap_or(0);
            }
        }
        (winner, most)
    }
}

#[cfg(test)]
mod tests {
    use partita_core::ndarray::Array2;
    use partita_kernels::{Baseline, Level};

    use super::*;
    use crate::bregman::{Beta, Exponential, Kl, L2};
    use crate::memberships::Layout;

    /// Derivatives and cost of one object with 70 or 700 others, on one level.
    fn found<D: Bregman>(bregman: &D, objects: usize, level: Level) -> Vec<u64> {
        let soft = Array2::from_shape_fn((objects, 5), |(i, k)| {
            0.2 + 0.1 * ((i * 5 + k) as f64).sin()
        });
        let others = Memberships::of(soft.view(), Layout::Columns);
        let count = |j: usize| if j < objects { (j % 7) as f64 } else { 0.0 };
        let c: Vec<f64> = (0..others.stride).map(count).collect();
        let counts = PairCounts {
            n: c.iter().map(|c| 2.0 * c).collect(),
            c,
        };
        let y = [(0, 0.5), (2, 0.25), (4, 0.25)];
        let stride = others.stride;
        let [mut a, mut w2, mut b] = [(); 3].map(|()| vec![0.0; stride]);
        let mut g = vec![0.0; 5];
        let mut h = vec![0.0; 9];
        level.run(Gradient {
            bregman,
            others: &others,
            counts: &counts,
            y: &y,
            a: &mut a,
            w2: &mut w2,
            g: &mut g,
        });
        level.run(Hessian {
            others: &others,
            chosen: &[0, 2, 4],
            w2: &w2,
            h: &mut h,
        });
        level.run(Combine {
            others: &others,
            y: &y[1..],
            out: &mut b,
        });
        let (first, second) = level.run(Line {
            bregman,
            counts: &counts,
            a: &a,
            b: &b,
            t: 0.125,
        });
        let cost = level.run(Cost {
            bregman,
            others: &others,
            counts: &counts,
            y: &y,
            from: 8,
        });
        let mut change = vec![0.0; stride];
        let mut weight = vec![0.0; stride];
        level.run(Shift {
            bregman,
            counts: &counts,
            a: &a,
            b: &b,
            step: 0.125,
            change: &mut change,
            weight: &mut weight,
        });
        let mut sums = vec![0.0; 5];
        level.run(Weighted {
            others: &others,
            w: &weight,
            g: &mut sums,
        });
        let last = vec![first, second, cost];
        let all = [a, w2, g, h, b, change, weight, sums, last].concat();
        assert!(all.iter().all(|value| value.is_finite()));
        all.into_iter().map(f64::to_bits).collect()
    }

    fn same<D: Bregman>(bregman: &D) {
        for objects in [70, 700] {
            let reference = found(bregman, objects, Level::Baseline(Baseline));
            for level in Level::all() {
                assert_eq!(found(bregman, objects, level), reference);
            }
        }
    }

    #[test]
    fn every_level_gives_the_same_bits() {
        same(&Kl);
        same(&L2);
        same(&Beta(1.5));
        same(&Exponential);
    }
}
