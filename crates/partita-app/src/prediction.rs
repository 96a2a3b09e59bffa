//! Labels of new objects by a saved model, and what of them the model cannot use.

use std::path::{Path, PathBuf};

use partita::files::ManifestRows;
use partita::{
    BaseClustering, Ensemble, Features, Label, Model, ModelError, ModelInput, ModelReads, Partition, PassRunner,
    RowBlock, RowBlocks, RowMap, SoftPartition, Unread,
};
use serde::Serialize;

use crate::confidence::mean;
use crate::input_notes::{row_name, say_roles};
use crate::label_files::read_ensemble;
use crate::model::{columns_of, open_model};
use crate::result_files::read_json;
use crate::{AppError, Observer, ReadOptions, default_budget};

/// What becomes of values that a model has never seen: words of a table, labels of a base clustering.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum UnknownValues {
    /// They are taken as missing, with a warning.
    #[default]
    Missing,
    /// The input is refused.
    Refuse,
}

/// New objects and what a model says of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prediction {
    /// Names of the objects, where the input has some.
    pub object_names: Option<Vec<String>>,
    /// The most probable cluster of every object.
    pub partition: Partition,
    /// The probability of that cluster; 0 for rows without anything that the model knows.
    pub certainty: Vec<f64>,
    /// Probabilities of all clusters; for rows without anything that the model knows, the shares of the clusters.
    pub soft: SoftPartition,
    /// What of the input the model cannot use.
    pub unread: Unread,
    /// The same in sentences, each of which was told to the observer.
    pub warnings: Vec<String>,
}

/// A prediction in numbers.
#[derive(Debug, Serialize)]
struct Written<'a> {
    model: &'a Path,
    input: &'a Path,
    n: u64,
    clusters: usize,
    sizes: &'a [u64],
    mean_certainty: f64,
    unknown_values: u64,
    rows_without_values: u64,
    warnings: &'a [String],
}

/// What a model says of new objects that stay on the disk, besides their labels.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct RowPrediction {
    /// The objects, n.
    pub rows: u64,
    /// Objects in every cluster.
    pub sizes: Vec<u64>,
    /// The mean of the certainty of all labels.
    pub mean_certainty: f64,
    /// Values that the model has never seen.
    pub unknown_values: u64,
    /// Rows without anything that the model knows.
    pub empty_rows: u64,
    /// The same in sentences, each of which was told to the observer.
    pub warnings: Vec<String>,
}

/// Takes the number of the first of some consecutive objects, their labels and the certainty of these.
pub type PredictedSink<'a> = dyn FnMut(u64, &[u32], &[f64]) -> Result<(), String> + 'a;

/// New objects for a model.
#[derive(Clone, Debug, Default)]
pub struct PredictionInput {
    /// The saved model.
    pub model: PathBuf,
    /// The new objects: label rows of the model's base clusterings, or a table with its columns.
    pub input: PathBuf,
    /// How the input is read, besides what the model says of its table.
    pub read: ReadOptions,
    /// What becomes of values that the model has never seen.
    pub unknown: UnknownValues,
}

impl PredictionInput {
    /// Labels the new objects. A table is read as the one that the model was learned from.
    ///
    /// # Errors
    /// [`AppError`] for files that cannot be read, an input that lacks what the model needs, or unknown values where they
    /// are refused.
    pub fn predict(&self, observer: &dyn Observer) -> Result<Prediction, AppError> {
        let (model, reading) = open_model(&self.model)?;
        let mut options = self.read.clone().within(default_budget());
        options.data = columns_of(&read_json(&self.model, "fit it again")?);
        let (soft, unread, object_names) = match model.reads() {
            ModelReads::Labels => {
                let ensemble = read_ensemble(&self.input, &options, observer)?.ensemble;
                let chosen = self.chosen(ensemble.bases(), &options.data, observer);
                let ensemble = with_bases(ensemble, chosen.as_deref());
                if ensemble.memberships().is_some() {
                    observer.note("the model reads labels: every object is in the cluster of its largest share");
                }
                let input = ModelInput::Labels(&ensemble);
                let names = ensemble.object_names().map(<[String]>::to_vec);
                (model.predict(&input)?, model.unread(&input)?, names)
            }
            ModelReads::Features => {
                reading.apply(&mut options);
                options.clusterable = false;
                let (table, roles) = partita::files::load_table(&self.input, &options)?;
                say_roles(&self.input, &roles, observer);
                let features = Features::new(&table.columns, table.values.view());
                let input = ModelInput::Features(features.map_err(|why| AppError::content(&self.input, why))?);
                (model.predict(&input)?, model.unread(&input)?, table.object_names)
            }
        };
        let row = |row: usize| row_name(row, object_names.as_deref());
        let values = unread
            .first
            .as_ref()
            .map(|(at, column, value)| (unread.values, format!("'{value}' in {}, column '{column}'", row(*at))));
        let rows = unread.empty_rows.first().map(|&first| (unread.empty_rows.len() as u64, row(first as usize)));
        let warnings = self.warnings(values, rows)?;
        warnings.iter().for_each(|warning| observer.warn(warning));
        let (partition, certainty) = labelled(&soft, &unread);
        Ok(Prediction { object_names, partition, certainty, soft, unread, warnings })
    }

