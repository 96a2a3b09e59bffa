//! Settings of methods: declared once, read from `name=value` texts, JSON or keywords, and checked by their ranges.

use std::fmt::{self, Display};
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::ProblemSize;

/// Settings of a method. Derive it: names, help, values and ranges are read from the fields of a struct, defaults from
/// its `Default` ([`macro@crate::Settings`]).
pub trait Settings: Clone + Default + Serialize + DeserializeOwned + Send + Sync + 'static {
    /// What can be set, in the order of the fields.
    fn fields() -> Vec<SettingInfo>;

    /// Compares settings with each other and with the size of the problem.
    ///
    /// # Errors
    /// [`SettingsError`] for the first that does not fit.
    fn check(&self, size: &ProblemSize) -> Result<(), SettingsError>;

    /// Checks every value against its declared range.
    ///
    /// # Errors
    /// [`SettingsError`] for the first that does not fit.
    fn check_ranges(&self) -> Result<(), SettingsError> {
        let values = json_of(self);
        Self::fields().iter().try_for_each(|field| {
            field
                .read(values.get(field.name).unwrap_or(&Value::Null))
                .map(drop)
        })
    }

    /// [`check_ranges`](Self::check_ranges) and [`check`](Self::check).
    ///
    /// # Errors
    /// [`SettingsError`] for the first that does not fit.
    fn validate(&self, size: &ProblemSize) -> Result<(), SettingsError> {
        self.check_ranges()?;
        self.check(size)
    }
}

/// Settings as a JSON object.
pub(crate) fn json_of(settings: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        // A struct of plain fields is an object.
        _ => Map::new(),
    }
}

/// The type of a setting: which values it takes.
pub trait SettingType {
    /// The values that every setting of this type takes.
    fn values() -> SettingValues;
}

/// One setting of a method, as help and errors show it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SettingInfo {
    /// Name, as in `--set name=value`.
    pub name: &'static str,
    /// What it changes.
    pub help: &'static str,
    /// What other programs call it.
    pub aliases: &'static [&'static str],
    /// Which values it takes.
    pub values: SettingValues,
}

/// Which values a setting takes.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingValues {
    /// `true` or `false`.
    Boolean,
    /// Whole numbers in a range.
    Integer(SettingRange),
    /// Finite numbers in a range.
    Number(SettingRange),
    /// One of these words.
    Choice(&'static [&'static str]),
    /// Text of this form.
    Text(&'static str),
    /// Unset (`null`), or one of these.
    Optional(Box<SettingValues>),
    /// A JSON list of these.
    List(Box<SettingValues>),
}

/// The numbers from `low` to `high`.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SettingRange {
    /// The smallest number, or what all are above.
    pub low: f64,
    /// Whether `low` itself is left out.
    pub above_low: bool,
    /// The largest number, or what all are below.
    pub high: f64,
    /// Whether `high` itself is left out.
    pub below_high: bool,
}

impl SettingRange {
    /// Every number.
    pub const ALL: Self = Self::new(f64::NEG_INFINITY, f64::INFINITY);

    /// Numbers from `low` to `high`, both included.
    pub const fn new(low: f64, high: f64) -> Self {
        Self {
            low,
            above_low: false,
            high,
            below_high: false,
        }
    }

    /// Numbers above `low`.
    pub const fn above(low: f64) -> Self {
        Self {
            low,
            above_low: true,
            high: f64::INFINITY,
            below_high: false,
        }
    }

    fn holds(&self, value: f64) -> bool {
        let low = if self.above_low {
            value > self.low
        } else {
            value >= self.low
        };
        low && if self.below_high {
            value < self.high
        } else {
            value <= self.high
        }
    }

    fn and(self, other: Self) -> Self {
        let (low, high) = (self.low.max(other.low), self.high.min(other.high));
        let above = |range: &Self| range.above_low && range.low == low;
        let below = |range: &Self| range.below_high && range.high == high;
        Self {
            low,
            above_low: above(&self) || above(&other),
            high,
            below_high: below(&self) || below(&other),
        }
    }
}

/// Powers of ten where plain digits would be many.
fn number(value: f64) -> String {
    if value != 0.0 && !(1e-4..1e7).contains(&value.abs()) {
        format!("{value:e}")
    } else {
        value.to_string()
    }
}

impl Display for SettingRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (low, high) = (number(self.low), number(self.high));
        match (self.low.is_finite(), self.high.is_finite()) {
            (true, true) if self.above_low => write!(f, " above {low} and at most {high}"),
            (true, true) if self.below_high => write!(f, " from {low} and below {high}"),
            (true, true) => write!(f, " from {low} to {high}"),
            (true, false) if self.above_low => write!(f, " above {low}"),
            (true, false) => write!(f, ", {low} or more"),
            (false, true) => write!(f, ", {high} or less"),
            (false, false) => Ok(()),
        }
    }
}

