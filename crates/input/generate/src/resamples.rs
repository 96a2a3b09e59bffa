//! Base clusterings of resamples that somebody else drew: trees, medoids, and k-means from given starts, for several numbers of clusters.

use std::ops::RangeInclusive;

use partita_core::ndarray::{ArrayView2, Axis};
use partita_core::{Monitor, ProgressCounter};
use partita_linkage::{cut, link};
use rayon::prelude::*;

use crate::error::Result;
use crate::hartigan_wong::hartigan_wong;
use crate::pairs::{Dissimilarity, Pairs};
use crate::pam::{built, swapped};
use crate::tree::linkage;
use crate::{BaseKind, GenerateError};

/// The iterations of k-means, those of `kmeans` of R.
const ITERATIONS: usize = 10;

/// What one resample sees.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Resample {
    /// The objects, in any order.
    pub objects: Vec<usize>,
    /// The columns; all if there are none.
    pub columns: Option<Vec<usize>>,
    /// For k-means: for every number of clusters the places, among the objects, of those that centres start at.
    pub starts: Vec<Vec<usize>>,
}

/// What resamples are drawn of.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum ResampledTable<'a> {
    /// Objects × columns, and how far objects are apart. k-means takes squared Euclidean distances instead.
    Rows(ArrayView2<'a, f64>, Dissimilarity),
    /// Dissimilarities of all pairs; k-means takes those to the other objects of a resample for columns.
    Pairs(ArrayView2<'a, f64>),
}

/// The clusters (from 0) of the objects of every resample, for every number of clusters: `average`, `complete`, `single`, `ward` and
/// `centroid` cut a tree; `pam` builds medoids and swaps them, `kmeans` transfers objects (Hartigan and Wong) from the given starts: nothing
/// is left to chance.
///
/// # Errors
/// [`GenerateError`] for another base clusterer, for places and numbers that are not there, for dissimilarities that are not finite, for an
/// empty cluster at a start, and where the monitor says stop.
///
/// # Cost
/// O(n²·d) for the pairs of all objects, or of each resample where it has columns of its own; then O(m²) a resample of m objects.
pub fn cluster_resamples(
    table: ResampledTable<'_>,
    resamples: &[Resample],
    clusters: RangeInclusive<usize>,
    kind: BaseKind,
    monitor: &dyn Monitor,
) -> Result<Vec<Vec<Vec<u16>>>> {
    let means = kind == BaseKind::KMeans;
    if !means && kind != BaseKind::Pam && linkage(kind).is_none() {
        return Err(GenerateError::NotOfResamples { name: kind.name() });
    }
    check(&table, resamples, &clusters, means)?;
    let progress = ProgressCounter::new(monitor, resamples.len() as u64);
    let whole = match table {
        ResampledTable::Pairs(_) if means => None,
        ResampledTable::Pairs(pairs) => Some(Pairs::of_square(pairs)),
        _ if resamples.iter().all(|of| of.columns.is_some()) => None,
        ResampledTable::Rows(rows, _) if means => Some(Pairs::squared(rows)),
        ResampledTable::Rows(rows, by) => Some(Pairs::measured(rows, by)),
    };
    let one = |resample: &Resample| {
        if progress.stopped() {
            let asked = resamples.len();
            return Err(GenerateError::NothingFinished { asked });
        }
        let pairs = match (&whole, table) {
            (Some(whole), _) if resample.columns.is_none() => whole.select(&resample.objects),
            (_, ResampledTable::Pairs(pairs)) => {
                let rows = pairs.select(Axis(0), &resample.objects);
                Pairs::squared(rows.select(Axis(1), &resample.objects).view())
            }
            (_, ResampledTable::Rows(rows, by)) => {
                let mut rows = rows.select(Axis(0), &resample.objects);
                if let Some(columns) = &resample.columns {
                    rows = rows.select(Axis(1), columns);
                }
                if means {
                    Pairs::squared(rows.view())
                } else {
                    Pairs::measured(rows.view(), by)
                }
            }
        };
        let found = clusterings(&pairs, resample, clusters.clone(), kind);
        progress.add(1);
        found
    };
    resamples.par_iter().map(one).collect()
}

fn check(
    table: &ResampledTable<'_>,
    resamples: &[Resample],
    clusters: &RangeInclusive<usize>,
    means: bool,
) -> Result<()> {
    let (n, d) = match table {
        ResampledTable::Rows(rows, _) => rows.dim(),
        ResampledTable::Pairs(pairs) => (pairs.nrows().min(pairs.ncols()), 0),
    };
    for resample in resamples {
        let m = resample.objects.len();
        let columns = resample.columns.iter().flatten();
        let starts = resample.starts.iter().zip(clusters.clone());
        let right = resample.objects.iter().all(|&i| i < n)
            && columns.copied().all(|p| p < d)
            && starts
                .clone()
                .all(|(of, k)| of.len() == k && of.iter().all(|&i| i < m))
            && (!means || resample.starts.len() == clusters.clone().count())
            && *clusters.end() <= m.min(usize::from(u16::MAX));
        if !right {
            return Err(GenerateError::Resample {
                objects: m,
                clusters: *clusters.end(),
            });
        }
    }
    Ok(())
}

/// The clusterings of one resample.
fn clusterings(
    pairs: &Pairs,
    resample: &Resample,
    clusters: RangeInclusive<usize>,
    kind: BaseKind,
) -> Result<Vec<Vec<u16>>> {
    let labels = |labels: Vec<usize>| labels.into_iter().map(|label| label as u16).collect();
    if kind == BaseKind::KMeans {
        let starts = resample.starts.iter();
        let found = starts.map(|starts| {
            hartigan_wong(pairs, starts, ITERATIONS).ok_or(GenerateError::EmptyStart {
                clusters: starts.len(),
            })
        });
        return found.map(|found| found.map(labels)).collect();
    }
    let Some(linkage) = linkage(kind) else {
        let found = clusters.map(|k| swapped(pairs, built(pairs, k), || false));
        return Ok(found.flatten().map(labels).collect());
    };
    let tree = link(pairs.condensed(), pairs.n, linkage)?;
    let cuts = clusters.map(|k| cut(&tree, k));
    Ok(cuts
        .map(|cut| cut.labels().iter().map(|&label| label as u16).collect())
        .collect())
}
