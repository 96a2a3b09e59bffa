//! Distinct label rows with weights, which every fit in memory runs on.

use std::ops::Range;

use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    Clusters, Ensemble, Fragments, Memberships, ProblemSize, WeightedEnsemble, chunks, map_parallel,
};

use crate::error::MixtureError;

/// The fewest rows worth a partial sum of their own, and the most partial sums of a round.
const FEWEST_ROWS: usize = 1024;
const MOST_PARTS: usize = 64;

/// Distinct label rows with a weight for each. No mixture tells objects with identical rows apart, so that a fit to
/// the distinct rows is the fit to all objects, at a cost that depends on the distinct ones alone.
#[doc(alias = "data fragments")]
#[doc(alias = "deduplicated rows")]
#[derive(Clone, Debug)]
pub struct WeightedRows<'a> {
    source: Source<'a>,
    weights: Vec<f64>,
    offsets: Vec<usize>,
    /// How many copies of every base clustering there are, where that is not one.
    base_weights: Option<Vec<f64>>,
}

#[derive(Clone, Debug)]
enum Source<'a> {
    Distinct(Box<Fragments>),
    Each(&'a Ensemble),
}

impl<'a> WeightedRows<'a> {
    /// The distinct rows of an ensemble, each as often as it occurs.
    ///
    /// # Cost
    /// O(n M log n) time; the distinct rows and 8 n bytes.
    pub fn of(ensemble: &Ensemble) -> Self {
        Self::folded(ensemble, |_| 1.0)
    }

    /// The distinct rows of an ensemble in which object i counts `weights[i]` times.
    ///
    /// # Errors
    /// [`MixtureError::Weights`] and [`MixtureError::Weight`] unless there is one positive, finite weight an object.
    pub fn weighted(ensemble: &Ensemble, weights: &[f64]) -> Result<Self, MixtureError> {
        let objects = ensemble.objects();
        if weights.len() != objects {
            return Err(MixtureError::Weights {
                found: weights.len(),
                objects,
            });
        }
        match weights.iter().position(|w| !(w.is_finite() && *w > 0.0)) {
            Some(object) => Err(MixtureError::Weight {
                object,
                weight: weights[object],
            }),
            None => Ok(Self::folded(ensemble, |object| weights[object])),
        }
    }

    /// The distinct rows of an ensemble with weights of its objects and base clusterings, where there are some.
    pub(crate) fn of_weighted(source: WeightedEnsemble<'_>) -> Self {
        let rows = Self::folded(source.ensemble, |object| {
            source
                .multiplicities()
                .map_or(1.0, |weights| weights[object])
        });
        Self {
            base_weights: source.base_copies().map(<[f64]>::to_vec),
            ..rows
        }
    }

    /// Shares of the rows in base clusters, where they are not labels.
    pub(crate) fn shares(&self) -> Option<&Memberships> {
        self.ensemble().memberships()
    }

    /// How many copies of every base clustering there are, where that is not one.
    pub(crate) fn base_weights(&self) -> Option<&[f64]> {
        self.base_weights.as_deref()
    }

    /// The same with these weights of base clusterings.
    pub(crate) fn with_base_weights(self, base_weights: Option<Vec<f64>>) -> Self {
        Self {
            base_weights,
            ..self
        }
    }

    /// The same where a row stands for as many objects as its weight says.
    pub(crate) fn with_object_weights(self, weights: Option<&[f64]>) -> Self {
        Self {
            weights: weights.map_or(self.weights, <[f64]>::to_vec),
            ..self
        }
    }

    fn folded(ensemble: &Ensemble, weight: impl Fn(usize) -> f64) -> Self {
        let fragments = ensemble.fragments();
        let mut weights = vec![0.0; fragments.weights().len()];
        for (object, &fragment) in fragments.of_object().iter().enumerate() {
            weights[fragment as usize] += weight(object);
        }
        Self {
            source: Source::Distinct(Box::new(fragments)),
            weights,
            offsets: ensemble.offsets(),
            base_weights: None,
        }
    }