    /// The base clusterings that the model knows, where it knows some but not all: a file of arrays holds all in one.
    fn chosen(&self, bases: &[BaseClustering], known: &[String], observer: &dyn Observer) -> Option<Vec<u32>> {
        let is_known = |base: &BaseClustering| known.iter().any(|known| known == base.name());
        let chosen: Vec<u32> = (0..).zip(bases).filter(|(_, base)| is_known(base)).map(|(u, _)| u).collect();
        if chosen.is_empty() || chosen.len() == bases.len() {
            return None;
        }
        let (others, here) = (bases.len() - chosen.len(), self.input.display());
        observer.note(&format!("{here}: {others} base clusterings that the model does not know are left out"));
        Some(chosen)
    }

    /// Whether the input is read block by block: a manifest is.
    pub fn reads_blocks(&self) -> bool {
        ManifestRows::is_manifest(&self.input)
    }

    /// Labels the rows of a manifest, which stay on the disk, and hands the labels to `take` in their order. They are those of
    /// [`predict`](Self::predict) for the same rows.
    ///
    /// # Errors
    /// As [`predict`](Self::predict); a model that reads a table; what `take` says.
    ///
    /// # Cost
    /// Memory: some groups of rows.
    pub fn predict_rows(
        &self,
        observer: &dyn Observer,
        take: &mut PredictedSink<'_>,
    ) -> Result<RowPrediction, AppError> {
        let (model, _) = open_model(&self.model)?;
        if model.reads() == ModelReads::Features {
            let reason = "a manifest is of label rows, and this model reads a table; give the table as one file";
            return Err(AppError::content(&self.input, reason));
        }
        let source = ManifestRows::open(&self.input, self.read.clone().within(default_budget()).budget)?;
        source.open_files()?;
        let known = columns_of(&read_json(&self.model, "fit it again")?);
        let blocks =
            Blocks { model: &*model, bases: source.bases(), chosen: self.chosen(source.bases(), &known, observer) };
        let monitor = observer.begin("predicting");
        let mut found = RowPrediction::default();
        let (mut first_value, mut first_empty, mut certainties) = (None, None, 0.0);
        let passed = PassRunner::new(&source, &*monitor).each(&blocks, &mut |first, predicted| {
            let (soft, unread) = predicted.map_err(|error| error.to_string())?;
            let (labels, certainty) = labelled(&soft, &unread);
            found.sizes.resize(soft.clusters(), 0);
            labels.labels().iter().for_each(|&label| found.sizes[label as usize] += 1);
            certainties += certainty.iter().sum::<f64>();
            found.rows += labels.objects() as u64;
            found.unknown_values += unread.values;
            found.empty_rows += unread.empty_rows.len() as u64;
            first_empty = first_empty.or(unread.empty_rows.first().map(|&row| first + u64::from(row)));
            if let (None, Some((row, column, value))) = (&first_value, unread.first) {
                first_value = Some((first + row as u64, column, value));
            }
            let _ = monitor.tick(found.rows, source.rows());
            // Rows of an input that will be refused are counted only.
            let refused = first_value.is_some() && self.unknown == UnknownValues::Refuse;
            if refused { Ok(()) } else { take(first, labels.labels(), &certainty) }
        });
        passed.map_err(|error| AppError::of_pass(&self.input, &error))?;
        let values = first_value.map(|(row, column, value)| {
            (found.unknown_values, format!("'{value}' in row {}, column '{column}'", row + 1))
        });
        let rows = first_empty.map(|row| (found.empty_rows, format!("row {}", row + 1)));
        found.warnings = self.warnings(values, rows)?;
        found.mean_certainty = certainties / found.rows.max(1) as f64;
        found.warnings.iter().for_each(|warning| observer.warn(warning));
        Ok(found)
    }

