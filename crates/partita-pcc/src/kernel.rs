//! The loops over objects that everything else is made of.

#![expect(clippy::inline_always, reason = "loops are compiled into functions with wider vectors only by inlining")]

use crate::laws::Bregman;
use crate::machine::{LANES, Loop, Machine, dots};
use crate::row::SNAP;
use crate::table::Table;

/// Objects in a piece of work whose columns stay in the first-level cache.
const PIECE: usize = 256;
/// The same where there are few objects: room is cleared before it is used, which takes longer than the work.
const FEW: usize = 64;

/// Counts of one object's pairs in the order of a [`Table`]'s objects, padded with zeros: together `c` times of `n`.
#[derive(Clone, Debug, Default)]
pub struct PairCounts {
    pub(crate) c: Vec<f64>,
    pub(crate) n: Vec<f64>,
}

/// Some of K entries: (cluster, value).
pub(crate) type Entries = [(usize, f64)];

/// The gradient of one object's cost in its probabilities `y`: `a ← Σ_k y_k Y_k`, `w2` ← second derivatives,
/// `g_k ← Σ_j w1_j Y_jk` for all K.
pub(crate) struct Gradient<'a, D> {
    pub(crate) law: &'a D,
    pub(crate) others: &'a Table,
    pub(crate) counts: &'a PairCounts,
    pub(crate) y: &'a Entries,
    pub(crate) a: &'a mut [f64],
    pub(crate) w2: &'a mut [f64],
    pub(crate) g: &'a mut [f64],
}

impl<D: Bregman> Loop for Gradient<'_, D> {
    type Out = ();

    #[inline(always)]
    fn run<I: Machine>(self) {
        if self.others.stride <= FEW { self.pieces::<I, FEW>() } else { self.pieces::<I, PIECE>() }
    }
}

impl<D: Bregman> Gradient<'_, D> {
    #[inline(always)]
    fn pieces<I: Machine, const P: usize>(self) {
        let Self { law, others, counts, y, a, w2, g } = self;
        let mut w1 = [0.0; P];
        g.fill(0.0);
        for start in (0..others.stride).step_by(P) {
            let end = (start + P).min(others.stride);
            let (a, w2, w1) = (&mut a[start..end], &mut w2[start..end], &mut w1[..end - start]);
            let (c, n) = (&counts.c[start..end], &counts.n[start..end]);
            combine(others, start, y, a);
            for j in 0..a.len() {
                (w1[j], w2[j]) = law.slopes(c[j], n[j], a[j]);
            }
            accumulate::<I>(others, start, w1, g);
        }
    }
}

/// `out ← Σ_k y_k Y_k` on one piece, two clusters at a time.
#[inline(always)]
fn combine(others: &Table, start: usize, y: &Entries, out: &mut [f64]) {
    let len = out.len();
    let column = |k: usize| &others.column(k)[start..start + len];
    let mut pairs = y.chunks_exact(2);
    let mut fresh = true;
    for pair in &mut pairs {
        let ((y, z), (p, q)) = ((pair[0].1, pair[1].1), (column(pair[0].0), column(pair[1].0)));
        for j in 0..len {
            let sum = y * p[j] + z * q[j];
            out[j] = if fresh { sum } else { out[j] + sum };
        }
        fresh = false;
    }
    if let &[(k, y)] = pairs.remainder() {
        let p = column(k);
        for j in 0..len {
            out[j] = if fresh { y * p[j] } else { out[j] + y * p[j] };
        }
    } else if fresh {
        out.fill(0.0);
    }
}

/// `g_k += w · Y_k` on one piece, all K.
#[inline(always)]
fn accumulate<I: Machine>(others: &Table, start: usize, w: &[f64], g: &mut [f64]) {
    let column = |k: usize| &others.column(k)[start..start + w.len()];
    let mut k = 0;
    while k + 4 <= g.len() {
        let sums = dots::<I, _>(w, [column(k), column(k + 1), column(k + 2), column(k + 3)]);
        (0..4).for_each(|r| g[k + r] += sums[r]);
        k += 4;
    }
    while k < g.len() {
        g[k] += dots::<I, _>(w, [column(k)])[0];
        k += 1;
    }
}

/// `h_pq = Σ_j w2_j Y_jp Y_jq` over the chosen clusters, a full symmetric matrix.
pub(crate) struct Hessian<'a> {
    pub(crate) others: &'a Table,
    pub(crate) chosen: &'a [usize],
    pub(crate) w2: &'a [f64],
    pub(crate) h: &'a mut [f64],
}

