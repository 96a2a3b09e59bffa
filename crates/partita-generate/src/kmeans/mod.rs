//! k-means, one run or many over the same table.

mod lloyd;
mod minibatch;
mod rows;
mod sparse;
mod start;

use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{Monitor, Seed, Stopped};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

pub(crate) use lloyd::{Fit, NONE, lloyd as many};
pub(crate) use minibatch::minibatch;
pub(crate) use rows::{Members, Rows};
pub(crate) use sparse::{SparseRows, sparse};
pub use sparse::{kmeans_sparse, kmeans_sparse_from};

use crate::GenerateError;
use crate::check::check_table;
use crate::progress::Progress;

/// Where centres start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// k-means++: rows drawn in proportion to their squared distance from the centres so far.
    PlusPlus,
    /// k-means++ where each centre is the best of 2 + ⌊ln k⌋ such draws.
    Greedy,
    /// Distinct rows drawn evenly.
    Random,
}

/// How far apart two rows are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Distance {
    /// Squared Euclidean distance.
    Euclidean,
    /// 1 − cosine of the angle between them (spherical k-means). A row of zeros is at a right angle to all.
    Cosine,
}

/// Settings of [`kmeans`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
#[non_exhaustive]
pub struct KMeansSettings {
    /// Where centres start.
    pub start: Start,
    /// How far apart two rows are.
    pub distance: Distance,
    /// Most rounds of assigning rows and moving centres.
    pub rounds: NonZeroU32,
    /// Stop when the squared moves of all centres sum to no more than this times the mean variance of the
    /// columns (the meaning that scikit-learn gives it).
    pub tolerance: f64,
}

impl Default for KMeansSettings {
    fn default() -> Self {
        Self {
            start: Start::PlusPlus,
            distance: Distance::Euclidean,
            rounds: NonZeroU32::new(300).expect("300 is not 0"),
            tolerance: 1e-4,
        }
    }
}

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
    /// Rounds used.
    pub rounds: usize,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// One run to be made.
pub(crate) struct Job {
    pub(crate) clusters: usize,
    pub(crate) start: Start,
    pub(crate) seed: Seed,
    pub(crate) members: Members,
    /// Starting centres in scaled units, instead of `start`.
    pub(crate) given: Option<Vec<f64>>,
}

/// Clusters the rows of a table (n × d) by k-means, rows weighted where `weights` are given.
///
/// Distances are computed in single precision and sums in double. A cluster that loses all its rows is given
/// the row that is farthest from its centre. With the monitor told to stop, nothing is returned.
///
/// # Errors
/// [`GenerateError`] for 0 or more than n clusters, a number that is not finite, weights that are not n positive
/// numbers, or a stop.
///
/// # Cost
/// O(n·d·k) time a round; 8·n·d bytes besides the table.
pub fn kmeans(
    values: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    clusters: usize,
    seed: Seed,
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<KMeans, GenerateError> {
    let (rows, mut job) = prepare(values, weights, clusters, settings)?;
    job.seed = seed;
    run_one(&rows, &job, settings, monitor)
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
) -> Result<KMeans, GenerateError> {
    let (rows, mut job) = prepare(values, weights, centres.nrows(), settings)?;
    check_centres(centres, values.ncols())?;
    job.given = Some(rows.scaled(centres));
    run_one(&rows, &job, settings, monitor)
}

/// One of many runs over the same table.
#[derive(Clone, Copy, Debug)]
pub struct KMeansRun<'a> {
    /// Starting centres, k × d.
    pub centres: ArrayView2<'a, f64>,
    /// Indices of the rows that it sees, rising; all where not given.
    pub objects: Option<&'a [usize]>,
}

