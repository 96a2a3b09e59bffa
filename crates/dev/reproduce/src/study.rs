//! The trait of a study: one paper, or one question.

use crate::{Comparison, Lab, Results, Row, Unit};
use anyhow::Result;

/// How much of a study is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scope {
    /// Seeds 0, 1, … of everything that is drawn.
    pub seeds: u64,
    /// Only what is done in a few minutes.
    pub quick: bool,
}

impl Scope {
    /// All of these, or the first few of them.
    pub fn of<T>(self, all: &[T], quick: usize) -> &[T] {
        if self.quick { &all[..quick] } else { all }
    }
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
    /// [`ReproduceError::NoData`](crate::ReproduceError::NoData) where a data set is not on this machine (the unit is left out and the page says so);
    /// anything else fails the run after all other units are done.
    fn measure(&self, unit: &Unit, lab: &Lab<'_>) -> Result<Vec<Row>>;

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
