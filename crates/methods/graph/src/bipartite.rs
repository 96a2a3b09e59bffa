//! The graph of objects and base clusters, and its leading eigenvectors by way of the clusters.

use partita_coassoc::cluster_overlaps;
use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::parallel::prelude::*;
use partita_core::ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis, Slice};
use partita_core::{Monitor, Seed, chunks, tick_open_ended};
use partita_spectral::{Eigenpairs, LanczosSettings, SpectralError, lanczos, top_eigenpairs};
use rayon::prelude::*;

use crate::GraphError;
use crate::rows::Rows;

/// Largest side of the cluster graph that is written out as a matrix.
pub(crate) const WRITTEN_OUT: usize = 4096;

/// Base clusterings up to which writing it out is quicker than multiplying through the objects.
const FEW_BASES: usize = 256;

/// Rows that one thread embeds at a time.
const CHUNK: usize = 1024;

/// Partial sums of a product through the objects; fixed, so that their order is.
const PARTS: usize = 16;

/// Products with the cluster graph after which half of a search for eigenvectors passes for done.
const PRODUCTS: f64 = 6.0;

/// Objects in the space of the leading eigenvectors of the bipartite graph.
pub(crate) struct Embedding {
    /// One row of length 1 a distinct label row.
    pub(crate) rows: Array2<f64>,
    /// The eigenvalues, falling from 1.
    pub(crate) values: Vec<f64>,
    /// The next one, or a lower bound.
    pub(crate) next: Option<f64>,
}

