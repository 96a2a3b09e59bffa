//! Objects that no base clustering labels: what is done with them, and how results without them are those of all.

use std::sync::Arc;

use partita::files::{LabelColumn, NO_LABEL};
use partita::ndarray::Array2;
use partita::{Ensemble, ObjectWeights, SoftPartition};

use crate::error::AppError;

/// The objects that are left when those without a label are left out.
#[derive(Clone, Debug)]
pub struct LeftOut {
    /// How many there are in all.
    objects: usize,
    /// Those that are left.
    kept: Vec<u32>,
    names: Option<Vec<String>>,
    /// The ensemble of all objects, where somebody may ask for it.
    whole: Option<Arc<Ensemble>>,
}

impl LeftOut {
    /// The ensemble without objects that no base clustering labels; none where every object has a label. What has no name is called
    /// by its number from 0, as everywhere.
    pub fn of(ensemble: &Ensemble) -> Option<(Ensemble, Self)> {
        let mut unlabelled = ensemble.unlabelled().into_iter().peekable();
        unlabelled.peek()?;
        let objects = ensemble.objects();
        let kept: Vec<u32> = (0..objects as u32)
            .filter(|object| unlabelled.next_if_eq(object).is_none())
            .collect();
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let names = kept
            .iter()
            .map(|&object| ensemble.object_name(object as usize))
            .collect();
        let left = ensemble.select(&kept, &bases).with_object_names(names);
        let out = Self {
            objects,
            kept,
            names: ensemble.object_names().map(<[String]>::to_vec),
            whole: None,
        };
        left.ok().map(|left| (left, out))
    }

    /// As [`of`](Self::of), with the ensemble of all objects.
    pub(crate) fn of_shared(ensemble: &Arc<Ensemble>) -> Option<(Ensemble, Self)> {
        let (left, mut out) = Self::of(ensemble)?;
        out.whole = Some(Arc::clone(ensemble));
        Some((left, out))
    }

    /// The ensemble of all objects, where it is held.
    pub(crate) fn whole(&self) -> Option<&Arc<Ensemble>> {
        self.whole.as_ref()
    }

    /// Objects without a label.
    pub fn count(&self) -> usize {
        self.objects - self.kept.len()
    }

    /// The values of the objects that are left.
    pub(crate) fn kept<T: Clone>(&self, values: &[T]) -> Vec<T> {
        self.kept
            .iter()
            .map(|&object| values[object as usize].clone())
            .collect()
    }

    /// All objects.
    pub(crate) fn objects(&self) -> usize {
        self.objects
    }

    /// The weights of the objects that are left.
    ///
    /// # Errors
    /// [`AppError::Request`] where none of them has a weight above 0.
    pub(crate) fn weights(&self, weights: &ObjectWeights) -> Result<ObjectWeights, AppError> {
        ObjectWeights::new(self.kept(weights.as_slice()))
            .map_err(|error| AppError::request(error.to_string()))
    }

    /// The numbers of the objects that are left.
    pub(crate) fn places(&self) -> Vec<usize> {
        self.kept.iter().map(|&object| object as usize).collect()
    }

    /// The true labels of the objects that are left.
    pub(crate) fn truth(&self, truth: LabelColumn) -> LabelColumn {
        LabelColumn {
            values: self.kept(&truth.values),
            ..truth
        }
    }

    /// Values of all objects, `none` for those that were left out.
    pub fn spread<T: Clone>(&self, values: &[T], none: T) -> Vec<T> {
        let mut all = vec![none; self.objects];
        for (&object, value) in self.kept.iter().zip(values) {
            all[object as usize] = value.clone();
        }
        all
    }

    /// Labels of all objects.
    pub(crate) fn labels(&self, labels: &[u32]) -> Vec<u32> {
        self.spread(labels, NO_LABEL)
    }

    /// Probabilities of all objects, NaN where there are none.
    pub fn rows(&self, soft: &SoftPartition) -> Array2<f64> {
        let mut all = Array2::from_elem((self.objects, soft.clusters()), f64::NAN);
        for (&object, row) in self.kept.iter().zip(soft.rows().outer_iter()) {
            all.row_mut(object as usize).assign(&row);
        }
        all
    }

    /// Names of all objects.
    pub(crate) fn names(&self) -> Option<&[String]> {
        self.names.as_deref()
    }

    /// What a user should know.
    pub(crate) fn warning(&self) -> String {
        let (count, objects) = (self.count(), self.objects);
        let (has, get) = if count == 1 {
            ("has", "it gets")
        } else {
            ("have", "they get")
        };
        format!("{count} of {objects} objects {has} no label in any base clustering: {get} none")
    }
}
