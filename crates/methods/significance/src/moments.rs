//! Rows, mean and scatter of clusters by halves, which add up when clusters are merged.

use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::{Array1, Array2, Axis, Slice};

use crate::rows::Rows;

/// Rows whose products are added at once.
const BLOCK: usize = 256;

/// Rows, mean and scatter matrix of a set of rows.
#[derive(Clone, Debug)]
pub(crate) struct Moments {
    pub(crate) rows: f64,
    pub(crate) mean: Array1<f64>,
    /// Σ (x − mean)(x − mean)ᵀ.
    pub(crate) scatter: Array2<f64>,
}

impl Moments {
    /// Those of some rows.
    pub(crate) fn of(rows: &Rows<'_>, members: &[u32]) -> Self {
        let columns = rows.columns();
        let count = members.len() as f64;
        let mut mean = Array1::zeros(columns);
        for &row in members {
            let values = rows.row(row).iter();
            mean.iter_mut().zip(values).for_each(|(sum, x)| *sum += x);
        }
        mean /= count.max(1.0);
        let mut scatter = Array2::zeros((columns, columns));
        let mut block = Array2::zeros((BLOCK.min(members.len()), columns));
        for members in members.chunks(BLOCK) {
            for (mut held, &row) in block.axis_iter_mut(Axis(0)).zip(members) {
                let centred = rows.row(row).iter().zip(&mean).map(|(x, mean)| x - mean);
                held.iter_mut().zip(centred).for_each(|(held, x)| *held = x);
            }
            let filled = block.slice_axis(Axis(0), Slice::from(..members.len()));
            general_mat_mul(1.0, &filled.t(), &filled, 1.0, &mut scatter);
        }
        Self {
            rows: count,
            mean,
            scatter,
        }
    }

    /// Takes in those of other rows.
    pub(crate) fn add(&mut self, other: &Self) {
        let all = self.rows + other.rows;
        if other.rows == 0.0 {
            return;
        }
        let between = &other.mean - &self.mean;
        let (column, row) = (
            between.view().insert_axis(Axis(1)),
            between.view().insert_axis(Axis(0)),
        );
        let weight = self.rows * other.rows / all;
        self.scatter += &other.scatter;
        general_mat_mul(weight, &column, &row, 1.0, &mut self.scatter);
        self.mean.scaled_add(other.rows / all, &between);
        self.rows = all;
    }
}
