//! The graph of objects and base clusters by way of its base clusters: the cluster graph and its leading eigenvectors, by passes.

use partita_coassoc::Overlap;
use partita_core::ndarray::linalg::general_mat_mul;
use partita_core::ndarray::parallel::prelude::*;
use partita_core::ndarray::{Array1, Array2, ArrayView2, ArrayViewMut2, Axis};
use partita_core::{
    BaseClustering, EnsembleRows, Entry, MemoryBudget, Mergeable, Monitor, PassError, PassRunner,
    Row, RowBlock, RowMap, RowPass, RowSample, Seed, Silent, tick_open_ended,
};
use partita_spectral::{Eigenpairs, LanczosSettings, SpectralError, lanczos, top_eigenpairs};
use serde::{Deserialize, Serialize};

use crate::GraphError;

/// Largest side of the cluster graph that is written out as a matrix.
const WRITTEN_OUT: usize = 4096;

/// Base clusterings up to which writing it out is quicker than multiplying through the objects.
const FEW_BASES: usize = 256;

/// Products with the cluster graph after which half of a search for eigenvectors passes for done.
const PRODUCTS: f64 = 6.0;

/// An eigenvalue that is nothing but rounding.
const NOTHING: f64 = 1e-12;

/// The cluster graph of a transfer cut (Li, Wu and Chang 2012), `D^-½ S Bᵀ diag(w/d) B S D^-½` of side ΣJ: its eigenvectors give those
/// of the whole graph. B are the shares of objects in base clusters, S weighs the edges of every base cluster.
pub(crate) struct ClusterGraph<'a> {
    rows: &'a PassRunner<'a>,
    strengths: &'a [f64],
    /// S D^-½ of every base cluster; 0 for an empty one.
    scale: Vec<f64>,
    /// √ΣD, which makes the trivial eigenvector put a 1 into every row.
    total: f64,
}

impl ClusterPlaces {
    pub(crate) fn new(pairs: &Eigenpairs, table: Array2<f64>) -> Self {
        Self {
            table,
            values: pairs.values.to_vec(),
            next: pairs.next,
        }
    }
}

/// Vectors with their lines times factors.
pub(crate) fn lifted(vectors: &Array2<f64>, factors: impl Iterator<Item = f64>) -> Array2<f64> {
    let mut table = vectors.as_standard_layout().into_owned();
    for (mut line, factor) in table.outer_iter_mut().zip(factors) {
        line.mapv_inplace(|x| x * factor);
    }
    table
}

/// Whether a cluster graph of this side is written out.
pub(crate) fn written_out(side: usize, bases: usize) -> bool {
    side <= WRITTEN_OUT && bases <= FEW_BASES
}

/// What base clusters add to the places of their objects: eigenvectors of a cluster graph, lifted.
pub(crate) struct ClusterPlaces {
    /// ΣJ lines, a column an eigenvector.
    pub(crate) table: Array2<f64>,
    /// The eigenvalues, the largest first.
    pub(crate) values: Vec<f64>,
    /// The next one, or a lower bound.
    pub(crate) next: Option<f64>,
}

impl<'a> ClusterGraph<'a> {
    /// `sizes` are the weights of base clusters, `strengths` is S.
    pub(crate) fn new(rows: &'a PassRunner<'a>, sizes: &[f64], strengths: &'a [f64]) -> Self {
        let degrees: Vec<f64> = sizes.iter().zip(strengths).map(|(n, s)| n * s).collect();
        let roots = inverse_roots(&degrees);
        Self {
            rows,
            strengths,
            scale: strengths
                .iter()
                .zip(roots)
                .map(|(s, root)| s * root)
                .collect(),
            total: degrees.iter().sum::<f64>().sqrt(),
        }
    }

