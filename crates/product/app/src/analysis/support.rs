//! How far an ensemble agrees with given labels, on the whole and of each object.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use partita::extend::{WeightError, WeightedEnsemble};
use partita::files::{self, Labels};
use partita::metrics::{ClusterStability, MetricsError, anmi, cluster_stability, object_agreement};
use partita::{BaseWeights, Ensemble, ObjectWeights, Partition};

use crate::analysis::agreement::mean;
use crate::analysis::evaluation::file_and_column;
use crate::error::AppError;
use crate::experiment::description::{ObjectWeightSource, WeightSource};
use crate::input::joined::load_ensembles;
use crate::input::label_files::read_labels;
use crate::input::matching::match_rows;
use crate::input::weights::{base_weights, object_weights};
use crate::observer::Observer;
use partita::files::ReadOptions;

/// Labels and an ensemble of the same objects.
#[derive(Clone, Debug, Default)]
pub struct SupportInput {
    /// The labels: a file, or a file and a column as `FILE:COLUMN`.
    pub labels: PathBuf,
    /// The ensemble.
    pub ensemble: PathBuf,
    /// Only objects that both files have count.
    pub common: bool,
    /// How both are read.
    pub read: ReadOptions,
    /// Weights of the base clusterings.
    pub base_weights: Option<WeightSource>,
    /// Weights of the objects. A column of the ensemble's file that they are in is not a base clustering.
    pub object_weights: Option<ObjectWeightSource>,
}

/// How an ensemble agrees with labels.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Support {
    /// Names of the objects that count, in the order of the ensemble, where it has names.
    pub object_names: Option<Vec<String>>,
    /// Their labels.
    pub labels: Vec<String>,
    /// Mean NMI of the labels with the base clusterings ([`anmi`]).
    pub anmi: f64,
    /// In what share of the base clusterings each object lies with its cluster ([`object_agreement`]).
    pub agreement: Vec<f64>,
    /// How well the base clusterings find each label's objects again ([`cluster_stability`]).
    pub stability: Vec<(String, ClusterStability)>,
    /// Base clusterings.
    pub base_clusterings: usize,
    partition: Partition,
}

impl SupportInput {
    /// Mean NMI and agreement. Objects are matched by name where both files have names, else by place; those without a label do not
    /// count, and the observer hears that.
    ///
    /// # Errors
    /// [`AppError`] for files that cannot be read, or whose objects cannot be matched.
    ///
    /// # Cost
    /// O(n M) for n objects and M base clusterings.
    pub fn support(&self, observer: &dyn Observer) -> Result<Support, AppError> {
        let (path, column) = file_and_column(&self.labels);
        let mut options = self.read.clone();
        options.truth = column.into();
        let labels = read_labels(&path, &options, observer)?;
        let mut read = self.read.clone();
        if let Some(ObjectWeightSource::Column(column)) = &self.object_weights {
            read.skip.push(column.clone());
        }
        let ensemble = load_ensembles(&[&self.ensemble], &read, observer)?
            .0
            .ensemble;
        let bases = self
            .base_weights
            .as_ref()
            .map(|source| base_weights(source, &ensemble))
            .transpose()?;
        let objects = self.object_weights.as_ref();
        let objects = objects
            .map(|source| {
                let (objects, names) = (ensemble.objects(), ensemble.object_names());
                object_weights(source, (&self.ensemble, &read), objects, names)
            })
            .transpose()?;
        let (rows, labelled) = match_rows(
            (&self.ensemble, &ensemble),
            (&path, &labels),
            self.common,
            observer,
        )?;
        let judge = Judge::new(&ensemble, Some(&rows), bases, objects).map_err(|error| {
            AppError::content(&path, format!("of the objects with a label: {error}"))
        })?;
        judge.support(&labels, &labelled)
    }
}

/// An ensemble, or some rows of it, that judges labels of its objects, with weights where there are some.
#[derive(Clone, Debug)]
pub struct Judge<'a> {
    ensemble: Cow<'a, Ensemble>,
    base_weights: Option<BaseWeights>,
    object_weights: Option<ObjectWeights>,
}