/// Embeds the rows by transfer cut (Li, Wu and Chang 2012): eigenvectors of the cluster graph
/// `D^-½ S Bᵀ diag(w/d) B S D^-½`, of side ΣJ, give those of the whole graph. `strengths` is S, the weight of the edges of
/// every base cluster.
pub(crate) fn embed(
    rows: &Rows<'_>,
    strengths: &[f64],
    count: usize,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Embedding, GraphError> {
    Ok(embed_each(rows, strengths, &[count], seed, monitor)?.swap_remove(0))
}

/// [`embed`] by several numbers of eigenvectors, which are looked for once.
pub(crate) fn embed_each(
    rows: &Rows<'_>,
    strengths: &[f64],
    counts: &[usize],
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<Vec<Embedding>, GraphError> {
    let graph = ClusterGraph::new(rows, strengths);
    let most = counts.iter().copied().max().unwrap_or(1);
    let pairs = graph.leading(most.min(rows.base_clusters()), seed, monitor)?;
    let total: f64 = rows.weights().iter().sum();
    // Scaled so that the trivial eigenvector puts a 1 into every row.
    let mut table = pairs.vectors;
    for ((mut line, root), strength) in table
        .outer_iter_mut()
        .zip(&graph.inverse_root)
        .zip(strengths)
    {
        line.mapv_inplace(|x| x * root * strength * total.sqrt());
    }
    let embedding = |&count: &usize| {
        let count = count.min(table.ncols());
        let leading = table.slice_axis(Axis(1), Slice::from(..count));
        let next = pairs.values.get(count).copied().or(pairs.next);
        let values = pairs.values.iter().take(count).copied().collect();
        Embedding {
            rows: transferred(rows, &graph.per_degree, leading),
            values,
            next,
        }
    };
    Ok(counts.iter().map(embedding).collect())
}

/// D^-½ of every base cluster: 0 for an empty one.
pub(crate) fn inverse_roots(sizes: &[f64], strengths: &[f64]) -> Vec<f64> {
    let root = |(size, strength): (&f64, &f64)| {
        if *size > 0.0 {
            1.0 / (size * strength).sqrt()
        } else {
            0.0
        }
    };
    sizes.iter().zip(strengths).map(root).collect()
}

/// A row whose mean over its clusters' lines is not longer than this is not reached by the eigenvectors.
pub(crate) const UNREACHED: f64 = 1e-6;

/// An eigenvalue that is nothing but rounding.
const NOTHING: f64 = 1e-12;

struct ClusterGraph<'a> {
    rows: &'a Rows<'a>,
    strengths: &'a [f64],
    /// 1 / (sum of the strengths of a row's base clusters), for every row.
    per_degree: Vec<f64>,
    /// D^-½ of every base cluster; 0 for an empty one.
    inverse_root: Vec<f64>,
}

impl<'a> ClusterGraph<'a> {
    fn new(rows: &'a Rows<'a>, strengths: &'a [f64]) -> Self {
        let mut sizes = vec![0.0; rows.base_clusters()];
        let mut per_degree = vec![0.0; rows.len()];
        rows.for_each(0..rows.len(), |i, clusters| {
            clusters
                .iter()
                .for_each(|&c| sizes[c as usize] += rows.weights()[i]);
            per_degree[i] = 1.0 / clusters.iter().map(|&c| strengths[c as usize]).sum::<f64>();
        });
        let inverse_root = inverse_roots(&sizes, strengths);
        Self {
            rows,
            strengths,
            per_degree,
            inverse_root,
        }
    }

    fn leading(
        &self,
        count: usize,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Result<Eigenpairs, GraphError> {
        let (settings, mut products) = (LanczosSettings::default(), 0.0);
        // A search cannot be left, so that the answer waits for its end.
        let mut told = || {
            products += 1.0;
            let _ = tick_open_ended(monitor, products, PRODUCTS);
        };
        let side = self.strengths.len();
        let scale: Vec<f64> = self
            .strengths
            .iter()
            .zip(&self.inverse_root)
            .map(|(s, r)| s * r)
            .collect();
        let shares: Vec<f64> = self
            .rows
            .weights()
            .iter()
            .zip(&self.per_degree)
            .map(|(w, d)| w * d)
            .collect();
        if side <= WRITTEN_OUT && self.rows.ensemble().bases().len() <= FEW_BASES {
            let mut matrix = cluster_overlaps(self.rows.ensemble(), Some(&shares));
            matrix
                .indexed_iter_mut()
                .for_each(|((a, b), x)| *x *= scale[a] * scale[b]);
            let product = |x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>| {
                told();
                multiply(matrix.view(), x, y);
            };
            return Ok(lanczos(side, count, product, seed, &settings)?);
        }
        let product = |x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>| {
            told();
            self.through(&scale, &shares, x, y);
        };
        let mut first = settings.clone();
        let few_objects = self.rows.len() <= settings.fallback_side.min(side);
        if few_objects {
            first.restarts = 0;
        }
        match lanczos(side, count, product, seed, &first) {
            Err(SpectralError::NotConverged { .. }) if few_objects => {
                self.by_objects(&scale, &shares, count, seed)
            }
            found => Ok(found?),
        }
    }

    /// The same eigenpairs by way of the objects: with `X = diag(√share) B diag(scale)` the cluster graph is `Xᵀ X`, and an
    /// eigenvector u of `X Xᵀ` gives `Xᵀ u / √λ`.
    fn by_objects(
        &self,
        scale: &[f64],
        shares: &[f64],
        count: usize,
        seed: Seed,
    ) -> Result<Eigenpairs, GraphError> {
        let (n, roots) = (
            self.rows.len(),
            shares
                .iter()
                .map(|share| share.sqrt())
                .collect::<Vec<f64>>(),
        );
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); scale.len()];
        self.rows.for_each(0..n, |i, clusters| {
            clusters
                .iter()
                .for_each(|&c| members[c as usize].push(i as u32));
        });
        let mut graph = Array2::<f64>::zeros((n, n));
        graph
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .enumerate()
            .for_each(|(i, mut line)| {
                self.rows.for_each(i..i + 1, |_, clusters| {
                    for &c in clusters {
                        let square = scale[c as usize] * scale[c as usize];
                        members[c as usize]
                            .iter()
                            .for_each(|&j| line[j as usize] += square);
                    }
                });
                line.iter_mut()
                    .zip(&roots)
                    .for_each(|(x, root)| *x *= roots[i] * root);
            });
        let mut pairs = top_eigenpairs(
            graph.view(),
            count.min(n),
            seed,
            &LanczosSettings::default(),
        )?;
        let mut vectors = Array2::zeros((scale.len(), pairs.values.len()));
        self.rows.for_each(0..n, |i, clusters| {
            for &c in clusters {
                vectors
                    .row_mut(c as usize)
                    .scaled_add(roots[i] * scale[c as usize], &pairs.vectors.row(i));
            }
        });
        for (mut column, &value) in vectors.columns_mut().into_iter().zip(&pairs.values) {
            let factor = if value > NOTHING {
                1.0 / value.sqrt()
            } else {
                0.0
            };
            column.mapv_inplace(|x| x * factor);
        }
        pairs.vectors = vectors;
        Ok(pairs)
    }

    /// The product with the cluster graph, from the clusters to the objects and back.
    fn through(
        &self,
        scale: &[f64],
        shares: &[f64],
        x: ArrayView2<'_, f64>,
        mut y: ArrayViewMut2<'_, f64>,
    ) {
        let scale = Array1::from(scale.to_vec()).insert_axis(Axis(1));
        let table = &x * &scale;
        let width = table.ncols();
        let flat = table.as_slice().expect("a product is in standard layout");
        let part = |range| {
            let (mut part, mut sum) = (vec![0.0; flat.len()], vec![0.0; width]);
            self.rows.for_each(range, |i, clusters| {
                gather(flat, clusters, &mut sum);
                sum.iter_mut().for_each(|x| *x *= shares[i]);
                for &c in clusters {
                    part[c as usize * width..][..width]
                        .iter_mut()
                        .zip(&sum)
                        .for_each(|(p, s)| *p += s);
                }
            });
            part
        };
        let ranges: Vec<_> =
            chunks(self.rows.len(), self.rows.len().div_ceil(PARTS).max(CHUNK)).collect();
        let parts: Vec<Vec<f64>> = ranges.into_par_iter().map(part).collect();
        let mut sums = vec![0.0; flat.len()];
        parts
            .iter()
            .for_each(|part| sums.iter_mut().zip(part).for_each(|(sum, x)| *sum += x));
        y.assign(&Array2::from_shape_vec(table.dim(), sums).expect("as many numbers as the table"));
        y *= &scale;
    }
}

