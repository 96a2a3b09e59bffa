//! How the objects of every base cluster spread over the clusters of a partition, and what that says about one object.

use std::collections::BTreeMap;

use partita_core::{BaseClustering, BaseWeights, Ensemble, Label, Partition, RowBlock, WeightedEnsemble};

use super::calibrated_confidence;
use crate::contingency::check_sizes;
use crate::{Contingency, MetricsError};

/// Weight of a base clustering that says nothing, beside those that vote.
pub(super) const SILENT_WEIGHT: f64 = 1.0;

/// The objects of one cluster in one base cluster.
#[derive(Clone, Copy, Debug)]
struct Share {
    cluster: u32,
    /// Objects of the cluster in the base cluster, by weight.
    inside: f64,
    /// Objects of the cluster that the base clustering labels, by weight.
    labelled: f64,
    /// The one over the other.
    rate: f64,
}

impl Share {
    fn new(cluster: u32, inside: f64, labelled: f64) -> Self {
        Self { cluster, inside, labelled, rate: inside / labelled }
    }

    /// The rate when one object of both is left out, or what there is of it where it weighs less.
    fn rate_without_one(self, weight: f64) -> f64 {
        let one = weight.min(1.0);
        if self.labelled > one { ((self.inside - one) / (self.labelled - one)).max(0.0) } else { 0.0 }
    }
}

/// How many objects, by weight, a base cluster and a cluster share.
struct Counts {
    /// Base cluster, cluster, weight above 0; in rising order.
    cells: Vec<(usize, usize, f64)>,
    /// Weight of every cluster, where the base clustering labels it.
    labelled: Vec<f64>,
}

impl Counts {
    /// From a table with a row for every base cluster.
    fn of_table(table: &Contingency) -> Self {
        Self {
            cells: table.cells().map(|(row, column, count)| (row, column, count as f64)).collect(),
            labelled: table.column_sizes().iter().map(|&size| size as f64).collect(),
        }
    }

    fn of_weighted(partition: &Partition, ensemble: &Ensemble, base: usize, weights: &[f64]) -> Self {
        let (mut cells, mut labelled) = (BTreeMap::new(), vec![0.0; partition.clusters()]);
        for ((label, &own), weight) in ensemble.column(base).zip(partition.labels()).zip(weights) {
            if let (Some(label), true) = (label, *weight > 0.0) {
                *cells.entry((label, own as usize)).or_insert(0.0) += weight;
                labelled[own as usize] += weight;
            }
        }
        Self { cells: cells.into_iter().map(|((row, column), weight)| (row, column, weight)).collect(), labelled }
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
    /// Objects of every cluster.
    sizes: Vec<u64>,
    clusters: usize,
    /// Clusters that have objects.
    live: usize,
}

impl ClusterEvidence {
    /// From labels in memory. An object of weight w counts as w objects.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering or object.
    ///
    /// # Cost
    /// O(n M) time (O(n M log ΣJ C) with weights of objects), O(ΣJ C) memory if a base cluster has objects of C clusters on average.
    pub fn of<'a>(of: impl Into<WeightedEnsemble<'a>>, partition: &Partition) -> Result<Self, MetricsError> {
        let of: WeightedEnsemble<'_> = of.into();
        check_sizes(partition.objects(), of.ensemble.objects())?;
        let counts = |base| match of.multiplicities() {
            None => Ok(Counts::of_table(&Contingency::with_base(partition, of.ensemble, base)?.transposed())),
            Some(weights) => Ok(Counts::of_weighted(partition, of.ensemble, base, weights)),
        };
        check_sizes(of.multiplicities().map_or(partition.objects(), <[f64]>::len), partition.objects())?;
        let sizes = partition.sizes().into_iter().map(|size| size as u64).collect::<Vec<_>>();
        Self::of_tables(of.ensemble.bases(), &sizes, of.base_weights, counts)
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
        Self::of_tables(bases, sizes, weights, |base| Ok(Counts::of_table(&table(base)?)))
    }

