//! Counts of ΣJ labels in k clusters: the sufficient statistics of k-means on labels.

use partita_core::Label;

use super::rows::WeightedLabelRows;

/// How often every label occurs in every cluster. Counts are whole numbers, so that any order of adding them gives
/// the same.
#[derive(Clone, Debug, PartialEq)]
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
    /// No object in any cluster.
    pub fn new<L: Label>(rows: &WeightedLabelRows<'_, L>, clusters: usize) -> Self {
        Self {
            clusters,
            labels: vec![0; rows.base_clusters() * clusters],
            sizes: vec![0; rows.bases() * clusters],
            objects: vec![0; clusters],
        }
    }

    /// Adds `weight` objects with a row to a cluster.
    pub fn add<L: Label>(&mut self, rows: &WeightedLabelRows<'_, L>, at: usize, cluster: u32, weight: i64) {
        let k = cluster as usize;
        for (u, place) in rows.places(at) {
            self.labels[place * self.clusters + k] += weight;
            self.sizes[u * self.clusters + k] += weight;
        }
        self.objects[k] += weight;
    }

    /// The first cluster without an object.
    pub fn first_empty(&self) -> Option<u32> {
        self.objects.iter().position(|&count| count == 0).map(|k| k as u32)
    }

    /// Objects in a cluster.
    pub fn objects(&self, cluster: u32) -> i64 {
        self.objects[cluster as usize]
    }

    /// K.
    pub fn clusters(&self) -> usize {
        self.clusters
    }

    /// Whether base clustering `u` labels any object of cluster `k`.
    pub fn says(&self, u: usize, k: usize) -> bool {
        self.sizes[u * self.clusters + k] > 0
    }

    /// How often label `place` occurs in every cluster.
    pub fn of(&self, place: usize) -> &[i64] {
        &self.labels[place * self.clusters..(place + 1) * self.clusters]
    }

    /// Share of label `place` of base clustering `u` among the labels of cluster `k`; 0 where it has none.
    pub fn share(&self, u: usize, place: usize, k: usize) -> f64 {
        let size = self.sizes[u * self.clusters + k];
        if size == 0 { 0.0 } else { self.labels[place * self.clusters + k] as f64 / size as f64 }
    }

    /// Within-cluster sum of squares Σ_u trust_u Σ_k (n_ku − Σ_j n_kuj² / n_ku) of the one-hot rows.
    pub fn squares(&self, offsets: &[usize], trust: &[f64]) -> f64 {
        let mut sum = 0.0;
        for (u, trust) in trust.iter().enumerate() {
            let mut inside = 0.0;
            for (k, &size) in self.sizes[u * self.clusters..(u + 1) * self.clusters].iter().enumerate() {
                if size > 0 {
                    let count = |place: usize| self.labels[place * self.clusters + k] as f64;
                    let own: f64 = (offsets[u]..offsets[u + 1]).map(|place| count(place) * count(place)).sum();
                    inside += size as f64 - own / size as f64;
                }
            }
            sum += trust * inside;
        }
        sum
    }
}
