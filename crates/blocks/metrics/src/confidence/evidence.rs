//! How the objects of every base cluster spread over the clusters of a partition, and what that says about one object.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use partita_core::{
    BaseClustering, BaseWeights, Ensemble, Entry, Partition, Row, RowBlock, WeightedEnsemble,
};

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
        Self {
            cluster,
            inside,
            labelled,
            rate: inside / labelled,
        }
    }

    /// The rate when one object of both is left out, or what there is of it where it weighs less.
    fn rate_without_one(self, weight: f64) -> f64 {
        let one = weight.min(1.0);
        let rate = ((self.inside - one) / (self.labelled - one)).max(0.0);
        if self.labelled > one { rate } else { 0.0 }
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
        let cells = table
            .cells()
            .map(|(row, column, count)| (row, column, count as f64));
        let labelled = table.column_sizes().iter().map(|&size| size as f64);
        Self {
            cells: cells.collect(),
            labelled: labelled.collect(),
        }
    }

    fn of_weighted(
        partition: &Partition,
        ensemble: &Ensemble,
        base: usize,
        weights: &[f64],
    ) -> Self {
        let mut cells = BTreeMap::new();
        let mut labelled = vec![0.0; partition.clusters()];
        for ((label, &own), weight) in ensemble.column(base).zip(partition.labels()).zip(weights) {
            if let (Some(label), true) = (label, *weight > 0.0) {
                *cells.entry((label, own as usize)).or_insert(0.0) += weight;
                labelled[own as usize] += weight;
            }
        }
        let cells = cells
            .into_iter()
            .map(|((row, column), weight)| (row, column, weight));
        Self {
            cells: cells.collect(),
            labelled,
        }
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
    /// What base clusters say about objects of weight 1, made when it is first asked for; none where it would be large.
    votes: OnceLock<Option<VoteTable>>,
}