impl Display for SettingValues {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean => f.write_str("true or false"),
            // The largest number of a type says nothing to people.
            Self::Integer(range) if range.high >= f64::from(u32::MAX) => {
                write!(
                    f,
                    "a whole number{}",
                    SettingRange {
                        high: f64::INFINITY,
                        ..*range
                    }
                )
            }
            Self::Integer(range) => write!(f, "a whole number{range}"),
            Self::Number(range) => write!(f, "a number{range}"),
            Self::Choice(words) => f.write_str(&words.join(" or ")),
            Self::Text(form) => f.write_str(form),
            Self::Optional(values) => write!(f, "{values}, or null"),
            Self::List(values) => write!(f, "a list like [\"…\", \"…\"] of {values}"),
        }
    }
}

impl SettingValues {
    /// The same, numbers only within `range`.
    #[must_use]
    pub fn within(self, range: SettingRange) -> Self {
        match self {
            Self::Integer(own) => Self::Integer(own.and(range)),
            Self::Number(own) => Self::Number(own.and(range)),
            Self::Optional(values) => Self::Optional(Box::new(values.within(range))),
            other => other,
        }
    }

    /// What to write in place of a value that does not fit: the largest number of a type is said to those who went beyond it.
    fn instead_of(&self, value: &Value) -> String {
        match self {
            Self::Integer(range) if value.as_f64().is_some_and(|value| value > range.high) => {
                format!("a whole number from {} to {}", range.low, range.high)
            }
            Self::Optional(values) => format!("{}, or null", values.instead_of(value)),
            other => other.to_string(),
        }
    }

    /// The value as its type is written in JSON, or none where it does not fit: `1e3` is a whole number, and a text that
    /// looks like a number is a text.
    fn read(&self, value: &Value) -> Option<Value> {
        match (self, value) {
            (Self::Optional(_), Value::Null) => Some(Value::Null),
            (Self::Optional(values), other) => values.read(other),
            (Self::List(each), Value::Array(values)) => values
                .iter()
                .map(|value| each.read(value))
                .collect::<Option<_>>()
                .map(Value::Array),
            (Self::Integer(range), Value::Number(number)) => {
                let float = number
                    .as_f64()
                    .filter(|float| float.fract() == 0.0 && range.holds(*float))?;
                // Beyond 2^53 a number without a fraction need not be the one that was written.
                let exact = number
                    .as_u64()
                    .or_else(|| (0.0..=9e15).contains(&float).then_some(float as u64))?;
                Some(exact.into())
            }
            (Self::Number(range), Value::Number(number)) => number
                .as_f64()
                .filter(|float| float.is_finite() && range.holds(*float))
                .map(|_| value.clone()),
            (Self::Choice(words), Value::String(word)) => {
                words.contains(&word.as_str()).then(|| value.clone())
            }
            (Self::Choice(words), Value::Bool(on)) => {
                let word = on.to_string();
                words.contains(&word.as_str()).then(|| word.into())
            }
            (Self::Boolean, Value::Bool(_)) | (Self::Text(_), Value::String(_)) => {
                Some(value.clone())
            }
            (Self::Text(_), Value::Number(_) | Value::Bool(_)) => {
                Some(Value::String(value.to_string()))
            }
            _ => None,
        }
    }
}

impl SettingInfo {
    /// The value as this setting's type is written in JSON.
    fn read(&self, value: &Value) -> Result<Value, SettingsError> {
        let shown = || {
            value
                .as_str()
                .map_or_else(|| value.to_string(), |text| format!("'{text}'"))
        };
        let error = || SettingsError::Range {
            name: self.name,
            value: shown(),
            wanted: self.values.instead_of(value),
        };
        self.values.read(value).ok_or_else(error)
    }
}

macro_rules! setting_type {
    ($($type:ty => $values:expr,)*) => {
        $(impl SettingType for $type {
            fn values() -> SettingValues {
                $values
            }
        })*
    };
}
setting_type! {
    bool => SettingValues::Boolean,
    f64 => SettingValues::Number(SettingRange::ALL),
    u32 => SettingValues::Integer(SettingRange::new(0.0, u32::MAX as f64)),
    u64 => SettingValues::Integer(SettingRange::new(0.0, u64::MAX as f64)),
    usize => SettingValues::Integer(SettingRange::new(0.0, usize::MAX as f64)),
    NonZeroU32 => SettingValues::Integer(SettingRange::new(1.0, u32::MAX as f64)),
    NonZeroU64 => SettingValues::Integer(SettingRange::new(1.0, u64::MAX as f64)),
    NonZeroUsize => SettingValues::Integer(SettingRange::new(1.0, usize::MAX as f64)),
    String => SettingValues::Text("text"),
}