    /// From the counts of every base clustering with the partition.
    fn of_tables(
        bases: &[BaseClustering],
        sizes: &[u64],
        weights: Option<&BaseWeights>,
        counts: impl Fn(usize) -> Result<Counts, MetricsError>,
    ) -> Result<Self, MetricsError> {
        let given = weights.map_or_else(|| vec![1.0; bases.len()], |weights| weights.as_slice().to_vec());
        check_sizes(given.len(), bases.len())?;
        let offsets = BaseClustering::offsets(bases);
        let (mut starts, mut shares, mut totals) = (vec![0], Vec::new(), vec![0.0; offsets[bases.len()]]);
        for base in 0..bases.len() {
            // A base clustering that labels none of the objects says nothing.
            if let Ok(counts) = counts(base) {
                for (row, column, inside) in counts.cells {
                    let cluster = offsets[base] + row;
                    starts.resize(cluster + 1, shares.len());
                    let share = Share::new(column as u32, inside, counts.labelled[column]);
                    totals[cluster] += share.rate;
                    shares.push(share);
                }
            }
        }
        starts.resize(totals.len() + 1, shares.len());
        let live = sizes.iter().filter(|&&size| size > 0).count();
        Ok(Self { starts, shares, totals, offsets, weights: given, sizes: sizes.to_vec(), clusters: sizes.len(), live })
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
        rows.rows().zip(labels).map(|(row, &own)| self.margin(row, own, &mut votes)).collect()
    }

    /// The shares of the evidence for some objects with these `labels`, one a row: K numbers a row with sum 1, appended to `out`.
    ///
    /// # Panics
    /// As [`confidence`](Self::confidence).
    pub(super) fn shares<L: Label>(&self, rows: &RowBlock<'_, L>, labels: &[u32], out: &mut Vec<f64>) {
        assert_eq!(rows.len(), labels.len(), "one label a row");
        let mut votes = Votes { of: vec![0.0; self.clusters], seen: Vec::new() };
        for (row, &own) in rows.rows().zip(labels) {
            let (for_own, weight) = self.vote(row, own, &mut votes);
            let silent = SILENT_WEIGHT / self.live as f64;
            let first = out.len();
            out.resize(first + self.clusters, 0.0);
            votes.take_each(|cluster, votes| out[first + cluster] += votes);
            out[first + own as usize] = for_own;
            for (share, &size) in out[first..].iter_mut().zip(&self.sizes) {
                *share = if size > 0 { (*share + silent) / (weight + SILENT_WEIGHT) } else { 0.0 };
            }
        }
    }

    fn margin<L: Label>(&self, row: (&[L], f64), own: u32, votes: &mut Votes) -> f64 {
        let (for_own, weight) = self.vote(row, own, votes);
        (for_own - votes.take_largest()) / (weight + SILENT_WEIGHT)
    }

    /// The votes for the other clusters of an object of some weight go to `votes`; given are those for its own, and the weight of all
    /// that vote.
    fn vote<L: Label>(&self, (row, of_object): (&[L], f64), own: u32, votes: &mut Votes) -> (f64, f64) {
        let (mut for_own, mut weight) = (0.0, 0.0);
        for (base, label) in row.iter().enumerate() {
            let Some(cluster) = label.cluster() else { continue };
            let cluster = self.offsets[base] + cluster;
            let shares = &self.shares[self.starts[cluster]..self.starts[cluster + 1]];
            // Always there, unless the object weighs nothing.
            let mine = shares.iter().find(|share| share.cluster == own);
            let without = mine.map_or(0.0, |mine| mine.rate_without_one(of_object));
            let of_others = shares.len() > usize::from(mine.is_some());
            let others = if of_others { self.totals[cluster] - mine.map_or(0.0, |mine| mine.rate) } else { 0.0 };
            if others + without <= 0.0 {
                continue;
            }
            let scale = self.weights[base] / (others + without);
            for_own += scale * without;
            weight += self.weights[base];
            shares.iter().filter(|share| share.cluster != own).for_each(|share| votes.add(*share, scale));
        }
        (for_own, weight)
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
        *votes += scale * share.rate;
    }

    /// The most votes that a cluster has; all are 0 after it.
    fn take_largest(&mut self) -> f64 {
        let mut most = 0.0_f64;
        self.take_each(|_, votes| most = most.max(votes));
        most
    }

    /// Every cluster that has votes; all are 0 after it.
    fn take_each(&mut self, mut take: impl FnMut(usize, f64)) {
        for cluster in self.seen.drain(..) {
            take(cluster as usize, std::mem::take(&mut self.of[cluster as usize]));
        }
    }
}
