//! Labels of new objects by a saved model, and what of them the model cannot use.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use partita::extend::{ModelInput, ModelReads, PassRunner, RowBlocks, Unread};
use partita::files::ManifestRows;
use partita::{Features, Model, Partition, SoftPartition};
use serde::Serialize;
use serde_json::Value;

use crate::analysis::agreement::mean;
use crate::analysis::model::{columns_of, open_model};
use crate::analysis::row_predictor::{
    PredictedCounts, PredictedSink, RowPredictor, UnknownValues, chosen, labelled, warnings,
    with_bases,
};
use crate::error::AppError;
use crate::input::input_notes::{row_name, say_roles};
use crate::input::label_files::read_ensemble;
use crate::machine::default_budget;
use crate::observer::Observer;
use crate::text_files::read_json;
use partita::files::ReadOptions;

/// New objects and what a model says of them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Prediction {
    /// Names of the objects, where the input has some.
    pub object_names: Option<Vec<String>>,
    /// The most probable cluster of every object.
    pub partition: Partition,
    /// The probability of that cluster; 0 for rows without anything that the model knows.
    pub probability: Vec<f64>,
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
    mean_probability: f64,
    unknown_values: u64,
    rows_without_values: u64,
    warnings: &'a [String],
}

/// What a model says of new objects that stay on the disk, besides their labels.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct RowPrediction {
    /// The objects, n.
    pub rows: u64,
    /// Objects in every cluster.
    pub sizes: Vec<u64>,
    /// The mean probability of all labels.
    pub mean_probability: f64,
    /// Values that the model has never seen.
    pub unknown_values: u64,
    /// Rows without anything that the model knows.
    pub empty_rows: u64,
    /// The same in sentences, each of which was told to the observer.
    pub warnings: Vec<String>,
}

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
                let (chosen, others) = chosen(ensemble.bases(), &options.data);
                self.say_others(others, observer);
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
                let input = ModelInput::Features(
                    features.map_err(|why| AppError::content(&self.input, why))?,
                );
                (
                    model.predict(&input)?,
                    model.unread(&input)?,
                    table.object_names,
                )
            }
        };
        let row = |row: usize| row_name(row, object_names.as_deref());
        let values = unread.first.as_ref().map(|(at, column, value)| {
            (
                unread.values,
                format!("'{value}' in {}, column '{column}'", row(*at)),
            )
        });
        let rows = unread
            .empty_rows
            .first()
            .map(|&first| (unread.empty_rows.len() as u64, row(first as usize)));
        let warnings = warnings(&self.input, self.unknown, values, rows)?;
        warnings.iter().for_each(|warning| observer.warn(warning));
        let (partition, probability) = labelled(&soft, &unread);
        Ok(Prediction {
            object_names,
            partition,
            probability,
            soft,
            unread,
            warnings,
        })
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
        let (model, saved) = self.row_model()?;
        let source = ManifestRows::open(
            &self.input,
            self.read.clone().within(default_budget()).budget,
        )?;
        source.open_files()?;
        let predictor = RowPredictor::new(&*model, source.bases(), &columns_of(&saved));
        self.say_others(predictor.others, observer);
        let monitor = observer.begin("predicting");
        let (runner, refuse) = (
            PassRunner::new(&source, &*monitor),
            self.unknown == UnknownValues::Refuse,
        );
        let counts = predictor.predict(&runner, 0..source.groups(), refuse, take);
        let found = self.told(counts.map_err(|error| AppError::of_pass(&self.input, &error))?)?;
        found
            .warnings
            .iter()
            .for_each(|warning| observer.warn(warning));
        Ok(found)
    }

    /// A model of label rows, and its JSON.
    ///
    /// # Errors
    /// [`AppError`] where that cannot be.
    pub fn row_model(&self) -> Result<(Arc<dyn Model>, Value), AppError> {
        let (model, _) = open_model(&self.model)?;
        if model.reads() == ModelReads::Features {
            let reason = "a manifest is of label rows, and this model reads a table; give the table as one file";
            return Err(AppError::content(&self.input, reason));
        }
        Ok((model, read_json(&self.model, "fit it again")?))
    }

    /// What was counted of label rows, with what the model cannot use of them in sentences.
    ///
    /// # Errors
    /// [`AppError`] where that cannot be.
    pub fn told(&self, counts: PredictedCounts) -> Result<RowPrediction, AppError> {
        let warnings = counts.warnings(&self.input, self.unknown)?;
        let PredictedCounts {
            rows,
            sizes,
            probability,
            unknown_values,
            empty_rows,
            ..
        } = counts;
        let mean_probability = probability / rows.max(1) as f64;
        Ok(RowPrediction {
            rows,
            sizes,
            mean_probability,
            unknown_values,
            empty_rows,
            warnings,
        })
    }

    /// Says how many base clusterings the model does not know.
    pub fn say_others(&self, others: usize, observer: &dyn Observer) {
        if others > 0 {
            let here = self.input.display();
            observer.note(&format!(
                "{here}: {others} base clusterings that the model does not know are left out"
            ));
        }
    }

    /// A prediction of rows that stay on the disk as one JSON object, with the fields of [`to_json`](Self::to_json).
    ///
    /// # Errors
    /// As [`json_text`](crate::json_text).
    pub fn rows_to_json(&self, found: &RowPrediction) -> Result<String, AppError> {
        crate::text_files::json_text(&Written {
            model: &self.model,
            input: &self.input,
            n: found.rows,
            clusters: found.sizes.iter().filter(|size| **size > 0).count(),
            sizes: &found.sizes,
            mean_probability: found.mean_probability,
            unknown_values: found.unknown_values,
            rows_without_values: found.empty_rows,
            warnings: &found.warnings,
        })
    }

    /// A prediction of this input as one JSON object: sizes, probability, what the model could not use.
    ///
    /// # Errors
    /// As [`json_text`](crate::json_text).
    pub fn to_json(&self, prediction: &Prediction) -> Result<String, AppError> {
        let partition = &prediction.partition;
        crate::text_files::json_text(&Written {
            model: &self.model,
            input: &self.input,
            n: partition.objects() as u64,
            clusters: partition.live_clusters(),
            sizes: &partition
                .sizes()
                .into_iter()
                .map(|size| size as u64)
                .collect::<Vec<_>>(),
            mean_probability: mean(&prediction.probability).unwrap_or_default(),
            unknown_values: prediction.unread.values,
            rows_without_values: prediction.unread.empty_rows.len() as u64,
            warnings: &prediction.warnings,
        })
    }
}
