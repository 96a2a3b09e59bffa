//! Weights of base clusterings and of objects: by agreement, from a column, or from a file.

use std::path::Path;

use partita::coassoc::Overlap;
use partita::extend::{BaseClustering, ConsensusError, PassRunner, ProblemSize, WeightError};
use partita::files::{self, ReadOptions, Truth, ValueKind};
use partita::metrics::{BaseTables, Contingency, agreement_weights};
use partita::{BaseWeights, Clusters, Ensemble, MemoryBudget, ObjectWeights};

use crate::error::AppError;
use crate::experiment::description::{ObjectWeightSource, WeightSource};
use crate::input::input_notes::row_name;
use crate::input::objects::Objects;
use crate::machine::default_budget;

/// The weights of an ensemble's base clusterings.
///
/// # Errors
/// [`AppError::Content`] for a file that lacks a base clustering, or holds what is not a number of 0 or above.
pub fn base_weights(source: &WeightSource, ensemble: &Ensemble) -> Result<BaseWeights, AppError> {
    match source {
        WeightSource::Agreement => Ok(agreement_weights(ensemble)),
        WeightSource::File(file) => base_weights_from(file, ensemble.bases()),
    }
}

/// The weights of the base clusterings of label rows that are not held: the same numbers, from one pass over the rows.
///
/// # Errors
/// As [`base_weights`]; [`AppError::Budget`] if the overlaps of base clusters do not fit, [`AppError::Method`] if the rows cannot be
/// read.
pub fn base_weights_of_rows(
    source: &WeightSource,
    rows: &PassRunner<'_>,
    budget: MemoryBudget,
) -> Result<BaseWeights, AppError> {
    match source {
        WeightSource::Agreement => agreement_of_rows(rows, budget),
        WeightSource::File(file) => base_weights_from(file, rows.source().bases()),
    }
}

fn agreement_of_rows(rows: &PassRunner<'_>, budget: MemoryBudget) -> Result<BaseWeights, AppError> {
    const WHAT: &str = "agreement of base clusterings";
    let bases = rows.source().bases();
    let size = ProblemSize::of_bases(rows.source().rows() as usize, bases, Clusters::Exactly(1));
    budget.check(
        WHAT,
        Overlap::bytes(&size),
        "take fewer base clusterings, or weights from a file",
    )?;
    let overlap = Overlap::count(rows).map_err(|error| ConsensusError::Method {
        method: WHAT,
        source: Box::new(error),
    })?;
    let table = |a, b| {
        let counts = overlap.of_bases(a, b);
        Contingency::of_counts(counts.nrows(), counts.ncols(), |i, j| counts[[i, j]] as u64)
    };
    Ok(
        BaseTables::new(bases.iter().map(BaseClustering::clusters).collect(), &table)
            .agreement_weights(),
    )
}

/// A weight for every base clustering by its name, from a file with the columns name and weight.
///
/// # Errors
/// As [`base_weights`].
pub fn base_weights_from(file: &Path, bases: &[BaseClustering]) -> Result<BaseWeights, AppError> {
    let read = files::read_labels(
        file,
        &ReadOptions::of_column("weight").within(default_budget()),
    )?;
    let names = read.object_names.ok_or_else(|| {
        AppError::content(
            file,
            "a column name says which base clustering a weight is for; there is none",
        )
    })?;
    let weight = |base: &BaseClustering| {
        let place = names.iter().position(|name| name == base.name());
        let text = place.and_then(|place| read.column.values[place].as_deref());
        let text = text.ok_or_else(|| {
            AppError::content(
                file,
                format!("no weight for base clustering '{}'", base.name()),
            )
        })?;
        let number: Result<f64, _> = text.parse();
        number.map_err(|_| {
            AppError::content(
                file,
                format!(
                    "the weight of '{}' is '{text}', which is not a number",
                    base.name()
                ),
            )
        })
    };
    let weights = bases.iter().map(weight).collect::<Result<_, _>>()?;
    BaseWeights::new(weights).map_err(|error| {
        AppError::content(
            file,
            match error {
                WeightError::Value { place, value } => {
                    format!(
                        "the weight of '{}' is {value}; {}",
                        bases[place].name(),
                        WeightError::RULE
                    )
                }
                other => other.to_string(),
            },
        )
    })
}