    /// The places by the leading eigenvectors, up to `count`.
    pub(crate) fn places(
        &self,
        count: usize,
        seed: Seed,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<ClusterPlaces, GraphError> {
        let pairs = self.leading(count.min(self.scale.len()), seed, budget, monitor)?;
        let factors = self.scale.iter().map(|scale| scale * self.total);
        Ok(ClusterPlaces::new(&pairs, lifted(&pairs.vectors, factors)))
    }

    fn leading(
        &self,
        count: usize,
        seed: Seed,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Eigenpairs, GraphError> {
        let (side, mut settings) = (self.scale.len(), LanczosSettings::default());
        let mut products = 0.0;
        // A search cannot be left, so that the answer waits for its end.
        let mut told = || {
            products += 1.0;
            let _ = tick_open_ended(monitor, products, PRODUCTS);
        };
        if written_out(side, self.rows.source().bases().len()) {
            let own = 8 * (side * side) as u64;
            settings.budget = MemoryBudget::new(budget.bytes().saturating_sub(own));
            let matrix = self.matrix()?;
            let product = |x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>| {
                told();
                multiply(matrix.view(), x, y);
            };
            return Ok(lanczos(side, count, product, seed, &settings)?);
        }
        settings.budget = budget;
        let mut failed = None;
        let product = |x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>| {
            told();
            // A search cannot be left: it goes on with nothing.
            match self.through(x) {
                Ok(product) if failed.is_none() => y.assign(&product),
                Ok(_) => y.fill(0.0),
                Err(error) => {
                    y.fill(0.0);
                    failed.get_or_insert(error);
                }
            }
        };
        let few_rows = self.rows.source().rows() <= settings.fallback_side.min(side) as u64;
        let mut first = settings.clone();
        if few_rows {
            first.restarts = 0;
        }
        let found = lanczos(side, count, product, seed, &first);
        match (failed, found) {
            (Some(error), _) => Err(error.into()),
            (None, Err(SpectralError::NotConverged { .. })) if few_rows => {
                self.by_rows(count, seed)
            }
            (None, found) => Ok(found?),
        }
    }

    fn matrix(&self) -> Result<Array2<f64>, PassError> {
        let mut matrix = Overlap::shared(self.rows, self.strengths)?.into_table();
        let cells = matrix.indexed_iter_mut();
        cells.for_each(|((a, b), x)| *x *= self.scale[a] * self.scale[b]);
        Ok(matrix)
    }

    /// The product with the cluster graph, from the clusters to the objects and back.
    fn through(&self, x: ArrayView2<'_, f64>) -> Result<Array2<f64>, PassError> {
        let scale = Array1::from(self.scale.clone()).insert_axis(Axis(1));
        let table = &x * &scale;
        let (lines, width) = table.dim();
        let product = self.rows.run(&Product {
            offsets: BaseClustering::offsets(self.rows.source().bases()),
            strengths: self.strengths.to_vec(),
            width,
            table: table.iter().copied().collect(),
        })?;
        let product = Array2::from_shape_vec((lines, width), product.0);
        Ok(product.expect("as many numbers as the table") * &scale)
    }

    /// The same eigenpairs by way of a few rows: with `X = diag(√(w/d)) B S D^-½` the cluster graph is `Xᵀ X`, and an eigenvector u of
    /// `X Xᵀ` gives `Xᵀ u / √λ`.
    fn by_rows(&self, count: usize, seed: Seed) -> Result<Eigenpairs, GraphError> {
        let settings = LanczosSettings::default();
        let sample = RowSample::draw(self.rows, settings.fallback_side, seed)?;
        let rows = EnsembleRows::weighted(&sample.ensemble, &sample.weights).with_shares();
        let mut lines: Vec<Vec<(usize, f64)>> = Vec::new();
        PassRunner::new(&rows, &Silent).each(&ScaledRows(self), &mut |_, more| {
            lines.extend(more);
            Ok(())
        })?;
        let (n, side) = (lines.len(), self.scale.len());
        let mut members: Vec<Vec<(usize, f64)>> = vec![Vec::new(); side];
        for (i, line) in lines.iter().enumerate() {
            line.iter().for_each(|&(c, x)| members[c].push((i, x)));
        }
        let mut graph = Array2::<f64>::zeros((n, n));
        let products = graph.axis_iter_mut(Axis(0)).into_par_iter().zip(&lines);
        products.for_each(|(mut products, line)| {
            for &(c, x) in line {
                members[c].iter().for_each(|&(j, y)| products[j] += x * y);
            }
        });
        let mut pairs = top_eigenpairs(graph.view(), count.min(n), seed, &settings)?;
        let mut vectors = Array2::zeros((side, pairs.values.len()));
        for (line, own) in lines.iter().zip(pairs.vectors.outer_iter()) {
            line.iter()
                .for_each(|&(c, x)| vectors.row_mut(c).scaled_add(x, &own));
        }
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
}

/// The degree of a row: what its edges weigh.
fn degree(entries: &[Entry], strengths: &[f64]) -> f64 {
    let edge = |entry: &Entry| entry.share * strengths[entry.cluster];
    entries.iter().map(edge).sum()
}

/// Rows of X in [`ClusterGraph::by_rows`]: base clusters and numbers.
struct ScaledRows<'a>(&'a ClusterGraph<'a>);

impl RowMap for ScaledRows<'_> {
    type Out = Vec<Vec<(usize, f64)>>;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Self::Out {
        let graph = self.0;
        let offsets = BaseClustering::offsets(graph.rows.source().bases());
        let line = |(row, weight): (R, f64)| {
            let entries: Vec<Entry> = row.entries(&offsets).collect();
            let root = (weight / degree(&entries, graph.strengths)).sqrt();
            let scaled = |entry: &Entry| {
                let scale = graph.scale[entry.cluster];
                (entry.cluster, root * entry.share * scale)
            };
            entries.iter().map(scaled).collect()
        };
        block.rows().map(line).collect()
    }
}

/// A table of ΣJ lines times `Bᵀ diag(w/d) B`.
#[derive(Serialize, Deserialize)]
pub(crate) struct Product {
    offsets: Vec<usize>,
    strengths: Vec<f64>,
    width: usize,
    table: Vec<f64>,
}

/// Numbers that are added one by one.
#[derive(Serialize, Deserialize)]
pub(crate) struct Numbers(pub(crate) Vec<f64>);

impl Mergeable for Numbers {
    fn merge(&mut self, other: Self) {
        let pairs = self.0.iter_mut().zip(&other.0);
        pairs.for_each(|(sum, number)| *sum += number);
    }
}

impl RowPass for Product {
    type Sum = Numbers;
    const KIND: &'static str = "graph/product";
    const BLOCKS_A_SUM: u64 = 16;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        let offsets = BaseClustering::offsets(bases);
        let side = offsets[bases.len()];
        self.offsets == offsets
            && self.strengths.len() == side
            && side.checked_mul(self.width) == Some(self.table.len())
    }

    fn zero(&self) -> Numbers {
        Numbers(vec![0.0; self.table.len()])
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Numbers) {
        let (width, mut place) = (self.width, vec![0.0; self.width]);
        let mut entries: Vec<Entry> = Vec::new();
        for (row, weight) in block.rows() {
            entries.clear();
            entries.extend(row.entries(&self.offsets));
            let factor = weight / degree(&entries, &self.strengths);
            place.fill(0.0);
            for entry in &entries {
                let line = &self.table[entry.cluster * width..][..width];
                let numbers = place.iter_mut().zip(line);
                numbers.for_each(|(x, number)| *x += entry.share * number);
            }
            for entry in &entries {
                let share = factor * entry.share;
                let line = &mut sum.0[entry.cluster * width..][..width];
                line.iter_mut()
                    .zip(&place)
                    .for_each(|(sum, x)| *sum += share * x);
            }
        }
    }
}

/// D^-½ of every base cluster: 0 for an empty one.
pub(crate) fn inverse_roots(degrees: &[f64]) -> Vec<f64> {
    let root = |degree: &f64| {
        if *degree > 0.0 {
            1.0 / degree.sqrt()
        } else {
            0.0
        }
    };
    degrees.iter().map(root).collect()
}

/// The leading eigenvectors of a cluster graph that is written out.
pub(crate) fn leading(
    graph: ArrayView2<'_, f64>,
    clusters: usize,
    seed: Seed,
) -> Result<Eigenpairs, GraphError> {
    let (side, settings) = (graph.nrows(), LanczosSettings::default());
    let product = |x: ArrayView2<'_, f64>, y: ArrayViewMut2<'_, f64>| multiply(graph, x, y);
    Ok(lanczos(side, clusters.min(side), product, seed, &settings)?)
}

/// A matrix times a block, rows side by side.
fn multiply(matrix: ArrayView2<'_, f64>, x: ArrayView2<'_, f64>, mut y: ArrayViewMut2<'_, f64>) {
    let lines = y.axis_chunks_iter_mut(Axis(0), 256).into_par_iter();
    lines
        .zip(matrix.axis_chunks_iter(Axis(0), 256))
        .for_each(|(mut y, lines)| general_mat_mul(1.0, &lines, &x, 0.0, &mut y));
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_conformance::{draw, draw_shares, ensemble_of_shares};
    use partita_core::Ensemble;

    fn checked(ensemble: &Ensemble, seed: u64) {
        let source = EnsembleRows::new(ensemble).with_shares();
        let rows = PassRunner::new(&source, &Silent);
        let sizes = Overlap::count(&rows).unwrap().sizes();
        let strengths: Vec<f64> = (0..sizes.len()).map(|c| 0.5 + (c % 3) as f64).collect();
        let graph = ClusterGraph::new(&rows, &sizes, &strengths);
        let matrix = graph.matrix().unwrap();
        let product = graph.through(Array2::eye(sizes.len()).view()).unwrap();
        assert!(
            (&matrix - &product).iter().all(|x| x.abs() < 1e-12),
            "{seed}"
        );
        // The trivial eigenvector: D^½ 1, value 1.
        let degrees = sizes.iter().zip(&strengths).map(|(n, s)| (n * s).sqrt());
        let trivial = Array1::from_iter(degrees);
        let gap = matrix.dot(&trivial) - &trivial;
        assert!(gap.iter().all(|x| x.abs() < 1e-9), "{seed}");

        let count = 3.min(ensemble.objects());
        let one = graph
            .leading(count, Seed::new(1), MemoryBudget::UNLIMITED, &Silent)
            .unwrap();
        let other = graph.by_rows(count, Seed::new(1)).unwrap();
        let same = one.values.iter().zip(&other.values);
        assert!(same.clone().all(|(a, b)| (a - b).abs() < 1e-7), "{seed}");
        let vectors = other.vectors.columns().into_iter().zip(&other.values);
        for (vector, &value) in vectors.filter(|(_, value)| **value > 1e-9) {
            let gap = matrix.dot(&vector) - &vector * value;
            assert!(gap.iter().all(|x| x.abs() < 1e-7), "{seed}");
            assert!((vector.dot(&vector) - 1.0).abs() < 1e-7, "{seed}");
        }
    }

    #[test]
    fn written_out_through_the_rows_and_by_the_rows_it_is_one_graph() {
        for seed in 0..10 {
            checked(&draw(Seed::new(seed), 0.3).ensemble, seed);
            let drawn = draw_shares(Seed::new(seed));
            let tables = drawn.tables.iter().enumerate();
            checked(
                &ensemble_of_shares(tables.map(|(u, table)| (u.to_string(), table))),
                seed,
            );
        }
    }
}
