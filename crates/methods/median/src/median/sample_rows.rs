//! The label rows of a sample, each of which stands for a whole number of objects.

use partita_core::{Label, Row};

/// Different label rows in memory.
pub(super) struct SampleRows<'a, L> {
    /// Stored labels, M a row.
    pub(super) labels: &'a [L],
    /// Where the clusters of each base clustering start: M + 1 values.
    pub(super) offsets: &'a [usize],
    /// Objects that each row stands for.
    pub(super) weights: &'a [u32],
}

impl<'a, L: Label> SampleRows<'a, L> {
    pub(super) fn len(&self) -> usize {
        self.weights.len()
    }

    pub(super) fn bases(&self) -> usize {
        self.offsets.len() - 1
    }

    /// Clusters of all base clusterings, ΣJ.
    pub(super) fn base_clusters(&self) -> usize {
        self.offsets[self.bases()]
    }

    pub(super) fn row(&self, at: usize) -> &'a [L] {
        &self.labels[at * self.bases()..(at + 1) * self.bases()]
    }

    /// The labels of a row that are there, as base clustering and place among all ΣJ clusters.
    pub(super) fn places(&self, at: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let entries = self.row(at).entries(self.offsets);
        entries.map(|entry| (entry.base, entry.cluster))
    }
}
