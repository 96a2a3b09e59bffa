//! What all models of tables share: columns by name, scaling, JSON.

use partita_core::ndarray::Array2;
use partita_core::{ModelError, ModelInput, Unread};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::design::Scaling;

/// A scaling as it is saved.
#[derive(Serialize, Deserialize)]
pub(crate) struct SavedScaling {
    columns: Vec<String>,
    means: Vec<f64>,
    spreads: Vec<f64>,
}

impl SavedScaling {
    pub(crate) fn of(scaling: &Scaling) -> Self {
        let Scaling {
            columns,
            means,
            spreads,
        } = scaling.clone();
        Self {
            columns,
            means,
            spreads,
        }
    }

    pub(crate) fn checked(self) -> Result<Scaling, ModelError> {
        let Self {
            columns,
            means,
            spreads,
        } = self;
        if columns.is_empty() || means.len() != columns.len() || spreads.len() != columns.len() {
            let (d, m, s) = (columns.len(), means.len(), spreads.len());
            return Err(damaged(format!(
                "it has {d} columns, {m} means and {s} spreads"
            )));
        }
        if let Some(name) = twice(&columns) {
            return Err(damaged(format!("it has two columns called '{name}'")));
        }
        let bad = |(mean, spread): (&f64, &f64)| {
            !(mean.is_finite() && spread.is_finite() && *spread > 0.0)
        };
        if let Some(at) = means.iter().zip(&spreads).position(bad) {
            return Err(damaged(format!(
                "the scaling of column '{}' is not a scaling",
                columns[at]
            )));
        }
        Ok(Scaling {
            columns,
            means,
            spreads,
        })
    }
}

pub(crate) fn damaged(what: String) -> ModelError {
    ModelError::Damaged(what)
}

/// A model as JSON, with a check sum of all its other fields as `check`.
pub(crate) fn sealed(saved: &impl Serialize) -> Value {
    let mut value = serde_json::to_value(saved).expect("models are plain data");
    value["check"] = check_sum(saved).into();
    value
}

/// What [`sealed`] wrote, if nothing has changed since.
pub(crate) fn opened<T: Serialize + DeserializeOwned>(value: &Value) -> Result<T, ModelError> {
    let mut value = value.clone();
    let check = value
        .as_object_mut()
        .and_then(|fields| fields.remove("check"));
    let saved: T = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    let (written, found) = (
        check.as_ref().and_then(Value::as_str).unwrap_or("missing"),
        check_sum(&saved),
    );
    if written == found {
        Ok(saved)
    } else {
        Err(damaged(format!(
            "it was changed after it was written: its check sum is {written}, its content has {found}"
        )))
    }
}

/// FNV-1a of the model as text: finds accidents and edits; a forger can compute it, so sizes are still checked.
fn check_sum(saved: &impl Serialize) -> String {
    let text = serde_json::to_string(saved).expect("models are plain data");
    let step = |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    format!("{:016x}", text.bytes().fold(0xcbf2_9ce4_8422_2325, step))
}

fn twice(names: &[String]) -> Option<&String> {
    names
        .iter()
        .enumerate()
        .find(|(at, name)| names[..*at].contains(name))
        .map(|(_, name)| name)
}

/// The columns of the model, in its order, from a table that has them in any order, and others. A column `name=value` of a
/// word that the table does not have is 0, if the table has other words of `name`.
pub(crate) fn table(scaling: &Scaling, input: &ModelInput<'_>) -> Result<Array2<f64>, ModelError> {
    let ModelInput::Features(features) = input else {
        return Err(ModelError::Input("it reads a table, not label rows".into()));
    };
    let (given, given_values) = (features.columns(), features.values());
    if let Some(name) = twice(given) {
        return Err(ModelError::Input(format!(
            "the table has two columns called '{name}'"
        )));
    }
    let place = |name: &String| given.iter().position(|other| other == name);
    let encoded = |name: &String| {
        variable(name).is_some_and(|own| given.iter().any(|other| variable(other) == Some(own)))
    };
    let missing = scaling
        .columns
        .iter()
        .filter(|name| place(name).is_none() && !encoded(name));
    let missing: Vec<String> = missing.map(|name| format!("'{name}'")).collect();
    if !missing.is_empty() {
        return Err(ModelError::Input(format!(
            "the table lacks column {}",
            missing.join(", ")
        )));
    }
    let mut values = Array2::zeros((features.values().nrows(), scaling.columns.len()));
    for (name, mut column) in scaling.columns.iter().zip(values.columns_mut()) {
        if let Some(place) = place(name) {
            column.assign(&given_values.column(place));
        }
    }
    Ok(values)
}

/// The column that a column of zeros and ones was made of.
fn variable(name: &str) -> Option<&str> {
    name.split_once('=').map(|(variable, _)| variable)
}

/// Words of a table that the model has never seen, in columns of which it knows other words.
pub(crate) fn unread(scaling: &Scaling, input: &ModelInput<'_>) -> Unread {
    let mut found = Unread::default();
    let ModelInput::Features(features) = input else {
        return found;
    };
    let values = features.values();
    for (place, name) in features.columns().iter().enumerate() {
        let Some((variable_name, word)) = name.split_once('=') else {
            continue;
        };
        let known = scaling
            .columns
            .iter()
            .any(|own| variable(own) == Some(variable_name));
        if !known || scaling.columns.contains(name) {
            continue;
        }
        let rows: Vec<usize> = (0..values.nrows())
            .filter(|&row| values[[row, place]] != 0.0)
            .collect();
        found.values += rows.len() as u64;
        if let Some(&row) = rows.first()
            && found.first.as_ref().is_none_or(|first| row < first.0)
        {
            found.first = Some((row, variable_name.to_owned(), word.to_owned()));
        }
    }
    found
}
