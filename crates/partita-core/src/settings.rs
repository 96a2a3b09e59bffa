//! Settings by name: `key=value` pairs over a method's defaults.

use std::fmt::Display;

use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::ConsensusError;

/// `key=value` pairs, as a command line or a file gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingPairs(Vec<(String, String)>);

/// Pairs that are no settings of the method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Not of the form `key=value`.
    #[error("'{0}' is no setting; write name=value")]
    Form(String),
    /// No such setting.
    #[error("there is no setting '{name}'; the method has {}", list(.known))]
    Unknown {
        /// The name given.
        name: String,
        /// The names that exist.
        known: Vec<String>,
    },
    /// The setting does not take this value.
    #[error("setting '{name}' does not take '{value}': {reason}")]
    Value {
        /// Name of the setting.
        name: String,
        /// The value given.
        value: String,
        /// Why not.
        reason: String,
    },
    /// The setting is out of its range.
    #[error("setting '{name}' is {value}; it must be {wanted}")]
    Range {
        /// Name of the setting.
        name: &'static str,
        /// The value given.
        value: String,
        /// What it may be.
        wanted: &'static str,
    },
    /// The value would do for another ensemble.
    #[error("setting '{name}' does not take '{value}' here: {reason}")]
    Unfit {
        /// Name of the setting.
        name: &'static str,
        /// The value given.
        value: String,
        /// Why not, and what would do.
        reason: String,
    },
}

impl SettingsError {
    /// The setting does not take this value, and why.
    pub fn value(name: &str, value: &str, reason: impl Into<String>) -> Self {
        Self::Value { name: name.into(), value: value.into(), reason: reason.into() }
    }

    /// Refuses a value that is out of its range.
    ///
    /// # Errors
    /// [`SettingsError::Range`] unless it `fits`.
    pub fn range(name: &'static str, value: impl Display, fits: bool, wanted: &'static str) -> Result<(), Self> {
        if fits { Ok(()) } else { Err(Self::Range { name, value: value.to_string(), wanted }) }
    }

    /// Refuses a number that is negative or not finite.
    ///
    /// # Errors
    /// [`SettingsError::Range`].
    pub fn not_negative(name: &'static str, value: f64) -> Result<(), Self> {
        Self::range(name, value, value.is_finite() && value >= 0.0, "0 or more")
    }

    /// Refuses a number that is 0, negative or not finite.
    ///
    /// # Errors
    /// [`SettingsError::Range`].
    pub fn positive(name: &'static str, value: f64) -> Result<(), Self> {
        Self::range(name, value, value.is_finite() && value > 0.0, "above 0")
    }

    /// The error as that of a method.
    pub fn of(self, method: &'static str) -> ConsensusError {
        ConsensusError::Settings { method, source: self }
    }
}

fn list(known: &[String]) -> String {
    if known.is_empty() { "no settings".into() } else { known.join(", ") }
}

impl SettingPairs {
    /// Pairs from texts like `restarts=8`.
    ///
    /// # Errors
    /// [`SettingsError::Form`] for the first text without `=`.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, SettingsError> {
        let pair = |text: &T| {
            let (name, value) =
                text.as_ref().split_once('=').ok_or_else(|| SettingsError::Form(text.as_ref().into()))?;
            Ok((name.trim().to_owned(), value.trim().to_owned()))
        };
        texts.iter().map(pair).collect::<Result<_, _>>().map(Self)
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The defaults of a settings struct with these pairs put in. Values are read as JSON where they are JSON
    /// (`8`, `1e-5`, `true`, `null`) and as text otherwise (`greedy`).
    ///
    /// # Errors
    /// [`SettingsError`] for the first pair whose name or value does not fit.
    pub fn apply<S: Serialize + DeserializeOwned + Default>(&self) -> Result<S, SettingsError> {
        let defaults = serde_json::to_value(S::default()).expect("settings are plain data");
        let mut fields: Map<String, Value> = defaults.as_object().cloned().unwrap_or_default();
        let mut settings = S::default();
        for (name, value) in &self.0 {
            if !fields.contains_key(name) {
                return Err(SettingsError::Unknown { name: name.clone(), known: fields.keys().cloned().collect() });
            }
            let parsed = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.clone()));
            fields.insert(name.clone(), parsed);
            settings = serde_json::from_value(Value::Object(fields.clone()))
                .map_err(|error| SettingsError::value(name, value, error.to_string()))?;
        }
        Ok(settings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;
    use std::num::NonZeroU32;

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(default)]
    struct Example {
        restarts: NonZeroU32,
        solver: Solver,
        tolerance: f64,
    }

    #[derive(Debug, PartialEq, Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Solver {
        Greedy,
        CoolBlock,
    }

    impl Default for Example {
        fn default() -> Self {
            Self { restarts: NonZeroU32::MIN, solver: Solver::Greedy, tolerance: 1e-5 }
        }
    }

    #[test]
    fn pairs_go_over_the_defaults() {
        let pairs = SettingPairs::parse(&["solver=cool-block", "restarts = 3"]).unwrap();
        let expected = Example { restarts: NonZeroU32::new(3).unwrap(), solver: Solver::CoolBlock, tolerance: 1e-5 };
        assert_eq!(pairs.apply::<Example>(), Ok(expected));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        let message =
            |text| SettingPairs::parse(&[text]).and_then(|pairs| pairs.apply::<Example>()).unwrap_err().to_string();
        assert_eq!(message("restarts"), "'restarts' is no setting; write name=value");
        assert_eq!(message("rounds=3"), "there is no setting 'rounds'; the method has restarts, solver, tolerance");
        assert!(message("restarts=0").starts_with("setting 'restarts' does not take '0': "));
        assert!(message("solver=quick").contains("unknown variant `quick`, expected `greedy` or `cool-block`"));
    }
}
