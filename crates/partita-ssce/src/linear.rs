//! A linear classifier that labels new rows of a table.

use partita_core::ndarray::Array2;
use partita_core::{Features, Model, ModelError, ModelInput, ModelReads, Partition, Silent, SoftPartition};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::columns::{SavedScaling, damaged, table, to_value};
use crate::design::{Design, Scaling};
use crate::fit::fit;
use crate::loss::{Loss, probabilities};
use crate::ssce::check_table;
use crate::{SsceError, SsceSettings};

/// What [`LinearModel::to_json`] writes as `format`.
pub(crate) const FORMAT: &str = "partita linear 1";

/// Multinomial logistic regression on scaled columns: the consensus classifier of [`ssce`](crate::ssce), or of any
/// partition.
#[derive(Clone, Debug, PartialEq)]
pub struct LinearModel {
    scaling: Scaling,
    intercept: bool,
    /// p × K.
    weights: Array2<f64>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    format: String,
    #[serde(flatten)]
    scaling: SavedScaling,
    intercept: bool,
    weights: Vec<Vec<f64>>,
}

impl LinearModel {
    pub(crate) fn new(scaling: Scaling, intercept: bool, weights: Array2<f64>) -> Self {
        Self { scaling, intercept, weights }
    }

    /// The classifier that learns the labels of a partition from a table.
    ///
    /// # Errors
    /// [`SsceError::Rows`] and [`SsceError::NoColumns`].
    pub fn learn(features: &Features<'_>, partition: &Partition) -> Result<Self, SsceError> {
        check_table(features, partition.objects())?;
        let scaling = Scaling::of(features);
        let design = Design::Dense(scaling.apply(features.values(), true));
        let code = |(i, _): (usize, usize)| partition.labels()[i] as u16;
        let codes = Array2::from_shape_fn((partition.objects(), 1), code);
        let classes = partition.clusters();
        if classes > usize::from(u16::MAX) - 1 {
            return Err(SsceError::Clusters { clusters: classes, objects: partition.objects() });
        }
        let loss = Loss { design: &design, codes: codes.view(), classes, trust: &[1.0] };
        // One classifier has nothing to be tied to: a loose tie lets the centre follow it quickly.
        let fit = fit(&loss, 0.01, &SsceSettings::default(), (&Silent, 0, 1))?;
        Ok(Self { scaling, intercept: true, weights: fit.centre })
    }

    /// A saved model.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] says what is wrong.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        let saved: Saved = serde_json::from_value(value.clone()).map_err(|error| damaged(error.to_string()))?;
        let scaling = saved.scaling.checked()?;
        let (p, k) = (scaling.columns.len() + usize::from(saved.intercept), saved.weights.first().map_or(0, Vec::len));
        let even = saved.weights.len() == p && k > 0 && saved.weights.iter().all(|line| line.len() == k);
        if !even || saved.weights.iter().flatten().any(|weight| !weight.is_finite()) {
            return Err(damaged(format!("it needs {p} lines of equally many finite weights")));
        }
        let weights = Array2::from_shape_fn((p, k), |(i, j)| saved.weights[i][j]);
        Ok(Self { scaling, intercept: saved.intercept, weights })
    }

    /// The columns that it reads.
    pub fn columns(&self) -> &[String] {
        &self.scaling.columns
    }
}

impl Model for LinearModel {
    fn to_json(&self) -> Value {
        to_value(&Saved {
            format: FORMAT.into(),
            scaling: SavedScaling::of(&self.scaling),
            intercept: self.intercept,
            weights: self.weights.outer_iter().map(|line| line.to_vec()).collect(),
        })
    }

    fn reads(&self) -> ModelReads {
        ModelReads::Features
    }

    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError> {
        let values = table(&self.scaling, input)?;
        let design = Design::Dense(self.scaling.apply(values.view(), self.intercept));
        SoftPartition::new(probabilities(&design, self.weights.view()))
            .map_err(|error| ModelError::Input(format!("numbers too large for the model: {error}")))
    }
}
