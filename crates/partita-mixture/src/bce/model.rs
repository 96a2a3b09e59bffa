//! Mixed memberships of one label row under a fitted model, and the saved model.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{BaseClustering, Ensemble, Label, LabelRows, Model, ModelError, ModelInput, SoftPartition};
use rayon::prelude::*;
use serde_json::Value;
use statrs::function::gamma::{digamma, ln_gamma};

use crate::shared::match_bases::{MatchedBases, match_bases, perplexity, unread};
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
    /// α, K values.
    pub(crate) alpha: Vec<f64>,
    /// θ, ΣJ lines of K values.
    pub(crate) theta: Vec<f64>,
}

/// What the inference for one row writes.
#[derive(Clone, Debug)]
pub(crate) struct RowScratch {
    /// exp E ln π_k.
    pub(crate) geometric: Vec<f64>,
    /// E ln π_k.
    pub(crate) logs: Vec<f64>,
    sums: Vec<f64>,
}

impl RowScratch {
    pub(crate) fn new(clusters: usize) -> Self {
        Self { geometric: vec![0.0; clusters], logs: vec![0.0; clusters], sums: vec![0.0; clusters] }
    }

    fn expect(&mut self, gamma: &[f64]) {
        let all = digamma(gamma.iter().sum());
        for ((log, geometric), &g) in self.logs.iter_mut().zip(&mut self.geometric).zip(gamma) {
            *log = digamma(g) - all;
            *geometric = log.exp();
        }
    }
}

impl BceModel {
    /// The field `format` of the JSON that [`Model::to_json`] makes.
    pub const FORMAT: &str = saved_model::MIXED;

    /// Number of clusters, K.
    pub fn clusters(&self) -> usize {
        self.alpha.len()
    }

    /// The Dirichlet parameters α of the memberships, K values.
    pub fn alpha(&self) -> &[f64] {
        &self.alpha
    }

    pub(crate) fn line(&self, line: usize) -> &[f64] {
        &self.theta[line * self.alpha.len()..][..self.alpha.len()]
    }

    /// Σ_k exp(E ln π_k) θ_k of one label: what normalises φ.
    pub(crate) fn normaliser(&self, line: usize, geometric: &[f64]) -> f64 {
        self.line(line).iter().zip(geometric).map(|(theta, g)| theta * g).sum::<f64>().max(f64::MIN_POSITIVE)
    }

    /// Ascends γ of one row from where it is, and returns the bound on the row's log probability.
    pub(crate) fn infer(
        &self,
        lines: &[usize],
        gamma: &mut [f64],
        (rounds, tolerance): (u32, f64),
        s: &mut RowScratch,
    ) -> f64 {
        for _ in 0..rounds {
            s.expect(gamma);
            s.sums.fill(0.0);
            for &line in lines {
                let inverse = 1.0 / self.normaliser(line, &s.geometric);
                s.sums.iter_mut().zip(self.line(line)).for_each(|(sum, theta)| *sum += theta * inverse);
            }
            let mut change = 0f64;
            for (((g, alpha), sum), geometric) in gamma.iter_mut().zip(&self.alpha).zip(&s.sums).zip(&s.geometric) {
                let new = alpha + geometric * sum;
                change = change.max((new - *g).abs());
                *g = new;
            }
            if change <= tolerance {
                break;
            }
        }
        self.bound(lines, gamma, s)
    }

    /// The bound at γ and the best φ for it; leaves E ln π in the scratch.
    pub(crate) fn bound(&self, lines: &[usize], gamma: &[f64], s: &mut RowScratch) -> f64 {
        s.expect(gamma);
        let labels: f64 = lines.iter().map(|&line| self.normaliser(line, &s.geometric).ln()).sum();
        let dirichlet = |a: &[f64]| ln_gamma(a.iter().sum()) - a.iter().map(|&a| ln_gamma(a)).sum::<f64>();
        let tilt: f64 = self.alpha.iter().zip(gamma).zip(&s.logs).map(|((a, g), log)| (a - g) * log).sum();
        labels + dirichlet(&self.alpha) - dirichlet(gamma) + tilt
    }

    /// γ before anything is known but how many labels there are.
    pub(crate) fn start(&self, labels: usize) -> Vec<f64> {
        let even = labels as f64 / self.clusters() as f64;
        self.alpha.iter().map(|alpha| alpha + even).collect()
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
        let unread = unread(&match_bases(&self.bases, ensemble)?, ensemble);
        perplexity(&self.log_probability_bounds(ensemble)?, unread, ensemble)
    }

