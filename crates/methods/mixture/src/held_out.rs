//! Held-out perplexity of label rows under a saved model.

use std::num::NonZeroU32;

use partita_core::{Ensemble, ModelError, Seed, option};
use serde_json::Value;

use crate::bce::BceModel;
use crate::shared::log_mean::LogMean;
use crate::shared::match_bases::{MatchedBases, match_bases, unread};
use crate::shared::row_model::RowModel;

/// What [`held_out`] found.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct HeldOut {
    /// exp(−Σ log p(row) / number of labels): 1 is perfect, J is what guessing among J equally probable labels gives.
    /// Infinite when the model thinks some row impossible.
    pub perplexity: f64,
    /// Labels that were there and known to the model: what the mean is over.
    pub labels: u64,
    /// Labels with a value that the model has never seen; they are left out.
    pub unread: u64,
    /// True where the model gives bounds on probabilities ([`BceModel`]): the perplexity is then an upper bound.
    pub upper_bound: bool,
    /// The standard error of a perplexity that was estimated by annealed importance sampling.
    pub standard_error: Option<f64>,
}

/// The perplexity of label rows under a saved model, whatever model of this crate it is: `saved` is what
/// [`Model::to_json`](partita_core::Model::to_json) made. Base clusterings are matched by name, labels by value. Of a [`BceModel`] it is a
/// bound, or an estimate by annealed importance sampling in so many
/// steps (always with the same random numbers).
///
/// # Cost
/// As labelling the rows: O(n M K) time.
///
/// # Errors
/// [`ModelError::Damaged`] for a damaged model, [`ModelError::Input`] for a model that gives label rows no
/// probability (one that reads a table), for base clusterings that are not those of the model, and where no label is
/// known to it.
pub fn held_out(
    saved: &Value,
    rows: &Ensemble,
    annealed: Option<NonZeroU32>,
) -> Result<HeldOut, ModelError> {
    match saved.get("format").and_then(Value::as_str) {
        Some(BceModel::FORMAT) => {
            let model = BceModel::from_json(saved)?;
            let matched = match_bases(&model.bases, rows)?;
            let bound = model.perplexity(rows)?;
            let found = measured(bound, &matched, rows, annealed.is_none());
            match annealed {
                None => Ok(found),
                Some(steps) => {
                    Ok(found.estimated(&model.log_probabilities(rows, steps, Seed::new(0))?))
                }
            }
        }
        Some(RowModel::FORMAT) | None if annealed.is_some() => Err(ModelError::Input(format!(
            "its probabilities are exact; leave {} out",
            option("annealed").on()
        ))),
        Some(RowModel::FORMAT) | None => {
            let model = RowModel::from_json(saved)?;
            let matched = match_bases(model.bases(), rows)?;
            Ok(measured(model.perplexity(rows)?, &matched, rows, false))
        }
        Some(other) => Err(ModelError::Input(format!(
            "a model of the format '{other}' gives label rows no probability"
        ))),
    }
}

fn measured(
    perplexity: f64,
    matched: &MatchedBases,
    rows: &Ensemble,
    upper_bound: bool,
) -> HeldOut {
    let unread = unread(matched, rows);
    let labels = (rows.objects() * rows.bases().len() - rows.missing()) as u64 - unread;
    HeldOut {
        perplexity,
        labels,
        unread,
        upper_bound,
        standard_error: None,
    }
}

impl HeldOut {
    /// The same with the perplexity of estimated probabilities of the rows.
    fn estimated(self, rows: &[LogMean]) -> Self {
        let labels = self.labels as f64;
        let sum: f64 = rows.iter().map(|row| row.value).sum();
        let squares: f64 = rows.iter().map(|row| row.standard_error.powi(2)).sum();
        let perplexity = (-sum / labels).exp();
        Self {
            perplexity,
            standard_error: Some(perplexity * squares.sqrt() / labels),
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shared::fixture;
    use crate::{BCE, MM};
    use partita_core::{Clusters, Consensus, Problem, Silent, consense};
    use serde_json::json;

    #[test]
    fn every_saved_model_is_asked_in_its_own_way() {
        let ensemble = fixture::drawn(6);
        let half: Vec<u32> = (0..ensemble.objects() as u32 / 2).collect();
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let (seen, rest) = (
            ensemble.select(&half, &bases),
            ensemble.select(&[5, 6, 7], &bases),
        );
        let problem = Problem::new(&seen, Clusters::Exactly(3)).seed(1);
        for (method, upper_bound) in [(&MM as &dyn Consensus, false), (&BCE, true)] {
            let outcome = consense(method, &problem, &Silent).unwrap();
            let saved = outcome.model.unwrap().to_json();
            let found = held_out(&saved, &rest, None).unwrap();
            assert_eq!(
                found.labels + found.unread,
                (rest.objects() * bases.len() - rest.missing()) as u64
            );
            assert!(
                found.upper_bound == upper_bound && found.perplexity > 1.0,
                "{found:?}"
            );
            let told = outcome.details[if upper_bound {
                "perplexity_bound"
            } else {
                "perplexity"
            }]
            .as_f64()
            .unwrap();
            let train = held_out(&saved, &seen, None).unwrap().perplexity;
            assert!((train / told - 1.0).abs() < 0.02, "{train} and {told}");
            match held_out(&saved, &seen, NonZeroU32::new(50)) {
                Ok(found) => {
                    let error = found.standard_error.unwrap();
                    assert!(
                        upper_bound && !found.upper_bound && error < 0.02,
                        "{found:?}"
                    );
                    assert!(
                        found.perplexity < train + 3.0 * error,
                        "{found:?} and {train}"
                    );
                }
                Err(error) => assert!(!upper_bound && error.to_string().contains("exact")),
            }
        }
    }

    #[test]
    fn models_without_probabilities_are_refused() {
        let ensemble = fixture::drawn(6);
        let error = held_out(&json!({"format": "a regression 1"}), &ensemble, None).unwrap_err();
        assert!(
            matches!(&error, ModelError::Input(reason) if reason.contains("'a regression 1'")),
            "{error}"
        );
        assert!(matches!(
            held_out(&json!({}), &ensemble, None),
            Err(ModelError::Damaged(_))
        ));
    }
}
