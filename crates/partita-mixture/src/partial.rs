//! Label rows with weights, and what they add up to under a table: the one sum that every fit is made of.

use std::borrow::Cow;
use std::ops::Range;

use partita_core::ndarray::ArrayView2;
use partita_core::{Ensemble, Fragments, Label, LabelRows, chunks};
use rayon::prelude::*;

use crate::MixtureError;
use crate::table::{lines, offsets};

/// The fewest rows worth a partial sum of their own, and the most partial sums of a round.
const FEWEST_ROWS: usize = 1024;
const MOST_PARTS: usize = 64;

/// Label rows with a weight for each: an ensemble, its fragments, or any weighting of it.
#[derive(Clone, Debug)]
pub struct Rows<'a> {
    ensemble: &'a Ensemble,
    weights: Cow<'a, [f64]>,
    offsets: Vec<usize>,
}

impl<'a> Rows<'a> {
    /// Every object of an ensemble once.
    pub fn of(ensemble: &'a Ensemble) -> Self {
        Self::unchecked(ensemble, vec![1.0; ensemble.objects()])
    }

    /// Every fragment as often as it occurs.
    pub fn of_fragments(fragments: &'a Fragments) -> Self {
        Self::unchecked(fragments.ensemble(), fragments.weights().iter().map(|&w| f64::from(w)).collect())
    }

    /// Object i of an ensemble `weights[i]` times.
    ///
    /// # Errors
    /// [`MixtureError::Weights`] unless there is one positive, finite weight an object.
    pub fn weighted(ensemble: &'a Ensemble, weights: Vec<f64>) -> Result<Self, MixtureError> {
        let objects = ensemble.objects();
        if weights.len() != objects {
            return Err(MixtureError::Weights { found: weights.len(), objects });
        }
        match weights.iter().position(|w| !(w.is_finite() && *w > 0.0)) {
            Some(object) => Err(MixtureError::Weight { object, weight: weights[object] }),
            None => Ok(Self::unchecked(ensemble, weights)),
        }
    }

    fn unchecked(ensemble: &'a Ensemble, weights: Vec<f64>) -> Self {
        Self { ensemble, weights: weights.into(), offsets: offsets(ensemble.bases()) }
    }

    /// The rows.
    pub fn ensemble(&self) -> &'a Ensemble {
        self.ensemble
    }

    /// One weight a row.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Number of label values of all base clusterings, ΣJ.
    pub(crate) fn label_values(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    fn fold(&self, clusters: usize, add: impl Fn(&mut Partial, Range<usize>) + Sync) -> Partial {
        let objects = self.ensemble.objects();
        let ranges: Vec<_> = chunks(objects, objects.div_ceil(MOST_PARTS).max(FEWEST_ROWS)).collect();
        let part = |range| {
            let mut part = Partial::zero(self.label_values(), clusters);
            add(&mut part, range);
            part
        };
        let parts: Vec<Partial> = ranges.into_par_iter().map(part).collect();
        let mut parts = parts.into_iter();
        let first = parts.next().expect("an ensemble has objects");
        parts.fold(first, |sum, part| sum.merged(&part))
    }
}

/// What label rows add up to: the weight in every cluster and of every label in every cluster. Parts of any division of the rows merge by addition.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Partial {
    /// K values.
    pub(crate) sizes: Vec<f64>,
    /// ΣJ lines of K values.
    pub(crate) labels: Vec<f64>,
}

impl Partial {
    fn zero(label_values: usize, clusters: usize) -> Self {
        Self { sizes: vec![0.0; clusters], labels: vec![0.0; label_values * clusters] }
    }

    /// The sums of given memberships (n × K).
    pub(crate) fn of_memberships(rows: &Rows<'_>, soft: ArrayView2<'_, f64>) -> Self {
        fn chunk<L: Label>(
            (labels, rows): (ArrayView2<'_, L>, &Rows<'_>),
            soft: ArrayView2<'_, f64>,
            part: &mut Partial,
            range: Range<usize>,
        ) {
            let mut line = vec![0.0; soft.ncols()];
            for i in range {
                line.iter_mut().zip(soft.row(i)).for_each(|(w, p)| *w = rows.weights[i] * p);
                part.add(lines(labels.row(i), &rows.offsets), &line);
            }
        }
        assert_eq!(rows.ensemble.objects(), soft.nrows(), "one row of memberships an object");
        match rows.ensemble.rows() {
            LabelRows::Bytes(labels) => rows.fold(soft.ncols(), |part, range| chunk((labels, rows), soft, part, range)),
            LabelRows::Words(labels) => rows.fold(soft.ncols(), |part, range| chunk((labels, rows), soft, part, range)),
        }
    }

    fn add(&mut self, lines: impl Iterator<Item = usize>, soft: &[f64]) {
        let clusters = soft.len();
        let plus = |sums: &mut [f64]| sums.iter_mut().zip(soft).for_each(|(sum, p)| *sum += p);
        plus(&mut self.sizes);
        for line in lines {
            plus(&mut self.labels[line * clusters..][..clusters]);
        }
    }

    fn merged(mut self, other: &Self) -> Self {
        self.sizes.iter_mut().zip(&other.sizes).for_each(|(a, b)| *a += b);
        self.labels.iter_mut().zip(&other.labels).for_each(|(a, b)| *a += b);
        self
    }
}