    /// The model from JSON that [`Model::to_json`] made.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] says what is wrong.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        let (bases, alpha, theta) = saved_model::read(value, saved_model::MIXED)?;
        match alpha.iter().find(|alpha| !(1e-20..=1e20).contains(*alpha)) {
            Some(bad) => Err(saved_model::damaged(format!("it has the Dirichlet parameter {bad}"))),
            None => Ok(Self { bases, alpha, theta }),
        }
    }

    fn label(&self, ensemble: &Ensemble) -> Result<(Array2<f64>, Vec<f64>), ModelError> {
        let matched = match_bases(&self.bases, ensemble)?;
        Ok(match ensemble.rows() {
            LabelRows::Bytes(rows) => self.label_rows(rows, &matched),
            LabelRows::Words(rows) => self.label_rows(rows, &matched),
        })
    }

    fn label_rows<L: Label>(&self, rows: ArrayView2<'_, L>, matched: &MatchedBases) -> (Array2<f64>, Vec<f64>) {
        let clusters = self.clusters();
        let mut soft = vec![0.0; rows.nrows() * clusters];
        let row = |(i, soft): (usize, &mut [f64])| {
            let known = rows.row(i).into_iter().zip(matched);
            let lines: Vec<usize> =
                known.filter_map(|(label, places)| label.cluster().and_then(|j| places[j])).collect();
            let mut gamma = self.start(lines.len());
            let bound = self.infer(&lines, &mut gamma, (ROW_ROUNDS, ROW_TOLERANCE), &mut RowScratch::new(clusters));
            let total: f64 = gamma.iter().sum();
            soft.iter_mut().zip(&gamma).for_each(|(p, g)| *p = g / total);
            bound
        };
        let bounds = soft.par_chunks_mut(clusters).enumerate().map(row).collect();
        (Array2::from_shape_vec((rows.nrows(), clusters), soft).expect("K values a row"), bounds)
    }
}

impl Model for BceModel {
    fn to_json(&self) -> Value {
        saved_model::write(saved_model::MIXED, &self.bases, &self.alpha, &self.theta)
    }

    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError> {
        match input {
            ModelInput::Labels(ensemble) => {
                Ok(SoftPartition::new(self.label(ensemble)?.0).expect("normalised memberships"))
            }
            ModelInput::Features(_) => Err(ModelError::Input("it reads label rows, not a table of features".into())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::row_model::RowModel;
    use crate::shared::weighted_rows::WeightedRows;
    use crate::shared::{fixture, initialization};

    #[test]
    fn inference_agrees_with_the_independent_implementation() {
        let (fixtures, ensemble) = (partita_conformance::fixtures(), fixture::ensemble());
        let told = &fixtures["bce"];
        let rows = WeightedRows::unfolded(&ensemble);
        let sums = rows.given_soft(fixture::matrix(&fixtures["mm"]["R0"]).view());
        let smoothing = told["smoothing"].as_f64().unwrap();
        let shares = RowModel::of_sums(ensemble.bases().to_vec(), &sums, |_| smoothing, 0.0);
        let model = BceModel { bases: shares.bases, alpha: fixture::vector(&told["alpha"]), theta: shares.theta };
        let (gammas, bounds) = (fixture::matrix(&told["gamma"]), fixture::vector(&told["elbo_per_object"]));
        let offsets = ensemble.offsets();
        for i in 0..24 {
            let lines: Vec<usize> = (0..12).filter_map(|u| ensemble.label(i, u).map(|j| offsets[u] + j)).collect();
            // The stored values are those after 200 rounds, converged or not.
            let mut gamma = model.start(lines.len());
            let bound = model.infer(&lines, &mut gamma, (200, 0.0), &mut RowScratch::new(4));
            fixture::assert_close(&gamma, gammas.row(i).as_slice().unwrap());
            fixture::assert_close(&[bound], &bounds[i..=i]);
        }
    }

    #[test]
    fn a_saved_model_is_the_same_model() {
        let ensemble = fixture::drawn(3);
        let shares = initialization::dirichlet(&WeightedRows::of(&ensemble), 3, partita_core::Seed::new(1));
        let model = BceModel { bases: shares.bases, alpha: vec![0.3, 0.1, 2.5], theta: shares.theta };
        let text = model.to_json().to_string();
        let again = BceModel::from_json(&serde_json::from_str(&text).unwrap()).unwrap();
        assert_eq!(again, model);
        assert_eq!(again.perplexity(&ensemble), model.perplexity(&ensemble));
        assert!(model.perplexity(&ensemble).unwrap() > 1.0);
        let mut bad = model.to_json();
        bad["prior"] = serde_json::json!([0.3, -0.1, 2.5]);
        assert!(matches!(BceModel::from_json(&bad), Err(ModelError::Damaged(_))));
    }
}
