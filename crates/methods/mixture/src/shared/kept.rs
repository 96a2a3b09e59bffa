//! Results of the competition on a sample, in a form that engines keep between replays of a fit.

use partita_core::BaseClustering;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// What initializations compete with, in a form that an engine keeps between replays of a fit.
pub(crate) trait Kept: Sized {
    type Form: Serialize + DeserializeOwned;

    fn keep(self) -> Self::Form;

    /// None for numbers that are not of such rows.
    fn open(form: Self::Form, of: &KeptOf<'_>) -> Option<Self>;
}

/// The rows that something kept must be of.
pub(crate) struct KeptOf<'a> {
    pub(crate) bases: &'a [BaseClustering],
    pub(crate) clusters: usize,
    /// What a label of every base clustering counts, where they differ.
    pub(crate) weights: Option<&'a [f64]>,
}

impl KeptOf<'_> {
    /// Whether there are K numbers for each of ΣJ lines, of M, and one line more.
    pub(crate) fn fits(&self, of_labels: &[f64], of_bases: Option<&[f64]>, alone: &[f64]) -> bool {
        let has =
            |numbers: &[f64], lines: usize| lines.checked_mul(self.clusters) == Some(numbers.len());
        let base_clusters = self.bases.iter().map(BaseClustering::clusters).sum();
        has(of_labels, base_clusters)
            && of_bases.is_none_or(|own| has(own, self.bases.len()))
            && has(alone, 1)
    }
}
