//! The choice of a number of clusters: what was measured of every number, and the one chosen. Saved as JSON and read back.

use partita_core::{Ensemble, Partition, SettingChoice};
use partita_metrics::anmi;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;

use crate::best::agreement_by;
use crate::evidence::inside;
use crate::pair_histogram::PairHistogram;
use crate::{Null, SelectError};

/// How many clusters, and why.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Choice {
    /// The number chosen; 1 says that nothing beats tables or ensembles without clusters.
    pub clusters: usize,
    /// Why, in a sentence or two.
    pub reason: String,
    /// The criterion that decided.
    pub criterion: Criterion,
    /// A line for every number looked at, rising.
    pub rows: Vec<ChoiceRow>,
    /// The objects looked at, rising, where they are a sample.
    pub objects: Option<Vec<u32>>,
    /// Whether the monitor asked to stop: some lines or references are missing then.
    pub interrupted: bool,
    /// What a user should know before trusting the choice.
    pub warnings: Vec<String>,
    /// The settings, all of them.
    pub settings: Value,
    /// The seed.
    pub seed: u64,
}

/// What decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Criterion {
    /// Cut, separation, likelihood and silhouette together: the highest [`score`](ChoiceRow::score), of tables
    /// ([`choose_recipe`](crate::choose_recipe)).
    Score,
    /// Stability relative to tables without clusters: the highest [`rcsi`](ChoiceRow::rcsi).
    Rcsi,
    /// The longest lifetime in the tree of the consensus method.
    Lifetime,
    /// The highest mean NMI with the base clusterings.
    Anmi,
    /// The consensus that base clusterings contradict least.
    Contradicted,
    /// The lowest BIC of the consensus method.
    Bic,
}

/// What is known of one number of clusters. What was not measured is absent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ChoiceRow {
    /// The number of clusters, K.
    pub clusters: usize,
    /// The score of [`choose_recipe`](crate::choose_recipe), of a table; higher is better.
    #[serde(default)]
    pub score: Option<f64>,
    /// Part of the score: logarithm of how much more the next cut of the graph of objects and base clusters costs.
    #[serde(default)]
    pub cut: Option<f64>,
    /// Adjusted Rand index of the clusters that two halves of the base clusterings lead to.
    #[serde(default)]
    pub stability: Option<f64>,
    /// Part of the score: density-based validity.
    #[serde(default)]
    pub validity: Option<f64>,
    /// Part of the score: nats an object by which one Gaussian a cluster explains the table better than one in all.
    #[serde(default)]
    pub likelihood: Option<f64>,
    /// Part of the score: mean silhouette, distances taken to means of clusters; less is better.
    #[serde(default)]
    pub silhouette: Option<f64>,
    /// Share of the pairs whose evidence c/N is at most 0, 1/100, …, 1; 101 numbers, none where evidence is the same for
    /// every K.
    pub cdf: Vec<f64>,
    /// Area under the CDF: 1 minus the mean evidence.
    pub area: Option<f64>,
    /// Relative growth of the area from the K before; the area itself for the first.
    pub delta_area: Option<f64>,
    /// Proportion of ambiguous clustering: share of the pairs with evidence in (0.1, 0.9]. 0 = every pair is decided.
    pub pac: Option<f64>,
    /// Chance that one of two base clusterings puts a pair together and the other does not. Unlike PAC it does not depend
    /// on how many base clusterings there are.
    pub disagreement: Option<f64>,
    /// Mean share of the variance that is left inside the clusters of a base clustering.
    pub dispersion: Option<f64>,
    /// Mean NMI (geometric) of the consensus with the base clusterings.
    pub anmi: Option<f64>,
    /// Mean evidence of the pairs inside clusters of the consensus.
    pub within: Option<f64>,
    /// Mean evidence of the pairs across.
    pub between: Option<f64>,
    /// Share of what base clusterings say of pairs that the consensus contradicts: 1 minus the mean Rand index.
    pub contradicted: Option<f64>,
    /// Mean evidence inside each cluster of the consensus, K numbers.
    #[serde(deserialize_with = "numbers")]
    pub cluster_evidence: Vec<f64>,
    /// Range of heights over which the tree of the method has K clusters.
    pub lifetime: Option<f64>,
    /// What the method optimised.
    pub objective: Option<ObjectiveValue>,
    /// BIC of the method; less is better.
    pub bic: Option<f64>,
    /// The same for data without clusters, one entry for each kind.
    pub references: Vec<Reference>,
    /// Relative cluster stability: log10 of the references' disagreement over the row's; the least over the kinds of
    /// reference. Above 0 = more stable than without clusters.
    pub rcsi: Option<f64>,
    /// Standard error of [`rcsi`](Self::rcsi): how far it may move with other runs and other references.
    pub rcsi_error: Option<f64>,
    /// Standard error of the logarithm of [`disagreement`](Self::disagreement), from parts of the base clusterings.
    #[serde(skip)]
    pub(crate) disagreement_error: f64,
    /// By the score: smallest p-value that neighbouring clusters have a gap between them. By RCSI: chance of a stability or dispersion as good as
    /// this at this K without clusters; the largest over the kinds of reference.
    pub p: Option<f64>,
    /// The consensus at K, of the objects looked at.
    #[serde(
        rename = "labels",
        serialize_with = "labels",
        deserialize_with = "partition",
        default
    )]
    pub partition: Option<Partition>,
}

/// What a method optimised, at its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ObjectiveValue {
    /// What the number is.
    pub name: String,
    /// The number; none where it is not finite.
    pub value: Option<f64>,
}