/// Many runs of k-means over the same table (n × d), which advance together: a block of rows is read once a round for
/// all of them. The labels of each are those of its objects, in their order.
///
/// # Errors
/// As [`kmeans_from`], for any of the runs, and for objects that are no rising list of row indices.
///
/// # Cost
/// O(n·d·Σk) time a round; 8·n·d bytes besides the table and 10·n bytes a run.
pub fn kmeans_many(
    values: ArrayView2<'_, f64>,
    runs: &[KMeansRun<'_>],
    settings: &KMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Vec<KMeans>, GenerateError> {
    check_table(values)?;
    let rows = Rows::new(values, None, settings.distance == Distance::Cosine);
    let jobs = runs.iter().map(|run| job(run, &rows, values)).collect::<Result<Vec<_>, _>>()?;
    let progress = Progress::new(jobs.len(), monitor);
    let fits = in_groups(&rows, &jobs, |jobs| {
        let mut fits: Vec<Option<Fit>> = jobs.iter().map(|_| None).collect();
        many(&rows, jobs, settings, &progress, &mut |u, fit| {
            progress.finished();
            fits[u] = Some(fit);
        });
        fits
    });
    let asked = jobs.len();
    let found = |(fit, job): (Option<Fit>, &Job)| {
        let fit = fit.ok_or(GenerateError::NothingFinished { asked })?;
        Ok(KMeans { labels: job.members.iter().map(|i| u32::from(fit.labels[i])).collect(), ..outcome(&rows, &fit) })
    };
    fits.into_iter().zip(&jobs).map(found).collect()
}

fn job(run: &KMeansRun<'_>, rows: &Rows, values: ArrayView2<'_, f64>) -> Result<Job, GenerateError> {
    let n = values.nrows();
    check_centres(run.centres, values.ncols())?;
    let members = match run.objects {
        None => Members::all(n),
        Some(objects) if objects.is_sorted_by(|a, b| a < b) && objects.last().is_none_or(|&last| last < n) => {
            let mut marks = vec![false; n];
            objects.iter().for_each(|&i| marks[i] = true);
            Members::those(marks.into_iter())
        }
        Some(_) => return Err(GenerateError::Shape(format!("the objects of a run must rise and be below {n}"))),
    };
    let clusters = run.centres.nrows();
    check_clusters(clusters, members.count())?;
    Ok(Job { clusters, start: Start::Random, seed: Seed::default(), members, given: Some(rows.scaled(run.centres)) })
}

/// What is done to all items, in groups that advance together. A large table is cut into chunks for the threads inside
/// a group; small ones share the groups out.
pub(crate) fn in_groups<T: Sync, R: Send>(
    rows: &Rows,
    items: &[T],
    group: impl Fn(&[T]) -> Vec<R> + Sync + Send,
) -> Vec<R> {
    let done: Vec<Vec<R>> = if rows.large() {
        items.chunks(rows.together()).map(group).collect()
    } else {
        items.par_chunks(rows.together()).map(group).collect()
    };
    done.into_iter().flatten().collect()
}

fn check_centres(centres: ArrayView2<'_, f64>, columns: usize) -> Result<(), GenerateError> {
    let (k, d) = centres.dim();
    if d != columns || centres.iter().any(|c| !c.is_finite()) {
        return Err(GenerateError::Shape(format!(
            "starting centres are {k} × {d}; they must be finite numbers and as wide as the table, {columns}"
        )));
    }
    Ok(())
}

fn check_clusters(clusters: usize, objects: usize) -> Result<(), GenerateError> {
    match clusters {
        0 => Err(GenerateError::NoClusters),
        _ if clusters > objects.min(partita_core::MAX_BASE_CLUSTERS) => {
            Err(GenerateError::TooManyClusters { clusters, objects })
        }
        _ => Ok(()),
    }
}

fn prepare(
    values: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    clusters: usize,
    settings: &KMeansSettings,
) -> Result<(Rows, Job), GenerateError> {
    check_table(values)?;
    let objects = values.nrows();
    check_clusters(clusters, objects)?;
    if let Some(weights) = weights
        && (weights.len() != objects || weights.iter().any(|w| !(*w > 0.0 && w.is_finite())))
    {
        return Err(GenerateError::Shape(format!(
            "{} weights for {objects} rows; there must be one positive number a row",
            weights.len()
        )));
    }
    let rows = Rows::new(values, weights, settings.distance == Distance::Cosine);
    let members = Members::all(objects);
    Ok((rows, Job { clusters, start: settings.start, seed: Seed::default(), members, given: None }))
}

fn run_one(rows: &Rows, job: &Job, settings: &KMeansSettings, monitor: &dyn Monitor) -> Result<KMeans, GenerateError> {
    let mut fit = None;
    let progress = Progress::new(1, monitor);
    many(rows, std::slice::from_ref(job), settings, &progress, &mut |_, made| fit = Some(made));
    Ok(outcome(rows, &fit.ok_or(GenerateError::NothingFinished { asked: 1 })?))
}

fn outcome(rows: &Rows, fit: &Fit) -> KMeans {
    KMeans {
        labels: fit.labels.iter().map(|&label| u32::from(label)).collect(),
        centres: rows.unscaled(&fit.centres),
        inertia: fit.inertia,
        rounds: fit.rounds,
        stopped: fit.stopped,
    }
}
