//! The model that labels new objects as a consensus labels these, and saved models.

use std::path::Path;
use std::sync::Arc;

use partita::mixture::RowModel;
use partita::ssce::{Predictor, learn, learn_soft};
use partita::{Ensemble, Features, Model, Outcome, SoftPartition};
use serde_json::Value;

use crate::AppError;
use crate::result_files::read_json;

/// The model of an outcome: learned from the table where a predictor is named, else the method's own; where the method
/// has none, one of the label rows of its clusters.
///
/// # Errors
/// [`AppError::Request`] for a predictor without a table; [`AppError::Model`] where none can be learned.
pub fn model_of(
    predictor: Option<Predictor>,
    ensemble: &Ensemble,
    features: Option<&Features<'_>>,
    outcome: &Outcome,
) -> Result<Value, AppError> {
    if let Some(how) = predictor {
        let features =
            features.ok_or_else(|| AppError::request(format!("the predictor {how} reads a table; give one")))?;
        let model = match &outcome.soft {
            Some(soft) => learn_soft(how, features, soft)?,
            None => learn(how, features, &outcome.partition)?,
        };
        return Ok(model.to_json());
    }
    if let Some(model) = &outcome.model {
        return Ok(model.to_json());
    }
    let soft = outcome.soft.clone().unwrap_or_else(|| SoftPartition::of(&outcome.partition));
    Ok(RowModel::of_consensus(ensemble, &soft).to_json())
}

/// A saved model.
///
/// # Errors
/// [`AppError::Content`] for a file that is not a model of a known format.
pub fn load_model(path: &Path) -> Result<Arc<dyn Model>, AppError> {
    let saved = read_json(path, "fit it again")?;
    partita::load_model(&saved).map_err(|error| AppError::content(path, format!("{error}; fit it again")))
}
