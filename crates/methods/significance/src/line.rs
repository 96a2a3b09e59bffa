//! The line from one cluster to another in the metric of their pooled covariance.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par, Side};
use partita_core::ndarray::{Array1, Array2, ArrayView1};

use crate::moments::Moments;
use crate::walkers::HalfSpace;

/// The line from the mean of a to that of b, where distances are those of W = L Lᵀ.
pub(crate) struct Line {
    /// m_a.
    origin: Array1<f64>,
    /// L⁻ᵀ u: s is the product with it.
    weights: Array1<f64>,
    /// L u: the direction in the table's own metric.
    pub(crate) direction: Array1<f64>,
    /// L⁻¹, lower triangular.
    whitening: Array2<f64>,
}

impl Line {
    /// The line between two sets of rows in so many dimensions, of which they may lie in fewer; none where all their rows are equal, or both means
    /// are.
    pub(crate) fn between(a: &Moments, b: &Moments, dimensions: usize) -> Option<Self> {
        let columns = a.mean.len();
        let rows = a.rows + b.rows;
        if rows <= 2.0 {
            return None;
        }
        let mut pooled = (&a.scatter + &b.scatter) / (rows - 2.0);
        let trace = pooled.diag().sum();
        if !(trace.is_finite() && trace > 0.0) {
            return None;
        }
        let dimensions = dimensions as f64;
        let share = dimensions / (dimensions + rows);
        pooled *= 1.0 - share;
        pooled
            .diag_mut()
            .mapv_inplace(|x| x + share * trace / dimensions);
        let pooled = Mat::from_fn(columns, columns, |i, j| pooled[[i, j]]);
        let factor = pooled.llt(Side::Lower).ok()?;
        let mut inverse = Mat::<f64>::identity(columns, columns);
        solve_lower_triangular_in_place(factor.L(), inverse.as_mut(), Par::Seq);
        let whitening = Array2::from_shape_fn((columns, columns), |(i, j)| inverse[(i, j)]);
        let lower = Array2::from_shape_fn((columns, columns), |(i, j)| {
            if j <= i { factor.L()[(i, j)] } else { 0.0 }
        });
        let mut unit = whitening.dot(&(&b.mean - &a.mean));
        let length = unit.dot(&unit).sqrt();
        if !(length.is_finite() && length > 0.0) {
            return None;
        }
        unit /= length;
        Some(Self {
            origin: a.mean.clone(),
            weights: whitening.t().dot(&unit),
            direction: lower.dot(&unit),
            whitening,
        })
    }

    /// x − m_a, into `centred`, and s = uᵀ L⁻¹ (x − m_a): where a row stands along the line, in standard deviations within clusters.
    pub(crate) fn along(&self, row: &[f64], centred: &mut [f64]) -> f64 {
        for ((held, x), origin) in centred.iter_mut().zip(row).zip(&self.origin) {
            *held = x - origin;
        }
        self.weights.dot(&ArrayView1::from(&*centred))
    }

    /// The rows that are nearer to the line than to the projection of a point on the plane across it, which is at p: p · (p − 2 o) ≥ 0 of a
    /// row's o, all in standard deviations within clusters.
    pub(crate) fn nearer_than(&self, point: &Array1<f64>) -> HalfSpace {
        let centred = point - &self.origin;
        let along = self.weights.dot(&centred);
        let mut across = self.whitening.dot(&centred);
        let length = (across.dot(&across) - along * along).max(0.0);
        // What is along the line is taken from a row by the lean: (L⁻ᵀ z)ᵀ L u = s.
        across *= -1.0;
        HalfSpace {
            normal: self.whitening.t().dot(&across),
            lean: -along,
            from: -0.5 * length,
        }
    }

    /// r² = |L⁻¹ (x − m_a)|² − s² of a row of which [`along`](Self::along) has made `centred`; none as soon as it is known to exceed `most`.
    pub(crate) fn off(&self, centred: &[f64], along: f64, most: f64) -> Option<f64> {
        if centred.len() == 1 {
            return Some(0.0);
        }
        let enough = most + along * along;
        let mut length = 0.0;
        for (i, whitening) in self.whitening.rows().into_iter().enumerate() {
            let whitening = whitening.to_slice().unwrap_or_default();
            let whitened =
                ArrayView1::from(&whitening[..=i]).dot(&ArrayView1::from(&centred[..=i]));
            length += whitened * whitened;
            // A little more than the bound, so that rounding decides nothing.
            if length > enough * (1.0 + 1e-9) + 1e-9 {
                return None;
            }
        }
        let off = (length - along * along).max(0.0);
        (off <= most).then_some(off)
    }
}