impl ClusterEvidence {
    /// From labels in memory. An object of weight w counts as w objects.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering or object.
    ///
    /// # Cost
    /// O(n M) time (O(n M log ΣJ C) with weights of objects), O(ΣJ C) memory if a base cluster has objects of C clusters on average.
    pub fn of<'a>(
        of: impl Into<WeightedEnsemble<'a>>,
        partition: &Partition,
    ) -> Result<Self, MetricsError> {
        let of: WeightedEnsemble<'_> = of.into();
        check_sizes(partition.objects(), of.ensemble.objects())?;
        let weights = of.multiplicities();
        let objects = partition.objects();
        check_sizes(weights.map_or(objects, <[f64]>::len), objects)?;
        let sizes: Vec<u64> = partition.sizes().iter().map(|&size| size as u64).collect();
        Self::of_tables(of.ensemble.bases(), &sizes, of.base_weights, |base| {
            if let Some(weights) = weights {
                return Ok(Counts::of_weighted(partition, of.ensemble, base, weights));
            }
            let table = Contingency::with_base(partition, of.ensemble, base)?;
            Ok(Counts::of_table(&table.transposed()))
        })
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
        let offsets = BaseClustering::offsets(bases);
        let clusters = sizes.len();
        let all = offsets[bases.len()];
        check_sizes(counts.len(), clusters * all)?;
        Self::of_tables(bases, sizes, weights, |base| {
            let first = offsets[base];
            let table = Contingency::of_counts(bases[base].clusters(), clusters, |j, k| {
                counts[k * all + first + j]
            });
            Ok(Counts::of_table(&table?))
        })
    }

    /// From the counts of every base clustering with the partition.
    fn of_tables(
        bases: &[BaseClustering],
        sizes: &[u64],
        weights: Option<&BaseWeights>,
        counts: impl Fn(usize) -> Result<Counts, MetricsError>,
    ) -> Result<Self, MetricsError> {
        let weights = match weights {
            None => vec![1.0; bases.len()],
            Some(weights) => weights.as_slice().to_vec(),
        };
        check_sizes(weights.len(), bases.len())?;
        let offsets = BaseClustering::offsets(bases);
        let mut starts = vec![0];
        let mut shares = Vec::new();
        let mut totals = vec![0.0; offsets[bases.len()]];
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
        Ok(Self {
            starts,
            shares,
            totals,
            offsets,
            weights,
            sizes: sizes.to_vec(),
            clusters: sizes.len(),
            live: sizes.iter().filter(|&&size| size > 0).count(),
            votes: OnceLock::new(),
        })
    }

    /// The confidence of some objects with these `labels`, one a row.
    ///
    /// # Panics
    /// If there is not one label a row, or rows and labels are not those that the evidence was made from.
    pub fn confidence<'a, R: Row<'a>>(&self, rows: &RowBlock<'a, R>, labels: &[u32]) -> Vec<f64> {
        let mut confidence = self.margins(rows, labels);
        for margin in &mut confidence {
            *margin = calibrated_in_six_digits(*margin, self.live);
        }
        confidence
    }

    /// The margins of some objects with these `labels`, one a row, in -1..=1: the evidence for the own cluster less that for the best
    /// other one. What [`calibrated_confidence`] takes.
    ///
    /// # Panics
    /// As [`confidence`](Self::confidence).
    pub fn margins<'a, R: Row<'a>>(&self, rows: &RowBlock<'a, R>, labels: &[u32]) -> Vec<f64> {
        assert_eq!(rows.len(), labels.len(), "one label a row");
        let objects = rows.rows().zip(labels);
        let known = labels.iter().all(|&own| (own as usize) < self.clusters);
        let mut margins = Vec::with_capacity(labels.len());
        if rows.weights.is_none()
            && known
            && let Some(table) = self.votes.get_or_init(|| VoteTable::of(self))
        {
            let mut places = Vec::with_capacity(self.weights.len());
            for ((row, _), &own) in objects {
                margins.push(table.margin(&self.offsets, row, own, &mut places));
            }
            return margins;
        }
        let mut votes = Votes::new(self.clusters);
        for ((row, weight), &own) in objects {
            let (for_own, all) = self.vote(row, weight, own, &mut votes);
            margins.push((for_own - votes.take_largest()) / (all + SILENT_WEIGHT));
        }
        margins
    }

    /// The shares of the evidence for some objects with these `labels`, one a row: K numbers a row with sum 1, appended to `out`.
    ///
    /// # Panics
    /// As [`confidence`](Self::confidence).
    pub(super) fn shares<'a, R: Row<'a>>(
        &self,
        rows: &RowBlock<'a, R>,
        labels: &[u32],
        out: &mut Vec<f64>,
    ) {
        assert_eq!(rows.len(), labels.len(), "one label a row");
        let mut votes = Votes::new(self.clusters);
        for ((row, of_object), &own) in rows.rows().zip(labels) {
            let (for_own, weight) = self.vote(row, of_object, own, &mut votes);
            let silent = SILENT_WEIGHT / self.live as f64;
            let first = out.len();
            out.resize(first + self.clusters, 0.0);
            votes.take_each(|cluster, votes| out[first + cluster] += votes);
            out[first + own as usize] = for_own;
            for (share, &size) in out[first..].iter_mut().zip(&self.sizes) {
                let voted = (*share + silent) / (weight + SILENT_WEIGHT);
                *share = if size > 0 { voted } else { 0.0 };
            }
        }
    }

    /// The votes for the other clusters of an object of some weight go to `votes`; given are those for its own, and the weight of all
    /// that vote.
    fn vote<'a, R: Row<'a>>(
        &self,
        row: R,
        of_object: f64,
        own: u32,
        votes: &mut Votes,
    ) -> (f64, f64) {
        let mut for_own = 0.0;
        let mut weight = 0.0;
        for Entry { base, cluster, .. } in row.entries(&self.offsets) {
            let add = |share, scale| votes.add(share, scale);
            let (of_own, of_base) = self.vote_of(base, cluster, own, of_object, add);
            for_own += of_own;
            weight += of_base;
        }
        (for_own, weight)
    }

    /// What one base cluster says about an object of cluster `own`, by its weight: the vote for its own cluster and the weight of the
    /// base clustering; the shares of the others go to `other` with their scale.
    fn vote_of(
        &self,
        base: usize,
        cluster: usize,
        own: u32,
        of_object: f64,
        mut other: impl FnMut(Share, f64),
    ) -> (f64, f64) {
        let shares = &self.shares[self.starts[cluster]..self.starts[cluster + 1]];
        // Always there, unless the object weighs nothing.
        let mine = shares.iter().find(|share| share.cluster == own);
        let without = mine.map_or(0.0, |mine| mine.rate_without_one(of_object));
        let mut others = 0.0;
        if shares.len() > usize::from(mine.is_some()) {
            others = self.totals[cluster] - mine.map_or(0.0, |mine| mine.rate);
        }
        if others + without <= 0.0 {
            return (0.0, 0.0);
        }
        let scale = self.weights[base] / (others + without);
        for share in shares.iter().filter(|share| share.cluster != own) {
            other(*share, scale);
        }
        (scale * without, self.weights[base])
    }
}

/// The votes of every base cluster about the objects of every cluster that weigh 1: what [`ClusterEvidence::margins`] adds for an
/// object is a few rows of this table, to the same bits.
#[derive(Clone, Debug)]
struct VoteTable {
    /// ΣJ K rows: the votes for all clusters, 0 for its own, the vote for its own, and the weight; then zeros to the width.
    rows: Vec<[f64; VoteTable::LANES]>,
    /// Pieces of a row.
    pieces: usize,
    clusters: usize,
}

impl VoteTable {
    const LANES: usize = 8;
    /// A mebibyte: what stays in the cache of a core.
    const MOST_PIECES: usize = (1 << 20) / (8 * Self::LANES);

