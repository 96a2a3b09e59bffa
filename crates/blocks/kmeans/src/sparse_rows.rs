//! A sparse table in the shape that k-means reads.

use partita_core::ndarray::ArrayView2;
use partita_kernels::PANEL;
use sprs::CsMatView;

use crate::check::check_weights;
use crate::error::KMeansError;
use crate::initialization::PanelRows;

/// Sparse rows in single precision, multiplied by a power of two as the dense ones are, or of length 1.
#[derive(Clone, Debug)]
pub struct SparseRows {
    pub(crate) n: usize,
    pub(crate) d: usize,
    ends: Vec<usize>,
    entries: Vec<(u32, f32)>,
    /// ‖x‖² of every row.
    pub(crate) squares: Vec<f64>,
    weights: Option<Vec<f64>>,
    pub(crate) factor: f64,
    /// Mean variance of the columns, in scaled units.
    pub(crate) variance: f64,
    pub(crate) cosine: bool,
}

impl SparseRows {
    /// The rows of a table, with a positive weight each where some are given; with `cosine`, each divided
    /// by its length.
    ///
    /// # Errors
    /// [`KMeansError`] for no row or column, a number that is not finite, or weights that are not n positive numbers.
    pub fn new(
        values: CsMatView<'_, f64>,
        weights: Option<&[f64]>,
        cosine: bool,
    ) -> Result<Self, KMeansError> {
        let (rows, columns) = values.shape();
        if rows == 0 || columns == 0 {
            return Err(KMeansError::TooSmall { rows, columns });
        }
        if let Some((&value, (row, column))) = values.iter().find(|(value, _)| !value.is_finite()) {
            return Err(KMeansError::NotFinite { row, column, value });
        }
        check_weights(weights, rows)?;
        Ok(if values.is_csr() {
            Self::of_rows(values, weights, cosine)
        } else {
            Self::of_rows(values.to_csr().view(), weights, cosine)
        })
    }

    fn of_rows(values: CsMatView<'_, f64>, weights: Option<&[f64]>, cosine: bool) -> Self {
        let (n, d) = values.shape();
        let largest = values
            .data()
            .iter()
            .fold(0.0f64, |largest, x| largest.max(x.abs()));
        let factor = if largest > 0.0 {
            2f64.powi(-(largest.log2().floor() as i32))
        } else {
            1.0
        };
        let (mut ends, mut entries) = (vec![0], Vec::with_capacity(values.nnz()));
        let (mut squares, mut sums) = (Vec::with_capacity(n), vec![0.0f64; d]);
        for row in values.outer_iterator() {
            let length = if cosine {
                row.data()
                    .iter()
                    .map(|x| (x * factor).powi(2))
                    .sum::<f64>()
                    .sqrt()
            } else {
                1.0
            };
            let scale = if length > 0.0 { factor / length } else { 0.0 };
            let kept = row
                .iter()
                .map(|(column, &x)| (column as u32, (x * scale) as f32))
                .filter(|(_, x)| *x != 0.0);
            let mut square = 0.0;
            for (column, x) in kept {
                entries.push((column, x));
                square += f64::from(x).powi(2);
                sums[column as usize] += f64::from(x);
            }
            ends.push(entries.len());
            squares.push(square);
        }
        let means: f64 = sums.iter().map(|sum| (sum / n as f64).powi(2)).sum();
        let variance = ((squares.iter().sum::<f64>() / n as f64 - means) / d as f64).max(0.0);
        Self {
            n,
            d,
            ends,
            entries,
            squares,
            weights: weights.map(<[f64]>::to_vec),
            factor,
            variance,
            cosine,
        }
    }

    pub(crate) fn row(&self, i: usize) -> &[(u32, f32)] {
        &self.entries[self.ends[i]..self.ends[i + 1]]
    }

    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Points of the table's units in ours.
    pub(crate) fn scaled(&self, points: ArrayView2<'_, f64>) -> Vec<f64> {
        let scaled = points.outer_iter().flat_map(|point| {
            let largest = point
                .iter()
                .fold(f64::MIN_POSITIVE, |largest, x| largest.max(x.abs()));
            let length = || {
                point
                    .iter()
                    .map(|x| (x / largest).powi(2))
                    .sum::<f64>()
                    .sqrt()
                    .max(f64::MIN_POSITIVE)
            };
            let factor = if self.cosine {
                1.0 / length()
            } else {
                self.factor * largest
            };
            point
                .iter()
                .map(|x| x / largest * factor)
                .collect::<Vec<f64>>()
        });
        scaled.collect()
    }
}

impl PanelRows for SparseRows {
    /// A row with its zeros, and its ‖x‖².
    type Point = (Vec<f32>, f64);

    fn objects(&self) -> usize {
        self.n
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn point(&self, row: usize) -> Self::Point {
        let mut all = vec![0.0; self.d];
        self.row(row)
            .iter()
            .for_each(|&(column, x)| all[column as usize] = x);
        (all, self.squares[row])
    }

    fn distances(&self, panel: usize, (point, square): &Self::Point) -> [f32; PANEL] {
        std::array::from_fn(|lane| {
            let row = panel * PANEL + lane;
            if row >= self.n {
                return 0.0;
            }
            let products = self
                .row(row)
                .iter()
                .map(|&(column, x)| f64::from(x) * f64::from(point[column as usize]));
            (self.squares[row] + square - 2.0 * products.sum::<f64>()).max(0.0) as f32
        })
    }
}
