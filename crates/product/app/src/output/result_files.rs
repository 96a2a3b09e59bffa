//! The files of a result: where they lie in the folder of a run, how they are written and read back.

use std::fs;
use std::path::Path;

use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::experiment::file_names::{CONFUSION, LABELS, SOFT};
use crate::machine::default_budget;
use crate::output::posterior_files::write_posterior;
use crate::text_files::{make_folder, write_text};
use partita::extend::ClusterNames;
use partita::files::{self, ReadOptions};
use partita::{Outcome, Partition, SoftPartition};

/// What a method found, and how confident its labels are.
#[derive(Clone, Copy)]
pub(crate) struct MethodResult<'a> {
    pub(crate) outcome: &'a Outcome,
    /// Confidence of every label, n numbers.
    pub(crate) confidence: &'a [f64],
    /// The shares of the evidence for every cluster, of a method without probabilities, where a file of them is written.
    pub(crate) evidence: Option<&'a SoftPartition>,
}

impl MethodResult<'_> {
    /// Writes `object,label,certainty,confidence`.
    pub(crate) fn write_labels(
        &self,
        path: &Path,
        names: Option<&[String]>,
    ) -> Result<(), AppError> {
        let numbers = [
            ("certainty", &self.outcome.certainty[..]),
            ("confidence", self.confidence),
        ];
        let classes = self.outcome.object_classes();
        Ok(files::write_named_labels(
            path,
            names,
            &self.outcome.partition,
            classes.as_deref(),
            &numbers,
        )?)
    }

    /// The probabilities of the method, else the shares of the evidence.
    pub(crate) fn shares(&self) -> Option<&SoftPartition> {
        self.outcome.soft.as_ref().or(self.evidence)
    }
}

/// Writes labels and, where there are some, probabilities or shares of the evidence; those of an earlier run go.
pub(crate) fn write_outcome(
    folder: &Path,
    names: Option<&[String]>,
    result: &MethodResult<'_>,
) -> Result<(), AppError> {
    make_folder(folder)?;
    let outcome = result.outcome;
    result.write_labels(&folder.join(LABELS), names)?;
    let soft = folder.join(SOFT);
    match result.shares() {
        Some(shares) => files::write_soft(&soft, names, shares)?,
        None if soft.exists() => {
            fs::remove_file(&soft).map_err(|error| AppError::io(&soft, "be removed", error))?;
        }
        None => {}
    }
    write_posterior(folder, names, outcome.posterior.as_ref())?;
    let confusion = folder.join(CONFUSION);
    match &outcome.names {
        Some(names) => write_text(&confusion, &confusion_csv(names))?,
        None if confusion.exists() => {
            fs::remove_file(&confusion)
                .map_err(|error| AppError::io(&confusion, "be removed", error))?;
        }
        None => {}
    }
    Ok(())
}

/// A line for every base clustering, class and label: how probable the label is for objects of the class.
fn confusion_csv(names: &ClusterNames) -> String {
    let classes = || names.names().iter();
    let lines = names.confusion().iter().flat_map(|base| {
        let rows = classes().zip(&base.probabilities);
        rows.flat_map(move |(class, line)| {
            let cell = move |(label, p): (&String, &f64)| {
                [
                    base.name.clone(),
                    class.clone(),
                    label.clone(),
                    p.to_string(),
                ]
            };
            classes().zip(line).map(cell)
        })
    });
    csv_text("base_clustering,class,label,probability", lines)
}

/// Labels as a run wrote them.
pub(crate) struct WrittenLabels {
    pub(crate) partition: Partition,
    pub(crate) certainty: Vec<f64>,
    /// Runs of earlier versions have none.
    pub(crate) confidence: Option<Vec<f64>>,
}

/// Labels, certainties and, where there are some, confidences.
pub(crate) fn read_labels(path: &Path) -> Result<WrittenLabels, AppError> {
    let options = |name: &str| ReadOptions::of_column(name).within(default_budget());
    let column =
        |name: &str| files::read_labels(path, &options(name)).map(|read| read.column.values);
    let label = |text: &str| text.parse::<u32>().ok();
    let labels = numbers(path, &column("label")?, label, "the label is not a number")?;
    let share = |text: &str| {
        text.parse::<f64>()
            .ok()
            .filter(|number| (0.0..=1.0).contains(number))
    };
    let certainty = numbers(
        path,
        &column("certainty")?,
        share,
        "the certainty is not in 0 to 1",
    )?;
    let confidence = column("confidence").ok();
    let confidence =
        confidence.map(|texts| numbers(path, &texts, share, "the confidence is not in 0 to 1"));
    let clusters = labels.iter().max().map_or(0, |&last| last as usize + 1);
    if clusters > labels.len() {
        return Err(AppError::content(
            path,
            format!("label {} of {} objects", clusters - 1, labels.len()),
        ));
    }
    let partition = Partition::new(labels, clusters)
        .map_err(|error| AppError::content(path, error.to_string()))?;
    Ok(WrittenLabels {
        partition,
        certainty,
        confidence: confidence.transpose()?,
    })
}

fn numbers<T>(
    path: &Path,
    texts: &[Option<String>],
    parse: impl Fn(&str) -> Option<T>,
    wrong: &str,
) -> Result<Vec<T>, AppError> {
    let number = |(row, text): (usize, &Option<String>)| {
        let line = || AppError::request(format!("{}, line {}: {wrong}", path.display(), row + 2));
        text.as_deref().and_then(&parse).ok_or_else(line)
    };
    texts.iter().enumerate().map(number).collect()
}
