//! Exact nearest others of every row of a table, by brute force.

use partita_core::ProgressCounter;
use partita_core::ndarray::Array2;
use partita_kernels::{Kernel, Simd, dispatch};
use rayon::prelude::*;

/// The neighbour whose distance is a row's own scale.
const SCALE_NEIGHBOUR: usize = 7;

/// Rows in a panel: numbers of so many rows, stored column by column.
const PANEL: usize = 32;

/// The nearest others of a row, and its scale.
pub(crate) struct Near {
    /// Squared distances and numbers, numbers rising. Of equal distances the smaller number is nearer.
    pub(crate) others: Vec<(f64, u32)>,
    /// The distance of the 7th nearest other that is no copy of the row; 1 where there are copies only.
    pub(crate) scale: f64,
}

impl Near {
    /// Whether a row is among the nearest.
    pub(crate) fn keeps(&self, row: u32) -> bool {
        self.others
            .binary_search_by_key(&row, |&(_, other)| other)
            .is_ok()
    }
}

/// The `keep` nearest others of every row (Euclidean, n × d); none if the monitor says stop.
///
/// # Cost
/// O(n²·d) time; 8·n·d bytes, 16·n a thread and 16·keep·n.
pub(crate) fn nearest_others(
    rows: &Array2<f64>,
    keep: usize,
    progress: &ProgressCounter<'_>,
) -> Option<Vec<Near>> {
    let (n, d) = rows.dim();
    let mut panels = vec![0.0; n.div_ceil(PANEL) * PANEL * d];
    for ((i, p), &x) in rows.indexed_iter() {
        panels[i / PANEL * PANEL * d + p * PANEL + i % PANEL] = x;
    }
    let one = |squares: &mut Vec<f64>, i: usize| {
        let stop = if i.is_multiple_of(64) {
            progress.stopped()
        } else {
            progress.was_stopped()
        };
        if stop {
            return Near {
                others: Vec::new(),
                scale: 1.0,
            };
        }
        squares.resize(n.next_multiple_of(PANEL), 0.0);
        let row = rows.row(i).to_vec();
        dispatch(SquaredDistances {
            panels: &panels,
            row: &row,
            squares,
        });
        nearest(&squares[..n], i, keep)
    };
    let near = (0..n).into_par_iter().map_init(Vec::new, one).collect();
    (!progress.was_stopped()).then_some(near)
}

/// The same by distances of all pairs, n × n.
pub(crate) fn nearest_of_distances(
    distances: &Array2<f64>,
    keep: usize,
    progress: &ProgressCounter<'_>,
) -> Option<Vec<Near>> {
    let one = |i: usize| {
        let squares = distances.row(i).mapv(|distance| distance * distance);
        nearest(&squares.to_vec(), i, keep)
    };
    let near = (0..distances.nrows()).into_par_iter().map(one).collect();
    (!progress.stopped()).then_some(near)
}

/// The nearest by the squared distances of all rows from row `i`.
fn nearest(squares: &[f64], i: usize, keep: usize) -> Near {
    let places = keep.max(SCALE_NEIGHBOUR);
    // Of the smallest distances of so many panels each is one of another row, so the largest of them bounds what is near. Copies do not count,
    // so that as many others lie within the bound.
    let mut least: Vec<f64> = squares
        .chunks(2 * PANEL)
        .map(|panel| dispatch(Least(panel)))
        .collect();
    let bound = if places < least.len() {
        *least.select_nth_unstable_by(places - 1, f64::total_cmp).1
    } else {
        f64::INFINITY
    };
    let near = squares
        .iter()
        .zip(0..)
        .filter(|&(&square, j)| square <= bound && j as usize != i);
    let mut near: Vec<(f64, u32)> = near.map(|(&square, j)| (square, j)).collect();
    near.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let apart = &near[near.partition_point(|&(square, _)| square <= 0.0)..];
    let scale = apart
        .get(SCALE_NEIGHBOUR - 1)
        .or(apart.last())
        .map_or(1.0, |&(square, _)| square.sqrt());
    near.truncate(keep);
    near.sort_unstable_by_key(|&(_, j)| j);
    Near {
        others: near,
        scale,
    }
}

