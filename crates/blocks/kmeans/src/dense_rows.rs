//! A table in the shape that the k-means kernels read.

use partita_core::ndarray::{Array2, ArrayView2, Axis};
use partita_kernels::{Nearest, PANEL, nearest};
use rayon::prelude::*;

use crate::initialization::PanelRows;

/// Rows in single precision, once row by row and once in panels of 64 rows, feature by feature.
///
/// Rows are centred and multiplied by a power of two that brings the largest number near 1: this changes no
/// partition, and neither huge nor tiny units leave the range of single precision.
#[derive(Clone, Debug)]
pub struct DenseRows {
    pub(crate) n: usize,
    pub(crate) d: usize,
    pub(crate) plain: Vec<f32>,
    pub(crate) panels: Vec<f32>,
    /// ‖x‖² of every row, 0 beyond the last.
    pub(crate) squares: Vec<f32>,
    /// The largest ‖x‖.
    pub(crate) longest: f64,
    pub(crate) weights: Option<Vec<f64>>,
    /// What was subtracted from each column, in scaled units.
    pub(crate) shift: Vec<f64>,
    /// What every number was multiplied with.
    pub(crate) factor: f64,
    /// Mean variance of the columns, in scaled units.
    pub(crate) variance: f64,
    pub(crate) cosine: bool,
}

impl DenseRows {
    /// The rows of a finite table; with `cosine`, each divided by its length.
    pub fn new(values: ArrayView2<'_, f64>, weights: Option<&[f64]>, cosine: bool) -> Self {
        let (n, d) = values.dim();
        let largest = values
            .iter()
            .fold(0.0f64, |largest, x| largest.max(x.abs()));
        let factor = if largest > 0.0 {
            2f64.powi(-(largest.log2().floor() as i32))
        } else {
            1.0
        };
        let shift: Vec<f64> = if cosine {
            vec![0.0; d]
        } else {
            values
                .axis_iter(Axis(1))
                .map(|column| column.iter().map(|x| x * factor).sum::<f64>() / n as f64)
                .collect()
        };
        let mut rows = Self {
            n,
            d,
            plain: Vec::with_capacity(n * d),
            panels: vec![0.0; n.div_ceil(PANEL) * PANEL * d],
            squares: vec![0.0; n.div_ceil(PANEL) * PANEL],
            longest: 0.0,
            weights: weights.map(<[f64]>::to_vec),
            shift,
            factor,
            variance: 0.0,
            cosine,
        };
        for row in values.outer_iter() {
            let length = if cosine {
                row.iter().map(|x| (x * factor).powi(2)).sum::<f64>().sqrt()
            } else {
                1.0
            };
            let scale = if length > 0.0 { factor / length } else { 0.0 };
            rows.plain.extend(
                row.iter()
                    .zip(&rows.shift)
                    .map(|(x, shift)| (x * scale - shift) as f32),
            );
        }
        rows.pack();
        rows
    }

    fn pack(&mut self) {
        let (d, mut sums, mut squares) = (self.d, vec![0.0f64; self.d], 0.0);
        for (i, row) in self.plain.chunks_exact(d).enumerate() {
            let panel = &mut self.panels[i / PANEL * PANEL * d..][..PANEL * d];
            let mut square = 0.0;
            for (p, &x) in row.iter().enumerate() {
                panel[p * PANEL + i % PANEL] = x;
                square += f64::from(x).powi(2);
                sums[p] += f64::from(x);
            }
            self.squares[i] = square as f32;
            squares += square;
            self.longest = self.longest.max(square.sqrt());
        }
        let means: f64 = sums.iter().map(|sum| (sum / self.n as f64).powi(2)).sum();
        self.variance = ((squares / self.n as f64 - means) / d as f64).max(0.0);
    }

    /// Runs that advance together: one where the table stays in the cache anyway, else as many as share each
    /// reading of it without their labels taking more than 256 MB.
    pub fn together(&self) -> usize {
        if 4 * self.n * self.d <= 1 << 20 {
            1
        } else {
            ((256 << 20) / (14 * self.n)).clamp(1, 16)
        }
    }

    /// True where one run alone gives work to many threads.
    pub fn large(&self) -> bool {
        self.n >= 1 << 15
    }