/// What one kind of data without clusters gives at one K.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Reference {
    /// What it looks like.
    pub null: Null,
    /// How often it was drawn.
    pub draws: usize,
    /// PAC.
    pub pac: Option<Spread>,
    /// Disagreement.
    pub disagreement: Option<Spread>,
    /// Mean NMI of the consensus with the base clusterings.
    pub anmi: Option<Spread>,
    /// Share of the variance inside clusters.
    pub dispersion: Option<Spread>,
    /// log10 of the mean disagreement (of its logarithms) over the row's.
    pub rcsi: Option<f64>,
    /// Standard error of the mean in [`rcsi`](Self::rcsi), and nothing else.
    pub rcsi_error: Option<f64>,
    /// Standard deviations by which the row is better: of the log disagreement, or of the ANMI.
    pub z: f64,
    /// The same of the dispersion.
    pub z_dispersion: Option<f64>,
}

/// How numbers lie.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Spread {
    /// Their mean.
    pub mean: f64,
    /// Their standard deviation (divided by one less than their number).
    pub sd: f64,
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Spread {
    /// The spread of at least one number.
    pub(crate) fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self {
            mean,
            sd: (squares / (count - 1.0).max(1.0)).sqrt(),
            low: values.iter().copied().fold(f64::INFINITY, f64::min),
            high: values.iter().copied().fold(f64::NEG_INFINITY, f64::max),
        }
    }
}

impl ChoiceRow {
    /// A line with nothing on it.
    pub(crate) fn empty(clusters: usize) -> Self {
        Self {
            clusters,
            cdf: Vec::new(),
            area: None,
            delta_area: None,
            pac: None,
            disagreement: None,
            disagreement_error: 0.0,
            dispersion: None,
            score: None,
            cut: None,
            stability: None,
            validity: None,
            likelihood: None,
            silhouette: None,
            anmi: None,
            within: None,
            between: None,
            contradicted: None,
            cluster_evidence: Vec::new(),
            lifetime: None,
            objective: None,
            bic: None,
            references: Vec::new(),
            rcsi: None,
            rcsi_error: None,
            p: None,
            partition: None,
        }
    }

    /// What the pairs say.
    pub(crate) fn of(clusters: usize, histogram: &PairHistogram) -> Self {
        Self {
            cdf: histogram.cdf(),
            area: Some(histogram.area()),
            delta_area: Some(histogram.area()),
            pac: Some(histogram.pac()),
            disagreement: Some(histogram.disagreement()),
            ..Self::empty(clusters)
        }
    }

    /// What the consensus says; an object counts as often as `objects` says.
    pub(crate) fn take(
        &mut self,
        ensemble: &Ensemble,
        partition: Partition,
        objects: Option<&[u32]>,
    ) -> Result<(), SelectError> {
        let inside = inside(ensemble, &partition, objects);
        let known = |value: f64| value.is_finite().then_some(value);
        self.anmi = Some(match objects {
            None => anmi(&partition, ensemble)?,
            Some(objects) => agreement_by(&partition, ensemble, None, Some(objects))?.anmi,
        });
        (self.within, self.between) = (known(inside.within), known(inside.between));
        self.contradicted = known(inside.contradicted);
        self.cluster_evidence = inside.clusters;
        self.partition = Some(partition);
        Ok(())
    }
}

impl Choice {
    /// The line of a number of clusters.
    pub fn row(&self, clusters: usize) -> Option<&ChoiceRow> {
        self.rows.iter().find(|row| row.clusters == clusters)
    }
}

/// A partition as its labels.
#[expect(
    clippy::ref_option,
    reason = "serde hands over a reference to the field"
)]
fn labels<S: Serializer>(partition: &Option<Partition>, serializer: S) -> Result<S::Ok, S::Error> {
    partition
        .as_ref()
        .map(Partition::labels)
        .serialize(serializer)
}

fn partition<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Partition>, D::Error> {
    let Some(labels) = Option::<Vec<u32>>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let clusters = labels.iter().max().map_or(0, |&last| last as usize + 1);
    if clusters > labels.len() {
        return Err(serde::de::Error::custom(format!(
            "label {} of {} objects",
            clusters - 1,
            labels.len()
        )));
    }
    Partition::new(labels, clusters)
        .map(Some)
        .map_err(serde::de::Error::custom)
}

/// Numbers of which JSON wrote those that are not finite as null.
fn numbers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let numbers = Vec::<Option<f64>>::deserialize(deserializer)?;
    Ok(numbers
        .into_iter()
        .map(|number| number.unwrap_or(f64::NAN))
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_read_back_with_its_labels() {
        let mut row = ChoiceRow::empty(2);
        row.partition = Some(Partition::new(vec![0, 1, 1], 2).unwrap());
        row.objective = Some(ObjectiveValue {
            name: "log likelihood".into(),
            value: Some(-3.5),
        });
        (row.pac, row.cdf) = (Some(0.25), vec![0.0, 1.0]);
        let text = serde_json::to_string(&row).unwrap();
        assert!(text.contains(r#""labels":[0,1,1]"#), "{text}");
        assert_eq!(serde_json::from_str::<ChoiceRow>(&text).unwrap(), row);
        row.cluster_evidence = vec![0.5, f64::NAN];
        let again: ChoiceRow = serde_json::from_str(&serde_json::to_string(&row).unwrap()).unwrap();
        assert!(again.cluster_evidence[1].is_nan());
        let wild = text.replace("[0,1,1]", "[0,1,4000000000]");
        assert!(serde_json::from_str::<ChoiceRow>(&wild).is_err());
    }
}
