//! Transfer cut: eigenvectors of the small graph of representatives instead of those of the graph of rows.

use partita_core::ProgressCounter;
use partita_core::ndarray::Array2;
use partita_spectral::symmetric_eigen;
use rayon::prelude::*;

use super::representatives::{Joined, NEAREST};
use crate::error::Result;

/// Fewest rows in one chunk, and the most chunks of a sum that takes little memory.
const LEAST_CHUNK: usize = 1 << 16;
const MOST_CHUNKS: usize = 64;

/// Chunks of the sum that fills a graph each.
pub(crate) const GRAPHS: usize = 8;

/// Rows in a chunk: the same whatever the number of threads, and a multiple of 64.
pub(crate) fn chunk_rows(rows: usize, most: usize) -> usize {
    LEAST_CHUNK.max(rows.div_ceil(most).next_multiple_of(64))
}

/// Turns squared distances into affinities `exp(−d²/(2σ²))`, σ being the mean of all distances; none is below the machine
/// epsilon where a row is joined at all.
pub(crate) fn affinities(joined: &mut [Joined], progress: &ProgressCounter<'_>) {
    let sum = |part: &[Joined]| {
        let near = part
            .iter()
            .flat_map(|row| row.by)
            .filter(|distance| distance.is_finite());
        near.fold((0.0, 0u64), |(sum, count), square| {
            (sum + f64::from(square).sqrt(), count + 1)
        })
    };
    let chunk = chunk_rows(joined.len(), MOST_CHUNKS);
    let parts: Vec<(f64, u64)> = joined.par_chunks(chunk).map(sum).collect();
    let (sum, count) = parts
        .iter()
        .fold((0.0, 0), |all, part| (all.0 + part.0, all.1 + part.1));
    let sigma = sum / count.max(1) as f64;
    // Rows that all lie on their representatives are joined to them alike.
    let scale = if sigma > 0.0 {
        -0.5 / (sigma * sigma)
    } else {
        0.0
    };
    joined.par_chunks_mut(chunk).for_each(|part| {
        if progress.stopped() {
            return;
        }
        for by in part.iter_mut().flat_map(|row| &mut row.by) {
            let affinity = (f64::from(*by) * scale).exp().max(f64::EPSILON);
            *by = if by.is_finite() { affinity as f32 } else { 0.0 };
        }
    });
}

/// `E = BᵀD⁻¹B` (p × p) of the affinities B (rows × p) and their row sums D.
///
/// # Cost
/// O(rows·q²) time, at most [`GRAPHS`] matrices.
pub(crate) fn small_graph(
    joined: &[Joined],
    side: usize,
    progress: &ProgressCounter<'_>,
) -> Array2<f64> {
    let sum = |part: &[Joined]| {
        let mut graph = vec![0.0f64; side * side];
        if progress.stopped() {
            return graph;
        }
        for row in part {
            let total: f64 = row.by.iter().map(|&by| f64::from(by)).sum();
            if total > 0.0 {
                add_products(row, total, side, &mut graph);
            }
        }
        graph
    };
    let parts: Vec<Vec<f64>> = joined
        .par_chunks(chunk_rows(joined.len(), GRAPHS))
        .map(sum)
        .collect();
    let total = parts.into_iter().reduce(|mut total, part| {
        total
            .iter_mut()
            .zip(part)
            .for_each(|(total, part)| *total += part);
        total
    });
    let upper = Array2::from_shape_vec((side, side), total.unwrap_or_default())
        .expect("a chunk at least, of that side");
    Array2::from_shape_fn((side, side), |(r, s)| upper[[r.min(s), r.max(s)]])
}

/// The products of one row, in the upper triangle.
fn add_products(row: &Joined, total: f64, side: usize, graph: &mut [f64]) {
    for a in 0..NEAREST {
        let r = usize::from(row.to[a]);
        let share = f64::from(row.by[a]) / total;
        for b in a..NEAREST {
            let s = usize::from(row.to[b]);
            graph[r.min(s) * side + r.max(s)] += share * f64::from(row.by[b]);
        }
    }
}

/// What a row's affinities are multiplied with: `diag(E1)^−½ V` (p × axes, row by row) for the eigenvectors V of the largest
/// eigenvalues of `diag(E1)^−½ E diag(E1)^−½`. Representatives without rows have zeros.
pub(crate) struct Axes {
    pub(crate) count: usize,
    pub(crate) map: Vec<f32>,
}

impl Axes {
    /// So many axes; fewer where fewer representatives have rows.
    ///
    /// # Errors
    /// [`GenerateError::Spectral`](crate::GenerateError::Spectral) if there are no eigenvectors.
    pub(crate) fn of(graph: &Array2<f64>, count: usize) -> Result<Self> {
        let degrees: Vec<f64> = graph.outer_iter().map(|row| row.sum()).collect();
        let live: Vec<usize> = (0..degrees.len()).filter(|&r| degrees[r] > 0.0).collect();
        let root = |r: usize| degrees[r].sqrt().recip();
        let normalised = Array2::from_shape_fn((live.len(), live.len()), |(a, b)| {
            // The product of the smaller first: the matrix is symmetric to the last bit.
            let low = live[a.min(b)];
            let high = live[a.max(b)];
            graph[[low, high]] * root(low) * root(high)
        });
        let count = count.min(live.len());
        // Eigenvalues lie close to each other and to 1: all of them are found before an iteration has told them apart.
        let pairs = symmetric_eigen(normalised.view())?;
        let mut map = vec![0.0; degrees.len() * count];
        for (vector, &r) in pairs.vectors.outer_iter().zip(&live) {
            let line = &mut map[r * count..][..count];
            line.iter_mut()
                .zip(vector)
                .for_each(|(to, x)| *to = (x * root(r)) as f32);
        }
        Ok(Self { count, map })
    }

