//! The files of a result: where they lie in the folder of a run, how they are written and read back.

use std::path::Path;

use crate::analysis::agreement::label_numbers;
use crate::csv_text::csv_text;
use crate::error::AppError;
use crate::experiment::file_names::{CONFUSION, LABELS, SOFT};
use crate::input::left_out::LeftOut;
use crate::machine::default_budget;
use crate::output::posterior_files::write_posterior;
use crate::text_files::{make_folder, write_text};
use partita::extend::ClusterNames;
use partita::files::{self, FileError, Impute, LabelNumbers, ReadOptions};
use partita::ndarray::Axis;
use partita::{Outcome, Partition, SoftPartition};

/// What a method found, and how far base clusterings agree with its labels.
#[derive(Clone, Copy)]
pub(crate) struct MethodResult<'a> {
    pub(crate) outcome: &'a Outcome,
    /// Agreement of every label, n numbers.
    pub(crate) agreement: &'a [f64],
    /// Objects that have no label and are not in any of these.
    pub(crate) left_out: Option<&'a LeftOut>,
}

impl MethodResult<'_> {
    /// Writes `object,label,agreement`, and `probability` where there are some.
    pub(crate) fn write_labels(
        &self,
        path: &Path,
        names: Option<&[String]>,
    ) -> Result<(), AppError> {
        self.with_all(names, |names, labels, classes, numbers| {
            Ok(files::write_named_labels(
                path, names, labels, classes, numbers,
            )?)
        })
    }

    /// Hands over names, labels, classes and numbers of all objects.
    pub(crate) fn with_all<T>(
        &self,
        names: Option<&[String]>,
        take: impl FnOnce(Option<&[String]>, &[u32], Option<&[&str]>, &[LabelNumbers<'_>]) -> T,
    ) -> T {
        let labels = self.outcome.partition.labels();
        let classes = self.outcome.object_classes();
        let probability = self.outcome.probability();
        let names_of = label_numbers(probability.is_some()).iter().copied();
        let mut numbers = vec![self.agreement.to_vec()];
        numbers.extend(probability);
        let Some(out) = self.left_out else {
            let numbers: Vec<_> = names_of.zip(numbers.iter().map(Vec::as_slice)).collect();
            return take(names, labels, classes.as_deref(), &numbers);
        };
        let labels = out.labels(labels);
        let classes = classes.map(|classes| out.spread(&classes, ""));
        let numbers: Vec<Vec<f64>> = numbers
            .iter()
            .map(|numbers| out.spread(numbers, f64::NAN))
            .collect();
        let numbers: Vec<_> = names_of.zip(numbers.iter().map(Vec::as_slice)).collect();
        take(out.names(), &labels, classes.as_deref(), &numbers)
    }

    /// Writes the probabilities of all objects.
    pub(crate) fn write_soft(
        &self,
        path: &Path,
        names: Option<&[String]>,
        soft: &SoftPartition,
    ) -> Result<(), AppError> {
        match self.left_out {
            None => files::write_soft(path, names, soft.rows())?,
            Some(out) => files::write_soft(path, out.names(), out.rows(soft).view())?,
        }
        Ok(())
    }
}

/// Writes labels and, where there are some, probabilities; those of an earlier run go.
pub(crate) fn write_outcome(
    folder: &Path,
    names: Option<&[String]>,
    result: &MethodResult<'_>,
) -> Result<(), AppError> {
    make_folder(folder)?;
    let outcome = result.outcome;
    result.write_labels(&folder.join(LABELS), names)?;
    let soft = folder.join(SOFT);
    match &outcome.soft {
        Some(probabilities) => result.write_soft(&soft, names, probabilities)?,
        None => files::remove_whole(&soft)?,
    }
    write_posterior(folder, names, outcome.posterior.as_ref())?;
    let confusion = folder.join(CONFUSION);
    match &outcome.names {
        Some(names) => write_text(&confusion, &confusion_csv(names))?,
        None => files::remove_whole(&confusion)?,
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
    /// The lines of the objects that have a label, where some have none.
    pub(crate) rows: Option<Vec<usize>>,
}

/// Probabilities as a run wrote them, of the objects of these lines, or of all.
pub(crate) fn read_shares(path: &Path, rows: Option<&[usize]>) -> Result<SoftPartition, AppError> {
    let Some(rows) = rows else {
        return Ok(files::read_soft(path)?.1);
    };
    let mut options = ReadOptions::default().within(default_budget());
    // The other lines are gaps, and whatever fills them is left out.
    (options.clusterable, options.impute) = (false, Some(Impute::Mean));
    let table = files::read_table(path, &options)?;
    if rows
        .last()
        .is_some_and(|&last| last >= table.values.nrows())
    {
        let reason = "it has fewer objects than the labels beside it; run again";
        return Err(AppError::content(path, reason));
    }
    SoftPartition::new(table.values.select(Axis(0), rows))
        .map_err(|error| AppError::content(path, error.to_string()))
}

/// Labels.
pub(crate) fn read_labels(path: &Path) -> Result<WrittenLabels, AppError> {
    let options = |name: &str| ReadOptions::of_column(name).within(default_budget());
    let read = |name: &str| files::read_labels(path, &options(name)).map(|read| read.column.values);
    // Objects without a label are not in the result.
    let labelled: Vec<bool> = read("label")?.iter().map(Option::is_some).collect();
    let column = |name: &str| {
        let values = read(name)?.into_iter().zip(&labelled);
        let values = values.filter(|(_, labelled)| **labelled);
        Ok::<_, FileError>(values.map(|(value, _)| value).collect::<Vec<_>>())
    };
    let label = |text: &str| text.parse::<u32>().ok();
    let labels = numbers(path, &column("label")?, label, "the label is not a number")?;
    let clusters = labels.iter().max().map_or(0, |&last| last as usize + 1);
    if clusters > labels.len() {
        return Err(AppError::content(
            path,
            format!("label {} of {} objects", clusters - 1, labels.len()),
        ));
    }
    let partition = Partition::new(labels, clusters)
        .map_err(|error| AppError::content(path, error.to_string()))?;
    let rows = (0..labelled.len()).filter(|&row| labelled[row]).collect();
    Ok(WrittenLabels {
        rows: labelled.contains(&false).then_some(rows),
        partition,
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
