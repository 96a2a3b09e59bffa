//! Multiplicative updates of the two factors of a co-association matrix that is never formed: products, objective, KKT gap, one iteration, one
//! swap. Where a search starts and which swaps it keeps is not said here.

use std::ops::Range;

use partita_core::ndarray::{Array2, ArrayView2, Axis, s};
use partita_core::{Row, RowBlock, chunks, map_parallel};
use rayon::prelude::*;

/// Partial sums of an iteration are over so many ranges of rows, at most.
pub(super) const PARTS: usize = 16;

/// What keeps quotients of vanishing numbers finite.
const TINY: f64 = 1e-300;

/// A step that does not help is tried again half as long, so many times.
const HALVINGS: usize = 6;

/// What every object has of a cluster that is new, as a share of the mean of Q: factors do not move from 0.
const SWAP_FLOOR: f64 = 0.05;

/// The co-association of weighted rows, known by its products alone.
pub(super) struct Matrix<'m, 'r, R: Row<'r>> {
    pub(super) rows: &'m RowBlock<'r, R>,
    offsets: &'m [usize],
    base_weights: &'m [f64],
    /// Objects with each row.
    weights: Vec<f64>,
    /// 1 / √ of the weight of the base clusterings that label each row.
    scale: Vec<f64>,
}

impl<'m, 'r, R: Row<'r>> Matrix<'m, 'r, R> {
    pub(super) fn new(
        rows: &'m RowBlock<'r, R>,
        offsets: &'m [usize],
        base_weights: &'m [f64],
    ) -> Self {
        let mut weights = Vec::with_capacity(rows.len());
        let mut scale = Vec::with_capacity(rows.len());
        for (row, weight) in rows.rows() {
            let entries = row.entries(offsets);
            let degree: f64 = entries
                .map(|entry| base_weights[entry.base] * entry.share)
                .sum();
            weights.push(weight);
            scale.push(degree.sqrt().recip());
        }
        Self {
            rows,
            offsets,
            base_weights,
            weights,
            scale,
        }
    }

    /// Ranges of rows whose sums are added in order.
    fn parts(&self) -> Vec<Range<usize>> {
        chunks(self.rows.len(), self.rows.len().div_ceil(PARTS).max(1024)).collect()
    }

    /// A sum over rows.
    fn sum(&self, part: impl Fn(Range<usize>) -> Array2<f64> + Sync) -> Array2<f64> {
        map_parallel(self.parts(), part)
            .into_iter()
            .reduce(|sum, part| sum + part)
            .expect("an ensemble has objects")
    }

    /// Σ_i w_i a_i b_iᵀ, K × K.
    fn gram(&self, a: &Array2<f64>, b: &Array2<f64>) -> Array2<f64> {
        self.sum(|range| {
            let weights =
                Array2::from_shape_fn((range.len(), 1), |(i, _)| self.weights[range.start + i]);
            let left = &a.slice(s![range.clone(), ..]) * &weights;
            left.t().dot(&b.slice(s![range, ..]))
        })
    }

    /// M W Q, n × K.
    fn times(&self, q: &Array2<f64>) -> Array2<f64> {
        let k = q.ncols();
        let table = self.sum(|range| {
            let side = self.offsets[self.base_weights.len()];
            let mut table = Array2::zeros((side, k));
            for at in range {
                let factor = self.weights[at] * self.scale[at];
                for entry in self.rows.row(at).entries(self.offsets) {
                    let factor = factor * self.base_weights[entry.base] * entry.share;
                    table.row_mut(entry.cluster).scaled_add(factor, &q.row(at));
                }
            }
            table
        });
        let mut product = Array2::zeros(q.dim());
        product
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .enumerate()
            .with_min_len(1024)
            .for_each(|(at, mut row)| {
                for entry in self.rows.row(at).entries(self.offsets) {
                    row.scaled_add(entry.share, &table.row(entry.cluster));
                }
                row *= self.scale[at];
            });
        product
    }
}