    /// A row in the space of the axes, at length 1; false where the row is joined to nothing.
    pub(crate) fn embed(&self, row: &Joined, to: &mut [f32]) -> bool {
        let most = row.by[0];
        if most <= 0.0 {
            return false;
        }
        to.fill(0.0);
        for (&at, &by) in row.to.iter().zip(&row.by) {
            let share = by / most;
            let axes = &self.map[usize::from(at) * self.count..][..self.count];
            to.iter_mut().zip(axes).for_each(|(to, x)| *to += share * x);
        }
        let length = to.iter().map(|x| x * x).sum::<f32>().sqrt();
        if length > 0.0 {
            to.iter_mut().for_each(|x| *x /= length);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{Seed, Silent};
    use rand::RngExt;

    /// Rows joined to random representatives, some to none.
    fn drawn(rows: usize, side: usize, seed: u64) -> Vec<Joined> {
        let mut rng = Seed::new(seed).rng();
        let mut one = |i: usize| {
            let mut joined = Joined::NONE;
            let first = rng.random_range(0..side as u64) as usize;
            for place in 0..NEAREST.min(side) * usize::from(!i.is_multiple_of(11)) {
                joined.to[place] = ((first + place) % side) as u16;
                joined.by[place] = place as f32 + rng.random_range(0.01..0.9f32);
            }
            joined
        };
        (0..rows).map(&mut one).collect()
    }

    /// B written out, rows × p.
    fn dense(joined: &[Joined], side: usize) -> Array2<f64> {
        let mut b = Array2::zeros((joined.len(), side));
        for (i, row) in joined.iter().enumerate() {
            row.to
                .iter()
                .zip(row.by)
                .for_each(|(&r, by)| b[[i, usize::from(r)]] += f64::from(by));
        }
        b
    }

    #[test]
    fn the_small_graph_is_the_product_written_out() {
        let progress = ProgressCounter::new(&Silent, 1);
        for seed in 0..100 {
            let side = 2 + seed as usize % 12;
            let mut joined = drawn(80, side, seed);
            let distances: Vec<f64> = joined
                .iter()
                .flat_map(|row| row.by)
                .filter(|d| d.is_finite())
                .map(|d| f64::from(d).sqrt())
                .collect();
            let sigma = distances.iter().sum::<f64>() / distances.len() as f64;
            let first = f64::from(joined[1].by[0]);
            affinities(&mut joined, &progress);
            assert!(
                (f64::from(joined[1].by[0]) - (-first / (2.0 * sigma * sigma)).exp()).abs() < 1e-6
            );
            let b = dense(&joined, side);
            let inverse = |sum: f64| if sum > 0.0 { 1.0 / sum } else { 0.0 };
            let weighted =
                Array2::from_shape_fn(b.dim(), |(i, r)| b[[i, r]] * inverse(b.row(i).sum()));
            let expected = b.t().dot(&weighted);
            let graph = small_graph(&joined, side, &progress);
            assert!(
                graph
                    .iter()
                    .zip(&expected)
                    .all(|(a, b)| (a - b).abs() < 1e-10),
                "seed {seed}"
            );
        }
    }

    #[test]
    fn axes_are_eigenvectors_of_the_graph_of_rows() {
        // Transfer cut: D⁻¹B diag(E1)^−½ V are eigenvectors of the random walk from rows to representatives and back.
        let progress = ProgressCounter::new(&Silent, 1);
        for seed in 0..20 {
            let mut joined = drawn(120, 9, seed);
            affinities(&mut joined, &progress);
            let axes = Axes::of(&small_graph(&joined, 9, &progress), 3).unwrap();
            let b = dense(&joined, 9);
            let column = |c: usize| {
                Array2::from_shape_fn((9, 1), |(r, _)| f64::from(axes.map[r * axes.count + c]))
            };
            let to_rows =
                Array2::from_shape_fn(b.dim(), |(i, r)| b[[i, r]] / b.row(i).sum().max(1e-300));
            let to_representatives =
                Array2::from_shape_fn((9, 120), |(r, i)| b[[i, r]] / b.column(r).sum().max(1e-300));
            for c in 0..axes.count {
                let start = column(c);
                let back = to_representatives.dot(&to_rows.dot(&start));
                let value = back.iter().zip(&start).map(|(a, b)| a * b).sum::<f64>()
                    / start.iter().map(|x| x * x).sum::<f64>();
                assert!(
                    back.iter()
                        .zip(&start)
                        .all(|(a, b)| (a - value * b).abs() < 1e-5),
                    "seed {seed}"
                );
            }
        }
    }
}
