//! A saved model over label rows that are not held: labels block by block, and what is counted of them.

use std::ops::Range;
use std::path::Path;

use partita::extend::{
    BaseClustering, ModelError, ModelInput, PassError, PassRunner, Row, RowBlock, RowMap, Unread,
    option,
};
use partita::{Ensemble, Model, Partition, SoftPartition};
use serde::{Deserialize, Serialize};

use crate::error::AppError;

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

/// Takes the number of the first of some consecutive objects, their labels and their probabilities.
pub type PredictedSink<'a> = dyn FnMut(u64, &[u32], &[f64]) -> Result<(), String> + 'a;

/// A model for rows of these base clusterings.
pub struct RowPredictor<'a> {
    model: &'a dyn Model,
    bases: &'a [BaseClustering],
    chosen: Option<Vec<u32>>,
    /// Base clusterings that the model does not know, which are left out.
    pub others: usize,
}

/// What is counted of predicted rows; that of consecutive parts adds up.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct PredictedCounts {
    /// Rows.
    pub rows: u64,
    /// Objects in every cluster.
    pub sizes: Vec<u64>,
    /// Sum of the probabilities of all labels.
    pub probability: f64,
    /// Values that the model has never seen.
    pub unknown_values: u64,
    /// Rows without anything that the model knows.
    pub empty_rows: u64,
    /// The first unknown value: its row, column and what it is.
    first_unknown: Option<(u64, String, String)>,
    first_empty: Option<u64>,
}

impl PredictedCounts {
    fn of(first: u64, labels: &Partition, probability: &[f64], unread: Unread) -> Self {
        Self {
            rows: labels.objects() as u64,
            sizes: labels.sizes().into_iter().map(|size| size as u64).collect(),
            probability: probability.iter().sum(),
            unknown_values: unread.values,
            empty_rows: unread.empty_rows.len() as u64,
            first_unknown: unread
                .first
                .map(|(row, column, value)| (first + row as u64, column, value)),
            first_empty: unread.empty_rows.first().map(|&row| first + u64::from(row)),
        }
    }

    /// Adds what is counted of the rows that follow.
    pub fn append(&mut self, next: Self) {
        self.rows += next.rows;
        self.sizes.resize(self.sizes.len().max(next.sizes.len()), 0);
        self.sizes
            .iter_mut()
            .zip(next.sizes)
            .for_each(|(sum, size)| *sum += size);
        self.probability += next.probability;
        self.unknown_values += next.unknown_values;
        self.empty_rows += next.empty_rows;
        self.first_unknown = self.first_unknown.take().or(next.first_unknown);
        self.first_empty = self.first_empty.or(next.first_empty);
    }

    /// What of the rows of this file the model cannot use, in sentences.
    ///
    /// # Errors
    /// [`AppError`] where that cannot be.
    pub fn warnings(&self, here: &Path, unknown: UnknownValues) -> Result<Vec<String>, AppError> {
        let values = self.first_unknown.as_ref().map(|(row, column, value)| {
            (
                self.unknown_values,
                format!("'{value}' in row {}, column '{column}'", row + 1),
            )
        });
        let rows = self
            .first_empty
            .map(|row| (self.empty_rows, format!("row {}", row + 1)));
        warnings(here, unknown, values, rows)
    }
}

impl<'a> RowPredictor<'a> {
    /// `known` are the base clusterings that the model reads.
    pub fn new(model: &'a dyn Model, bases: &'a [BaseClustering], known: &[String]) -> Self {
        let (chosen, others) = chosen(bases, known);
        Self {
            model,
            bases,
            chosen,
            others,
        }
    }

    /// Hands the labels of the rows of some groups to `take` in their order. Rows of an input that is refused are counted only, from the
    /// first unknown value on.
    ///
    /// # Errors
    /// [`PassError`] of the pass.
    pub fn predict(
        &self,
        rows: &PassRunner<'_>,
        groups: Range<usize>,
        refuse: bool,
        take: &mut PredictedSink<'_>,
    ) -> Result<PredictedCounts, PassError> {
        let (monitor, all) = (rows.monitor(), rows.source().rows());
        let mut counts = PredictedCounts::default();
        rows.each_in(groups, self, &mut |first, predicted| {
            let (soft, unread) = predicted.map_err(|error| error.to_string())?;
            let (labels, probability) = labelled(&soft, &unread);
            counts.append(PredictedCounts::of(first, &labels, &probability, unread));
            let _ = monitor.tick(counts.rows, all);
            let refused = refuse && counts.first_unknown.is_some();
            if refused {
                Ok(())
            } else {
                take(first, labels.labels(), &probability)
            }
        })?;
        Ok(counts)
    }
}

impl RowMap for RowPredictor<'_> {
    type Out = Result<(SoftPartition, Unread), ModelError>;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Self::Out {
        let ensemble = with_bases(block.ensemble(self.bases), self.chosen.as_deref());
        let input = ModelInput::Labels(&ensemble);
        Ok((self.model.predict(&input)?, self.model.unread(&input)?))
    }
}

/// The base clusterings that a model knows, where it knows some but not all (a file of arrays holds all in one), and how many others
/// there are.
pub(crate) fn chosen(bases: &[BaseClustering], known: &[String]) -> (Option<Vec<u32>>, usize) {
    let is_known = |base: &BaseClustering| known.iter().any(|known| known == base.name());
    let chosen: Vec<u32> = (0..)
        .zip(bases)
        .filter(|(_, base)| is_known(base))
        .map(|(u, _)| u)
        .collect();
    let others = bases.len() - chosen.len();
    if chosen.is_empty() || others == 0 {
        (None, 0)
    } else {
        (Some(chosen), others)
    }
}

/// The ensemble with some of its base clusterings, or all.
pub(crate) fn with_bases(ensemble: Ensemble, bases: Option<&[u32]>) -> Ensemble {
    let Some(bases) = bases else { return ensemble };
    let objects: Vec<u32> = (0..).take(ensemble.objects()).collect();
    ensemble.select(&objects, bases)
}

/// The most probable clusters and their probabilities, which are 0 for rows of which the model knows nothing.
pub(crate) fn labelled(soft: &SoftPartition, unread: &Unread) -> (Partition, Vec<f64>) {
    let mut probability = soft.largest();
    unread
        .empty_rows
        .iter()
        .for_each(|&row| probability[row as usize] = 0.0);
    (soft.hard(), probability)
}

/// What of an input a model cannot use, in sentences: how many values and rows, and the first of them.
pub(crate) fn warnings(
    here: &Path,
    unknown: UnknownValues,
    values: Option<(u64, String)>,
    rows: Option<(u64, String)>,
) -> Result<Vec<String>, AppError> {
    let (here, mut warnings) = (here.display(), Vec::new());
    if let Some((count, first)) = values {
        let what = format!("{here}: {count} values are unknown to the model, first {first}");
        if unknown == UnknownValues::Refuse {
            return Err(AppError::request(format!(
                "{what}; {} takes them as missing",
                option("unknown").to("missing")
            )));
        }
        warnings.push(format!("{what}; they are taken as missing"));
    }
    if let Some((count, first)) = rows {
        warnings.push(format!(
            "{here}: {count} rows have no value that the model knows, first {first}; they get its largest cluster, with \
             probability 0"
        ));
    }
    Ok(warnings)
}
