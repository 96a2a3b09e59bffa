//! Units of measurement, and measured values.

/// The measure of rows that hold CPU seconds.
pub const SECONDS: &str = "seconds";

/// Several methods measured on the same thing, in one thread.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Unit {
    /// Name of the data set, as in the catalogue; `-std` after it means standardised columns.
    pub data: String,
    /// What else tells this from other units: a preset, a number of clusters, a rate.
    pub setting: String,
    /// Where chance starts.
    pub seed: u64,
    /// What is measured; `*` for rows that belong to no method.
    pub methods: Vec<String>,
}

impl Unit {
    /// A unit.
    pub fn new<S: Into<String>>(
        data: impl Into<String>,
        setting: impl Into<String>,
        seed: u64,
        methods: impl IntoIterator<Item = S>,
    ) -> Self {
        let methods = methods.into_iter().map(Into::into).collect();
        Self {
            data: data.into(),
            setting: setting.into(),
            seed,
            methods,
        }
    }

    /// A value of this unit.
    pub fn row(&self, method: &str, measure: &str, value: f64) -> Row {
        let data = self.data.clone();
        let setting = self.setting.clone();
        Row {
            data,
            setting,
            method: method.into(),
            seed: self.seed,
            measure: measure.into(),
            value,
        }
    }

    /// Name of the unit in messages.
    pub(crate) fn name(&self) -> String {
        format!("{}, {}, seed {}", self.data, self.setting, self.seed)
    }
}

/// One measured value.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// [`Unit::data`].
    pub data: String,
    /// [`Unit::setting`].
    pub setting: String,
    /// Which method, or `*`.
    pub method: String,
    /// [`Unit::seed`].
    pub seed: u64,
    /// What was measured: `h`, `ari`, `f1`, `perplexity`, …
    pub measure: String,
    /// The value.
    pub value: f64,
}
