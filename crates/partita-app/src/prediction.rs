//! Labels of new objects by a saved model, and what of them the model cannot use.

use std::path::{Path, PathBuf};

use partita::{BaseClustering, Ensemble, Features, ModelInput, ModelReads, Partition, SoftPartition, Unread};
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
    n: usize,
    clusters: usize,
    sizes: Vec<usize>,
    mean_certainty: f64,
    unknown_values: u64,
    rows_without_values: usize,
    warnings: &'a [String],
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
                let ensemble = self.of_model(ensemble, &options.data, observer);
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
        let mut certainty = soft.certainty();
        unread.empty_rows.iter().for_each(|&row| certainty[row as usize] = 0.0);
        let warnings = self.warnings(&unread, object_names.as_deref())?;
        warnings.iter().for_each(|warning| observer.warn(warning));
        Ok(Prediction { object_names, partition: soft.hard(), certainty, soft, unread, warnings })
    }

    /// The base clusterings that the model knows, where it knows some: a file of arrays holds all in one.
    fn of_model(&self, ensemble: Ensemble, known: &[String], observer: &dyn Observer) -> Ensemble {
        let names: Vec<&str> = ensemble.bases().iter().map(BaseClustering::name).collect();
        let bases: Vec<u32> =
            (0..).zip(&names).filter(|(_, name)| known.iter().any(|known| known == *name)).map(|(u, _)| u).collect();
        if bases.is_empty() || bases.len() == names.len() {
            return ensemble;
        }
        let (others, here) = (names.len() - bases.len(), self.input.display());
        observer.note(&format!("{here}: {others} base clusterings that the model does not know are left out"));
        let objects: Vec<u32> = (0..).take(ensemble.objects()).collect();
        ensemble.select(&objects, &bases)
    }

    /// What of the input the model cannot use, in sentences.
    fn warnings(&self, unread: &Unread, names: Option<&[String]>) -> Result<Vec<String>, AppError> {
        let row = |row: usize| row_name(row, names);
        let mut warnings = Vec::new();
        if let Some((at, column, value)) = &unread.first {
            let (here, values, first) = (self.input.display(), unread.values, row(*at));
            let what = format!(
                "{here}: {values} values are unknown to the model, first '{value}' in {first}, column '{column}'"
            );
            if self.unknown == UnknownValues::Refuse {
                return Err(AppError::request(format!("{what}; --unknown missing takes them as missing")));
            }
            warnings.push(format!("{what}; they are taken as missing"));
        }
        if let Some(&first) = unread.empty_rows.first() {
            let (here, rows, first) = (self.input.display(), unread.empty_rows.len(), row(first as usize));
            warnings.push(format!(
                "{here}: {rows} rows have no value that the model knows, first {first}; they get its largest cluster, with \
                 certainty 0"
            ));
        }
        Ok(warnings)
    }

    /// A prediction of this input as one JSON object: sizes, certainty, what the model could not use.
    ///
    /// # Errors
    /// As [`json_text`](crate::json_text).
    pub fn to_json(&self, prediction: &Prediction) -> Result<String, AppError> {
        let partition = &prediction.partition;
        let n = partition.objects();
        crate::json_text(&Written {
            model: &self.model,
            input: &self.input,
            n,
            clusters: partition.live_clusters(),
            sizes: partition.sizes(),
            mean_certainty: mean(&prediction.certainty).unwrap_or_default(),
            unknown_values: prediction.unread.values,
            rows_without_values: prediction.unread.empty_rows.len(),
            warnings: &prediction.warnings,
        })
    }
}
