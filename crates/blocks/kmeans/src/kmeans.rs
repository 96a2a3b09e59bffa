//! k-means of a dense table: the functions to call, for one run or many over the same table.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{Monitor, ProgressCounter, Seed, Stopped};

use crate::check::{check_centres, check_clusters, check_table, check_weights};
use crate::dense_rows::DenseRows;
use crate::error::KMeansError;
use crate::lloyd::lloyd;
use crate::members::Members;
use crate::run::{Fit, RunSpec};
use crate::settings::{Distance, Initialization, KMeansSettings};

/// One k-means clustering.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct KMeans {
    /// The cluster of every row, n of them.
    pub labels: Vec<u32>,
    /// The centres, clusters × d, in the units of the table (by cosine: of length 1). There are fewer than
    /// asked for where the table has fewer distinct rows.
    pub centres: Array2<f64>,
    /// Σ w‖x − c‖², by cosine Σ w(1 − cos).
    pub inertia: f64,
    /// Iterations used.
    pub iterations: usize,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// Clusters the rows of a table (n × d) by k-means, rows weighted where `weights` are given.
///
/// Distances are computed in single precision and sums in double. A cluster that loses all its rows is given
/// the row that is farthest from its centre. With the monitor told to stop, nothing is returned.
///
/// A row is compared with the centres only where they have moved so far since it was last compared that its label may change (Hamerly
/// 2010); labels are those of comparing all, to the bit.
///
/// # Errors
/// [`KMeansError`] for 0 or more than n clusters, a number that is not finite, weights that are not n positive
/// numbers, or a stop.
///
/// # Cost
/// O(n·d·k) time an iteration, less once centres move little; 8·n·d bytes besides the table.
pub fn kmeans(
    values: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    clusters: usize,
    seed: Seed,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, KMeansError> {
    let (rows, mut spec) = prepare(values, weights, clusters, settings)?;
    spec.seed = seed;
    run_one(&rows, &spec, settings, monitor)
}

/// As [`kmeans`], from the given centres (k × d).
///
/// # Errors
/// As [`kmeans`], and for centres of another width than the table or that are not finite.
pub fn kmeans_from(
    values: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    centres: ArrayView2<'_, f64>,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, KMeansError> {
    let (rows, mut spec) = prepare(values, weights, centres.nrows(), settings)?;
    check_centres(centres, values.ncols())?;
    spec.given = Some(rows.scaled(centres));
    run_one(&rows, &spec, settings, monitor)
}

/// One of many runs over the same table.
#[derive(Clone, Copy, Debug)]
pub struct KMeansRun<'a> {
    /// Starting centres, k × d.
    pub centres: ArrayView2<'a, f64>,
    /// Indices of the rows that it sees, rising; all where not given.
    pub objects: Option<&'a [usize]>,
}

/// Many runs of k-means over the same table (n × d), which advance together: a block of rows is read once an iteration for
/// all of them. The labels of each are those of its objects, in their order.
///
/// # Errors
/// As [`kmeans_from`], for any of the runs, and for objects that are no rising list of row indices.
///
/// # Cost
/// O(n·d·Σk) time in the first iterations, less once centres move little (see [`kmeans`]); 8·n·d bytes besides the table and 14·n
/// bytes a run.
pub fn kmeans_many(
    values: ArrayView2<'_, f64>,
    runs: &[KMeansRun<'_>],
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Vec<KMeans>, KMeansError> {
    check_table(values)?;
    let rows = DenseRows::new(values, None, settings.distance == Distance::Cosine);
    let specs = runs
        .iter()
        .map(|run| spec(run, &rows, values))
        .collect::<Result<Vec<_>, _>>()?;
    let progress = ProgressCounter::new(monitor, specs.len() as u64);
    let fits = rows.in_groups(&specs, |specs| {
        let mut fits: Vec<Option<Fit>> = specs.iter().map(|_| None).collect();
        lloyd(&rows, specs, settings, &progress, &mut |u, fit| {
            progress.add(1);
            fits[u] = Some(fit);
        });
        fits
    });
    let asked = specs.len();
    let found = |(fit, spec): (Option<Fit>, &RunSpec)| {
        let fit = fit.ok_or(KMeansError::Interrupted { asked })?;
        Ok(outcome(&rows, &spec.members, &fit))
    };
    fits.into_iter().zip(&specs).map(found).collect()
}

fn spec(
    run: &KMeansRun<'_>,
    rows: &DenseRows,
    values: ArrayView2<'_, f64>,
) -> Result<RunSpec, KMeansError> {
    let n = values.nrows();
    check_centres(run.centres, values.ncols())?;
    let members = match run.objects {
        None => Members::all(n),
        Some(objects)
            if objects.is_sorted_by(|a, b| a < b)
                && objects.last().is_none_or(|&last| last < n) =>
        {
            Members::among(n, objects.iter().copied())
        }
        Some(_) => {
            return Err(KMeansError::Shape(format!(
                "the objects of a run must rise and be below {n}"
            )));
        }
    };
    let clusters = run.centres.nrows();
    check_clusters(clusters, members.count())?;
    Ok(RunSpec {
        clusters,
        initialization: Initialization::Random,
        seed: Seed::default(),
        members,
        given: Some(rows.scaled(run.centres)),
    })
}

fn prepare(
    values: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    clusters: usize,
    settings: &KMeansSettings,
) -> Result<(DenseRows, RunSpec), KMeansError> {
    check_table(values)?;
    let objects = values.nrows();
    check_clusters(clusters, objects)?;
    check_weights(weights, objects)?;
    let rows = DenseRows::new(values, weights, settings.distance == Distance::Cosine);
    let members = Members::all(objects);
    Ok((
        rows,
        RunSpec {
            clusters,
            initialization: settings.initialization,
            seed: Seed::default(),
            members,
            given: None,
        },
    ))
}

fn run_one(
    rows: &DenseRows,
    spec: &RunSpec,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, KMeansError> {
    let mut fit = None;
    let progress = ProgressCounter::new(monitor, 1);
    lloyd(
        rows,
        std::slice::from_ref(spec),
        settings,
        &progress,
        &mut |_, made| fit = Some(made),
    );
    Ok(outcome(
        rows,
        &spec.members,
        &fit.ok_or(KMeansError::Interrupted { asked: 1 })?,
    ))
}

fn outcome(rows: &DenseRows, members: &Members, fit: &Fit) -> KMeans {
    let mut labels = Vec::with_capacity(members.count());
    labels.extend(members.iter().map(|i| u32::from(fit.labels[i])));
    KMeans {
        labels,
        centres: rows.unscaled(&fit.centres),
        inertia: fit.inertia,
        iterations: fit.iterations,
        stopped: fit.stopped,
    }
}
