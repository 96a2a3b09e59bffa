//! A model for any consensus, and models read back.

use std::fmt;
use std::num::NonZeroU32;
use std::str::FromStr;
use std::sync::Arc;

use partita_core::{Features, Model, ModelError, Partition, SoftPartition};
use serde_json::Value;

use crate::SsceError;
use crate::columns::{Rule, TableModel, damaged};
use crate::distance::{Centroids, Neighbours};
use crate::linear::Linear;
use crate::target::Target;

/// How a consensus labels objects that it has not seen. As text: `ssce`, `centroid`, `knn` (5 neighbours), `knn:9`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Predictor {
    /// `ssce`: the linear classifier of SSCE, multinomial logistic regression on scaled columns.
    Linear,
    /// `centroid`: the nearest cluster centre on scaled columns. Probabilities are those of equally large round Gaussians about the
    /// centres with the spread that the clusters have on average.
    Centroid,
    /// `knn`: so many nearest neighbours on scaled columns. Probabilities are their votes; n d ≤ 10,000,000 numbers are kept and saved.
    Neighbours(NonZeroU32),
}

/// Neighbours of `knn` where no number is said.
const NEIGHBOURS: NonZeroU32 = NonZeroU32::new(5).expect("not zero");

/// Why a text is no [`Predictor`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a way to label new objects; choose from ssce, centroid, knn, knn:9 (any number of neighbours)"
)]
pub struct UnknownPredictor(String);

impl FromStr for Predictor {
    type Err = UnknownPredictor;

    fn from_str(text: &str) -> Result<Self, UnknownPredictor> {
        let unknown = || UnknownPredictor(text.to_owned());
        match text {
            "ssce" => Ok(Self::Linear),
            "centroid" => Ok(Self::Centroid),
            "knn" => Ok(Self::Neighbours(NEIGHBOURS)),
            _ => {
                let count = text.strip_prefix("knn:").ok_or_else(unknown)?;
                Ok(Self::Neighbours(count.parse().map_err(|_| unknown())?))
            }
        }
    }
}

impl fmt::Display for Predictor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Linear => f.write_str("ssce"),
            Self::Centroid => f.write_str("centroid"),
            Self::Neighbours(count) => write!(f, "knn:{count}"),
        }
    }
}

/// A model that labels new rows of a table as `partition` labels those of `features`.
///
/// # Errors
/// [`SsceError::Rows`], [`SsceError::NoColumns`] and [`SsceError::Scale`] if the table does not fit, [`SsceError::Clusters`] for more
/// clusters than objects or than 65,534, and [`SsceError::Neighbours`] for more numbers than are kept.
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
    of(predictor, features, Target::Hard(partition))
}

/// A model that labels new rows of a table as `soft` labels those of `features`. The linear classifier and the centres
/// learn the probabilities; neighbours vote with their most probable labels.
///
/// # Errors
/// As [`learn`].
pub fn learn_soft(
    predictor: Predictor,
    features: &Features<'_>,
    soft: &SoftPartition,
) -> Result<Arc<dyn Model>, SsceError> {
    of(predictor, features, Target::Soft(soft))
}

fn of(
    predictor: Predictor,
    features: &Features<'_>,
    target: Target<'_>,
) -> Result<Arc<dyn Model>, SsceError> {
    Ok(match predictor {
        Predictor::Linear => Arc::new(Linear::learn(features, target)?),
        Predictor::Centroid => Arc::new(Centroids::learn(features, target)?),
        Predictor::Neighbours(count) => Arc::new(Neighbours::learn(features, target, count)?),
    })
}

/// Formats that [`read_model`] knows.
pub const FORMATS: [&str; 3] = [Linear::FORMAT, Centroids::FORMAT, Neighbours::FORMAT];

/// A model of this crate from its JSON, by its `format` field.
///
/// # Errors
/// [`ModelError::Damaged`] for another format, and for numbers that do not fit together.
pub fn read_model(value: &Value) -> Result<Arc<dyn Model>, ModelError> {
    match value.get("format").and_then(Value::as_str) {
        Some(Linear::FORMAT) => Ok(Arc::new(TableModel::<Linear>::from_json(value)?)),
        Some(Centroids::FORMAT) => Ok(Arc::new(TableModel::<Centroids>::from_json(value)?)),
        Some(Neighbours::FORMAT) => Ok(Arc::new(TableModel::<Neighbours>::from_json(value)?)),
        Some(other) => Err(damaged(format!("its format is '{other}'"))),
        None => Err(damaged("it has no format".into())),
    }
}
