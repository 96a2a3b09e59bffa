//! Weights of base clusterings: by agreement, or from a file.

use std::path::Path;

use partita::metrics::agreement_weights;
use partita::{BaseClustering, BaseWeights, Ensemble};

use crate::AppError;
use crate::experiment::WeightSource;
use crate::label_files::read_labels;

/// The weights of an ensemble's base clusterings.
///
/// # Errors
/// [`AppError::Content`] for a file that lacks a base clustering, or holds what is not a positive number.
pub fn base_weights(source: &WeightSource, ensemble: &Ensemble) -> Result<BaseWeights, AppError> {
    match source {
        WeightSource::Agreement => Ok(agreement_weights(ensemble)),
        WeightSource::File(file) => base_weights_from(file, ensemble.bases()),
    }
}

/// A weight for every base clustering by its name, from a file with the columns name and weight.
///
/// # Errors
/// As [`base_weights`].
pub fn base_weights_from(file: &Path, bases: &[BaseClustering]) -> Result<BaseWeights, AppError> {
    let read = read_labels(file, Some("weight"))?;
    let names = read.object_names.ok_or_else(|| {
        AppError::content(file, "a column name says which base clustering a weight is for; there is none")
    })?;
    let weight = |base: &BaseClustering| {
        let place = names.iter().position(|name| name == base.name());
        let text = place.and_then(|place| read.column.values[place].as_deref());
        let text =
            text.ok_or_else(|| AppError::content(file, format!("no weight for base clustering '{}'", base.name())))?;
        let number: Result<f64, _> = text.parse();
        number.map_err(|_| {
            AppError::content(file, format!("the weight of '{}' is '{text}', which is not a number", base.name()))
        })
    };
    let weights = bases.iter().map(weight).collect::<Result<_, _>>()?;
    BaseWeights::new(weights).map_err(|(base, value)| {
        let name = bases[base].name();
        AppError::content(file, format!("the weight of '{name}' is {value}; weights are above 0"))
    })
}