/// Squared distances of the rows of all panels from one row, to the bits of [`distance2`](crate::tree::distance2).
struct SquaredDistances<'a> {
    panels: &'a [f64],
    row: &'a [f64],
    squares: &'a mut [f64],
}

impl Kernel for SquaredDistances<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, _: S) {
        let d = self.row.len();
        let head = d & !7;
        for (panel, squares) in self
            .panels
            .chunks_exact(PANEL * d)
            .zip(self.squares.chunks_exact_mut(PANEL))
        {
            let mut total = [0.0; PANEL];
            let mut strand = |first: usize, end: usize, step: usize| {
                let mut sum = [0.0; PANEL];
                let mut p = first;
                while p < end {
                    let x = self.row[p];
                    let column: &[f64; PANEL] = panel[p * PANEL..]
                        .first_chunk()
                        .expect("a column of a panel");
                    (0..PANEL).for_each(|l| sum[l] += (x - column[l]) * (x - column[l]));
                    p += step;
                }
                (0..PANEL).for_each(|l| total[l] += sum[l]);
            };
            (0..8.min(head)).for_each(|first| strand(first, head, 8));
            strand(head, d, 1);
            squares.copy_from_slice(&total);
        }
    }
}

/// The smallest number above 0; infinite where there is none.
struct Least<'a>(&'a [f64]);

impl Kernel for Least<'_> {
    type Output = f64;

    #[expect(
        clippy::inline_always,
        reason = "it is compiled anew for every instruction set"
    )]
    #[inline(always)]
    fn run<S: Simd>(self, _: S) -> f64 {
        let mut least = [f64::INFINITY; 8];
        let mut take = |numbers: &[f64]| {
            for (least, &x) in least.iter_mut().zip(numbers) {
                let x = if x > 0.0 { x } else { f64::INFINITY };
                *least = if x < *least { x } else { *least };
            }
        };
        let chunks = self.0.chunks_exact(8);
        take(chunks.remainder());
        chunks.for_each(take);
        least.into_iter().fold(f64::INFINITY, f64::min)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::distance2;
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    /// The definition.
    fn naive(rows: &Array2<f64>, i: usize, keep: usize) -> Near {
        let others = (0..rows.nrows()).filter(|&j| j != i);
        let mut all: Vec<(f64, u32)> = others
            .map(|j| (distance2(rows.row(i), rows.row(j)), j as u32))
            .collect();
        all.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        let apart: Vec<f64> = all
            .iter()
            .map(|&(square, _)| square)
            .filter(|&square| square > 0.0)
            .collect();
        let scale = apart
            .get(6)
            .or(apart.last())
            .map_or(1.0, |square| square.sqrt());
        all.truncate(keep);
        all.sort_by_key(|&(_, j)| j);
        Near { others: all, scale }
    }

    #[test]
    fn the_nearest_are_found_to_the_bit() {
        let mut rng = Seed::new(1).rng();
        // Few values give many equal distances and copies; the first tables have fewer rows than are kept.
        for (n, d, values) in [
            (1, 2, 9),
            (5, 3, 2),
            (40, 1, 4),
            (700, 11, 3),
            (2300, 2, 12),
            (2300, 19, 1000),
            (2300, 1, 2),
        ] {
            let rows = Array2::from_shape_simple_fn((n, d), || {
                f64::from(rng.random_range(0..values)) / 7.0
            });
            for keep in [30.min(n - 1), n - 1] {
                let found = nearest_others(&rows, keep, &ProgressCounter::new(&Silent, 1)).unwrap();
                for i in (0..n).step_by(1 + n / 40) {
                    let expected = naive(&rows, i, keep);
                    assert_eq!(found[i].others, expected.others, "{n} × {d}, row {i}");
                    assert_eq!(found[i].scale, expected.scale, "{n} × {d}, row {i}");
                }
            }
        }
    }
}