    /// Every object of an ensemble for itself, repeated rows repeated.
    pub fn unfolded(ensemble: &'a Ensemble) -> Self {
        let weights = vec![1.0; ensemble.objects()];
        Self {
            source: Source::Each(ensemble),
            weights,
            offsets: ensemble.offsets(),
            base_weights: None,
        }
    }

    /// The rows.
    pub fn ensemble(&self) -> &Ensemble {
        match &self.source {
            Source::Distinct(fragments) => fragments.ensemble(),
            Source::Each(ensemble) => ensemble,
        }
    }

    /// One weight a row.
    pub fn weights(&self) -> &[f64] {
        &self.weights
    }

    /// Objects that the rows stand for, n.
    pub fn objects(&self) -> usize {
        match &self.source {
            Source::Distinct(fragments) => fragments.of_object().len(),
            Source::Each(_) => self.weights.len(),
        }
    }

    /// A line of K values for every object from one for every row.
    pub(crate) fn expand(&self, lines: Array2<f64>) -> Array2<f64> {
        match &self.source {
            Source::Each(_) => lines,
            Source::Distinct(fragments) if lines.nrows() == fragments.of_object().len() => lines,
            Source::Distinct(fragments) => {
                let rows: Vec<usize> = fragments
                    .of_object()
                    .iter()
                    .map(|&row| row as usize)
                    .collect();
                lines.select(Axis(0), &rows)
            }
        }
    }

    /// The size of a consensus of these rows into so many clusters.
    pub(crate) fn size(&self, clusters: usize) -> ProblemSize {
        ProblemSize::of(self.ensemble(), Clusters::Exactly(clusters))
    }

    pub(crate) fn offsets(&self) -> &[usize] {
        &self.offsets
    }

    /// Number of label values of all base clusterings, ΣJ.
    pub(crate) fn label_values(&self) -> usize {
        self.offsets[self.offsets.len() - 1]
    }

    /// Labels of row `i` that are there.
    pub(crate) fn labels_of(&self, i: usize) -> usize {
        (0..self.ensemble().bases().len())
            .filter(|&u| self.ensemble().label(i, u).is_some())
            .count()
    }

    /// Labels of row `i` that are there, and what each counts: the weight of its base clustering.
    pub(crate) fn counted_labels(&self, i: usize) -> (Vec<usize>, Vec<f64>) {
        let weight = |u: usize| self.base_weights.as_ref().map_or(1.0, |weights| weights[u]);
        let label = |u: usize| Some((self.offsets[u] + self.ensemble().label(i, u)?, weight(u)));
        (0..self.ensemble().bases().len()).filter_map(label).unzip()
    }

    /// Labels that are there, by weight.
    pub(crate) fn labels(&self) -> f64 {
        self.weights
            .iter()
            .enumerate()
            .map(|(i, w)| w * self.weight_of_labels(i))
            .sum()
    }

    /// What the labels of row `i` that are there count.
    pub(crate) fn weight_of_labels(&self, i: usize) -> f64 {
        match self.base_weights {
            Some(_) => self.counted_labels(i).1.iter().sum(),
            None => self.labels_of(i) as f64,
        }
    }

    /// Rows of one part of a sum. It depends on the number of rows alone.
    pub(crate) fn part_size(&self) -> usize {
        self.weights.len().div_ceil(MOST_PARTS).max(FEWEST_ROWS)
    }

    /// The sum over all rows of what `part` makes of a range of them: in parallel over the parts, added in order.
    pub(crate) fn sum<P: Send>(
        &self,
        part: impl Fn(Range<usize>) -> P + Sync,
        add: impl Fn(P, P) -> P,
    ) -> P {
        let parts = map_parallel(chunks(self.weights.len(), self.part_size()), part);
        parts
            .into_iter()
            .reduce(add)
            .expect("an ensemble has objects")
    }
}
