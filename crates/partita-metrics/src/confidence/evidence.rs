//! How the objects of every base cluster spread over the clusters of a partition, and what that says about one object.

use partita_core::{BaseClustering, BaseWeights, Ensemble, Label, Partition, RowBlock};

use super::calibrated_confidence;
use crate::contingency::check_sizes;
use crate::{Contingency, MetricsError};

/// Weight of a base clustering that says nothing, beside those that vote.
pub(super) const SILENT_WEIGHT: f64 = 1.0;

/// The objects of one cluster in one base cluster.
#[derive(Clone, Copy, Debug)]
struct Share {
    cluster: u32,
    /// Objects of the cluster in the base cluster.
    inside: f64,
    /// Objects of the cluster that the base clustering labels.
    labelled: f64,
}

impl Share {
    fn rate(self) -> f64 {
        self.inside / self.labelled
    }

    /// The rate when one object of both is left out.
    fn rate_without_one(self) -> f64 {
        if self.labelled > 1.0 { (self.inside - 1.0) / (self.labelled - 1.0) } else { 0.0 }
    }
}

/// How the objects of every base cluster spread over the clusters of a partition: what the confidence of any object is read from. It
/// is made from labels in memory, or from counts of rows that are read block by block.
#[derive(Clone, Debug)]
pub struct ClusterEvidence {
    /// Where the shares of every base cluster start, ΣJ + 1 values.
    starts: Vec<usize>,
    shares: Vec<Share>,
    /// Sum of the rates of every base cluster, ΣJ values.
    totals: Vec<f64>,
    /// Where the base clusters of every base clustering start, M + 1 values.
    offsets: Vec<usize>,
    /// One weight a base clustering.
    weights: Vec<f64>,
    clusters: usize,
    /// Clusters that have objects.
    live: usize,
}

impl ClusterEvidence {
    /// From labels in memory.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering.
    ///
    /// # Cost
    /// O(n M) time, O(ΣJ C) memory if a base cluster has objects of C clusters on average.
    pub fn of(ensemble: &Ensemble, partition: &Partition, weights: Option<&BaseWeights>) -> Result<Self, MetricsError> {
        check_sizes(partition.objects(), ensemble.objects())?;
        let table = |base| Contingency::with_base(partition, ensemble, base).map(|table| table.transposed());
        let sizes = partition.sizes().into_iter().map(|size| size as u64).collect::<Vec<_>>();
        Self::of_tables(ensemble.bases(), &sizes, weights, table)
    }

    /// From counts: `sizes` has the objects of the K clusters, and `counts[k ΣJ + c]` those of cluster `k` in base cluster `c`, where
    /// the base clusters of all base clusterings are numbered through.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if there are not K ΣJ counts, or not one weight a base clustering.
    pub fn of_counts(
        bases: &[BaseClustering],
        sizes: &[u64],
        counts: &[u64],
        weights: Option<&BaseWeights>,
    ) -> Result<Self, MetricsError> {
        let (offsets, clusters) = (BaseClustering::offsets(bases), sizes.len());
        let all = offsets[bases.len()];
        check_sizes(counts.len(), clusters * all)?;
        let count = |base: usize| {
            let first = offsets[base];
            move |j: usize, k: usize| counts[k * all + first + j]
        };
        let table = |base: usize| Contingency::of_counts(bases[base].clusters(), clusters, count(base));
        Self::of_tables(bases, sizes, weights, table)
    }

