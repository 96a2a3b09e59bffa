//! The saved model of BCE, which labels new rows.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    BaseClustering, Ensemble, Label, LabelRows, Model, ModelError, ModelInput, SoftPartition,
    Unread,
};
use rayon::prelude::*;
use serde_json::Value;

use super::inference::{BceParameters, RowScratch};
use crate::shared::match_bases::{MatchedBases, match_bases, perplexity, unused};
use crate::shared::saved_model;

/// Rounds of the inference for one row, and the change of γ at which it ends.
const ROW_ROUNDS: u32 = 200;
const ROW_TOLERANCE: f64 = 1e-8;

/// A fitted BCE: the Dirichlet that memberships are drawn from, and the label shares of every cluster. It labels new
/// label rows by variational inference with both fixed. Base clusterings are matched as by [`RowModel`](crate::RowModel):
/// by name, labels by value, unseen values as missing.
#[derive(Clone, Debug, PartialEq)]
pub struct BceModel {
    pub(crate) bases: Vec<BaseClustering>,
    pub(crate) parameters: BceParameters,
    /// What a label of every base clustering counts, where they differ.
    pub(crate) weights: Option<Vec<f64>>,
}

impl BceModel {
    /// The field `format` of the JSON that [`Model::to_json`] makes.
    pub const FORMAT: &str = saved_model::MIXED;

    /// Number of clusters, K.
    pub fn clusters(&self) -> usize {
        self.parameters.clusters()
    }

    /// The Dirichlet parameters α of the memberships, K values.
    pub fn alpha(&self) -> &[f64] {
        &self.parameters.alpha
    }

    /// A lower bound on the natural logarithm of the probability of every row.
    ///
    /// # Errors
    /// [`ModelError::Input`] when the base clusterings are not those of the model.
    pub fn log_probability_bounds(&self, ensemble: &Ensemble) -> Result<Vec<f64>, ModelError> {
        Ok(self.label(ensemble)?.1)
    }

    /// An upper bound on the perplexity of label rows, `exp(−Σ bound / number of labels)`.
    ///
    /// # Errors
    /// [`ModelError::Input`] when the base clusterings are not those of the model, or no label is known to it.
    pub fn perplexity(&self, ensemble: &Ensemble) -> Result<f64, ModelError> {
        let matched = match_bases(&self.bases, ensemble)?;
        perplexity(
            &self.log_probability_bounds(ensemble)?,
            &matched,
            ensemble,
            (&self.bases, self.weights.as_deref()),
        )
    }

    /// The model from JSON that [`Model::to_json`] made.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] says what is wrong.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        let (bases, alpha, theta) = saved_model::read(value, saved_model::MIXED)?;
        if let Some(bad) = alpha.iter().find(|alpha| !(1e-20..=1e20).contains(*alpha)) {
            return Err(saved_model::damaged(format!(
                "it has the Dirichlet parameter {bad}"
            )));
        }
        let weights = saved_model::weights(value)?;
        Ok(Self {
            bases,
            parameters: BceParameters { alpha, theta },
            weights,
        })
    }

    fn label(&self, ensemble: &Ensemble) -> Result<(Array2<f64>, Vec<f64>), ModelError> {
        let matched = match_bases(&self.bases, ensemble)?;
        Ok(match ensemble.rows() {
            LabelRows::Bytes(rows) => self.label_rows(rows, &matched),
            LabelRows::Words(rows) => self.label_rows(rows, &matched),
        })
    }

    /// What a label on this line counts.
    fn count(&self, line: usize, offsets: &[usize]) -> f64 {
        let base = || offsets.partition_point(|&start| start <= line) - 1;
        self.weights.as_ref().map_or(1.0, |weights| weights[base()])
    }

    fn label_rows<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        matched: &MatchedBases,
    ) -> (Array2<f64>, Vec<f64>) {
        let (clusters, offsets) = (self.clusters(), BaseClustering::offsets(&self.bases));
        let mut soft = vec![0.0; rows.nrows() * clusters];
        let row = |(i, soft): (usize, &mut [f64])| {
            let known = rows.row(i).into_iter().zip(matched);
            let lines: Vec<usize> = known
                .filter_map(|(label, places)| label.cluster().and_then(|j| places[j]))
                .collect();
            let counts: Vec<f64> = lines
                .iter()
                .map(|&line| self.count(line, &offsets))
                .collect();
            let mut gamma = self.parameters.start(counts.iter().sum());
            let (ends, mut scratch) = ((ROW_ROUNDS, ROW_TOLERANCE), RowScratch::new(clusters));
            let bound = self.parameters.infer(
                self.parameters.labels(&lines, &counts[..]),
                &mut gamma,
                ends,
                &mut scratch,
            );
            let total: f64 = gamma.iter().sum();
            soft.iter_mut()
                .zip(&gamma)
                .for_each(|(p, g)| *p = g / total);
            bound
        };
        let bounds = soft.par_chunks_mut(clusters).enumerate().map(row).collect();
        (
            Array2::from_shape_vec((rows.nrows(), clusters), soft).expect("K values a row"),
            bounds,
        )
    }
}

impl Model for BceModel {
    fn to_json(&self) -> Value {
        saved_model::write(
            saved_model::MIXED,
            (&self.bases, self.weights.as_deref()),
            &self.parameters.alpha,
            &self.parameters.theta,
        )
    }

    fn unread(&self, input: &ModelInput<'_>) -> Result<Unread, ModelError> {
        let ModelInput::Labels(ensemble) = input else {
            return Ok(Unread::default());
        };
        Ok(unused(&match_bases(&self.bases, ensemble)?, ensemble))
    }

    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError> {
        match input {
            ModelInput::Labels(ensemble) => {
                Ok(SoftPartition::new(self.label(ensemble)?.0).expect("normalised memberships"))
            }
            ModelInput::Features(_) => Err(ModelError::Input(
                "it reads label rows, not a table of features".into(),
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::weighted_rows::WeightedRows;
    use crate::shared::{fixture, initialization};

    #[test]
    fn a_saved_model_is_the_same_model() {
        let ensemble = fixture::drawn(3);
        let rows = WeightedRows::of(&ensemble);
        let sums = initialization::random_statistics(&rows, 3, partita_core::Seed::new(1));
        let shares = initialization::model(&rows, &sums);
        let parameters = BceParameters {
            alpha: vec![0.3, 0.1, 2.5],
            theta: shares.theta,
        };
        let model = BceModel {
            bases: shares.bases,
            parameters,
            weights: None,
        };
        let text = model.to_json().to_string();
        let again = BceModel::from_json(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(again, model);
        assert_eq!(again.perplexity(&ensemble), model.perplexity(&ensemble));
        assert!(model.perplexity(&ensemble).unwrap() > 1.0);
        let mut bad = model.to_json();
        bad["prior"] = serde_json::json!([0.3, -0.1, 2.5]);
        assert!(matches!(
            BceModel::from_json(&bad),
            Err(ModelError::Damaged(_))
        ));
    }
}
