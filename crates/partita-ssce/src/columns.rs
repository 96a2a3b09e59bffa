//! What all models of tables share: columns by name, scaling, JSON.

use partita_core::ndarray::Array2;
use partita_core::{ModelError, ModelInput};
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
        let Scaling { columns, means, spreads } = scaling.clone();
        Self { columns, means, spreads }
    }

    pub(crate) fn checked(self) -> Result<Scaling, ModelError> {
        let Self { columns, means, spreads } = self;
        if columns.is_empty() || means.len() != columns.len() || spreads.len() != columns.len() {
            let (d, m, s) = (columns.len(), means.len(), spreads.len());
            return Err(damaged(format!("it has {d} columns, {m} means and {s} spreads")));
        }
        if let Some(name) = twice(&columns) {
            return Err(damaged(format!("it has two columns called '{name}'")));
        }
        let bad = |(mean, spread): (&f64, &f64)| !(mean.is_finite() && spread.is_finite() && *spread > 0.0);
        if let Some(at) = means.iter().zip(&spreads).position(bad) {
            return Err(damaged(format!("the scaling of column '{}' is not a scaling", columns[at])));
        }
        Ok(Scaling { columns, means, spreads })
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
    let check = value.as_object_mut().and_then(|fields| fields.remove("check"));
    let saved: T = serde_json::from_value(value).map_err(|error| damaged(error.to_string()))?;
    let (written, found) = (check.as_ref().and_then(Value::as_str).unwrap_or("missing"), check_sum(&saved));
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
    names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)).map(|(_, name)| name)
}

/// The columns of the model, in its order, from a table that has them in any order.
pub(crate) fn table(scaling: &Scaling, input: &ModelInput<'_>) -> Result<Array2<f64>, ModelError> {
    let ModelInput::Features(features) = input else {
        return Err(ModelError::Input("it reads a table, not label rows".into()));
    };
    let given = features.columns();
    let list = |names: Vec<&String>| names.iter().map(|name| format!("'{name}'")).collect::<Vec<_>>().join(", ");
    let missing: Vec<&String> = scaling.columns.iter().filter(|name| !given.contains(name)).collect();
    let unknown: Vec<&String> = given.iter().filter(|name| !scaling.columns.contains(name)).collect();
    if let Some(name) = twice(given) {
        return Err(ModelError::Input(format!("the table has two columns called '{name}'")));
    }
    let problem = match (missing.is_empty(), unknown.is_empty()) {
        (true, true) => None,
        (false, true) => Some(format!("the table lacks column {}", list(missing))),
        (true, false) => Some(format!("the model does not know column {}", list(unknown))),
        (false, false) => {
            Some(format!("the table lacks column {}; the model does not know {}", list(missing), list(unknown)))
        }
    };
    if let Some(problem) = problem {
        return Err(ModelError::Input(problem));
    }
    let place = |name: &String| given.iter().position(|other| other == name).expect("no column is missing");
    let places: Vec<usize> = scaling.columns.iter().map(place).collect();
    Ok(features.values().select(partita_core::ndarray::Axis(1), &places))
}
