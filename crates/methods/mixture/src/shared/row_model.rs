//! The mixture over label rows that any consensus is saved as, and that labels new rows.

use partita_core::ndarray::{Array2, ArrayView2};
use partita_core::{
    BaseClustering, Ensemble, EnsembleRows, Entry, Label, LabelRows, Model, ModelError, ModelInput,
    SoftPartition, Unread, chunks, map_parallel,
};
use serde_json::Value;

use crate::shared::held_rows::{GivenMemberships, HeldRows};
use crate::shared::layout::BaseLayout;
use crate::shared::log_probabilities::{LogProbabilities, normalise};
use crate::shared::match_bases::{
    MatchedBases, known_label, match_bases, perplexity, unread, unused,
};
use crate::shared::saved_model;
use crate::shared::shares::MixtureShares;

/// Label rows labelled side by side.
const CHUNK: usize = 1024;

/// A consensus as a mixture over label rows: how large each of K clusters is, and how probable each label of each
/// base clustering is within it.
///
/// ```text
/// p(row) = Σ_k π_k Π_u θ_kuℓ(u)        the product runs over the labels that are there
/// ```
/// Where base clusterings have weights, the factor of u is raised to the power of its weight.
///
/// Every consensus of an ensemble has one ([`RowModel::of_consensus`]), so that the outcome of any method can label
/// new label rows. New rows need the model's base clusterings, by name and in any order; base clusterings that the
/// model does not have, or that the input does not have, are an error that names them. Labels may be missing; a
/// label value that the model has never seen is taken as missing too, since it says nothing about the clusters
/// known ([`RowModel::unread`] counts those). A row without any label gets the prior π.
///
/// # Cost
/// Labelling: O(n M K) time, n K numbers; in parallel over rows.
#[doc(alias = "latent class model")]
#[doc(alias = "naive Bayes")]
#[derive(Clone, Debug, PartialEq)]
pub struct RowModel {
    pub(crate) bases: Vec<BaseClustering>,
    shares: MixtureShares,
    /// What a label of every base clustering counts, where they differ: the exponent of its factor.
    weights: Option<Vec<f64>>,
    logs: LogProbabilities,
}

impl RowModel {
    /// The field `format` of the JSON that [`Model::to_json`] makes.
    pub const FORMAT: &str = saved_model::ROWS;

    /// Pseudo-count of [`RowModel::of_consensus`]: labels added to every cluster and base clustering, spread evenly
    /// over the label values. One label keeps unseen combinations possible and leaves small clusters recognisable.
    pub const PSEUDO_LABELS: f64 = MixtureShares::ONE_LABEL;

    /// The mixture that maximises the likelihood of `ensemble` when its objects belong to clusters as `soft` says:
    /// π is the mean of the rows, θ the share of every label within a cluster after
    /// [`PSEUDO_LABELS`](Self::PSEUDO_LABELS).
    ///
    /// # Panics
    /// If there is not one row of `soft` an object.
    pub fn of_consensus(ensemble: &Ensemble, soft: &SoftPartition) -> Self {
        let soft = soft.rows();
        assert_eq!(ensemble.objects(), soft.nrows(), "one row an object");
        let layout = BaseLayout::new(ensemble.bases(), None);
        let rows = HeldRows {
            rows: EnsembleRows::new(ensemble).with_shares(),
            layout: &layout,
        };
        let lines = GivenMemberships::Lines(soft.iter().copied().collect());
        let sums = rows.given(lines, soft.ncols());
        let shares = MixtureShares::with_one_label(&sums, &layout, 0.0);
        Self::of_shares(ensemble.bases().to_vec(), shares, None)
    }

    /// A mixture with these shares, in which a label of base clustering u counts `weights[u]` times.
    pub(crate) fn of_shares(
        bases: Vec<BaseClustering>,
        shares: MixtureShares,
        weights: Option<&[f64]>,
    ) -> Self {
        let layout = BaseLayout::new(&bases, weights);
        Self {
            logs: shares.logs(&layout),
            bases,
            shares,
            weights: layout.copies,
        }
    }

    /// What a label of every base clustering counts, where they differ.
    pub fn base_weights(&self) -> Option<&[f64]> {
        self.weights.as_deref()
    }

    /// Number of clusters, K.
    pub fn clusters(&self) -> usize {
        self.shares.prior.len()
    }

    /// The base clusterings that the model reads, M of them.
    pub fn bases(&self) -> &[BaseClustering] {
        &self.bases
    }

    /// The share of every cluster, π: K values that sum to 1.
    pub fn prior(&self) -> &[f64] {
        &self.shares.prior
    }

