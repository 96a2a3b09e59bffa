//! The JSON form of saved models of label rows, and the checks when one is read.

use std::collections::BTreeSet;

use partita_core::{BaseClustering, MAX_BASE_CLUSTERS, ModelError};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a saved model says it is.
pub(crate) const ROWS: &str = "partita label rows 1";
pub(crate) const MIXED: &str = "partita mixed memberships 1";

/// How far a sum of probabilities may be from 1.
const SLACK: f64 = 1e-6;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    format: String,
    /// K shares, or K Dirichlet parameters.
    prior: Vec<f64>,
    base_clusterings: Vec<SavedBase>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SavedBase {
    name: String,
    values: Vec<String>,
    /// What a label counts, where that differs between base clusterings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    weight: Option<f64>,
    /// J lists of K probabilities, one list a value.
    probabilities: Vec<Vec<f64>>,
}

pub(crate) fn write(
    format: &str,
    (bases, weights): (&[BaseClustering], Option<&[f64]>),
    prior: &[f64],
    theta: &[f64],
) -> Value {
    let offsets = BaseClustering::offsets(bases);
    let lines: Vec<&[f64]> = theta.chunks_exact(prior.len()).collect();
    let base = |(u, base): (usize, &BaseClustering)| SavedBase {
        name: base.name().to_owned(),
        values: base.values().to_vec(),
        weight: weights.map(|weights| weights[u]),
        probabilities: lines[offsets[u]..offsets[u + 1]]
            .iter()
            .map(|line| line.to_vec())
            .collect(),
    };
    let base_clusterings = bases.iter().enumerate().map(base).collect();
    let saved = Saved {
        format: format.into(),
        prior: prior.to_vec(),
        base_clusterings,
    };
    serde_json::to_value(saved).expect("a model is plain data")
}

/// Base clusterings, prior (unchecked but for its length) and label probabilities.
pub(crate) type Read = (Vec<BaseClustering>, Vec<f64>, Vec<f64>);

/// What a file of the `wanted` format holds.
pub(crate) fn read(value: &Value, wanted: &str) -> Result<Read, ModelError> {
    let format = value.get("format").and_then(Value::as_str);
    if format != Some(wanted) {
        let found = format.map_or_else(|| "there is none".into(), |f| format!("it is '{f}'"));
        return Err(damaged(format!(
            "its format should be '{wanted}' and {found}"
        )));
    }
    let saved = Saved::deserialize(value).map_err(|error| damaged(error.to_string()))?;
    if saved.prior.is_empty() || saved.base_clusterings.is_empty() {
        return Err(damaged("it has no clusters or no base clusterings".into()));
    }
    let mut names = BTreeSet::new();
    for base in &saved.base_clusterings {
        if !names.insert(&base.name) {
            return Err(damaged(format!(
                "it has two base clusterings called '{}'",
                base.name
            )));
        }
        check_base(base, saved.prior.len())?;
    }
    let mut theta = Vec::new();
    let mut bases = Vec::new();
    for base in saved.base_clusterings {
        base.probabilities
            .iter()
            .for_each(|line| theta.extend_from_slice(line));
        bases.push(BaseClustering::new(base.name, base.values));
    }
    Ok((bases, saved.prior, theta))
}

/// What a label of every base clustering counts; none where all count 1.
pub(crate) fn weights(value: &Value) -> Result<Option<Vec<f64>>, ModelError> {
    let saved = Saved::deserialize(value).map_err(|error| damaged(error.to_string()))?;
    let given: Vec<f64> = saved
        .base_clusterings
        .iter()
        .filter_map(|base| base.weight)
        .collect();
    if given.is_empty() {
        return Ok(None);
    }
    if given.len() < saved.base_clusterings.len() {
        return Err(damaged(
            "some base clusterings have a weight and others have none".into(),
        ));
    }
    match given
        .iter()
        .find(|weight| !(weight.is_finite() && **weight >= 0.0))
    {
        Some(bad) => Err(damaged(format!("a base clustering has weight {bad}"))),
        None => Ok(Some(given)),
    }
}

fn check_base(base: &SavedBase, clusters: usize) -> Result<(), ModelError> {
    let labels = base.values.len();
    let wrong = |what: String| damaged(format!("base clustering '{}' {what}", base.name));
    if labels == 0 || labels > MAX_BASE_CLUSTERS {
        return Err(wrong(format!("has {labels} label values")));
    }
    if base.values.iter().collect::<BTreeSet<_>>().len() != labels {
        return Err(wrong("has the same label value twice".into()));
    }
    if base.probabilities.len() != labels {
        return Err(wrong(format!(
            "has probabilities for {} of {labels} label values",
            base.probabilities.len()
        )));
    }
    if let Some(line) = base
        .probabilities
        .iter()
        .find(|line| line.len() != clusters)
    {
        return Err(wrong(format!(
            "has probabilities for {} of {clusters} clusters",
            line.len()
        )));
    }
    for cluster in 0..clusters {
        let column: Vec<f64> = base
            .probabilities
            .iter()
            .map(|line| line[cluster])
            .collect();
        check_sum(
            &format!("the labels of '{}' in cluster {cluster}", base.name),
            &column,
        )?;
    }
    Ok(())
}

pub(crate) fn check_sum(what: &str, probabilities: &[f64]) -> Result<(), ModelError> {
    if let Some(bad) = probabilities
        .iter()
        .find(|p| !(0.0..=1.0 + SLACK).contains(*p))
    {
        return Err(damaged(format!("{what} have probability {bad}")));
    }
    let sum: f64 = probabilities.iter().sum();
    if (sum - 1.0).abs() <= SLACK {
        Ok(())
    } else {
        Err(damaged(format!(
            "{what} have probabilities that sum to {sum}"
        )))
    }
}

pub(crate) fn damaged(what: String) -> ModelError {
    ModelError::Damaged(what)
}
