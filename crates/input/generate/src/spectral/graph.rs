//! The normalised graph of a table's rows with local scales.

use partita_core::ndarray::{Array2, ArrayView2, ArrayViewMut2, Axis};
use partita_kernels::{Kernel, Simd, dispatch};
use rayon::prelude::*;

use super::nearest::Near;

/// Rows of a block that one thread multiplies at a time.
const CHUNK: usize = 64;

/// Columns of a block that stay in registers.
const COLUMNS: usize = 16;

/// D^−½ A D^−½ by rows: (column, value), columns rising.
pub(super) struct Graph(Vec<Vec<(u32, f64)>>);

/// Affinities of the pairs in which either is among the nearest of the other, by rows: (column, value), columns rising.
pub(crate) fn affinities(near: &[Near]) -> Vec<Vec<(u32, f64)>> {
    let mut lines: Vec<Vec<(u32, f64)>> = vec![Vec::new(); near.len()];
    for (i, Near { others, scale }) in near.iter().enumerate() {
        for &(square, j) in others {
            let other = &near[j as usize];
            let affinity = (-square / (scale * other.scale)).exp();
            // A pair that both keep is written by the smaller of the two.
            let twice = (j as usize) < i && other.keeps(i as u32);
            if !twice && affinity > 0.0 {
                lines[i].push((j, affinity));
                lines[j as usize].push((i as u32, affinity));
            }
        }
    }
    lines
        .iter_mut()
        .for_each(|line| line.sort_unstable_by_key(|&(j, _)| j));
    lines
}

impl Graph {
    /// Keeps the pairs in which either is among the nearest of the other.
    pub(super) fn new(near: &[Near]) -> Self {
        Self(affinities(near)).normalised()
    }

    fn normalised(mut self) -> Self {
        let root = |line: &Vec<(u32, f64)>| {
            let degree: f64 = line.iter().map(|&(_, a)| a).sum();
            if degree > 0.0 {
                degree.sqrt().recip()
            } else {
                0.0
            }
        };
        let roots: Vec<f64> = self.0.iter().map(root).collect();
        for (line, i) in self.0.iter_mut().zip(0..) {
            line.iter_mut().for_each(|(j, a)| {
                // The product of the smaller first: the matrix is symmetric to the last bit.
                let low = roots[i.min(*j as usize)];
                let high = roots[i.max(*j as usize)];
                *a *= low * high;
            });
        }
        self
    }

    /// As a matrix, n × n.
    pub(super) fn dense(&self) -> Array2<f64> {
        let mut dense = Array2::zeros((self.0.len(), self.0.len()));
        for (mut row, line) in dense.axis_iter_mut(Axis(0)).zip(&self.0) {
            line.iter().for_each(|&(j, a)| row[j as usize] = a);
        }
        dense
    }

    /// Writes the graph times x (n × b, row by row) into y.
    pub(super) fn multiply(&self, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
        let width = x.ncols();
        let x = x.to_slice().expect("rows one after the other");
        let y = y.as_slice_mut().expect("rows one after the other");
        let chunks = y
            .par_chunks_mut(CHUNK * width)
            .zip(self.0.par_chunks(CHUNK));
        chunks.for_each(|(to, lines)| {
            dispatch(Product {
                lines,
                x,
                width,
                to,
            });
        });
    }
}

/// Some rows of a graph times a block of vectors.
struct Product<'a> {
    lines: &'a [Vec<(u32, f64)>],
    x: &'a [f64],
    width: usize,
    to: &'a mut [f64],
}

impl Kernel for Product<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        for (line, to) in self.lines.iter().zip(self.to.chunks_exact_mut(self.width)) {
            for (part, to) in to.chunks_mut(COLUMNS).enumerate() {
                let first = part * COLUMNS;
                let mut sums = [0.0; COLUMNS];
                if to.len() == COLUMNS {
                    for &(j, a) in line {
                        let x: &[f64; COLUMNS] = self.x[j as usize * self.width + first..]
                            .first_chunk()
                            .expect("a row of x");
                        (0..COLUMNS).for_each(|l| sums[l] += a * x[l]);
                    }
                } else {
                    for &(j, a) in line {
                        let x = &self.x[j as usize * self.width + first..][..to.len()];
                        sums.iter_mut().zip(x).for_each(|(sum, x)| *sum += a * x);
                    }
                }
                to.copy_from_slice(&sums[..to.len()]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::spectral::nearest::nearest_others;
    use partita_core::{ProgressCounter, Seed, Silent};
    use partita_spectral::{ChebyshevSettings, Solver, chebyshev, symmetric_eigen};

    /// Two rings, one inside the other, and a few copies.
    fn rings(n: usize) -> Array2<f64> {
        Array2::from_shape_fn((n, 2), |(i, p)| {
            let radius = 1.0 + 4.0 * (i % 2) as f64;
            let angle = (i.max(4) as f64) * 2.4;
            radius * if p == 0 { angle.cos() } else { angle.sin() }
        })
    }

    #[test]
    fn few_neighbours_see_what_all_pairs_see() {
        let rows = rings(160);
        let progress = ProgressCounter::new(&Silent, 1);
        for keep in [159, 12] {
            let graph = Graph::new(&nearest_others(&rows, keep, &progress).unwrap());
            let dense = graph.dense();
            assert_eq!(dense, dense.t());
            for width in [1, 3, 16, 40] {
                let x = Array2::from_shape_fn((160, width), |(i, p)| ((i * 7 + p) % 11) as f64);
                let mut y = Array2::zeros((160, width));
                graph.multiply(x.view(), y.view_mut());
                for (found, expected) in y.iter().zip(&dense.dot(&x)) {
                    approx::assert_abs_diff_eq!(found, expected, epsilon = 1e-12);
                }
            }
            let all = symmetric_eigen(dense.view()).unwrap();
            let settings = ChebyshevSettings::default();
            let top =
                chebyshev(160, 2, |x, y| graph.multiply(x, y), Seed::new(1), &settings).unwrap();
            assert_eq!(top.solver, Solver::Chebyshev);
            assert!(
                (top.values[0] - 1.0).abs() < 1e-10,
                "the largest eigenvalue of a normalised graph is 1"
            );
            assert!(
                (top.values[1] - all.values[1]).abs() < 1e-6,
                "{} {}",
                top.values,
                all.values
            );
            if keep == 12 {
                // Nothing joins the rings: the rows of one have one direction in the plane of the two vectors.
                let turn = |i: usize| top.vectors[[i, 1]] / top.vectors[[i, 0]];
                assert!((6..160).all(|i| (turn(i) - turn(4 + i % 2)).abs() < 1e-3));
                assert!((turn(4) - turn(5)).abs() > 0.1);
            }
        }
    }
}
