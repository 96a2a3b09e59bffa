//! What is measured.

use crate::{Comparison, Lab, ReproduceError, Results};

/// The measure of rows that hold CPU seconds.
pub const SECONDS: &str = "seconds";

/// How much of a study is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Seeds 0, 1, … of everything that is drawn.
    pub seeds: u64,
    /// Only what is done in a few minutes.
    pub quick: bool,
}

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
        Self { data: data.into(), setting: setting.into(), seed, methods }
    }

    /// A value of this unit.
    pub fn row(&self, method: &str, measure: &str, value: f64) -> Row {
        let (data, setting) = (self.data.clone(), self.setting.clone());
        Row { data, setting, method: method.into(), seed: self.seed, measure: measure.into(), value }
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

/// One paper, or one question.
pub trait Study: Sync {
    /// Name on the command line and of the files.
    fn name(&self) -> &'static str;

    /// One line for a list.
    fn title(&self) -> &'static str;

    /// What there is to measure, in the order in which it is measured.
    fn units(&self, scope: Scope) -> Vec<Unit>;

    /// Measures the methods of one unit.
    ///
    /// # Errors
    /// [`ReproduceError::NoData`] where a data set is not on this machine (the unit is left out and the page says so);
    /// anything else fails the run after all other units are done.
    fn measure(&self, unit: &Unit, lab: &Lab<'_>) -> Result<Vec<Row>, ReproduceError>;

    /// The page: everything after its title. Depends on the results only.
    fn page(&self, results: &Results) -> String;

    /// How our values stand to the published ones.
    fn comparisons(&self, _results: &Results) -> Vec<Comparison> {
        Vec::new()
    }

    /// Pictures beside the page: name of the file and SVG.
    fn pictures(&self, _results: &Results) -> Vec<(String, String)> {
        Vec::new()
    }
}
