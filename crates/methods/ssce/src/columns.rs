//! Models of tables: columns by name, scaling, JSON.

use std::fmt;

use partita_core::ndarray::Array2;
use partita_core::{Model, ModelError, ModelInput, ModelReads, SoftPartition, Unread};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::design::Scaling;

/// A model that labels rows of a table: columns by name, their scaling, and a rule for scaled rows.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct TableModel<R> {
    format: String,
    #[serde(flatten)]
    scaling: Scaling,
    #[serde(flatten)]
    rule: R,
}

/// How scaled rows are labelled.
pub(crate) trait Rule:
    fmt::Debug + Send + Sync + Serialize + DeserializeOwned + 'static
{
    /// What a saved model has as `format`.
    const FORMAT: &'static str;

    /// Refuses a saved rule that is not one for so many columns.
    fn check(&self, columns: usize) -> Result<(), ModelError>;

    /// What one more column holds in every row, where there is one.
    fn intercept(&self) -> Option<f64> {
        None
    }

    /// Probabilities of the clusters for every scaled row, n × K.
    fn probabilities(&self, rows: Array2<f64>) -> Array2<f64>;
}

impl<R: Rule> TableModel<R> {
    pub(crate) fn new(scaling: Scaling, rule: R) -> Self {
        let format = R::FORMAT.to_owned();
        Self {
            format,
            scaling,
            rule,
        }
    }

    /// A saved model.
    pub(crate) fn from_json(value: &Value) -> Result<Self, ModelError> {
        let model: Self = opened(value)?;
        model.scaling.check()?;
        model.rule.check(model.scaling.columns.len())?;
        Ok(model)
    }
}

impl<R: Rule> Model for TableModel<R> {
    fn to_json(&self) -> Value {
        sealed(self)
    }

    fn reads(&self) -> ModelReads {
        ModelReads::Features
    }

    fn unread(&self, input: &ModelInput<'_>) -> Result<Unread, ModelError> {
        Ok(unread(&self.scaling, input))
    }

    fn predict(&self, input: &ModelInput<'_>) -> Result<SoftPartition, ModelError> {
        let values = table(&self.scaling, input)?;
        let rows = self.scaling.apply(values.view(), self.rule.intercept());
        SoftPartition::new(self.rule.probabilities(rows))
            .map_err(|error| ModelError::Input(format!("numbers too large for the model: {error}")))
    }
}

impl Scaling {
    /// Refuses a saved scaling that is not one.
    fn check(&self) -> Result<(), ModelError> {
        let Self {
            columns,
            means,
            spreads,
        } = self;
        let [d, m, s] = [columns.len(), means.len(), spreads.len()];
        if d == 0 || m != d || s != d {
            return Err(damaged(format!(
                "it has {d} columns, {m} means and {s} spreads"
            )));
        }
        if let Some(name) = twice(columns) {
            return Err(damaged(format!("it has two columns called '{name}'")));
        }
        for (at, name) in columns.iter().enumerate() {
            if !(means[at].is_finite() && spreads[at].is_finite() && spreads[at] > 0.0) {
                let what = format!("the scaling of column '{name}' is not a scaling");
                return Err(damaged(what));
            }
        }
        Ok(())
    }
}

pub(crate) fn damaged(what: String) -> ModelError {
    ModelError::Damaged(what)
}

/// A model as JSON, with a check sum of all its other fields as `check`.
fn sealed(saved: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(saved).expect("models are plain data");
    value["check"] = check_sum(saved).into();
    value
}

/// What [`sealed`] wrote, if nothing has changed since.
fn opened<T: Serialize + DeserializeOwned>(value: &Value) -> Result<T, ModelError> {
    let mut value = value.clone();
    let check = value
        .as_object_mut()
        .and_then(|fields| fields.remove("check"));
    let saved: T = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    let written = check.as_ref().and_then(Value::as_str).unwrap_or("missing");
    let found = check_sum(&saved);
    if written == found {
        return Ok(saved);
    }
    Err(damaged(format!(
        "it was changed after it was written: its check sum is {written}, its content has {found}"
    )))
}

/// FNV-1a of the model as text: finds accidents and edits; a forger can compute it, so sizes are still checked.
fn check_sum(saved: &impl Serialize) -> String {
    let text = serde_json::to_string(saved).expect("models are plain data");
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for byte in text.bytes() {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    format!("{hash:016x}")
}

fn twice(names: &[String]) -> Option<&String> {
    let mut places = 1..names.len();
    places
        .find(|&at| names[..at].contains(&names[at]))
        .map(|at| &names[at])
}

/// The columns of the model, in its order, from a table that has them in any order, and others. A column `name=value` of a
/// word that the table does not have is 0, if the table has other words of `name`.
fn table(scaling: &Scaling, input: &ModelInput<'_>) -> Result<Array2<f64>, ModelError> {
    let ModelInput::Features(features) = input else {
        return Err(ModelError::Input("it reads a table, not label rows".into()));
    };
    let given = features.columns();
    if let Some(name) = twice(given) {
        let what = format!("the table has two columns called '{name}'");
        return Err(ModelError::Input(what));
    }
    let mut missing = Vec::new();
    let mut values = Array2::zeros((features.values().nrows(), scaling.columns.len()));
    for (name, mut column) in scaling.columns.iter().zip(values.columns_mut()) {
        let own = variable(name);
        if let Some(place) = given.iter().position(|other| other == name) {
            column.assign(&features.values().column(place));
        } else if own.is_none() || given.iter().all(|other| variable(other) != own) {
            missing.push(format!("'{name}'"));
        }
    }
    if missing.is_empty() {
        return Ok(values);
    }
    let what = format!("the table lacks column {}", missing.join(", "));
    Err(ModelError::Input(what))
}

/// The column that a column of zeros and ones was made of.
fn variable(name: &str) -> Option<&str> {
    name.split_once('=').map(|(variable, _)| variable)
}

/// Words of a table that the model has never seen, in columns of which it knows other words.
fn unread(scaling: &Scaling, input: &ModelInput<'_>) -> Unread {
    let mut found = Unread::default();
    let ModelInput::Features(features) = input else {
        return found;
    };
    let values = features.values();
    for (place, name) in features.columns().iter().enumerate() {
        let Some((variable_name, word)) = name.split_once('=') else {
            continue;
        };
        let mut own = scaling.columns.iter();
        let known = own.any(|own| variable(own) == Some(variable_name));
        if !known || scaling.columns.contains(name) {
            continue;
        }
        let rows = (0..values.nrows()).filter(|&row| values[[row, place]] != 0.0);
        let rows: Vec<usize> = rows.collect();
        found.values += rows.len() as u64;
        if let Some(&row) = rows.first()
            && found.first.as_ref().is_none_or(|first| row < first.0)
        {
            found.first = Some((row, variable_name.to_owned(), word.to_owned()));
        }
    }
    found
}
