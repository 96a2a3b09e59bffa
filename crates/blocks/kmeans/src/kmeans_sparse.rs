//! k-means of a sparse table: the functions to call.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{Monitor, ProgressCounter, Seed};
use sprs::CsMatView;

use crate::check::{check_centres, check_clusters};
use crate::error::KMeansError;
use crate::kmeans::KMeans;
use crate::members::Members;
use crate::run::RunSpec;
use crate::settings::{Distance, KMeansSettings};
use crate::sparse_lloyd::lloyd_sparse;
use crate::sparse_rows::SparseRows;

/// [`kmeans`](crate::kmeans) of a sparse table (n × d), of which only the entries are read.
///
/// The iterations, starts, repairs and numbers are those of the dense table; by cosine the labels too, up to rows that
/// are equally near to two centres in single precision. By Euclidean distance columns are not centred first, which
/// would fill them: with columns far from 0 the dense table is more exact.
///
/// # Errors
/// As [`kmeans`](crate::kmeans).
///
/// # Cost
/// O(entries · k) time an iteration; 8 bytes an entry besides the table, and 20·k·d bytes for the centres.
pub fn kmeans_sparse(
    values: CsMatView<'_, f64>,
    weights: Option<&[f64]>,
    clusters: usize,
    seed: Seed,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, KMeansError> {
    let rows = SparseRows::new(values, weights, settings.distance == Distance::Cosine)?;
    check_clusters(clusters, rows.n)?;
    let members = Members::all(rows.n);
    run(
        &rows,
        &RunSpec {
            clusters,
            initialization: settings.initialization,
            seed,
            members,
            given: None,
        },
        settings,
        monitor,
    )
}

/// As [`kmeans_sparse`], from the given centres (k × d).
///
/// # Errors
/// As [`kmeans_from`](crate::kmeans_from).
pub fn kmeans_sparse_from(
    values: CsMatView<'_, f64>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, f64>,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, KMeansError> {
    let rows = SparseRows::new(values, weights, settings.distance == Distance::Cosine)?;
    let clusters = centres.nrows();
    check_clusters(clusters, rows.n)?;
    check_centres(centres, rows.d)?;
    let (members, given) = (Members::all(rows.n), Some(rows.scaled(centres)));
    run(
        &rows,
        &RunSpec {
            clusters,
            initialization: settings.initialization,
            seed: Seed::default(),
            members,
            given,
        },
        settings,
        monitor,
    )
}

fn run(
    rows: &SparseRows,
    spec: &RunSpec,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, KMeansError> {
    let progress = ProgressCounter::new(monitor, 1);
    let fit = lloyd_sparse(rows, spec, settings, &progress)
        .ok_or(KMeansError::Interrupted { asked: 1 })?;
    let factor = if rows.cosine { 1.0 } else { rows.factor };
    let centres = fit.centres.iter().map(|c| c / factor).collect();
    Ok(KMeans {
        labels: fit.labels.iter().map(|&label| u32::from(label)).collect(),
        centres: Array2::from_shape_vec((fit.clusters, rows.d), centres)
            .expect("one centre of d numbers a cluster"),
        inertia: fit.inertia,
        iterations: fit.iterations,
        stopped: fit.stopped,
    })
}
