//! Rules by distance: nearest centroid and nearest neighbours.

use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, ArrayView1, Axis};
use partita_core::{Features, ModelError};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::SsceError;
use crate::columns::{Rule, TableModel, damaged};
use crate::design::{Scaling, check_table};
use crate::target::Target;

/// Labels a new object like the nearest cluster centre, on scaled columns. Probabilities are those of equally large
/// round Gaussians about the centres with the spread that the clusters have on average.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Centroids {
    /// K × d; clusters without an object have none.
    centroids: Vec<Option<Vec<f64>>>,
    /// Mean squared distance from the own centre, per column.
    variance: f64,
}

impl Centroids {
    /// The centres of the clusters; an object counts in a cluster as much as it is probable there.
    pub(crate) fn learn(
        features: &Features<'_>,
        target: Target<'_>,
    ) -> Result<TableModel<Self>, SsceError> {
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
        let mut centroids: Vec<Option<Vec<f64>>> = Vec::with_capacity(sizes.len());
        for (sum, &size) in sums.outer_iter().zip(&sizes) {
            // Less than this is rounding of a soft consensus, not an object.
            centroids.push((size > 1e-9).then(|| sum.iter().map(|x| x / size).collect()));
        }
        let mut apart = 0.0;
        for (i, row) in x.outer_iter().enumerate() {
            target.shares(i, |k, share| {
                if let Some(centre) = &centroids[k] {
                    apart += share * distance(row, centre);
                }
            });
        }
        let variance = (apart / x.len() as f64).max(1e-9);
        Ok(TableModel::new(
            scaling,
            Self {
                centroids,
                variance,
            },
        ))
    }
}

impl Rule for Centroids {
    const FORMAT: &'static str = "partita centroids 1";

    fn check(&self, columns: usize) -> Result<(), ModelError> {
        let mut centres = self.centroids.iter().flatten().peekable();
        let some = centres.peek().is_some();
        let fit = centres.all(|c| c.len() == columns && c.iter().all(|x| x.is_finite()));
        if !some || !fit {
            return Err(damaged("its centroids do not fit its columns".into()));
        }
        if !(self.variance.is_finite() && self.variance > 0.0) {
            return Err(damaged(format!("its variance is {}", self.variance)));
        }
        Ok(())
    }

    fn probabilities(&self, x: Array2<f64>) -> Array2<f64> {
        let mut rows = Array2::zeros((x.nrows(), self.centroids.len()));
        for (x, mut row) in x.outer_iter().zip(rows.outer_iter_mut()) {
            for (far, centre) in row.iter_mut().zip(&self.centroids) {
                *far = centre
                    .as_ref()
                    .map_or(f64::INFINITY, |centre| distance(x, centre));
            }
            let nearest = row.iter().copied().fold(f64::INFINITY, f64::min);
            row.mapv_inplace(|far| ((nearest - far) / (2.0 * self.variance)).exp());
            let sum: f64 = row.iter().sum();
            row.mapv_inplace(|weight| weight / sum);
        }
        rows
    }
}

/// Labels a new object like the nearest target objects, on scaled columns. Probabilities are their votes, one each;
/// where they are equally far, objects of the smaller index vote. O(n d) time for each new object, all of n target ones
/// being looked at.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Neighbours {
    #[serde(rename = "neighbours")]
    count: NonZeroU32,
    clusters: usize,
    rows: Vec<Vec<f64>>,
    labels: Vec<u32>,
}

impl Neighbours {
    /// The most numbers, rows times columns, that a model keeps.
    const MOST_NUMBERS: usize = 10_000_000;

    /// A model that asks so many neighbours among the target objects.
    pub(crate) fn learn(
        features: &Features<'_>,
        target: Target<'_>,
        count: NonZeroU32,
    ) -> Result<TableModel<Self>, SsceError> {
        let objects = target.objects();
        let clusters = target.clusters();
        check_table(features, objects)?;
        if clusters == 0 || clusters > objects {
            return Err(SsceError::Clusters { clusters, objects });
        }
        let numbers = features.values().len();
        let most = Self::MOST_NUMBERS;
        if numbers > most {
            return Err(SsceError::Neighbours { numbers, most });
        }
        let scaling = Scaling::of(features)?;
        let rows = scaling.apply(features.values(), None);
        let rule = Self {
            count,
            clusters,
            rows: rows.outer_iter().map(|row| row.to_vec()).collect(),
            labels: target.labels(),
        };
        Ok(TableModel::new(scaling, rule))
    }

    /// The shares of the clusters among the neighbours of a row.
    fn vote(&self, x: ArrayView1<'_, f64>, shares: &mut [f64]) {
        let far = self.rows.iter().map(|row| distance(x, row));
        let mut distances: Vec<(f64, usize)> = far.zip(0..).collect();
        let count = (self.count.get() as usize).min(distances.len());
        distances.select_nth_unstable_by(count - 1, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, i) in &distances[..count] {
            shares[self.labels[i] as usize] += 1.0;
        }
        shares.iter_mut().for_each(|share| *share /= count as f64);
    }
}

impl Rule for Neighbours {
    const FORMAT: &'static str = "partita neighbours 1";

    fn check(&self, d: usize) -> Result<(), ModelError> {
        let n = self.rows.len();
        let clusters = self.clusters;
        let even = n > 0 && self.labels.len() == n && self.rows.iter().all(|row| row.len() == d);
        if !even || self.rows.iter().flatten().any(|x| !x.is_finite()) {
            let what = format!("it needs as many labels as rows, and {d} finite numbers a row");
            return Err(damaged(what));
        }
        if clusters > n {
            return Err(damaged(format!(
                "it has {clusters} clusters of {n} objects"
            )));
        }
        if self.labels.iter().any(|&label| label as usize >= clusters) {
            return Err(damaged(format!(
                "it has a label beyond its {clusters} clusters"
            )));
        }
        Ok(())
    }

    fn probabilities(&self, x: Array2<f64>) -> Array2<f64> {
        let mut rows = Array2::zeros((x.nrows(), self.clusters));
        let lines = rows.axis_iter_mut(Axis(0)).into_par_iter();
        lines.zip(x.axis_iter(Axis(0))).for_each(|(mut row, x)| {
            self.vote(x, row.as_slice_mut().expect("rows are contiguous"));
        });
        rows
    }
}

fn distance(row: ArrayView1<'_, f64>, centre: &[f64]) -> f64 {
    row.iter().zip(centre).map(|(a, b)| (a - b) * (a - b)).sum()
}