/// The weights of `objects`, which may have names: from a column of its own `file`, which is read as `read` says, or from another file.
///
/// # Errors
/// [`AppError::File`] for what cannot be read, [`AppError::Content`] for a file that lacks an object, or holds what is not a number of
/// 0 or above.
pub fn object_weights(
    source: &ObjectWeightSource,
    (file, read): (&Path, &ReadOptions),
    objects: usize,
    names: Option<&[String]>,
) -> Result<ObjectWeights, AppError> {
    match source {
        ObjectWeightSource::Column(column) => {
            let mut read = read.clone().within(default_budget());
            read.truth = Truth::Column(column.clone());
            read.skip.retain(|skipped| skipped != column);
            let labels = files::read_labels(file, &read)?;
            weights_in_order(file, &labels.column.values, objects, names)
        }
        ObjectWeightSource::File(file) => {
            let labels = files::read_labels(
                file,
                &ReadOptions::of_column("weight").within(default_budget()),
            )?;
            let words = &labels.column.values;
            let here = Objects::new(file, objects, names);
            let there = Objects::new(file, words.len(), labels.object_names.as_deref());
            let (Some(called), Some(_)) = (names, there.names) else {
                return weights_in_order(file, words, objects, names);
            };
            let found = here
                .rows_in(&there)?
                .map_or_else(Vec::new, |found| found.rows);
            let value = |(name, row): (&String, Option<usize>)| {
                let row = row.ok_or_else(|| {
                    let reason = format!("no weight for object '{name}'; add a row of it");
                    AppError::content(file, reason)
                })?;
                Ok(words[row].clone())
            };
            let values = called.iter().zip(found).map(value);
            let values = values.collect::<Result<Vec<_>, AppError>>()?;
            weights_in_order(file, &values, objects, names)
        }
    }
}

/// One weight an object, as words.
fn weights_in_order(
    file: &Path,
    words: &[Option<String>],
    objects: usize,
    names: Option<&[String]>,
) -> Result<ObjectWeights, AppError> {
    if words.len() != objects {
        return Err(AppError::content(
            file,
            format!("{} weights for {objects} objects", words.len()),
        ));
    }
    let number = |(object, word): (usize, &Option<String>)| {
        let called = || row_name(object, names);
        let word = word.as_deref().ok_or_else(|| {
            let reason = format!(
                "no weight for the object in {}; give it one, 0 to leave it out of the fit",
                called()
            );
            AppError::content(file, reason)
        })?;
        word.trim().parse::<f64>().map_err(|_| {
            let what = ValueKind::of(word).map_or("which is not a number".to_owned(), |kind| {
                format!("{kind}; write plain numbers, such as 1.5")
            });
            AppError::content(
                file,
                format!(
                    "the weight of the object in {} is '{word}', {what}",
                    called()
                ),
            )
        })
    };
    let weights = words
        .iter()
        .enumerate()
        .map(number)
        .collect::<Result<_, _>>()?;
    ObjectWeights::new(weights).map_err(|error| match error {
        WeightError::Value { place, value } => {
            let called = row_name(place, names);
            AppError::content(
                file,
                format!(
                    "the weight of the object in {called} is {value}; {}",
                    WeightError::RULE
                ),
            )
        }
        other => AppError::content(file, other.to_string()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita::extend::EnsembleRows;
    use partita::{EnsembleBuilder, Silent};

    #[test]
    fn agreement_is_the_same_number_in_memory_and_by_passes() {
        let mut builder = EnsembleBuilder::new(300);
        for u in 0..5u32 {
            let label = |i: u32| {
                (!(i + u).is_multiple_of(7)).then_some((i * (u + 1) / 60 + i % (u + 1)) % 4)
            };
            builder
                .push(format!("u{u}"), (0..300).map(label))
                .expect("labels");
        }
        let ensemble = builder.finish().expect("five base clusterings");
        let rows = EnsembleRows::new(&ensemble);
        let rows = PassRunner::new(&rows, &Silent);
        let by_rows = |budget| base_weights_of_rows(&WeightSource::Agreement, &rows, budget);
        assert_eq!(
            by_rows(MemoryBudget::UNLIMITED).expect("weights"),
            agreement_weights(&ensemble)
        );
        assert!(matches!(
            by_rows(MemoryBudget::new(100)),
            Err(AppError::Budget(_))
        ));
    }
}
