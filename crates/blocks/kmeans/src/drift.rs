//! How far the centres of a run have moved, so that a row is compared with them only where its label may have changed
//! (Hamerly, *Making k-means even faster*, SDM 2010).

use partita_kernels::{Kernel, Nearest, PANEL, Simd};

use crate::dense_rows::DenseRows;

/// What the moves of the centres so far can have done to the lead of a row's nearest centre over the second.
///
/// A lead is a difference of distances (by cosine, of scores). In an iteration it shrinks by no more than the two largest
/// moves together: one for the own centre, one for another. What single precision does to the scores is allowed for,
/// so that no row is left out that a comparison could give another label.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Drift {
    /// Sum over iterations of the two largest moves.
    total: f64,
    /// Most that rounding adds to or takes from a score.
    error: f64,
    cosine: bool,
}

impl Drift {
    /// Before the first iteration.
    pub(crate) fn new(cosine: bool) -> Self {
        Self {
            total: 0.0,
            error: 0.0,
            cosine,
        }
    }

    /// Takes in that the centres (k × d) have moved.
    pub(crate) fn follow(&mut self, rows: &DenseRows, before: &[f32], after: &[f32]) {
        let length =
            |point: &mut dyn Iterator<Item = f64>| point.map(|x| x * x).sum::<f64>().sqrt();
        let (mut first, mut second, mut farthest) = (0.0f64, 0.0f64, 0.0f64);
        for (before, after) in before.chunks_exact(rows.d).zip(after.chunks_exact(rows.d)) {
            let moved = length(
                &mut before
                    .iter()
                    .zip(after)
                    .map(|(&b, &a)| f64::from(a) - f64::from(b)),
            );
            second = second.max(first.min(moved));
            first = first.max(moved);
            farthest = farthest.max(length(&mut after.iter().map(|&x| f64::from(x))));
        }
        self.total += first + second;
        // d fused products, each rounded once, of a row and a centre, and ½‖x‖² and ½‖c‖²; with room for the lead itself.
        let unit = f64::from(f32::EPSILON) / 2.0;
        self.error = 0.5 * (rows.d + 8) as f64 * unit * (rows.longest + farthest).powi(2);
    }

    /// A row's label is sure to be the same as long as this stays below the number that [`Judge`] gave the row.
    pub(crate) fn now(&self) -> f32 {
        // ½(l² − u²) > 2·error wherever l − u > 2·√error.
        let least = if self.cosine {
            2.0 * self.error
        } else {
            2.0 * self.error.sqrt()
        };
        // The sum is rounded to single precision here and in `Judge`, and rows of length 1 are a little longer.
        (self.total * (1.0 + 4.0 * f64::from(f32::EPSILON)) + least) as f32
    }
}

/// Takes the answers of the kernel for a panel: the drift until which each label is sure, and the lanes whose label changed.
pub(crate) struct Judge<'a> {
    /// When the rows were compared.
    pub(crate) drift: Drift,
    /// Which centres are nearest.
    pub(crate) found: &'a Nearest,
    /// ‖x‖² of the rows.
    pub(crate) squares: &'a [f32; PANEL],
    /// Their labels so far.
    pub(crate) labels: &'a [u16; PANEL],
    /// Written: the drift until which each label is sure.
    pub(crate) until: &'a mut [f32; PANEL],
}

impl Kernel for Judge<'_> {
    type Output = u64;

    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> u64 {
        let Nearest {
            best,
            second,
            centre,
        } = self.found;
        let (total, error) = (self.drift.total as f32, 2.0 * self.drift.error as f32);
        for lane in 0..PANEL {
            let lead = if self.drift.cosine {
                best[lane] - second[lane] - error
            } else {
                let own = (self.squares[lane] - 2.0 * best[lane]).max(0.0) + error;
                let other = (self.squares[lane] - 2.0 * second[lane] - error).max(0.0);
                other.sqrt() - own.sqrt()
            };
            self.until[lane] = total + lead;
        }
        lanes(|lane| u32::from(self.labels[lane]) != centre[lane])
    }
}

/// The lanes whose labels are sure: none where a number is NaN, which centres beyond all single-precision numbers make.
pub(crate) struct Sure<'a> {
    /// The drift until which each label is sure.
    pub(crate) until: &'a [f32; PANEL],
    /// The drift that there is.
    pub(crate) now: f32,
}

impl Kernel for Sure<'_> {
    type Output = u64;

    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> u64 {
        lanes(|lane| self.until[lane] > self.now)
    }
}

/// One bit a lane.
#[expect(
    clippy::inline_always,
    reason = "it is compiled anew for every instruction set"
)]
#[inline(always)]
fn lanes(test: impl Fn(usize) -> bool) -> u64 {
    let mut word = 0;
    for lane in 0..PANEL {
        word |= u64::from(test(lane)) << lane;
    }
    word
}
