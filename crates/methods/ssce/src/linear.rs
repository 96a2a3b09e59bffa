//! A linear classifier of the rows of a table.

use std::num::NonZeroU32;

use partita_core::ndarray::Array2;
use partita_core::{Features, ModelError, Silent};
use serde::{Deserialize, Serialize};

use crate::aligned_labels::MISSING;
use crate::alternating::fit_in_turn;
use crate::columns::{Rule, TableModel, damaged};
use crate::design::{Design, Scaling, check_table};
use crate::loss::{Loss, probabilities};
use crate::target::Target;
use crate::{SsceError, SsceSettings};

/// Multinomial logistic regression on scaled columns: the consensus classifier of [`ssce`](crate::ssce), or of any
/// partition.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Linear {
    intercept: bool,
    /// p × K.
    weights: Vec<Vec<f64>>,
}

impl Linear {
    pub(crate) fn new(intercept: bool, weights: &Array2<f64>) -> Self {
        let weights = weights.outer_iter().map(|line| line.to_vec()).collect();
        Self { intercept, weights }
    }

    /// The classifier that learns labels from a table, or probabilities: the one whose probabilities have the least
    /// cross-entropy with them.
    pub(crate) fn learn(
        features: &Features<'_>,
        target: Target<'_>,
    ) -> Result<TableModel<Self>, SsceError> {
        let objects = target.objects();
        let clusters = target.clusters();
        check_table(features, objects)?;
        if clusters == 0 || clusters > usize::from(MISSING) - 1 {
            return Err(SsceError::Clusters { clusters, objects });
        }
        let scaling = Scaling::of(features)?;
        let design = Design::Dense(scaling.apply(features.values(), Some(1.0)));
        let labels = target.labels();
        let codes = Array2::from_shape_fn((objects, 1), |(i, _)| labels[i] as u16);
        let mut loss = Loss::new(&design, &codes, clusters, &[1.0]);
        if let Target::Soft(soft) = target {
            loss.soft = Some(soft.rows());
        }
        // One classifier has nothing to be tied to: a loose tie lets the centre follow it quickly.
        let settings = SsceSettings {
            iterations: NonZeroU32::new(100),
            ..SsceSettings::default()
        };
        let fit = fit_in_turn(&loss, (0.01, 0.01), &settings, &Silent)?;
        Ok(TableModel::new(scaling, Self::new(true, &fit.state.centre)))
    }
}

impl Rule for Linear {
    const FORMAT: &'static str = "partita linear 1";

    fn check(&self, columns: usize) -> Result<(), ModelError> {
        let p = columns + usize::from(self.intercept);
        let k = self.weights.first().map_or(0, Vec::len);
        let even = self.weights.len() == p && self.weights.iter().all(|line| line.len() == k);
        if k == 0
            || !even
            || self
                .weights
                .iter()
                .flatten()
                .any(|weight| !weight.is_finite())
        {
            let what = format!("it needs {p} lines of equally many finite weights");
            return Err(damaged(what));
        }
        Ok(())
    }

    fn intercept(&self) -> Option<f64> {
        self.intercept.then_some(1.0)
    }

    fn probabilities(&self, rows: Array2<f64>) -> Array2<f64> {
        let shape = (self.weights.len(), self.weights[0].len());
        let weights = Array2::from_shape_fn(shape, |(i, j)| self.weights[i][j]);
        probabilities(&Design::Dense(rows), weights.view())
    }
}
