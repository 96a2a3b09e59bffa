//! Sums of ΣJ labels or shares in k clusters: the sufficient statistics of k-means on label rows.

use partita_core::{
    BaseClustering, Entry, Mergeable, PassError, PassRunner, Row, RowBlock, RowPass,
};
use serde::{Deserialize, Serialize};

/// How often every label occurs in every cluster, or the sums of shares. Counts of labels are whole numbers, so that any order of adding
/// them gives the same.
#[doc(alias = "contingency")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    clusters: usize,
    /// ΣJ × K.
    labels: Vec<f64>,
    /// M × K, sums of the above over the labels of a base clustering.
    sizes: Vec<f64>,
    /// K, objects.
    objects: Vec<f64>,
    /// M, the sums of the squares of shares; empty where rows are labels, whose squares are they themselves.
    squares: Vec<f64>,
}

impl Counts {
    /// No object in any cluster. Clusters of base clustering `u` start at `offsets[u]` (M + 1 values).
    pub fn new(offsets: &[usize], clusters: usize, shares: bool) -> Self {
        let (bases, base_clusters) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        Self {
            clusters,
            labels: vec![0.0; base_clusters * clusters],
            sizes: vec![0.0; bases * clusters],
            objects: vec![0.0; clusters],
            squares: vec![0.0; if shares { bases } else { 0 }],
        }
    }

    /// Whether there are as many numbers as these base clusterings and so many clusters have.
    pub(super) fn are_of(&self, offsets: &[usize], clusters: usize) -> bool {
        let lines =
            |numbers: &[f64], lines: usize| lines.checked_mul(clusters) == Some(numbers.len());
        let (bases, base_clusters) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        let tables = lines(&self.labels, base_clusters) && lines(&self.sizes, bases);
        self.clusters == clusters && tables && lines(&self.objects, 1)
    }

    /// All objects in one cluster: how often every label occurs at all, and the number of the first row without any label.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read.
    pub fn together(rows: &PassRunner<'_>) -> Result<(Self, Option<u64>), PassError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        let shares = rows.source().are_shares();
        let sum = rows.run(&Together { offsets, shares })?;
        Ok((sum.counts, sum.first_unlabelled))
    }

    /// Adds `weight` objects with these entries to a cluster.
    #[inline]
    pub fn add(&mut self, entries: impl Iterator<Item = Entry>, cluster: u32, weight: f64) {
        let k = cluster as usize;
        for entry in entries {
            let share = weight * entry.share;
            self.labels[entry.cluster * self.clusters + k] += share;
            self.sizes[entry.base * self.clusters + k] += share;
            if let Some(square) = self.squares.get_mut(entry.base) {
                *square += share * entry.share;
            }
        }
        self.objects[k] += weight;
    }

    /// Takes all objects out of a cluster.
    pub(super) fn clear(&mut self, cluster: u32) {
        let k = cluster as usize;
        for counts in [&mut self.labels, &mut self.sizes, &mut self.objects] {
            counts
                .iter_mut()
                .skip(k)
                .step_by(self.clusters)
                .for_each(|count| *count = 0.0);
        }
    }

    /// The same objects in `clusters` clusters: those of cluster `k` in `becomes[k]`.
    #[must_use]
    pub fn joined(&self, becomes: &[u32], clusters: usize) -> Self {
        let add = |from: &[f64]| {
            let mut to = vec![0.0; from.len() / self.clusters * clusters];
            for (to, from) in to
                .chunks_exact_mut(clusters)
                .zip(from.chunks_exact(self.clusters))
            {
                becomes
                    .iter()
                    .zip(from)
                    .for_each(|(&k, count)| to[k as usize] += count);
            }
            to
        };
        Self {
            clusters,
            labels: add(&self.labels),
            sizes: add(&self.sizes),
            objects: add(&self.objects),
            squares: self.squares.clone(),
        }
    }

    /// The first cluster without an object.
    pub fn first_empty(&self) -> Option<u32> {
        self.objects
            .iter()
            .position(|&count| count == 0.0)
            .map(|k| k as u32)
    }

    /// Objects in a cluster.
    pub fn objects(&self, cluster: u32) -> f64 {
        self.objects[cluster as usize]
    }

    /// K.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Objects of cluster `k` that base clustering `u` labels.
    pub fn labelled(&self, u: usize, k: usize) -> f64 {
        self.sizes[u * self.clusters + k]
    }