impl<T: SettingType> SettingType for Option<T> {
    fn values() -> SettingValues {
        SettingValues::Optional(Box::new(T::values()))
    }
}

impl<T: SettingType> SettingType for Vec<T> {
    fn values() -> SettingValues {
        SettingValues::List(Box::new(T::values()))
    }
}

/// Settings by name: values over a method's defaults.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SettingMap(Map<String, Value>);

/// Settings that do not fit a method.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SettingsError {
    /// Not of the form `name=value`.
    #[error("'{0}' is not a setting; write name=value")]
    Form(String),
    /// No such setting.
    #[error("there is no setting '{name}'; {}", hint(*.called, .known))]
    Unknown {
        /// The name given.
        name: String,
        /// What the method calls it, where that is known.
        called: Option<&'static str>,
        /// The names that exist.
        known: Vec<&'static str>,
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
        wanted: String,
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
        Self::Value {
            name: name.into(),
            value: value.into(),
            reason: reason.into(),
        }
    }

    /// Refuses a value that is out of its range.
    ///
    /// # Errors
    /// [`SettingsError::Range`] unless it `fits`.
    pub fn range(
        name: &'static str,
        value: impl Display,
        fits: bool,
        wanted: &str,
    ) -> Result<(), Self> {
        if fits {
            Ok(())
        } else {
            Err(Self::Range {
                name,
                value: value.to_string(),
                wanted: wanted.into(),
            })
        }
    }
}

fn hint(called: Option<&str>, known: &[&str]) -> String {
    match called {
        Some(name) => format!("here it is called '{name}'"),
        None if known.is_empty() => "the method has no settings".into(),
        None => format!("the method has {}", known.join(", ")),
    }
}

impl From<Map<String, Value>> for SettingMap {
    fn from(values: Map<String, Value>) -> Self {
        Self(values)
    }
}

impl SettingMap {
    /// Settings from texts like `restarts=8`. Values are read as JSON where they are JSON (`8`, `1e-5`, `true`, `null`) and
    /// as text otherwise (`greedy`). Of two values of one setting the later counts.
    ///
    /// # Errors
    /// [`SettingsError::Form`] for the first text without `=`.
    pub fn parse<T: AsRef<str>>(texts: &[T]) -> Result<Self, SettingsError> {
        let pair = |text: &T| {
            let text = text.as_ref();
            let (name, value) = text
                .split_once('=')
                .ok_or_else(|| SettingsError::Form(text.into()))?;
            let value = value.trim();
            let value = serde_json::from_str(value).unwrap_or_else(|_| Value::String(value.into()));
            Ok((name.trim().to_owned(), value))
        };
        texts.iter().map(pair).collect::<Result<_, _>>().map(Self)
    }

    /// Sets one; of two values of one setting the later counts.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.0.insert(name.into(), value.into());
    }

    /// True when there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The values by name.
    pub fn values(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The defaults of `S` with these values put in, each within its declared range.
    ///
    /// # Errors
    /// [`SettingsError`] for the first name or value that does not fit.
    pub fn apply<S: Settings>(&self) -> Result<S, SettingsError> {
        let known = S::fields();
        let mut fields = json_of(&S::default());
        let mut settings = S::default();
        for (name, value) in &self.0 {
            let Some(info) = known.iter().find(|info| info.name == name) else {
                return Err(unknown(name, &known));
            };
            fields.insert(name.clone(), info.read(value)?);
            settings = serde_json::from_value(Value::Object(fields.clone())).map_err(|error| {
                SettingsError::value(name, &value.to_string(), error.to_string())
            })?;
        }
        Ok(settings)
    }
}