impl Loop for Hessian<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Machine>(self) {
        if self.others.stride <= FEW { self.pieces::<I, FEW>() } else { self.pieces::<I, PIECE>() }
    }
}

impl Hessian<'_> {
    #[inline(always)]
    fn pieces<I: Machine, const P: usize>(self) {
        let Self { others, chosen, w2, h } = self;
        let size = chosen.len();
        let mut weighted = [0.0; P];
        h.fill(0.0);
        for start in (0..others.stride).step_by(P) {
            let end = (start + P).min(others.stride);
            let column = |at: usize| &others.column(chosen[at])[start..end];
            let (w2, weighted) = (&w2[start..end], &mut weighted[..end - start]);
            for p in 0..size {
                let own = column(p);
                for j in 0..weighted.len() {
                    weighted[j] = w2[j] * own[j];
                }
                let row = &mut h[p * size..][..=p];
                let mut q = 0;
                while q + 4 <= row.len() {
                    let sums = dots::<I, _>(weighted, [column(q), column(q + 1), column(q + 2), column(q + 3)]);
                    (0..4).for_each(|r| row[q + r] += sums[r]);
                    q += 4;
                }
                while q < row.len() {
                    row[q] += dots::<I, _>(weighted, [column(q)])[0];
                    q += 1;
                }
            }
        }
        for p in 0..size {
            (0..p).for_each(|q| h[q * size + p] = h[p * size + q]);
        }
    }
}

/// `out ← Σ_k y_k Y_k`.
pub(crate) struct Combine<'a> {
    pub(crate) others: &'a Table,
    pub(crate) y: &'a Entries,
    pub(crate) out: &'a mut [f64],
}

impl Loop for Combine<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Machine>(self) {
        for (piece, out) in self.out.chunks_mut(PIECE).enumerate() {
            combine(self.others, piece * PIECE, self.y, out);
        }
    }
}

/// First and second derivative of `t ↦ Σ_j d(c_j, n_j, a_j + t b_j)`.
pub(crate) struct Line<'a, D> {
    pub(crate) law: &'a D,
    pub(crate) counts: &'a PairCounts,
    pub(crate) a: &'a [f64],
    pub(crate) b: &'a [f64],
    pub(crate) t: f64,
}

impl<D: Bregman> Loop for Line<'_, D> {
    type Out = (f64, f64);

    #[inline(always)]
    fn run<I: Machine>(self) -> (f64, f64) {
        if self.b.len() <= FEW { self.pieces::<I, FEW>() } else { self.pieces::<I, PIECE>() }
    }
}

impl<D: Bregman> Line<'_, D> {
    #[inline(always)]
    fn pieces<I: Machine, const P: usize>(self) -> (f64, f64) {
        let Self { law, counts, a, b, t } = self;
        let (mut w1, mut w2, mut square) = ([0.0; P], [0.0; P], [0.0; P]);
        let (mut first, mut second) = (0.0, 0.0);
        for start in (0..b.len()).step_by(P) {
            let end = (start + P).min(b.len());
            let (c, n, a, b) = (&counts.c[start..end], &counts.n[start..end], &a[start..end], &b[start..end]);
            let (w1, w2, square) = (&mut w1[..b.len()], &mut w2[..b.len()], &mut square[..b.len()]);
            for j in 0..b.len() {
                (w1[j], w2[j]) = law.slopes(c[j], n[j], a[j] + t * b[j]);
                square[j] = b[j] * b[j];
            }
            first += dots::<I, _>(w1, [b])[0];
            second += dots::<I, _>(w2, [square])[0];
        }
        (first, second)
    }
}

/// `Σ_j d(c_j, n_j, Σ_k y_k Y_jk)` over the objects from `from` on, a multiple of [`LANES`].
pub(crate) struct Cost<'a, D> {
    pub(crate) law: &'a D,
    pub(crate) others: &'a Table,
    pub(crate) counts: &'a PairCounts,
    pub(crate) y: &'a Entries,
    pub(crate) from: usize,
}

impl<D: Bregman> Loop for Cost<'_, D> {
    type Out = f64;

    #[inline(always)]
    fn run<I: Machine>(self) -> f64 {
        if self.others.stride - self.from <= FEW { self.pieces::<I, FEW>() } else { self.pieces::<I, PIECE>() }
    }
}

