//! What an ensemble says of given labels: how far it agrees with them, and how far it supports each.

use std::path::{Path, PathBuf};

use partita::files::{self, LabelColumn, Labels};
use partita::metrics::{anmi, confidence};
use partita::{Ensemble, Partition};

use crate::confidence::mean;
use crate::label_files::read_labels;
use crate::{AppError, Observer, ReadOptions, file_and_column, load_ensembles, match_objects};

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
    /// How far the ensemble supports each label ([`confidence`]).
    pub confidence: Vec<f64>,
    /// Base clusterings.
    pub base_clusterings: usize,
    partition: Partition,
}

impl SupportInput {
    /// Agreement and confidence. Objects are matched by name where both files have names, else by place; those without a label do not
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
        let (loaded, _) = load_ensembles(&[&self.ensemble], &self.read, observer)?;
        support((&path, labels), (&self.ensemble, loaded.ensemble), self.common, observer)
    }
}

fn support(
    (path, labels): (&Path, Labels),
    (place, ensemble): (&Path, Ensemble),
    common: bool,
    observer: &dyn Observer,
) -> Result<Support, AppError> {
    // The rows of the ensemble stand for labels: where they come to stand is which objects count.
    let rows = (0..ensemble.objects()).map(|row| Some(row.to_string())).collect();
    let object_names = ensemble.object_names().map(<[String]>::to_vec);
    let rows = Labels { object_names, column: LabelColumn { name: "row".into(), values: rows } };
    let matched = match_objects((place, rows), (path, labels), common)?;
    matched.note.iter().for_each(|note| observer.note(note));
    let both = matched.labels.values.iter().zip(&matched.truth.values);
    let row = |row: &Option<String>| row.as_deref().and_then(|row| row.parse::<u32>().ok());
    let (rows, labels): (Vec<u32>, Vec<String>) =
        both.filter_map(|(at, label)| Some((row(at)?, label.clone()?))).unzip();
    let without = matched.labels.values.len() - rows.len();
    if without > 0 {
        observer.note(&format!("{}: {without} objects have no label and do not count", path.display()));
    }
    if rows.is_empty() {
        return Err(AppError::content(path, "no object of the ensemble has a label; name the column as FILE:COLUMN"));
    }
    let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
    let ensemble = if rows.len() < ensemble.objects() { ensemble.select(&rows, &bases) } else { ensemble };
    let partition = partition_of(&labels);
    Ok(Support {
        object_names: ensemble.object_names().map(<[String]>::to_vec),
        anmi: anmi(&partition, &ensemble)?,
        confidence: confidence(&ensemble, &partition)?,
        base_clusterings: bases.len(),
        labels,
        partition,
    })
}

/// Labels that are whole numbers keep their order.
fn partition_of(labels: &[String]) -> Partition {
    let numbers: Option<Vec<u64>> = labels.iter().map(|label| label.parse().ok()).collect();
    numbers.map_or_else(|| Partition::from_values(labels), |numbers| Partition::from_values(&numbers))
}

impl Support {
    /// Mean confidence.
    pub fn mean_confidence(&self) -> Option<f64> {
        mean(&self.confidence)
    }

    /// Writes `object,label,confidence`, with a column `label_name` where labels are not the numbers from 0.
    ///
    /// # Errors
    /// [`AppError::File`].
    pub fn write(&self, path: &Path) -> Result<(), AppError> {
        let labels: Vec<&str> = self.labels.iter().map(String::as_str).collect();
        let are_numbers = || labels.iter().zip(self.partition.labels()).all(|(text, label)| *text == label.to_string());
        let labels = (!are_numbers()).then_some(&labels[..]);
        let (names, numbers) = (self.object_names.as_deref(), [("confidence", &self.confidence[..])]);
        Ok(files::write_named_labels(path, names, &self.partition, labels, &numbers)?)
    }
}