/// Factors, and what all quotients and objectives need of them.
pub(super) struct Factors {
    q: Array2<f64>,
    s: Array2<f64>,
    /// M Q.
    p: Array2<f64>,
    /// QᵀQ.
    g: Array2<f64>,
    /// QᵀMQ.
    r: Array2<f64>,
}

impl Factors {
    /// Indicators of a partition plus 0.2, columns of length 1.
    pub(super) fn start<'r, R: Row<'r>>(
        matrix: &Matrix<'_, 'r, R>,
        labels: &[u32],
        clusters: usize,
    ) -> Self {
        let mut q = Array2::from_elem((labels.len(), clusters), 0.2);
        for (mut line, &label) in q.outer_iter_mut().zip(labels) {
            line[label as usize] = 1.2;
        }
        Self::new(matrix, q)
    }

    /// These memberships with columns of length 1, and an S for them.
    pub(super) fn new<'r, R: Row<'r>>(matrix: &Matrix<'_, 'r, R>, mut q: Array2<f64>) -> Self {
        let lengths = matrix.gram(&q, &q).into_diag().mapv(f64::sqrt);
        q /= &lengths;
        let p = matrix.times(&q);
        let (g, r) = (matrix.gram(&q, &q), matrix.gram(&q, &p));
        let mut factors = Self {
            s: r.clone(),
            q,
            p,
            g,
            r,
        };
        factors.settle();
        factors
    }

    /// An iteration of updates of S for this Q; none raises the objective.
    fn settle(&mut self) {
        for _ in 0..4 {
            let below = self.g.dot(&self.s).dot(&self.g);
            self.s
                .zip_mut_with(&(&self.r / &(below + TINY)), |s, quotient| {
                    *s *= quotient.sqrt();
                });
        }
    }

    /// ‖M − QSQᵀ‖² − ‖M‖².
    pub(super) fn objective(&self) -> f64 {
        let sg = self.s.dot(&self.g);
        let square: f64 = (&sg * &sg.t()).sum();
        square - 2.0 * (&self.s * &self.r.t()).sum()
    }

    /// M Q S and Q QᵀMQ S, whose quotient moves Q.
    fn above_below(&self) -> (Array2<f64>, Array2<f64>) {
        (self.p.dot(&self.s), self.q.dot(&self.r.dot(&self.s)))
    }

    /// How far Q is from a stationary point, relative.
    pub(super) fn gap(&self) -> f64 {
        let (above, below) = self.above_below();
        let length = |a: ArrayView2<'_, f64>| (&a * &self.q).mapv(|x| x * x).sum().sqrt();
        length((&above - &below).view()) / length(above.view()).max(TINY)
    }

    /// The factors after one iteration, or none if no step lowers the objective.
    pub(super) fn step<'r, R: Row<'r>>(&self, matrix: &Matrix<'_, 'r, R>) -> Option<Self> {
        let (above, below) = self.above_below();
        let quotient = (above + TINY) / (below + TINY);
        let now = self.objective();
        (0..HALVINGS).find_map(|halving| {
            let exponent = 0.5f64.powi(halving as i32 + 1);
            let q = &self.q * &quotient.mapv(|x| x.powf(exponent));
            let p = matrix.times(&q);
            let (g, r) = (matrix.gram(&q, &q), matrix.gram(&q, &p));
            let mut next = Self {
                q,
                s: self.s.clone(),
                p,
                g,
                r,
            };
            next.settle();
            (next.objective() < now - 1e-13 * now.abs()).then_some(next)
        })
    }

