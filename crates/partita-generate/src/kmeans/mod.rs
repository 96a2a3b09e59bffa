//! k-means, one run or many over the same table.

mod kernel;
mod lloyd;
mod minibatch;
mod rows;
mod start;

use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{Seed, Stopped, Watch};
use serde::{Deserialize, Serialize};

pub(crate) use lloyd::{Fit, NONE, lloyd as many};
pub(crate) use minibatch::minibatch;
pub(crate) use rows::{Members, Rows};

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
/// the row that is farthest from its centre. With the watch told to stop, nothing is returned.
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
    watch: &dyn Watch,
) -> Result<KMeans, GenerateError> {
    let (rows, mut job) = prepare(values, weights, clusters, settings)?;
    job.seed = seed;
    run_one(&rows, &job, settings, watch)
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
    watch: &dyn Watch,
) -> Result<KMeans, GenerateError> {
    let (rows, mut job) = prepare(values, weights, centres.nrows(), settings)?;
    if centres.ncols() != values.ncols() || centres.iter().any(|c| !c.is_finite()) {
        let (k, d) = centres.dim();
        return Err(GenerateError::Shape(format!(
            "starting centres are {k} × {d}; they must be finite numbers and as wide as the table, {}",
            values.ncols()
        )));
    }
    job.given = Some(rows.scaled(centres));
    run_one(&rows, &job, settings, watch)
}

fn prepare(
    values: ArrayView2<'_, f64>,
    weights: Option<&[f64]>,
    clusters: usize,
    settings: &KMeansSettings,
) -> Result<(Rows, Job), GenerateError> {
    check_table(values)?;
    let objects = values.nrows();
    match clusters {
        0 => return Err(GenerateError::NoClusters),
        _ if clusters > objects.min(partita_core::MAX_BASE_CLUSTERS) => {
            return Err(GenerateError::TooManyClusters { clusters, objects });
        }
        _ => {}
    }
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

fn run_one(rows: &Rows, job: &Job, settings: &KMeansSettings, watch: &dyn Watch) -> Result<KMeans, GenerateError> {
    let mut fit = None;
    let progress = Progress::new(1, watch);
    many(rows, std::slice::from_ref(job), settings, &progress, &mut |_, made| fit = Some(made));
    let fit = fit.ok_or(GenerateError::NothingFinished { asked: 1 })?;
    Ok(KMeans {
        labels: fit.labels.iter().map(|&label| u32::from(label)).collect(),
        centres: rows.unscaled(&fit.centres),
        inertia: fit.inertia,
        rounds: fit.rounds,
        stopped: fit.stopped,
    })
}