    /// From the table of every base clustering with the partition: rows for the base clustering.
    fn of_tables(
        bases: &[BaseClustering],
        sizes: &[u64],
        weights: Option<&BaseWeights>,
        table: impl Fn(usize) -> Result<Contingency, MetricsError>,
    ) -> Result<Self, MetricsError> {
        let given = weights.map_or_else(|| vec![1.0; bases.len()], |weights| weights.as_slice().to_vec());
        check_sizes(given.len(), bases.len())?;
        let offsets = BaseClustering::offsets(bases);
        let (mut starts, mut shares, mut totals) = (vec![0], Vec::new(), vec![0.0; offsets[bases.len()]]);
        for base in 0..bases.len() {
            // A base clustering that labels none of the objects says nothing.
            if let Ok(table) = table(base) {
                for (row, column, count) in table.cells() {
                    let cluster = offsets[base] + row;
                    starts.resize(cluster + 1, shares.len());
                    let (inside, labelled) = (count as f64, table.column_sizes()[column] as f64);
                    let share = Share { cluster: column as u32, inside, labelled };
                    totals[cluster] += share.rate();
                    shares.push(share);
                }
            }
        }
        starts.resize(totals.len() + 1, shares.len());
        let live = sizes.iter().filter(|&&size| size > 0).count();
        Ok(Self { starts, shares, totals, offsets, weights: given, clusters: sizes.len(), live })
    }

    /// The confidence of some objects with these `labels`, one a row.
    ///
    /// # Panics
    /// If there is not one label a row, or rows and labels are not those that the evidence was made from.
    pub fn confidence<L: Label>(&self, rows: &RowBlock<'_, L>, labels: &[u32]) -> Vec<f64> {
        self.margins(rows, labels).into_iter().map(|margin| self.calibrated(margin)).collect()
    }

    /// [`calibrated_confidence`] of a margin among the clusters that have objects, in six digits.
    pub(super) fn calibrated(&self, margin: f64) -> f64 {
        calibrated_in_six_digits(margin, self.live)
    }

    /// The margins of some objects with these `labels`, one a row, in -1..=1: the evidence for the own cluster less that for the best
    /// other one. What [`calibrated_confidence`] takes.
    ///
    /// # Panics
    /// As [`confidence`](Self::confidence).
    pub fn margins<L: Label>(&self, rows: &RowBlock<'_, L>, labels: &[u32]) -> Vec<f64> {
        assert_eq!(rows.len(), labels.len(), "one label a row");
        let mut votes = Votes { of: vec![0.0; self.clusters], seen: Vec::new() };
        rows.rows().zip(labels).map(|((row, _), &own)| self.margin(row, own, &mut votes)).collect()
    }

    fn margin<L: Label>(&self, row: &[L], own: u32, votes: &mut Votes) -> f64 {
        let (mut for_own, mut weight) = (0.0, 0.0);
        for (base, label) in row.iter().enumerate() {
            let Some(cluster) = label.cluster() else { continue };
            let cluster = self.offsets[base] + cluster;
            let shares = &self.shares[self.starts[cluster]..self.starts[cluster + 1]];
            // Always there, unless the rows are others than those that were counted.
            let Some(mine) = shares.iter().find(|share| share.cluster == own) else { continue };
            let without = mine.rate_without_one();
            let others = if shares.len() == 1 { 0.0 } else { self.totals[cluster] - mine.rate() };
            if others + without <= 0.0 {
                continue;
            }
            let scale = self.weights[base] / (others + without);
            for_own += scale * without;
            weight += self.weights[base];
            shares.iter().filter(|share| share.cluster != own).for_each(|share| votes.add(*share, scale));
        }
        (for_own - votes.take_largest()) / (weight + SILENT_WEIGHT)
    }
}

/// [`calibrated_confidence`] in six digits.
pub(super) fn calibrated_in_six_digits(margin: f64, clusters: usize) -> f64 {
    (calibrated_confidence(margin, clusters) * 1e6).round() / 1e6
}

/// Votes for the other clusters of one object.
struct Votes {
    of: Vec<f64>,
    seen: Vec<u32>,
}

impl Votes {
    fn add(&mut self, share: Share, scale: f64) {
        let votes = &mut self.of[share.cluster as usize];
        if *votes == 0.0 {
            self.seen.push(share.cluster);
        }
        *votes += scale * share.rate();
    }

    /// The most votes that a cluster has; all are 0 after it.
    fn take_largest(&mut self) -> f64 {
        self.seen.drain(..).fold(0.0, |most, cluster| std::mem::take(&mut self.of[cluster as usize]).max(most))
    }
}
