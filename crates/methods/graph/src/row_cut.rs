//! The spectral cut over label rows that are not held: the cluster graph by one pass, k-means on embedded rows by passes
//! that embed every row anew.

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    BLOCK_ROWS, Monitor, PassRunner, ProblemSize, ProgressCounter, RowFit, RowSample, Seed,
    sums_under_way,
};
use partita_kmeans::embedded::{Search, best_start, sample_rows};
use partita_spectral::{Eigenpairs, LanczosSettings, lanczos};

use crate::GraphError;
use crate::bipartite::{inverse_roots, multiply};
use crate::row_kmeans::{Embedding, lloyd};
use crate::spectral::{SpectralDiagnostics, warnings};

/// Units of progress: the cluster graph and its eigenvectors, and k-means on embedded rows.
const GRAPH: u64 = 300;
const KMEANS: u64 = 700;

/// The normalised cut of the graph of objects and base clusters whose edges weigh as `strengths` says, over rows of which
/// `sizes` of each base cluster are known. The same as the cut of rows in memory but for the order of additions, and that
/// k-means starts from a sample of the rows.
pub(crate) fn cut(
    rows: &PassRunner<'_>,
    strengths: &[f64],
    sizes: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    let progress = ProgressCounter::new(monitor, GRAPH + KMEANS);
    let inverse_root = inverse_roots(sizes, strengths);
    let mut graph = Overlap::shared(rows, strengths)?.into_table();
    let scale: Vec<f64> = strengths
        .iter()
        .zip(&inverse_root)
        .map(|(s, r)| s * r)
        .collect();
    graph
        .indexed_iter_mut()
        .for_each(|((a, b), x)| *x *= scale[a] * scale[b]);
    let pairs = leading(graph.view(), search.clusters, seed)?;
    drop(graph);
    progress.add(GRAPH);
    if progress.stopped() {
        return Err(GraphError::Interrupted);
    }
    let total = (rows.source().rows() as f64).sqrt();
    let table = lifted(&pairs.vectors, &inverse_root, strengths, total);
    let mut fit = grouped_by(
        rows,
        (&pairs, &table),
        strengths,
        search,
        seed,
        &progress.part(KMEANS),
    )?;
    // Sizes are known once rows have labels: here all clusters pass for large.
    fit.warnings.extend(warnings(
        &vec![2; search.clusters],
        &fit.details.eigenvalues,
        pairs.next,
    ));
    Ok(fit)
}

/// The eigenvectors of a cluster graph that embed the objects, and their eigenvalues.
pub(crate) fn leading(
    graph: ArrayView2<'_, f64>,
    clusters: usize,
    seed: Seed,
) -> Result<Eigenpairs, GraphError> {
    let (side, settings) = (graph.nrows(), LanczosSettings::default());
    Ok(lanczos(
        side,
        clusters.min(side),
        |x, y| multiply(graph, x, y),
        seed.child(0),
        &settings,
    )?)
}

/// What a base cluster adds to the place of its objects: its line of the eigenvectors, by D^-½ and the weight of its edges, times
/// `total`.
pub(crate) fn lifted(
    vectors: &Array2<f64>,
    inverse_root: &[f64],
    strengths: &[f64],
    total: f64,
) -> Array2<f64> {
    let mut table = vectors.as_standard_layout().into_owned();
    for ((mut line, root), strength) in table.outer_iter_mut().zip(inverse_root).zip(strengths) {
        line.mapv_inplace(|x| x * root * strength * total);
    }
    table
}