impl<'a> Judge<'a> {
    /// An ensemble with weights of its base clusterings and of all its objects, of which these `rows` count.
    ///
    /// # Errors
    /// [`WeightError`] where none of the objects that count has a weight above 0.
    ///
    /// # Panics
    /// If a row is out of range, or there is not one weight an object.
    pub fn new(
        ensemble: &'a Ensemble,
        rows: Option<&[u32]>,
        base_weights: Option<BaseWeights>,
        object_weights: Option<ObjectWeights>,
    ) -> Result<Self, WeightError> {
        let all = |rows: &&[u32]| rows.iter().copied().eq(0..ensemble.objects() as u32);
        let Some(rows) = rows.filter(|rows| !all(rows)) else {
            return Ok(Self {
                ensemble: Cow::Borrowed(ensemble),
                base_weights,
                object_weights,
            });
        };
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let of_rows = |weights: ObjectWeights| {
            rows.iter()
                .map(|&row| weights.as_slice()[row as usize])
                .collect()
        };
        let object_weights = object_weights
            .map(|weights| ObjectWeights::new(of_rows(weights)))
            .transpose()?;
        Ok(Self {
            ensemble: Cow::Owned(ensemble.select(rows, &bases)),
            base_weights,
            object_weights,
        })
    }

    fn weighted(&self) -> WeightedEnsemble<'_> {
        let (base_weights, object_weights) =
            (self.base_weights.as_ref(), self.object_weights.as_ref());
        WeightedEnsemble {
            ensemble: &self.ensemble,
            base_weights,
            object_weights,
        }
    }

    /// Mean NMI of labels of the objects that count with the base clusterings ([`anmi`]).
    ///
    /// # Errors
    /// As [`anmi`].
    pub fn anmi(&self, labels: &Partition) -> Result<f64, MetricsError> {
        anmi(labels, self.weighted())
    }

    /// The agreement of each object that counts with these labels ([`object_agreement`]).
    ///
    /// # Errors
    /// As [`object_agreement`].
    pub fn agreement(&self, labels: &Partition) -> Result<Vec<f64>, MetricsError> {
        object_agreement(self.weighted(), labels)
    }

    /// How well the base clusterings find each cluster of these labels again ([`cluster_stability`]).
    ///
    /// # Errors
    /// As [`cluster_stability`].
    pub fn stability(&self, labels: &Partition) -> Result<Vec<ClusterStability>, MetricsError> {
        cluster_stability(&self.ensemble, labels)
    }

    /// All, of the labels in these rows.
    fn support(&self, labels: &Labels, rows: &[usize]) -> Result<Support, AppError> {
        let labels: Vec<String> = rows
            .iter()
            .filter_map(|&row| labels.column.values[row].clone())
            .collect();
        let partition = partition_of(&labels);
        let found = self.stability(&partition)?;
        let mut stability = vec![None; partition.clusters()];
        for (text, &label) in labels.iter().zip(partition.labels()) {
            let label = label as usize;
            stability[label].get_or_insert_with(|| (text.clone(), found[label]));
        }
        Ok(Support {
            stability: stability.into_iter().flatten().collect(),
            object_names: self.ensemble.object_names().map(<[String]>::to_vec),
            anmi: self.anmi(&partition)?,
            agreement: self.agreement(&partition)?,
            base_clusterings: self.ensemble.bases().len(),
            labels,
            partition,
        })
    }
}

/// Labels that are whole numbers keep their order.
fn partition_of(labels: &[String]) -> Partition {
    let numbers: Option<Vec<u64>> = labels.iter().map(|label| label.parse().ok()).collect();
    numbers.map_or_else(
        || Partition::from_values(labels),
        |numbers| Partition::from_values(&numbers),
    )
}

impl Support {
    /// Mean agreement.
    pub fn mean_agreement(&self) -> Option<f64> {
        mean(&self.agreement)
    }

    /// Writes `object,label,agreement`, with a column `label_name` where labels are not the numbers from 0.
    ///
    /// # Errors
    /// [`AppError::File`].
    pub fn write(&self, path: &Path) -> Result<(), AppError> {
        let labels: Vec<&str> = self.labels.iter().map(String::as_str).collect();
        let are_numbers = || {
            labels
                .iter()
                .zip(self.partition.labels())
                .all(|(text, label)| *text == label.to_string())
        };
        let labels = (!are_numbers()).then_some(&labels[..]);
        let (names, numbers) = (
            self.object_names.as_deref(),
            [("agreement", &self.agreement[..])],
        );
        Ok(files::write_named_labels(
            path,
            names,
            self.partition.labels(),
            labels,
            &numbers,
        )?)
    }
}