    /// What is done to all items, in groups that advance together. A large table is cut into chunks for the threads inside
    /// a group; small ones share the groups out.
    pub fn in_groups<T: Sync, R: Send>(
        &self,
        items: &[T],
        group: impl Fn(&[T]) -> Vec<R> + Sync + Send,
    ) -> Vec<R> {
        let done: Vec<Vec<R>> = if self.large() {
            items.chunks(self.together()).map(group).collect()
        } else {
            items.par_chunks(self.together()).map(group).collect()
        };
        done.into_iter().flatten().collect()
    }

    /// Points of the table's units in ours.
    pub fn scaled(&self, points: ArrayView2<'_, f64>) -> Vec<f64> {
        let scaled = points.outer_iter().flat_map(|point| {
            let length = if self.cosine {
                point.iter().map(|x| x * x).sum::<f64>().sqrt()
            } else {
                1.0
            };
            let factor = if self.cosine {
                1.0 / length.max(f64::MIN_POSITIVE)
            } else {
                self.factor
            };
            point
                .iter()
                .zip(&self.shift)
                .map(|(x, shift)| x * factor - shift)
                .collect::<Vec<f64>>()
        });
        scaled.collect()
    }

    /// Points of our units in the table's.
    pub fn unscaled(&self, points: &[f64]) -> Array2<f64> {
        let factor = if self.cosine { 1.0 } else { self.factor };
        Array2::from_shape_fn((points.len() / self.d, self.d), |(j, p)| {
            (points[j * self.d + p] + self.shift[p]) / factor
        })
    }

    /// The features of one row.
    pub(crate) fn row(&self, i: usize) -> &[f32] {
        &self.plain[i * self.d..][..self.d]
    }

    /// The features of 64 rows, d × 64.
    pub(crate) fn panel(&self, panel: usize) -> &[f32] {
        &self.panels[panel * PANEL * self.d..][..PANEL * self.d]
    }

    pub(crate) fn weight(&self, i: usize) -> f64 {
        self.weights.as_ref().map_or(1.0, |weights| weights[i])
    }

    /// Squared distance of a row from a point.
    pub(crate) fn distance2(&self, i: usize, point: &[f32]) -> f64 {
        let (row, mut sums) = (self.row(i), [0.0f64; 8]);
        let (head, tail) = row.split_at(row.len() & !7);
        for (x, c) in head.chunks_exact(8).zip(point.chunks_exact(8)) {
            for ((sum, x), c) in sums.iter_mut().zip(x).zip(c) {
                *sum += f64::from(x - c).powi(2);
            }
        }
        let tail: f64 = tail
            .iter()
            .zip(&point[head.len()..])
            .map(|(x, c)| f64::from(x - c).powi(2))
            .sum();
        sums.iter().sum::<f64>() + tail
    }
}

impl PanelRows for DenseRows {
    type Point = usize;

    fn objects(&self) -> usize {
        self.n
    }

    fn weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    fn point(&self, row: usize) -> usize {
        row
    }

    fn distances(&self, panel: usize, &centre: &usize) -> [f32; PANEL] {
        let mut out = Nearest::new();
        let square = self.squares[centre];
        nearest(
            self.panel(panel),
            self.row(centre),
            &[0.5 * square],
            &mut out,
        );
        std::array::from_fn(|lane| {
            (self.squares[panel * PANEL + lane] - 2.0 * out.best[lane]).max(0.0)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::ndarray::array;

    #[test]
    fn units_do_not_matter() {
        let table = array![[1.0, 2.0], [3.0, -4.0], [5.0, 0.5]];
        let rows = DenseRows::new(table.view(), None, false);
        for factor in [1e-300, 1e300] {
            let scaled = DenseRows::new((&table * factor).view(), None, false);
            for (a, b) in rows.plain.iter().zip(&scaled.plain) {
                let ratio = (rows.factor / (scaled.factor * factor)) as f32;
                assert!((a - b * ratio).abs() < 1e-5, "{a} {b} {ratio}");
            }
        }
        assert_eq!(rows.panel(0)[PANEL + 1], rows.row(1)[1]);
        let unit = DenseRows::new(table.view(), None, true);
        assert!((unit.squares[2] - 1.0).abs() < 1e-6);
    }
}
