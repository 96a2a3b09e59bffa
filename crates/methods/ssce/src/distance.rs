//! Models by distance: nearest centroid and nearest neighbours.

use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, ArrayView1, Axis};
use partita_core::{
    Features, Model, ModelError, ModelInput, ModelReads, Partition, SoftPartition, Unread,
};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::SsceError;
use crate::columns::{SavedScaling, damaged, opened, sealed, table, unread};
use crate::design::{Scaling, check_table};
use crate::target::Target;

/// What [`CentroidModel::to_json`] writes as `format`.
pub(crate) const CENTROIDS: &str = "partita centroids 1";
/// What [`NeighbourModel::to_json`] writes as `format`.
pub(crate) const NEIGHBOURS: &str = "partita neighbours 1";

/// Labels a new object like the nearest cluster centre, on scaled columns. Probabilities are those of equally large
/// round Gaussians about the centres with the spread that the clusters have on average.
#[derive(Clone, Debug, PartialEq)]
pub struct CentroidModel {
    scaling: Scaling,
    /// K × d; clusters without an object have none.
    centroids: Vec<Option<Vec<f64>>>,
    /// Mean squared distance from the own centre, per column.
    variance: f64,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedCentroids {
    format: String,
    #[serde(flatten)]
    scaling: SavedScaling,
    centroids: Vec<Option<Vec<f64>>>,
    variance: f64,
}

impl CentroidModel {
    /// The centres of the clusters of a partition.
    ///
    /// # Errors
    /// [`SsceError::Rows`], [`SsceError::NoColumns`] and [`SsceError::Scale`].
    pub fn learn(features: &Features<'_>, partition: &Partition) -> Result<Self, SsceError> {
        Self::of(features, Target::Hard(partition))
    }

    /// The centres of the clusters of a soft partition: an object counts in a cluster as much as it is probable
    /// there.
    ///
    /// # Errors
    /// As [`CentroidModel::learn`].
    pub fn learn_soft(features: &Features<'_>, soft: &SoftPartition) -> Result<Self, SsceError> {
        Self::of(features, Target::Soft(soft))
    }

    pub(crate) fn of(features: &Features<'_>, target: Target<'_>) -> Result<Self, SsceError> {
        check_table(features, target.objects())?;
        let scaling = Scaling::of(features)?;
        let x = scaling.apply(features.values(), None);
        let mut sums = Array2::<f64>::zeros((target.clusters(), x.ncols()));
        let mut sizes = vec![0.0; target.clusters()];
        for (i, row) in x.outer_iter().enumerate() {
            target.shares(i, |k, share| {
                sums.row_mut(k).scaled_add(share, &row);
                sizes[k] += share;
            });
        }
        let centre = |(sum, size): (ArrayView1<'_, f64>, &f64)| {
            // Less than this is rounding of a soft consensus, not an object.
            (*size > 1e-9).then(|| sum.iter().map(|x| x / size).collect::<Vec<f64>>())
        };
        let centroids: Vec<_> = sums.outer_iter().zip(&sizes).map(centre).collect();
        let mut apart = 0.0;
        for (i, row) in x.outer_iter().enumerate() {
            target.shares(i, |k, share| {
                apart += centroids[k]
                    .as_ref()
                    .map_or(0.0, |centre| share * distance(row, centre));
            });
        }
        Ok(Self {
            variance: (apart / x.len() as f64).max(1e-9),
            scaling,
            centroids,
        })
    }

    /// A saved model.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] says what is wrong.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        let saved: SavedCentroids = opened(value)?;
        let scaling = saved.scaling.checked()?;
        let fits = |centre: &Vec<f64>| {
            centre.len() == scaling.columns.len() && centre.iter().all(|x| x.is_finite())
        };
        if !saved.centroids.iter().flatten().all(fits)
            || saved.centroids.iter().flatten().next().is_none()
        {
            return Err(damaged("its centroids do not fit its columns".into()));
        }
        if !(saved.variance.is_finite() && saved.variance > 0.0) {
            return Err(damaged(format!("its variance is {}", saved.variance)));
        }
        Ok(Self {
            scaling,
            centroids: saved.centroids,
            variance: saved.variance,
        })
    }
}

impl Model for CentroidModel {
    fn to_json(&self) -> Value {
        sealed(&SavedCentroids {
            format: CENTROIDS.into(),
            scaling: SavedScaling::of(&self.scaling),
            centroids: self.centroids.clone(),
            variance: self.variance,
        })
    }

    fn reads(&self) -> ModelReads {
        ModelReads::Features
    }

    fn unread(&self, input: &ModelInput<'_>) -> Result<Unread, ModelError> {
        Ok(unread(&self.scaling, input))
    }

    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError> {
        let x = self
            .scaling
            .apply(table(&self.scaling, input)?.view(), None);
        let mut rows = Array2::zeros((x.nrows(), self.centroids.len()));
        for (x, mut row) in x.outer_iter().zip(rows.outer_iter_mut()) {
            let far = |centre: &Option<Vec<f64>>| {
                centre
                    .as_ref()
                    .map_or(f64::INFINITY, |centre| distance(x, centre))
            };
            let distances: Vec<f64> = self.centroids.iter().map(far).collect();
            let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let weight = |distance: &f64| ((nearest - distance) / (2.0 * self.variance)).exp();
            let weights: Vec<f64> = distances.iter().map(weight).collect();
            let sum: f64 = weights.iter().sum();
            row.iter_mut()
                .zip(weights)
                .for_each(|(p, weight)| *p = weight / sum);
        }
        simplex(rows)
    }
}