impl<D: Bregman> Cost<'_, D> {
    #[inline(always)]
    fn pieces<I: Machine, const P: usize>(self) -> f64 {
        const ONES: [f64; PIECE] = [1.0; PIECE];
        let Self { law, others, counts, y, from } = self;
        debug_assert_eq!(from % LANES, 0);
        let mut work = [0.0; P];
        let mut sum = 0.0;
        for start in (from..others.stride).step_by(P) {
            let end = (start + P).min(others.stride);
            let (c, n, work) = (&counts.c[start..end], &counts.n[start..end], &mut work[..end - start]);
            combine(others, start, y, work);
            for j in 0..work.len() {
                work[j] = law.cost(c[j], n[j], work[j]);
            }
            sum += dots::<I, _>(work, [&ONES[..work.len()]])[0];
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

impl Loop for Gather<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Machine>(self) {
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
pub(crate) struct Widen<'a, T> {
    pub(crate) from: &'a [T],
    pub(crate) to: &'a mut [f64],
}

impl<T: Copy + Into<f64>> Loop for Widen<'_, T> {
    type Out = ();

    #[inline(always)]
    fn run<I: Machine>(self) {
        for (to, &from) in self.to.iter_mut().zip(self.from) {
            *to = from.into();
        }
    }
}

/// What a step `step` along `b` does to the first derivatives: `weight_j ← w1(a_j + step b_j)`, `change_j` ← that less
/// `w1(a_j)`.
pub(crate) struct Shift<'a, D> {
    pub(crate) law: &'a D,
    pub(crate) counts: &'a PairCounts,
    pub(crate) a: &'a [f64],
    pub(crate) b: &'a [f64],
    pub(crate) step: f64,
    pub(crate) change: &'a mut [f64],
    pub(crate) weight: &'a mut [f64],
}

impl<D: Bregman> Loop for Shift<'_, D> {
    type Out = ();

    #[inline(always)]
    fn run<I: Machine>(self) {
        let Self { law, counts, a, b, step, change, weight } = self;
        let len = change.len();
        let (c, n, a, b, weight) = (&counts.c[..len], &counts.n[..len], &a[..len], &b[..len], &mut weight[..len]);
        for j in 0..len {
            let (before, _) = law.slopes(c[j], n[j], a[j]);
            let (after, _) = law.slopes(c[j], n[j], a[j] + step * b[j]);
            weight[j] = after;
            change[j] = after - before;
        }
    }
}

/// `g_k ← Σ_j w_j Y_jk` for all K.
pub(crate) struct Weighted<'a> {
    pub(crate) others: &'a Table,
    pub(crate) w: &'a [f64],
    pub(crate) g: &'a mut [f64],
}

impl Loop for Weighted<'_> {
    type Out = ();

    #[inline(always)]
    fn run<I: Machine>(self) {
        self.g.fill(0.0);
        for (piece, w) in self.w.chunks(PIECE).enumerate() {
            accumulate::<I>(self.others, piece * PIECE, w, self.g);
        }
    }
}

/// The violation of every object from gradients by columns, and the object with the largest (the first of these).
pub(crate) struct Extremes<'a> {
    pub(crate) g: &'a Table,
    pub(crate) table: &'a Table,
    pub(crate) gaps: &'a mut [f64],
}

impl Loop for Extremes<'_> {
    type Out = (usize, f64);

    #[inline(always)]
    fn run<I: Machine>(self) -> (usize, f64) {
        let Self { g, table, gaps } = self;
        let (mut winner, mut most) = (0, f64::NEG_INFINITY);
        let (mut low, mut high) = ([0.0; PIECE], [0.0; PIECE]);
        for (piece, gaps) in gaps.chunks_mut(PIECE).enumerate() {
            let (start, len) = (piece * PIECE, gaps.len());
            let (low, high) = (&mut low[..len], &mut high[..len]);
            low.fill(f64::INFINITY);
            high.fill(f64::NEG_INFINITY);
            for k in 0..g.clusters {
                let (g, y) = (&g.column(k)[start..start + len], &table.column(k)[start..start + len]);
                for j in 0..len {
                    low[j] = if g[j] < low[j] { g[j] } else { low[j] };
                    high[j] = if y[j] > SNAP && g[j] > high[j] { g[j] } else { high[j] };
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
