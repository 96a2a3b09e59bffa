//! Objects as the base clusters they are in.

use std::borrow::Cow;
use std::ops::Range;

use partita_core::ndarray::ArrayView2;
use partita_core::{BaseWeights, ClustersError, Ensemble, Label, LabelRows, ObjectWeights};

use crate::GraphError;

/// Label rows of which consecutive equal ones count as one row of more weight. The canonical order puts all equal rows
/// side by side.
pub(crate) struct Rows<'a> {
    ensemble: Cow<'a, Ensemble>,
    offsets: Vec<usize>,
    weights: Vec<f64>,
    of_object: Vec<u32>,
}

impl<'a> Rows<'a> {
    /// The rows of an ensemble, once K and the labels are checked.
    pub(crate) fn new(ensemble: &'a Ensemble, clusters: usize) -> Result<Self, GraphError> {
        check(ensemble, clusters)?;
        let objects = ensemble.objects();
        let heads: Vec<u32> = match (ensemble.memberships(), ensemble.rows()) {
            (Some(_), _) => {
                let first = |&i: &usize| i == 0 || !ensemble.same_row(i, i - 1);
                (0..objects).filter(first).map(|i| i as u32).collect()
            }
            (None, LabelRows::Bytes(rows)) => heads(rows),
            (None, LabelRows::Words(rows)) => heads(rows),
        };
        let offsets = ensemble.offsets();
        // Copying the rows pays only if that makes them clearly fewer.
        if heads.len() * 10 > objects * 9 {
            let of_object = (0..objects as u32).collect();
            return Ok(Self {
                ensemble: Cow::Borrowed(ensemble),
                offsets,
                weights: vec![1.0; objects],
                of_object,
            });
        }
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let ends = heads.iter().skip(1).copied().chain([objects as u32]);
        let sizes: Vec<u32> = heads
            .iter()
            .zip(ends)
            .map(|(start, end)| end - start)
            .collect();
        let of_object = (sizes.iter().enumerate())
            .flat_map(|(row, &size)| (0..size).map(move |_| row as u32))
            .collect();
        let weights = sizes.into_iter().map(f64::from).collect();
        Ok(Self {
            ensemble: Cow::Owned(ensemble.select(&heads, &bases)),
            offsets,
            weights,
            of_object,
        })
    }

    /// The rows of an ensemble whose objects have weights, or those of [`new`](Self::new).
    pub(crate) fn weighted(
        ensemble: &'a Ensemble,
        clusters: usize,
        weights: Option<&ObjectWeights>,
    ) -> Result<Self, GraphError> {
        match weights {
            Some(weights) => Self::each_object(ensemble, clusters, weights.as_slice().to_vec()),
            None => Self::new(ensemble, clusters),
        }
    }

    /// A row for every object, also where labels are equal.
    pub(crate) fn each_object(
        ensemble: &'a Ensemble,
        clusters: usize,
        weights: Vec<f64>,
    ) -> Result<Self, GraphError> {
        check(ensemble, clusters)?;
        let of_object = (0..ensemble.objects() as u32).collect();
        Ok(Self {
            ensemble: Cow::Borrowed(ensemble),
            offsets: ensemble.offsets(),
            weights,
            of_object,
        })
    }

    /// The ensemble of the rows.
    pub(crate) fn ensemble(&self) -> &Ensemble {
        &self.ensemble
    }

    /// Number of rows.
    pub(crate) fn len(&self) -> usize {
        self.weights.len()
    }

    /// Base clusters, ΣJ.
    pub(crate) fn base_clusters(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Objects of every row.
    pub(crate) fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Values of rows as values of objects.
    pub(crate) fn expand<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.of_object
            .iter()
            .map(|&row| values[row as usize].clone())
            .collect()
    }

    /// Calls `take(row, base clusters)` for every row of a range; base clusters are numbered through.
    pub(crate) fn for_each(&self, range: Range<usize>, take: impl FnMut(usize, &[u32])) {
        match self.ensemble.rows() {
            LabelRows::Bytes(rows) => decode(rows, &self.offsets, range, take),
            LabelRows::Words(rows) => decode(rows, &self.offsets, range, take),
        }
    }

    /// For every base cluster a number that its base clustering has.
    pub(crate) fn by_base(&self, weights: Option<&BaseWeights>) -> Vec<f64> {
        by_base(&self.offsets, weights)
    }
}

/// For every base cluster the weight of its base clustering; the mean over base clusterings is 1.
pub(crate) fn by_base(offsets: &[usize], weights: Option<&BaseWeights>) -> Vec<f64> {
    each_cluster(offsets, weights.map(BaseWeights::as_slice))
}

/// For every base cluster how often it is there: the copies that its base clustering stands for.
pub(crate) fn copies_by_base(offsets: &[usize], weights: Option<&BaseWeights>) -> Vec<f64> {
    each_cluster(offsets, weights.map(BaseWeights::copies))
}

fn each_cluster(offsets: &[usize], weights: Option<&[f64]>) -> Vec<f64> {
    let weight = |u: usize| weights.map_or(1.0, |weights| weights[u]);
    let ends = offsets.windows(2).enumerate();
    ends.flat_map(|(u, ends)| (ends[0]..ends[1]).map(move |_| weight(u)))
        .collect()
}

/// Checks K and that every object has a label.
pub(crate) fn check(ensemble: &Ensemble, clusters: usize) -> Result<(), GraphError> {
    ClustersError::check(clusters, ensemble.objects())?;
    match ensemble.first_unlabelled() {
        Some(object) => Err(GraphError::Unlabelled {
            object: ensemble.object_name(object),
        }),
        None => Ok(()),
    }
}

/// The first of every run of equal rows.
fn heads<L: Label>(rows: ArrayView2<'_, L>) -> Vec<u32> {
    (0..rows.nrows())
        .filter(|&i| i == 0 || rows.row(i) != rows.row(i - 1))
        .map(|i| i as u32)
        .collect()
}

fn decode<L: Label>(
    rows: ArrayView2<'_, L>,
    offsets: &[usize],
    range: Range<usize>,
    mut take: impl FnMut(usize, &[u32]),
) {
    let mut codes = vec![0; rows.ncols()];
    for i in range {
        let found = decode_row(rows.row(i), offsets, &mut codes);
        take(i, &codes[..found]);
    }
}

/// Writes the base clusters of a row, numbered through, and says how many there are.
pub(crate) fn decode_row<'r, L: Label>(
    row: impl IntoIterator<Item = &'r L>,
    offsets: &[usize],
    codes: &mut [u32],
) -> usize {
    let mut found = 0;
    for (label, &offset) in row.into_iter().zip(offsets) {
        // Written always and kept when labelled: no branch to predict.
        codes[found] = (offset + label.index()) as u32;
        found += usize::from(*label != L::MISSING);
    }
    found
}