    /// Factors in which what is like this row takes the place of a cluster, whose objects go to the others.
    pub(super) fn swapped<'r, R: Row<'r>>(
        &self,
        matrix: &Matrix<'_, 'r, R>,
        cluster: usize,
        row: usize,
    ) -> Self {
        let mut unit = Array2::zeros((self.q.nrows(), 1));
        unit[[row, 0]] = 1.0;
        let like = matrix.times(&unit);
        let mean = |of: ArrayView2<'_, f64>| of.sum() / of.len() as f64;
        let floor = SWAP_FLOOR * mean(self.q.view());
        let mut q = self.q.clone();
        let given_up = q.column(cluster).to_owned();
        q.column_mut(cluster).fill(0.0);
        for (mut line, given_up) in q.outer_iter_mut().zip(&given_up) {
            let rest = line.sum() + floor * (line.len() - 1) as f64;
            line.mapv_inplace(|x| x + given_up * (x + floor) / rest);
        }
        let scale = given_up.sum() / given_up.len() as f64 / mean(like.view());
        q.column_mut(cluster)
            .assign(&like.column(0).mapv(|x| x * scale + floor));
        Self::new(matrix, q)
    }

    /// Rows of Q √S, scaled to sum 1.
    pub(super) fn memberships(&self) -> Array2<f64> {
        let mut rows = &self.q * &self.s.diag().mapv(f64::sqrt);
        for mut row in rows.outer_iter_mut() {
            let (sum, k) = (row.sum(), row.len() as f64);
            row.mapv_inplace(|x| if sum > 0.0 { x / sum } else { 1.0 / k });
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use partita_conformance::{draw, draw_shares, ensemble_of_shares};
    use partita_core::{AnyBlock, Ensemble, EnsembleRows, Entry, Seed};

    use super::*;

    /// Products, objective and descent against the matrix written out, object by object.
    fn check<'r, R: Row<'r>>(rows: &RowBlock<'r, R>, offsets: &[usize], clusters: usize) {
        let base_weights: Vec<f64> = (0..rows.bases).map(|u| 1.0 + (u % 3) as f64).collect();
        let matrix = Matrix::new(rows, offsets, &base_weights);
        let n = rows.len();
        let mut full = Array2::<f64>::zeros((n, n));
        for ((i, j), sum) in full.indexed_iter_mut() {
            for own in rows.row(i).entries(offsets) {
                let same = |other: &Entry| other.cluster == own.cluster;
                let share = rows.row(j).entries(offsets).find(same);
                let share = share.map_or(0.0, |other| own.share * other.share);
                *sum += base_weights[own.base] * share;
            }
            *sum *= matrix.scale[i] * matrix.scale[j];
        }
        let labels: Vec<u32> = (0..n).map(|i| (i % clusters) as u32).collect();
        let mut state = Factors::start(&matrix, &labels, clusters);
        let weigh = |(i, j): (usize, usize)| matrix.weights[i] * matrix.weights[j];
        let weigh = Array2::from_shape_fn((n, n), weigh);
        for _ in 0..5 {
            let error = &full - &state.q.dot(&state.s).dot(&state.q.t());
            let expected = (&error * &error * &weigh).sum() - (&full * &full * &weigh).sum();
            assert_relative_eq!(state.objective(), expected, max_relative = 1e-9);
            match state.step(&matrix) {
                Some(next) => state = next,
                None => break,
            }
        }
    }

    fn check_ensemble(ensemble: &Ensemble, clusters: usize) {
        let weights: Vec<f64> = (0..ensemble.objects())
            .map(|i| 1.0 + (i % 2) as f64)
            .collect();
        let offsets = ensemble.offsets();
        let rows = EnsembleRows::weighted(ensemble, &weights).with_shares();
        rows.with_all(|block| match block {
            AnyBlock::Bytes(rows) => check(&rows, &offsets, clusters),
            AnyBlock::Words(rows) => check(&rows, &offsets, clusters),
            AnyBlock::Shares(rows) => check(&rows, &offsets, clusters),
        });
    }

    #[test]
    fn the_objective_is_that_of_the_matrix_written_out() {
        for seed in 0..30 {
            let drawn = draw(Seed::new(seed), 0.3);
            check_ensemble(&drawn.ensemble, drawn.clusters);
            let drawn = draw_shares(Seed::new(seed));
            let named = drawn.tables.iter().enumerate();
            let shares = ensemble_of_shares(named.map(|(u, table)| (u.to_string(), table)));
            check_ensemble(&shares, drawn.clusters);
        }
    }
}