    /// How often label `place` occurs in every cluster.
    pub fn of(&self, place: usize) -> &[f64] {
        &self.labels[place * self.clusters..(place + 1) * self.clusters]
    }

    /// Share of label `place` of base clustering `u` among the labels of cluster `k`; 0 where it has none.
    pub fn share(&self, u: usize, place: usize, k: usize) -> f64 {
        let size = self.sizes[u * self.clusters + k];
        if size > 0.0 {
            self.labels[place * self.clusters + k] / size
        } else {
            0.0
        }
    }

    /// How far an object with these entries is from cluster `k`: Σ_u weight_u Σ_j z_uj (z_uj − p_kuj), for labels the sum of what the
    /// shares of its labels there lack to 1.
    pub fn misfit(
        &self,
        entries: impl Iterator<Item = Entry>,
        k: u32,
        base_weights: &[f64],
    ) -> f64 {
        let mut sum = 0.0;
        for entry in entries {
            let mean = self.share(entry.base, entry.cluster, k as usize);
            sum += base_weights[entry.base] * entry.share * (entry.share - mean);
        }
        sum
    }

    /// Σ ‖z_iu‖² over all objects: for labels, the objects that base clustering `u` labels.
    pub fn square(&self, u: usize) -> f64 {
        let sizes = &self.sizes[u * self.clusters..(u + 1) * self.clusters];
        self.squares
            .get(u)
            .copied()
            .unwrap_or_else(|| sizes.iter().sum())
    }

    /// Within-cluster sum of squares Σ_u weight_u Σ_k (n_ku − Σ_j n_kuj² / n_ku) of the rows.
    pub fn sum_of_squares(&self, offsets: &[usize], base_weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (u, weight) in base_weights.iter().enumerate() {
            // What shares lack to labels, whose squares are as many as they are.
            let mut inside = self.squares.get(u).map_or(0.0, |square| {
                square
                    - self.sizes[u * self.clusters..][..self.clusters]
                        .iter()
                        .sum::<f64>()
            });
            for (k, &size) in self.sizes[u * self.clusters..(u + 1) * self.clusters]
                .iter()
                .enumerate()
            {
                if size > 0.0 {
                    let count = |place: usize| self.labels[place * self.clusters + k];
                    let own: f64 = (offsets[u]..offsets[u + 1])
                        .map(|place| count(place) * count(place))
                        .sum();
                    inside += size - own / size;
                }
            }
            sum += weight * inside;
        }
        sum
    }
}

impl Mergeable for Counts {
    fn merge(&mut self, other: Self) {
        let add = |sums: &mut [f64], more: &[f64]| {
            sums.iter_mut()
                .zip(more)
                .for_each(|(sum, count)| *sum += count);
        };
        add(&mut self.labels, &other.labels);
        add(&mut self.sizes, &other.sizes);
        add(&mut self.objects, &other.objects);
        add(&mut self.squares, &other.squares);
    }
}

/// Counts of all objects together.
#[derive(Serialize, Deserialize)]
pub(super) struct Together {
    offsets: Vec<usize>,
    shares: bool,
}

#[derive(Serialize, Deserialize)]
pub(super) struct TogetherSum {
    counts: Counts,
    first_unlabelled: Option<u64>,
}

impl Mergeable for TogetherSum {
    fn merge(&mut self, other: Self) {
        self.counts.merge(other.counts);
        self.first_unlabelled = self.first_unlabelled.or(other.first_unlabelled);
    }
}

impl RowPass for Together {
    type Sum = TogetherSum;
    const KIND: &'static str = "kmeans/count-together";
    const EXACT: bool = true;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.offsets == BaseClustering::offsets(bases)
    }

    fn zero(&self) -> TogetherSum {
        TogetherSum {
            counts: Counts::new(&self.offsets, 1, self.shares),
            first_unlabelled: None,
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut TogetherSum) {
        for (at, (row, weight)) in block.rows().enumerate() {
            let mut entries = row.entries(&self.offsets).peekable();
            let unlabelled = entries.peek().is_none();
            sum.counts.add(entries, 0, weight);
            if unlabelled {
                sum.first_unlabelled.get_or_insert(block.first + at as u64);
            }
        }
    }
}
