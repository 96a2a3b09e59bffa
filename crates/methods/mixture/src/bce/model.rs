//! The saved model of BCE, which labels new rows.

use std::num::NonZeroU32;

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2};
use partita_core::{
    BaseClustering, Ensemble, Entry, Label, LabelRows, Model, ModelError, ModelInput, Seed,
    SoftPartition, Unread, map_parallel,
};
use rayon::prelude::*;
use serde_json::Value;

use super::annealed::annealed;
use super::inference::{BceParameters, RowLabels, RowLimits, RowScratch};
use crate::shared::layout::BaseLayout;
use crate::shared::log_mean::LogMean;
use crate::shared::match_bases::{MatchedBases, known_label, match_bases, perplexity, unused};
use crate::shared::saved_model;

/// When the inference for one row ends.
const ROW: RowLimits = RowLimits {
    iterations: 200,
    tolerance: 1e-8,
};

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
            &BaseLayout::new(&self.bases, self.weights.as_deref()),
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

    /// The labels of a row that the model knows.
    fn labels_of<L: Label>(
        &self,
        row: ArrayView1<'_, L>,
        matched: &MatchedBases,
        layout: &BaseLayout,
    ) -> RowLabels {
        let known = row.into_iter().zip(matched);
        let known = known.filter_map(|(label, places)| places[label.cluster()?]);
        // A value may be of any base clustering of the model.
        let entry = |cluster: usize| Entry {
            base: layout.base_of(cluster),
            ..known_label(cluster)
        };
        let mut labels = RowLabels::default();
        labels.read(known.map(entry), layout, &self.parameters);
        labels
    }

    /// The natural logarithm of the probability of every row, memberships summed by annealed importance sampling (Neal 2001): 32 runs of so
    /// many sweeps.
    ///
    /// # Errors
    /// [`ModelError::Input`] when the base clusterings are not those of the model, or have weights: part of a label has no probability.
    ///
    /// # Cost
    /// O(32 · steps · n M K) time.
    pub fn log_probabilities(
        &self,
        ensemble: &Ensemble,
        steps: NonZeroU32,
        seed: Seed,
    ) -> Result<Vec<LogMean>, ModelError> {
        let matched = match_bases(&self.bases, ensemble)?;
        if self.weights.is_some() {
            let reason = "its base clusterings have weights, and part of a label has no probability: fit it without them";
            return Err(ModelError::Input(reason.into()));
        }
        let layout = BaseLayout::new(&self.bases, None);
        let row = |i: usize| {
            let labels = match ensemble.rows() {
                LabelRows::Bytes(rows) => self.labels_of(rows.row(i), &matched, &layout),
                LabelRows::Words(rows) => self.labels_of(rows.row(i), &matched, &layout),
            };
            let lines: Vec<&[f64]> = labels
                .labels(self.clusters())
                .map(|(line, _)| line)
                .collect();
            annealed(
                &self.parameters.alpha,
                &lines,
                steps.get(),
                seed.child(i as u64),
            )
        };
        Ok(map_parallel(0..ensemble.objects(), row))
    }

    fn label_rows<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        matched: &MatchedBases,
    ) -> (Array2<f64>, Vec<f64>) {
        let clusters = self.clusters();
        let layout = BaseLayout::new(&self.bases, self.weights.as_deref());
        let mut soft = vec![0.0; rows.nrows() * clusters];
        let row = |(i, soft): (usize, &mut [f64])| {
            let labels = self.labels_of(rows.row(i), matched, &layout);
            let mut scratch = RowScratch::new(clusters);
            let (gamma, bound) = self.parameters.infer(&labels, ROW, &mut scratch);
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
    use crate::shared::fixture::{self, Held};
    use crate::shared::held_rows::GivenMemberships;
    use crate::shared::initialization;

    #[test]
    fn a_saved_model_is_the_same_model() {
        let ensemble = fixture::drawn(3);
        let held = Held::of(&ensemble);
        let sums = held.rows().given(GivenMemberships::Drawn(1), 3);
        let shares = initialization::begun(&held.layout, &sums);
        let parameters = BceParameters {
            alpha: vec![0.3, 0.1, 2.5],
            theta: shares.theta,
        };
        let model = BceModel {
            bases: ensemble.bases().to_vec(),
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
