//! Counts of ΣJ labels in k clusters: the sufficient statistics of k-means on labels.

use partita_core::{
    BaseClustering, Label, Mergeable, PassError, PassRunner, Row, RowBlock, RowPass,
};
use serde::{Deserialize, Serialize};

use super::rows::WeightedLabelRows;

/// How often every label occurs in every cluster. Counts are whole numbers, so that any order of adding them gives
/// the same.
#[doc(alias = "contingency")]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Counts {
    clusters: usize,
    /// ΣJ × K.
    labels: Vec<i64>,
    /// M × K, sums of the above over the labels of a base clustering.
    sizes: Vec<i64>,
    /// K, objects.
    objects: Vec<i64>,
}

impl Counts {
    /// No object in any cluster. Clusters of base clustering `u` start at `offsets[u]` (M + 1 values).
    pub fn new(offsets: &[usize], clusters: usize) -> Self {
        let (bases, base_clusters) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        Self {
            clusters,
            labels: vec![0; base_clusters * clusters],
            sizes: vec![0; bases * clusters],
            objects: vec![0; clusters],
        }
    }

    /// Whether there are as many numbers as these base clusterings and so many clusters have.
    pub(super) fn are_of(&self, offsets: &[usize], clusters: usize) -> bool {
        let lines =
            |numbers: &[i64], lines: usize| lines.checked_mul(clusters) == Some(numbers.len());
        let (bases, base_clusters) = (offsets.len() - 1, offsets[offsets.len() - 1]);
        let tables = lines(&self.labels, base_clusters) && lines(&self.sizes, bases);
        self.clusters == clusters && tables && lines(&self.objects, 1)
    }

    /// All objects in one cluster: how often every label occurs at all.
    pub fn together<L: Label>(rows: &WeightedLabelRows<'_, L>) -> Self {
        let mut counts = Self::new(rows.offsets(), 1);
        (0..rows.len()).for_each(|at| counts.add(rows.places(at), 0, i64::from(rows.weight(at))));
        counts
    }

    /// [`Counts::together`] of rows that are not held, and the number of the first row without any label.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read.
    pub fn together_over(rows: &PassRunner<'_>) -> Result<(Self, Option<u64>), PassError> {
        let offsets = BaseClustering::offsets(rows.source().bases());
        let sum = rows.run(&Together { offsets })?;
        Ok((sum.counts, sum.first_unlabelled))
    }

    /// Adds `weight` objects with these labels, as base clustering and place among all ΣJ clusters, to a cluster.
    pub fn add(&mut self, labels: impl Iterator<Item = (usize, usize)>, cluster: u32, weight: i64) {
        let k = cluster as usize;
        for (u, place) in labels {
            self.labels[place * self.clusters + k] += weight;
            self.sizes[u * self.clusters + k] += weight;
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
                .for_each(|count| *count = 0);
        }
    }

    /// The same objects in `clusters` clusters: those of cluster `k` in `becomes[k]`.
    #[must_use]
    pub fn joined(&self, becomes: &[u32], clusters: usize) -> Self {
        let add = |from: &[i64]| {
            let mut to = vec![0; from.len() / self.clusters * clusters];
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
        }
    }

    /// The first cluster without an object.
    pub fn first_empty(&self) -> Option<u32> {
        self.objects
            .iter()
            .position(|&count| count == 0)
            .map(|k| k as u32)
    }

    /// Objects in a cluster.
    pub fn objects(&self, cluster: u32) -> i64 {
        self.objects[cluster as usize]
    }

    /// K.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Objects of cluster `k` that base clustering `u` labels.
    pub fn labelled(&self, u: usize, k: usize) -> i64 {
        self.sizes[u * self.clusters + k]
    }

    /// How often label `place` occurs in every cluster.
    pub fn of(&self, place: usize) -> &[i64] {
        &self.labels[place * self.clusters..(place + 1) * self.clusters]
    }

    /// Share of label `place` of base clustering `u` among the labels of cluster `k`; 0 where it has none.
    pub fn share(&self, u: usize, place: usize, k: usize) -> f64 {
        let size = self.sizes[u * self.clusters + k];
        if size == 0 {
            0.0
        } else {
            self.labels[place * self.clusters + k] as f64 / size as f64
        }
    }

    /// How far an object with these labels is from the labels of cluster `k`: Σ_u weight_u (1 − share of its label).
    pub fn misfit(
        &self,
        labels: impl Iterator<Item = (usize, usize)>,
        k: u32,
        base_weights: &[f64],
    ) -> f64 {
        labels
            .map(|(u, place)| base_weights[u] * (1.0 - self.share(u, place, k as usize)))
            .sum()
    }

    /// Mean share of its labels, by weight of the base clusterings, that an object has in cluster `k`.
    pub fn mean_share(
        &self,
        labels: impl Iterator<Item = (usize, usize)>,
        k: u32,
        base_weights: &[f64],
    ) -> f64 {
        let (mut sum, mut all) = (0.0, 0.0);
        for (u, place) in labels {
            sum += base_weights[u] * self.share(u, place, k as usize);
            all += base_weights[u];
        }
        (sum / all).clamp(0.0, 1.0)
    }

    /// Within-cluster sum of squares Σ_u weight_u Σ_k (n_ku − Σ_j n_kuj² / n_ku) of the one-hot rows.
    pub fn squares(&self, offsets: &[usize], base_weights: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (u, weight) in base_weights.iter().enumerate() {
            let mut inside = 0.0;
            for (k, &size) in self.sizes[u * self.clusters..(u + 1) * self.clusters]
                .iter()
                .enumerate()
            {
                if size > 0 {
                    let count = |place: usize| self.labels[place * self.clusters + k] as f64;
                    let own: f64 = (offsets[u]..offsets[u + 1])
                        .map(|place| count(place) * count(place))
                        .sum();
                    inside += size as f64 - own / size as f64;
                }
            }
            sum += weight * inside;
        }
        sum
    }
}

impl Mergeable for Counts {
    fn merge(&mut self, other: Self) {
        let add = |sums: &mut [i64], more: &[i64]| {
            sums.iter_mut()
                .zip(more)
                .for_each(|(sum, count)| *sum += count);
        };
        add(&mut self.labels, &other.labels);
        add(&mut self.sizes, &other.sizes);
        add(&mut self.objects, &other.objects);
    }
}

/// Counts of all objects together.
#[derive(Serialize, Deserialize)]
pub(super) struct Together {
    offsets: Vec<usize>,
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
            counts: Counts::new(&self.offsets, 1),
            first_unlabelled: None,
        }
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut TogetherSum) {
        for (at, (row, weight)) in block.rows().enumerate() {
            let mut places = row
                .entries(&self.offsets)
                .map(|entry| (entry.base, entry.cluster))
                .peekable();
            let unlabelled = places.peek().is_none();
            sum.counts.add(places, 0, weight as i64);
            if unlabelled {
                sum.first_unlabelled.get_or_insert(block.first + at as u64);
            }
        }
    }
}