fn unknown(name: &str, known: &[SettingInfo]) -> SettingsError {
    let called = known
        .iter()
        .find(|info| info.aliases.contains(&name))
        .map(|info| info.name);
    SettingsError::Unknown {
        name: name.into(),
        called,
        known: known.iter().map(|info| info.name).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{SettingChoice, Settings};

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
    #[serde(default)]
    #[settings(check = Self::few_restarts)]
    struct Example {
        /// Independent initializations; the best is kept.
        ///
        /// More here is not help.
        #[setting(range = 1..=1000, alias = "n_init")]
        restarts: NonZeroU32,
        /// How the objective is minimised.
        solver: Solver,
        /// Stop when an iteration gains at most this share of the [`objective`](Self).
        #[setting(range = 0.0..)]
        tolerance: f64,
        /// Strength of the prior.
        #[setting(above = 0.0)]
        gamma: Option<f64>,
        /// A base clustering.
        reference: Option<String>,
    }

    #[derive(Clone, Debug, PartialEq, Serialize, Deserialize, SettingChoice)]
    #[serde(rename_all = "kebab-case")]
    enum Solver {
        Greedy,
        CoolBlock,
    }

    impl Default for Example {
        fn default() -> Self {
            let solver = Solver::Greedy;
            Self {
                restarts: NonZeroU32::MIN,
                solver,
                tolerance: 1e-5,
                gamma: None,
                reference: None,
            }
        }
    }

    impl Example {
        fn few_restarts(&self, size: &ProblemSize) -> Result<(), SettingsError> {
            let fits = self.restarts.get() as usize <= size.objects;
            SettingsError::range(
                "restarts",
                self.restarts,
                fits,
                "at most the number of objects",
            )
        }
    }

    fn read(text: &str) -> Result<Example, SettingsError> {
        SettingMap::parse(&[text]).and_then(|settings| settings.apply())
    }

    #[test]
    fn values_go_over_the_defaults() {
        let settings = SettingMap::parse(&["solver=cool-block", "restarts = 3"]).unwrap();
        let restarts = NonZeroU32::new(3).unwrap();
        let expected = Example {
            restarts,
            solver: Solver::CoolBlock,
            ..Example::default()
        };
        assert_eq!(settings.apply(), Ok(expected));
        assert_eq!(read("restarts=1e2").unwrap().restarts.get(), 100);
        assert_eq!(read("gamma=null").unwrap().gamma, None);
        assert_eq!(read("reference=5").unwrap().reference.as_deref(), Some("5"));
    }

    #[test]
    fn what_does_not_fit_is_named_with_what_would() {
        let message = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            message("restarts"),
            "'restarts' is not a setting; write name=value"
        );
        assert_eq!(
            message("iterations=3"),
            "there is no setting 'iterations'; the method has restarts, solver, tolerance, gamma, reference"
        );
        assert_eq!(
            message("n_init=3"),
            "there is no setting 'n_init'; here it is called 'restarts'"
        );
        let range = "it must be a whole number from 1 to 1000";
        for wrong in [
            "0",
            "-1",
            "1.5",
            "1e9",
            "4294967295",
            "18446744073709551616",
            "many",
            "true",
        ] {
            let said = message(&format!("restarts={wrong}"));
            assert!(said.ends_with(range), "{said}");
        }
        assert_eq!(
            message("solver=quick"),
            "setting 'solver' is 'quick'; it must be greedy or cool-block"
        );
        assert_eq!(
            message("tolerance=-1"),
            "setting 'tolerance' is -1; it must be a number, 0 or more"
        );
        assert_eq!(
            message("gamma=0"),
            "setting 'gamma' is 0; it must be a number above 0, or null"
        );
        assert!(message("tolerance=nan").contains("is 'nan'; it must be a number"));
        // The largest number of a type is said to those who went beyond it.
        let iterations = SettingInfo {
            name: "iterations",
            help: "",
            aliases: &[],
            values: Option::<NonZeroU32>::values(),
        };
        let said = iterations
            .read(&(1_u64 << 32).into())
            .unwrap_err()
            .to_string();
        assert_eq!(
            said,
            "setting 'iterations' is 4294967296; it must be a whole number from 1 to 4294967295, or null"
        );
    }

    #[test]
    fn typed_values_are_checked_too() {
        let bases = [crate::BaseClustering::new(
            "u",
            vec!["a".into(), "b".into()],
        )];
        let size = ProblemSize::of_bases(5, &bases, crate::Clusters::Exactly(2));
        assert_eq!(Example::default().validate(&size), Ok(()));
        let wrong = Example {
            tolerance: f64::NAN,
            ..Example::default()
        };
        assert!(
            wrong
                .validate(&size)
                .unwrap_err()
                .to_string()
                .contains("tolerance")
        );
        let many = Example {
            restarts: NonZeroU32::new(6).unwrap(),
            ..Example::default()
        };
        assert!(
            many.validate(&size)
                .unwrap_err()
                .to_string()
                .contains("at most the number of objects")
        );
    }

    #[test]
    fn help_is_the_first_paragraph_of_the_doc_comment() {
        let fields = Example::fields();
        assert_eq!(
            fields[0].help,
            "Independent initializations; the best is kept."
        );
        assert_eq!(fields[0].aliases, ["n_init"]);
    }
}