/// Labels a new object like the nearest target objects, on scaled columns. Probabilities are their votes, one each;
/// where they are equally far, objects of the smaller index vote.
///
/// # Cost
/// O(n d) time for each new object, all of n target ones being looked at; n d ≤ 10,000,000
/// ([`NeighbourModel::MOST_NUMBERS`]) numbers are kept and saved.
#[derive(Clone, Debug, PartialEq)]
pub struct NeighbourModel {
    scaling: Scaling,
    neighbours: NonZeroU32,
    clusters: usize,
    rows: Array2<f64>,
    labels: Vec<u32>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedNeighbours {
    format: String,
    #[serde(flatten)]
    scaling: SavedScaling,
    neighbours: NonZeroU32,
    clusters: usize,
    rows: Vec<Vec<f64>>,
    labels: Vec<u32>,
}

impl NeighbourModel {
    /// The most numbers, rows times columns, that a model keeps.
    pub const MOST_NUMBERS: usize = 10_000_000;

    /// A model that asks so many neighbours among the objects of a partition.
    ///
    /// # Errors
    /// [`SsceError::Rows`], [`SsceError::NoColumns`], [`SsceError::Scale`], [`SsceError::Clusters`] for more clusters
    /// than objects, and [`SsceError::Neighbours`] for more numbers than are kept.
    pub fn learn(
        features: &Features<'_>,
        partition: &Partition,
        neighbours: NonZeroU32,
    ) -> Result<Self, SsceError> {
        Self::of(features, Target::Hard(partition), neighbours)
    }

    pub(crate) fn of(
        features: &Features<'_>,
        target: Target<'_>,
        neighbours: NonZeroU32,
    ) -> Result<Self, SsceError> {
        let (objects, clusters) = (target.objects(), target.clusters());
        check_table(features, objects)?;
        if clusters == 0 || clusters > objects {
            return Err(SsceError::Clusters { clusters, objects });
        }
        let (numbers, most) = (features.values().len(), Self::MOST_NUMBERS);
        if numbers > most {
            return Err(SsceError::Neighbours { numbers, most });
        }
        let scaling = Scaling::of(features)?;
        let rows = scaling.apply(features.values(), None);
        Ok(Self {
            scaling,
            neighbours,
            clusters,
            rows,
            labels: target.labels(),
        })
    }

    /// A saved model.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] says what is wrong.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        let saved: SavedNeighbours = opened(value)?;
        let scaling = saved.scaling.checked()?;
        let (n, d) = (saved.rows.len(), scaling.columns.len());
        let even = n > 0 && saved.labels.len() == n && saved.rows.iter().all(|row| row.len() == d);
        if !even || saved.rows.iter().flatten().any(|x| !x.is_finite()) {
            return Err(damaged(format!(
                "it needs as many labels as rows, and {d} finite numbers a row"
            )));
        }
        if saved.clusters > n {
            return Err(damaged(format!(
                "it has {} clusters of {n} objects",
                saved.clusters
            )));
        }
        if saved
            .labels
            .iter()
            .any(|&label| label as usize >= saved.clusters)
        {
            return Err(damaged(format!(
                "it has a label beyond its {} clusters",
                saved.clusters
            )));
        }
        let rows = Array2::from_shape_fn((n, d), |(i, j)| saved.rows[i][j]);
        Ok(Self {
            scaling,
            neighbours: saved.neighbours,
            clusters: saved.clusters,
            rows,
            labels: saved.labels,
        })
    }

    fn shares(&self, x: ArrayView1<'_, f64>, shares: &mut [f64]) {
        let measured = |(i, row): (usize, ArrayView1<'_, f64>)| {
            (
                row.iter()
                    .zip(x)
                    .map(|(a, b)| (a - b) * (a - b))
                    .sum::<f64>(),
                i,
            )
        };
        let mut distances: Vec<(f64, usize)> =
            self.rows.outer_iter().enumerate().map(measured).collect();
        let count = (self.neighbours.get() as usize).min(distances.len());
        let order = |a: &(f64, usize), b: &(f64, usize)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        distances.select_nth_unstable_by(count - 1, order);
        distances[..count]
            .iter()
            .for_each(|&(_, i)| shares[self.labels[i] as usize] += 1.0);
        shares.iter_mut().for_each(|share| *share /= count as f64);
    }
}

impl Model for NeighbourModel {
    fn to_json(&self) -> Value {
        sealed(&SavedNeighbours {
            format: NEIGHBOURS.into(),
            scaling: SavedScaling::of(&self.scaling),
            neighbours: self.neighbours,
            clusters: self.clusters,
            rows: self.rows.outer_iter().map(|row| row.to_vec()).collect(),
            labels: self.labels.clone(),
        })
    }

    fn reads(&self) -> ModelReads {
        ModelReads::Features
    }

    fn unread(&self, input: &ModelInput<'_>) -> Result<Unread, ModelError> {
        Ok(unread(&self.scaling, input))
    }

    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError> {
        let x = self
            .scaling
            .apply(table(&self.scaling, input)?.view(), None);
        let mut rows = Array2::zeros((x.nrows(), self.clusters));
        let pairs = rows
            .axis_iter_mut(Axis(0))
            .into_par_iter()
            .zip(x.axis_iter(Axis(0)));
        pairs.for_each(|(mut row, x)| {
            self.shares(x, row.as_slice_mut().expect("rows are contiguous"));
        });
        simplex(rows)
    }
}

fn distance(row: ArrayView1<'_, f64>, centre: &[f64]) -> f64 {
    row.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum()
}

fn simplex(rows: Array2<f64>) -> Result<SoftPartition, ModelError> {
    SoftPartition::new(rows)
        .map_err(|error| ModelError::Input(format!("numbers too large for the model: {error}")))
}