    /// None if the table would be larger than the cache, or than what is read with it.
    fn of(evidence: &ClusterEvidence) -> Option<Self> {
        let clusters = evidence.clusters;
        let all = evidence.totals.len();
        let pieces = (clusters + 2).div_ceil(Self::LANES);
        let rows = all.checked_mul(clusters)?.checked_mul(pieces)?;
        let objects: u64 = evidence.sizes.iter().sum();
        if rows > Self::MOST_PIECES || (all * clusters) as u64 > objects {
            return None;
        }
        let rows = vec![[0.0; Self::LANES]; rows];
        let mut table = Self {
            rows,
            pieces,
            clusters,
        };
        for base in 0..evidence.weights.len() {
            for cluster in evidence.offsets[base]..evidence.offsets[base + 1] {
                for own in 0..clusters {
                    let first = table.place(cluster, own as u32);
                    let row = table.rows[first..first + pieces].as_flattened_mut();
                    let vote =
                        |share: Share, scale: f64| row[share.cluster as usize] = scale * share.rate;
                    let (of_own, weight) = evidence.vote_of(base, cluster, own as u32, 1.0, vote);
                    row[clusters] = of_own;
                    row[clusters + 1] = weight;
                }
            }
        }
        Some(table)
    }

    fn place(&self, cluster: usize, own: u32) -> usize {
        (cluster * self.clusters + own as usize) * self.pieces
    }

    /// The margin of an object that weighs 1; `places` is for its use.
    fn margin<'a, R: Row<'a>>(
        &self,
        offsets: &[usize],
        row: R,
        own: u32,
        places: &mut Vec<usize>,
    ) -> f64 {
        places.clear();
        let entries = row.entries(offsets);
        places.extend(entries.map(|entry| self.place(entry.cluster, own)));
        let mut most = 0.0_f64;
        let mut for_own = 0.0;
        let mut weight = 0.0;
        for piece in 0..self.pieces {
            let mut sums = [0.0; Self::LANES];
            for place in &*places {
                for (sum, vote) in sums.iter_mut().zip(&self.rows[place + piece]) {
                    *sum += vote;
                }
            }
            let first = piece * Self::LANES;
            for (at, &sum) in sums.iter().enumerate() {
                match (first + at).checked_sub(self.clusters) {
                    None => most = most.max(sum),
                    Some(0) => for_own = sum,
                    Some(1) => weight = sum,
                    Some(_) => {}
                }
            }
        }
        (for_own - most) / (weight + SILENT_WEIGHT)
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
    fn new(clusters: usize) -> Self {
        Self {
            of: vec![0.0; clusters],
            seen: Vec::new(),
        }
    }

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
            let votes = std::mem::take(&mut self.of[cluster as usize]);
            take(cluster as usize, votes);
        }
    }
}

#[cfg(test)]
mod tests {
    use partita_core::{Label, Seed, rand::RngExt};

    use super::*;

    #[test]
    fn the_table_of_votes_gives_the_same_bits() {
        let mut rng = Seed::new(3).rng();
        for draw in 0..60 {
            let objects = rng.random_range(1..4000);
            let clusters = rng.random_range(1..20);
            let m = rng.random_range(1..12);
            let sizes: Vec<usize> = (0..m).map(|_| rng.random_range(1..12)).collect();
            let bases = sizes.iter().map(|&size| {
                BaseClustering::new("", (0..size).map(|label| label.to_string()).collect())
            });
            let bases: Vec<BaseClustering> = bases.collect();
            let own = (0..objects).map(|_| rng.random_range(0..clusters as u32));
            let own: Vec<u32> = own.collect();
            let offsets = BaseClustering::offsets(&bases);
            let mut counts = vec![0; clusters * offsets[m]];
            let mut labels = Vec::new();
            let mut inside = vec![0; clusters];
            for &own in &own {
                inside[own as usize] += 1;
                for (base, &size) in sizes.iter().enumerate() {
                    let label = if rng.random_bool(0.7) {
                        own as usize % size
                    } else {
                        rng.random_range(0..size)
                    };
                    let label = (!rng.random_bool(0.1)).then_some(label);
                    labels.push(label.map_or(u8::MISSING, u8::of));
                    if let Some(label) = label {
                        counts[own as usize * offsets[sizes.len()] + offsets[base] + label] += 1;
                    }
                }
            }
            let weights = (0..m).map(|_| rng.random_range(0.1..3.0)).collect();
            let weights = BaseWeights::new(weights).unwrap();
            let evidence = ClusterEvidence::of_counts(&bases, &inside, &counts, Some(&weights));
            let evidence = evidence.unwrap();
            let one = vec![1.0; objects];
            let [weighed, found] = [Some(&one[..]), None].map(|weights| {
                // The table does not know the weights of objects.
                assert!(evidence.votes.get().is_none());
                let rows = RowBlock::<&[u8]>::new(0, &labels, m, weights);
                evidence
                    .margins(&rows, &own)
                    .into_iter()
                    .map(f64::to_bits)
                    .collect::<Vec<_>>()
            });
            let table = evidence.votes.get().is_some_and(Option::is_some);
            assert_eq!(table, counts.len() <= objects, "draw {draw}");
            assert_eq!(found, weighed, "draw {draw}");
        }
    }
}