/// Adds up the table's lines of some clusters.
fn gather(table: &[f64], clusters: &[u32], sum: &mut [f64]) {
    let width = sum.len();
    sum.fill(0.0);
    for &c in clusters {
        sum.iter_mut()
            .zip(&table[c as usize * width..][..width])
            .for_each(|(sum, x)| *sum += x);
    }
}

/// A matrix times a block, rows side by side.
pub(crate) fn multiply(
    matrix: ArrayView2<'_, f64>,
    x: ArrayView2<'_, f64>,
    mut y: ArrayViewMut2<'_, f64>,
) {
    let lines = y.axis_chunks_iter_mut(Axis(0), 256).into_par_iter();
    lines
        .zip(matrix.axis_chunks_iter(Axis(0), 256))
        .for_each(|(mut y, lines)| general_mat_mul(1.0, &lines, &x, 0.0, &mut y));
}

/// Every row's mean over its clusters' lines of the table, at length 1. A row that the eigenvectors do not reach (there
/// are more separate parts than eigenvectors) stays 0.
fn transferred(rows: &Rows<'_>, per_degree: &[f64], table: ArrayView2<'_, f64>) -> Array2<f64> {
    let width = table.ncols();
    let held = table.as_standard_layout();
    let flat = held.as_slice().expect("standard layout is one slice");
    let mut embedded = Array2::zeros((rows.len(), width));
    let lines = embedded
        .as_slice_mut()
        .expect("a new array is in standard layout");
    let ranges: Vec<_> = chunks(rows.len(), CHUNK).collect();
    lines
        .par_chunks_mut(CHUNK * width)
        .zip(ranges)
        .for_each(|(lines, range)| {
            let first = range.start;
            rows.for_each(range, |i, clusters| {
                let line = &mut lines[(i - first) * width..][..width];
                gather(flat, clusters, line);
                let length = line.iter().map(|x| x * x).sum::<f64>().sqrt();
                let factor = if length * per_degree[i] > UNREACHED {
                    1.0 / length
                } else {
                    0.0
                };
                line.iter_mut().for_each(|x| *x *= factor);
            });
        });
    embedded
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::draw;
    use partita_core::Silent;

    #[test]
    fn objects_and_clusters_have_the_same_eigenpairs() {
        for seed in 0..10 {
            let drawn = draw(Seed::new(seed), 0.3);
            let rows = Rows::new(&drawn.ensemble, 2).unwrap();
            let strengths: Vec<f64> = (0..rows.base_clusters())
                .map(|c| 0.5 + (c % 3) as f64)
                .collect();
            let graph = ClusterGraph::new(&rows, &strengths);
            let scale: Vec<f64> = strengths
                .iter()
                .zip(&graph.inverse_root)
                .map(|(s, r)| s * r)
                .collect();
            let shares: Vec<f64> = rows
                .weights()
                .iter()
                .zip(&graph.per_degree)
                .map(|(w, d)| w * d)
                .collect();
            let (one, other) = (
                graph.leading(3, Seed::new(1), &Silent).unwrap(),
                graph.by_objects(&scale, &shares, 3, Seed::new(1)).unwrap(),
            );
            assert!(
                (&one.values - &other.values).iter().all(|x| x.abs() < 1e-7),
                "{} {}",
                one.values,
                other.values
            );
            for (column, &value) in other.vectors.columns().into_iter().zip(&other.values) {
                let mut product = Array2::zeros((strengths.len(), 1));
                graph.through(
                    &scale,
                    &shares,
                    column.insert_axis(Axis(1)),
                    product.view_mut(),
                );
                let gap = &product.column(0) - &(&column * value);
                assert!(
                    gap.iter().all(|x| x.abs() < 1e-7) && (column.dot(&column) - 1.0).abs() < 1e-7
                );
            }
        }
    }

    #[test]
    fn through_the_objects_and_written_out_are_the_same_matrix() {
        for seed in 0..10 {
            let drawn = draw(Seed::new(seed), 0.3);
            let rows = Rows::new(&drawn.ensemble, 2).unwrap();
            let strengths: Vec<f64> = (0..rows.base_clusters())
                .map(|c| 0.5 + (c % 3) as f64)
                .collect();
            let graph = ClusterGraph::new(&rows, &strengths);
            let side = strengths.len();
            let scale: Vec<f64> = strengths
                .iter()
                .zip(&graph.inverse_root)
                .map(|(s, r)| s * r)
                .collect();
            let shares: Vec<f64> = rows
                .weights()
                .iter()
                .zip(&graph.per_degree)
                .map(|(w, d)| w * d)
                .collect();
            let mut matrix = cluster_overlaps(rows.ensemble(), Some(&shares));
            matrix
                .indexed_iter_mut()
                .for_each(|((a, b), x)| *x *= scale[a] * scale[b]);
            let mut product = Array2::zeros((side, side));
            graph.through(
                &scale,
                &shares,
                Array2::eye(side).view(),
                product.view_mut(),
            );
            assert!((&matrix - &product).iter().all(|x| x.abs() < 1e-12));
            // The trivial eigenvector: D^½ 1, value 1.
            let trivial = Array1::from_iter(
                graph
                    .inverse_root
                    .iter()
                    .map(|&r| if r > 0.0 { 1.0 / r } else { 0.0 }),
            );
            assert!(
                (matrix.dot(&trivial) - &trivial)
                    .iter()
                    .all(|x| x.abs() < 1e-9)
            );
        }
    }
}
