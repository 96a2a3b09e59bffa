//! Where the labels of every base clustering are among all labels, and how often they count.

use std::ops::Range;

use partita_core::{BaseClustering, BaseWeights, Row, RowProblem};
use serde::{Deserialize, Serialize};

/// The base clusterings of a fit: tables of labels by cluster have a line of K values for every label value, ΣJ lines.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BaseLayout {
    /// Where the lines of each base clustering start, M + 1 values.
    pub(crate) offsets: Vec<usize>,
    /// How many copies of every base clustering there are, where that is not one.
    pub(crate) copies: Option<Vec<f64>>,
}

impl BaseLayout {
    pub(crate) fn new(bases: &[BaseClustering], copies: Option<&[f64]>) -> Self {
        Self {
            offsets: BaseClustering::offsets(bases),
            copies: copies.map(<[f64]>::to_vec),
        }
    }

    pub(crate) fn of(problem: &RowProblem<'_>) -> Self {
        let copies = problem.weights.map(BaseWeights::copies);
        Self::new(problem.rows.bases(), copies)
    }

    /// Number of label values of all base clusterings, ΣJ.
    pub(crate) fn label_values(&self) -> usize {
        self.offsets[self.len()]
    }

    /// Number of base clusterings, M.
    pub(crate) fn len(&self) -> usize {
        self.offsets.len() - 1
    }

    /// The base clustering of a label value.
    pub(crate) fn base_of(&self, label: usize) -> usize {
        self.offsets.partition_point(|&start| start <= label) - 1
    }

    pub(crate) fn copies_of(&self, base: usize) -> f64 {
        self.copies.as_ref().map_or(1.0, |copies| copies[base])
    }

    /// Every base clustering with its label values.
    pub(crate) fn bases(&self) -> impl Iterator<Item = (usize, Range<usize>)> {
        let ranges = self.offsets.windows(2).map(|ends| ends[0]..ends[1]);
        ranges.enumerate()
    }

    /// What the labels of a row that are there count.
    pub(crate) fn labels_of<'a, R: Row<'a>>(&self, row: R) -> f64 {
        let entries = row.entries(&self.offsets);
        entries
            .map(|entry| self.copies_of(entry.base) * entry.share)
            .sum()
    }

    /// Multiplies the lines of every base clustering by its number of copies.
    pub(crate) fn weigh(&self, lines: &mut [f64], clusters: usize) {
        if self.copies.is_none() {
            return;
        }
        for (u, labels) in self.bases() {
            let own = &mut lines[labels.start * clusters..labels.end * clusters];
            own.iter_mut().for_each(|value| *value *= self.copies_of(u));
        }
    }

    /// The totals of every base clustering's lines: M lines of K values.
    pub(crate) fn totals(&self, lines: &[f64], clusters: usize) -> Vec<f64> {
        let mut sums = vec![0.0; self.len() * clusters];
        for ((_, labels), sums) in self.bases().zip(sums.chunks_exact_mut(clusters)) {
            let own = &lines[labels.start * clusters..labels.end * clusters];
            for line in own.chunks_exact(clusters) {
                sums.iter_mut()
                    .zip(line)
                    .for_each(|(sum, count)| *sum += count);
            }
        }
        sums
    }

    /// Turns counts of labels by cluster into shares within every base clustering; without counts they become even.
    pub(crate) fn normalise(&self, lines: &mut [f64], clusters: usize) {
        let sums = self.totals(lines, clusters);
        for ((_, labels), sums) in self.bases().zip(sums.chunks_exact(clusters)) {
            let even = 1.0 / labels.len() as f64;
            let own = &mut lines[labels.start * clusters..labels.end * clusters];
            for line in own.chunks_exact_mut(clusters) {
                for (count, sum) in line.iter_mut().zip(sums) {
                    *count = if *sum > 0.0 { *count / sum } else { even };
                }
            }
        }
    }

    /// Whether tables are those of a fit into so many clusters: K values for every label value, and for what there is once a cluster.
    pub(crate) fn fits(&self, of_labels: &[f64], of_clusters: &[f64], clusters: usize) -> bool {
        of_clusters.len() == clusters
            && self.label_values().checked_mul(clusters) == Some(of_labels.len())
    }
}