    /// The probability θ of every label of base clustering `base` within every cluster: J × K, columns sum to 1.
    ///
    /// # Panics
    /// If `base` is out of range.
    pub fn label_probabilities(&self, base: usize) -> ArrayView2<'_, f64> {
        let offsets = BaseClustering::offsets(&self.bases);
        let clusters = self.clusters();
        let block = &self.shares.theta[offsets[base] * clusters..offsets[base + 1] * clusters];
        ArrayView2::from_shape((self.bases[base].clusters(), clusters), block)
            .expect("J lines of K values")
    }

    pub(crate) fn logs(&self) -> &LogProbabilities {
        &self.logs
    }

    /// The model from JSON that [`Model::to_json`] made.
    ///
    /// # Errors
    /// [`ModelError::Damaged`] says what is wrong: another format, lengths that do not fit, numbers that are no
    /// probabilities, sums that are not 1, names that occur twice.
    pub fn from_json(value: &Value) -> Result<Self, ModelError> {
        let (bases, prior, theta) = saved_model::read(value, saved_model::ROWS)?;
        saved_model::check_sum("the shares of the clusters", &prior)?;
        let weights = saved_model::weights(value)?;
        let shares = MixtureShares { prior, theta };
        Ok(Self::of_shares(bases, shares, weights.as_deref()))
    }

    /// Natural logarithm of the probability of every row of `ensemble` under the model; 0 for a row without any
    /// label that the model knows.
    ///
    /// # Errors
    /// [`ModelError::Input`] when the base clusterings are not those of the model.
    pub fn log_probabilities(&self, ensemble: &Ensemble) -> Result<Vec<f64>, ModelError> {
        Ok(self.label(ensemble)?.1)
    }

    /// Held-out perplexity, `exp(−Σ log p(row) / number of labels)`: at least 1, and as large as the number of
    /// equally probable labels that the model leaves open. Infinite when the model thinks some row impossible.
    ///
    /// # Errors
    /// [`ModelError::Input`] when the base clusterings are not those of the model, or no label is known to it.
    pub fn perplexity(&self, ensemble: &Ensemble) -> Result<f64, ModelError> {
        let matched = match_bases(&self.bases, ensemble)?;
        perplexity(
            &self.log_probabilities(ensemble)?,
            &matched,
            ensemble,
            &BaseLayout::new(&self.bases, self.base_weights()),
        )
    }

    /// How many labels of `ensemble` have a value that the model has never seen. They are taken as missing.
    ///
    /// # Errors
    /// [`ModelError::Input`] when the base clusterings are not those of the model.
    pub fn unread(&self, ensemble: &Ensemble) -> Result<u64, ModelError> {
        Ok(unread(&match_bases(&self.bases, ensemble)?, ensemble))
    }

    /// Probabilities of the clusters (n × K) and the log probability of every row.
    fn label(&self, ensemble: &Ensemble) -> Result<(Array2<f64>, Vec<f64>), ModelError> {
        let matched = match_bases(&self.bases, ensemble)?;
        Ok(match ensemble.rows() {
            LabelRows::Bytes(rows) => self.label_rows(rows, &matched),
            LabelRows::Words(rows) => self.label_rows(rows, &matched),
        })
    }

    fn label_rows<L: Label>(
        &self,
        rows: ArrayView2<'_, L>,
        matched: &MatchedBases,
    ) -> (Array2<f64>, Vec<f64>) {
        let (objects, clusters) = (rows.nrows(), self.clusters());
        let mut soft = vec![0.0; objects * clusters];
        let mut logs = vec![0.0; objects];
        let parts = soft
            .chunks_mut(CHUNK * clusters)
            .zip(logs.chunks_mut(CHUNK));
        map_parallel(
            parts.zip(chunks(objects, CHUNK)),
            |((soft, logs), range)| {
                for ((object, soft), log) in range.zip(soft.chunks_exact_mut(clusters)).zip(logs) {
                    let known = rows.row(object).into_iter().zip(matched);
                    let known =
                        known.filter_map(|(label, places)| label.cluster().and_then(|j| places[j]));
                    *log = self.label_row(known.map(known_label), soft);
                }
            },
        );
        (
            Array2::from_shape_vec((objects, clusters), soft).expect("n rows of K values"),
            logs,
        )
    }

    /// Labels one row, by the prior where it has no label or the model thinks it impossible.
    fn label_row(&self, labels: impl Iterator<Item = Entry>, soft: &mut [f64]) -> f64 {
        let mut labels = labels.peekable();
        if labels.peek().is_none() {
            soft.copy_from_slice(&self.shares.prior);
            return 0.0;
        }
        self.logs.score(labels, soft);
        let log = normalise(soft);
        if log == f64::NEG_INFINITY {
            soft.copy_from_slice(&self.shares.prior);
        }
        log
    }
}

impl Model for RowModel {
    fn to_json(&self) -> Value {
        saved_model::write(
            saved_model::ROWS,
            (&self.bases, self.base_weights()),
            &self.shares.prior,
            &self.shares.theta,
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
                Ok(SoftPartition::new(self.label(ensemble)?.0).expect("normalised probabilities"))
            }
            ModelInput::Features(_) => Err(ModelError::Input(
                "it reads label rows, not a table of features".into(),
            )),
        }
    }
}
