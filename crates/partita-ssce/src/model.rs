//! A model for any consensus, and models read back.

use std::num::NonZeroU32;
use std::sync::Arc;

use partita_core::{Features, Model, ModelError, Partition};
use serde_json::Value;

use crate::columns::damaged;
use crate::{CentroidModel, LinearModel, NeighbourModel, SsceError, distance, linear};

/// How a consensus labels objects that it has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Predictor {
    /// A linear classifier ([`LinearModel`]).
    Linear,
    /// The nearest cluster centre ([`CentroidModel`]).
    Centroid,
    /// So many nearest neighbours ([`NeighbourModel`]).
    Neighbours(NonZeroU32),
}

/// A model that labels new rows of a table as `partition` labels those of `features`.
///
/// # Errors
/// [`SsceError::Rows`] and [`SsceError::NoColumns`].
///
/// ```
/// use partita_core::ndarray::array;
/// use partita_core::{Features, ModelInput, Partition};
/// use partita_ssce::{Predictor, learn, read_model};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let columns = ["x".to_owned(), "y".to_owned()];
/// let values = array![[0.0, 1.0], [0.2, 3.0], [5.0, 2.0], [5.1, 0.0]];
/// let partition = Partition::new(vec![0, 0, 1, 1], 2)?;
/// let model = learn(Predictor::Centroid, &Features::new(&columns, values.view())?, &partition)?;
///
/// let again = read_model(&model.to_json())?;
/// let swapped = ["y".to_owned(), "x".to_owned()];
/// let new = array![[1.0, 4.0]];
/// let input = ModelInput::Features(Features::new(&swapped, new.view())?);
/// assert_eq!(again.predict(&input)?.hard().labels(), [1]);
/// # Ok(())
/// # }
/// ```
pub fn learn(
    predictor: Predictor,
    features: &Features<'_>,
    partition: &Partition,
) -> Result<Arc<dyn Model>, SsceError> {
    Ok(match predictor {
        Predictor::Linear => Arc::new(LinearModel::learn(features, partition)?),
        Predictor::Centroid => Arc::new(CentroidModel::learn(features, partition)?),
        Predictor::Neighbours(count) => Arc::new(NeighbourModel::learn(features, partition, count)?),
    })
}

/// Formats that [`read_model`] knows.
pub const FORMATS: [&str; 3] = [linear::FORMAT, distance::CENTROIDS, distance::NEIGHBOURS];

/// A model of this crate from its JSON, by its `format` field.
///
/// # Errors
/// [`ModelError::Damaged`] for another format, and for numbers that do not fit together.
pub fn read_model(value: &Value) -> Result<Arc<dyn Model>, ModelError> {
    match value.get("format").and_then(Value::as_str) {
        Some(linear::FORMAT) => Ok(Arc::new(LinearModel::from_json(value)?)),
        Some(distance::CENTROIDS) => Ok(Arc::new(CentroidModel::from_json(value)?)),
        Some(distance::NEIGHBOURS) => Ok(Arc::new(NeighbourModel::from_json(value)?)),
        Some(other) => Err(damaged(format!("its format is '{other}'"))),
        None => Err(damaged("it has no format".into())),
    }
}
