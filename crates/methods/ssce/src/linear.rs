//! A linear classifier that labels new rows of a table.

use std::num::NonZeroU32;

use partita_core::ndarray::Array2;
use partita_core::{
    Features, Model, ModelError, ModelInput, ModelReads, Partition, Silent, SoftPartition, Unread,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::aligned_labels::MISSING;
use crate::alternating::fit_in_turn;
use crate::columns::{SavedScaling, damaged, opened, sealed, table, unread};
use crate::design::{Design, Scaling, check_table};
use crate::loss::{Loss, probabilities};
use crate::target::Target;
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
        Self {
            scaling,
            intercept,
            weights,
        }
    }

    /// The classifier that learns the labels of a partition from a table.
    ///
    /// # Errors
    /// [`SsceError::Rows`], [`SsceError::NoColumns`], [`SsceError::Scale`], and [`SsceError::Clusters`] beyond
    /// 65,534 clusters.
    pub fn learn(features: &Features<'_>, partition: &Partition) -> Result<Self, SsceError> {
        Self::of(features, Target::Hard(partition))
    }

    /// The classifier that learns the probabilities of a soft partition from a table: the one whose probabilities
    /// have the least cross-entropy with them.
    ///
    /// # Errors
    /// As [`LinearModel::learn`].
    pub fn learn_soft(features: &Features<'_>, soft: &SoftPartition) -> Result<Self, SsceError> {
        Self::of(features, Target::Soft(soft))
    }

    pub(crate) fn of(features: &Features<'_>, target: Target<'_>) -> Result<Self, SsceError> {
        let (objects, classes) = (target.objects(), target.clusters());
        check_table(features, objects)?;
        if classes == 0 || classes > usize::from(MISSING) - 1 {
            return Err(SsceError::Clusters {
                clusters: classes,
                objects,
            });
        }
        let scaling = Scaling::of(features)?;
        let design = Design::Dense(scaling.apply(features.values(), Some(1.0)));
        let labels = target.labels();
        let codes = Array2::from_shape_fn((objects, 1), |(i, _)| labels[i] as u16);
        let soft = match target {
            Target::Hard(_) => None,
            Target::Soft(soft) => Some(soft.rows()),
        };
        let loss = Loss {
            design: &design,
            codes: codes.view(),
            classes,
            base_weights: &[1.0],
            soft,
            objects: None,
        };
        // One classifier has nothing to be tied to: a loose tie lets the centre follow it quickly.
        let rounds = NonZeroU32::new(100);
        let fit = fit_in_turn(
            &loss,
            (0.01, 0.01),
            &SsceSettings {
                rounds,
                ..SsceSettings::default()
            },
            &Silent,
        )?;
        Ok(Self {
            scaling,
            intercept: true,
            weights: fit.centre,
        })
    }

    /// A saved model.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] says what is wrong.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        let saved: Saved = opened(value)?;
        let scaling = saved.scaling.checked()?;
        let (p, k) = (
            scaling.columns.len() + usize::from(saved.intercept),
            saved.weights.first().map_or(0, Vec::len),
        );
        let even =
            saved.weights.len() == p && k > 0 && saved.weights.iter().all(|line| line.len() == k);
        if !even
            || saved
                .weights
                .iter()
                .flatten()
                .any(|weight| !weight.is_finite())
        {
            return Err(damaged(format!(
                "it needs {p} lines of equally many finite weights"
            )));
        }
        let weights = Array2::from_shape_fn((p, k), |(i, j)| saved.weights[i][j]);
        Ok(Self {
            scaling,
            intercept: saved.intercept,
            weights,
        })
    }

    /// The columns that it reads.
    pub fn columns(&self) -> &[String] {
        &self.scaling.columns
    }
}

impl Model for LinearModel {
    fn to_json(&self) -> Value {
        sealed(&Saved {
            format: FORMAT.into(),
            scaling: SavedScaling::of(&self.scaling),
            intercept: self.intercept,
            weights: self
                .weights
                .outer_iter()
                .map(|line| line.to_vec())
                .collect(),
        })
    }

    fn reads(&self) -> ModelReads {
        ModelReads::Features
    }

    fn unread(&self, input: &ModelInput<'_>) -> Result<Unread, ModelError> {
        Ok(unread(&self.scaling, input))
    }

    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError> {
        let values = table(&self.scaling, input)?;
        let design = Design::Dense(
            self.scaling
                .apply(values.view(), self.intercept.then_some(1.0)),
        );
        SoftPartition::new(probabilities(&design, self.weights.view()))
            .map_err(|error| ModelError::Input(format!("numbers too large for the model: {error}")))
    }
}