/// [`grouped`] by eigenvectors, of which `table` is made.
pub(crate) fn grouped_by(
    rows: &PassRunner<'_>,
    (pairs, table): (&Eigenpairs, &Array2<f64>),
    strengths: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<RowFit<SpectralDiagnostics>, GraphError> {
    let (fit, eigenvalues) = (
        grouped(rows, table, strengths, search, seed, monitor)?,
        pairs.values.to_vec(),
    );
    Ok(fit.map_details(|()| SpectralDiagnostics {
        eigenvalues,
        distinct_rows: None,
    }))
}

/// k-means on rows at the means of their base clusters' lines of `table`, ΣJ × width, at length 1. `strengths` is what a label adds
/// to the degree of a row.
fn grouped(
    rows: &PassRunner<'_>,
    table: &Array2<f64>,
    strengths: &[f64],
    search: &Search,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<RowFit<()>, GraphError> {
    let embedding = Embedding::new(rows.source().bases(), table.view(), strengths);
    let seed = seed.child(1);
    let sample = RowSample::draw(rows, sample_rows(search.clusters), seed.child(u64::MAX))?;
    let centroids = rows.once(
        "graph/starts",
        |centroids: &Array2<f64>| {
            centroids.ncols() == table.ncols() && (1..=search.clusters).contains(&centroids.nrows())
        },
        || {
            best_start(
                embedding.of(&sample.ensemble).view(),
                &sample.weights,
                search,
                seed,
                monitor,
            )
        },
    )?;
    drop(sample);
    lloyd(rows, embedding, &centroids, search, monitor)
}

/// Bytes that a cut of rows that are not held holds at once, at most: tables of all pairs of base clusters of the groups
/// that are under way and of the levels of their sum, the Krylov space, and rows drawn for initializations.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let [n, _, side, k] = size.saturating();
    let levels = Saturating(u64::from((n.0 / (16 * BLOCK_ROWS) + 1).ilog2()));
    let width = k.min(side) + Saturating(8);
    let tables = side * side * Saturating(8) * (levels + Saturating(2 * sums_under_way() + 2));
    let most = sample_rows(k.0 as usize) as u64;
    let start = Saturating(most) * width * Saturating(8 * (2 + u64::from(restarts.min(64))));
    (tables + side * width * Saturating(8 * 40) + start + Saturating(RowSample::bytes(size, most)))
        .0
}

#[cfg(test)]
mod tests {
    use partita_core::{
        Ensemble, EnsembleBuilder, EnsembleRows, Objective, Partition, PassRunner, RowFit, Seed,
        Silent,
    };
    use rand::RngExt;

    use crate::{HbgfSettings, LwgpSettings, hbgf, hbgf_rows, lwgp, lwgp_rows};

    /// Noisy views of four clusters with missing labels: rows beyond several blocks.
    fn drawn(objects: usize) -> Ensemble {
        let mut rng = Seed::new(5).rng();
        let mut builder = EnsembleBuilder::new(objects);
        for u in 0..12 {
            let label = |i: usize| {
                let noisy = rng.random_bool(0.3);
                let label = if noisy {
                    rng.random_range(0..5)
                } else {
                    (i % 4) as u32
                };
                (i % 12 == u || !rng.random_bool(0.1)).then_some(label)
            };
            builder
                .push(format!("u{u}"), (0..objects).map(label).collect::<Vec<_>>())
                .unwrap();
        }
        builder.finish().unwrap()
    }

    fn labels<D>(fit: &RowFit<D>, rows: &PassRunner<'_>) -> (Vec<u32>, Vec<f64>) {
        let (mut labels, mut certainty) = (Vec::new(), Vec::new());
        fit.label(rows, &mut |_, assigned| {
            labels.extend(assigned.labels);
            certainty.extend(assigned.certainty);
            Ok(())
        })
        .unwrap();
        (labels, certainty)
    }

    /// The same groups but for one object in a thousand: other starts end a little apart.
    fn alike(a: &[u32], b: &[u32]) -> bool {
        let shown = |labels: &[u32]| Partition::new(labels.to_vec(), 4).unwrap().by_appearance();
        let (a, b) = (shown(a), shown(b));
        a.labels()
            .iter()
            .zip(b.labels())
            .filter(|(a, b)| a != b)
            .count()
            <= a.objects() / 1000
    }

    #[test]
    fn rows_by_blocks_and_rows_in_memory_have_the_same_cut() {
        let ensemble = drawn(30_000);
        let source = EnsembleRows::new(&ensemble);
        let rows = PassRunner::new(&source, &Silent);
        let settings = LwgpSettings::default();
        let memory = lwgp(&ensemble, 4, Seed::new(1), &settings, &Silent).unwrap();
        let blocks = lwgp_rows(&rows, None, 4, Seed::new(1), &settings, &Silent).unwrap();
        let (found, certainty) = labels(&blocks, &rows);
        assert!(alike(&found, memory.partition.labels()));
        let order: Vec<u32> = (0..30_000).rev().collect();
        let turned = ensemble.select(&order, &(0..12).collect::<Vec<u32>>());
        let source = EnsembleRows::new(&turned);
        let turned = PassRunner::new(&source, &Silent);
        let other = lwgp_rows(&turned, None, 4, Seed::new(1), &settings, &Silent).unwrap();
        let other: Vec<u32> = labels(&other, &turned).0.into_iter().rev().collect();
        assert!(found == other, "the order of rows changes labels");
        assert!(
            certainty
                .iter()
                .zip(&memory.certainty)
                .all(|(a, b)| (a - b).abs() < 1e-3)
        );
        let loss = |objective: &Option<Objective>| objective.as_ref().unwrap().value;
        assert!((loss(&blocks.objective) / loss(&memory.objective) - 1.0).abs() < 1e-6);

        let memory = hbgf(
            &ensemble,
            4,
            Seed::new(1),
            &HbgfSettings::default(),
            &Silent,
        )
        .unwrap();
        let blocks = hbgf_rows(
            &rows,
            None,
            4,
            Seed::new(1),
            &HbgfSettings::default(),
            &Silent,
        )
        .unwrap();
        assert!(alike(&labels(&blocks, &rows).0, memory.partition.labels()));
    }
}