    /// What of the input the model cannot use, in sentences: how many values and rows, and the first of them.
    fn warnings(&self, values: Option<(u64, String)>, rows: Option<(u64, String)>) -> Result<Vec<String>, AppError> {
        let here = self.input.display();
        let mut warnings = Vec::new();
        if let Some((count, first)) = values {
            let what = format!("{here}: {count} values are unknown to the model, first {first}");
            if self.unknown == UnknownValues::Refuse {
                return Err(AppError::request(format!("{what}; --unknown missing takes them as missing")));
            }
            warnings.push(format!("{what}; they are taken as missing"));
        }
        if let Some((count, first)) = rows {
            warnings.push(format!(
                "{here}: {count} rows have no value that the model knows, first {first}; they get its largest cluster, with \
                 certainty 0"
            ));
        }
        Ok(warnings)
    }

    /// A prediction of rows that stay on the disk as one JSON object, with the fields of [`to_json`](Self::to_json).
    ///
    /// # Errors
    /// As [`json_text`](crate::json_text).
    pub fn rows_to_json(&self, found: &RowPrediction) -> Result<String, AppError> {
        crate::json_text(&Written {
            model: &self.model,
            input: &self.input,
            n: found.rows,
            clusters: found.sizes.iter().filter(|size| **size > 0).count(),
            sizes: &found.sizes,
            mean_certainty: found.mean_certainty,
            unknown_values: found.unknown_values,
            rows_without_values: found.empty_rows,
            warnings: &found.warnings,
        })
    }

    /// A prediction of this input as one JSON object: sizes, certainty, what the model could not use.
    ///
    /// # Errors
    /// As [`json_text`](crate::json_text).
    pub fn to_json(&self, prediction: &Prediction) -> Result<String, AppError> {
        let partition = &prediction.partition;
        crate::json_text(&Written {
            model: &self.model,
            input: &self.input,
            n: partition.objects() as u64,
            clusters: partition.live_clusters(),
            sizes: &partition.sizes().into_iter().map(|size| size as u64).collect::<Vec<_>>(),
            mean_certainty: mean(&prediction.certainty).unwrap_or_default(),
            unknown_values: prediction.unread.values,
            rows_without_values: prediction.unread.empty_rows.len() as u64,
            warnings: &prediction.warnings,
        })
    }
}

/// Label rows in blocks, to be predicted.
struct Blocks<'a> {
    model: &'a dyn Model,
    bases: &'a [BaseClustering],
    chosen: Option<Vec<u32>>,
}

impl RowMap for Blocks<'_> {
    type Out = Result<(SoftPartition, Unread), ModelError>;

    fn map<L: Label>(&self, block: &RowBlock<'_, L>) -> Self::Out {
        let ensemble = with_bases(block.ensemble(self.bases), self.chosen.as_deref());
        let input = ModelInput::Labels(&ensemble);
        Ok((self.model.predict(&input)?, self.model.unread(&input)?))
    }
}

/// The ensemble with some of its base clusterings, or all.
fn with_bases(ensemble: Ensemble, bases: Option<&[u32]>) -> Ensemble {
    let Some(bases) = bases else { return ensemble };
    let objects: Vec<u32> = (0..).take(ensemble.objects()).collect();
    ensemble.select(&objects, bases)
}

/// The most probable clusters and their probabilities, which are 0 for rows of which the model knows nothing.
fn labelled(soft: &SoftPartition, unread: &Unread) -> (Partition, Vec<f64>) {
    let mut certainty = soft.certainty();
    unread.empty_rows.iter().for_each(|&row| certainty[row as usize] = 0.0);
    (soft.hard(), certainty)
}
