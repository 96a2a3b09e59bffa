//! Starts from labels: base clusterings with about K clusters, made soft.

use std::cmp::Reverse;

use ndarray::Array2;

use crate::{Ensemble, SoftPartition};

/// Probability that a start gives an object's own cluster.
const OWN: f64 = 0.9;

/// Base clusterings that are tried as starts.
const CANDIDATES: usize = 12;

/// A start as labels below K, or none where nothing is known: a sixteenth of the memory of the probabilities that they stand for.
#[derive(Clone, Debug)]
pub struct LabelStart {
    /// How it was made.
    pub name: String,
    labels: Vec<Option<u32>>,
    clusters: usize,
}

impl LabelStart {
    /// A start from labels.
    ///
    /// # Panics
    /// If a label is not below `clusters`.
    pub fn new(
        name: impl Into<String>,
        labels: impl IntoIterator<Item = Option<u32>>,
        clusters: usize,
    ) -> Self {
        let labels: Vec<Option<u32>> = labels.into_iter().collect();
        let below = |label: &u32| (*label as usize) < clusters;
        assert!(labels.iter().flatten().all(below), "labels are below K");
        Self {
            name: name.into(),
            labels,
            clusters,
        }
    }

    /// The base clusterings with the numbers of clusters nearest to K, 12 at most. Where one has more than K clusters the largest are kept.
    pub fn of_bases(ensemble: &Ensemble, clusters: usize) -> impl Iterator<Item = Self> + '_ {
        let mut order: Vec<usize> = (0..ensemble.bases().len()).collect();
        order.sort_by_key(|&u| (ensemble.bases()[u].clusters().abs_diff(clusters), u));
        let bases = order.into_iter().take(CANDIDATES);
        bases.map(move |u| Self::of_base(ensemble, u, clusters))
    }

    fn of_base(ensemble: &Ensemble, u: usize, clusters: usize) -> Self {
        let base = &ensemble.bases()[u];
        let mut sizes = vec![0usize; base.clusters()];
        ensemble.column(u).flatten().for_each(|j| sizes[j] += 1);
        let mut largest: Vec<usize> = (0..sizes.len()).collect();
        largest.sort_by_key(|&j| (Reverse(sizes[j]), j));
        let mut label = vec![None; sizes.len()];
        for (&j, k) in largest.iter().take(clusters).zip(0..) {
            label[j] = Some(k);
        }
        let labels = ensemble.column(u).map(|j| label[j?]);
        Self::new(format!("base {}", base.name()), labels, clusters)
    }

    /// 0.9 on every object's cluster, the rest shared by the others, since probabilities of 0 are for ever 0; objects without a label
    /// have an equal part in all clusters.
    pub fn soft(&self) -> SoftPartition {
        let clusters = self.clusters;
        let mut rows = Array2::from_elem((self.labels.len(), clusters), self.rest());
        for (mut row, label) in rows.outer_iter_mut().zip(&self.labels) {
            match label {
                Some(label) if clusters > 1 => row[*label as usize] = OWN,
                _ => row.fill(1.0 / clusters as f64),
            }
        }
        SoftPartition::new(rows).expect("0.9 and the rest make 1")
    }

    /// Probability of each cluster that is not an object's own.
    fn rest(&self) -> f64 {
        (1.0 - OWN) / (self.clusters.max(2) - 1) as f64
    }

    /// The probability that two objects are together.
    pub fn together(&self) -> impl Fn(usize, usize) -> f64 + Sync + '_ {
        let others = (self.clusters.max(2) - 1) as f64;
        let rest = self.rest();
        let same = OWN * OWN + others * rest * rest;
        let different = 2.0 * OWN * rest + (others - 1.0) * rest * rest;
        let uniform = 1.0 / self.clusters as f64;
        move |i, j| match (self.labels[i], self.labels[j]) {
            _ if self.clusters == 1 => 1.0,
            (Some(i), Some(j)) if i == j => same,
            (Some(_), Some(_)) => different,
            _ => uniform,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::EnsembleBuilder;

    #[test]
    fn labels_tell_how_probable_it_is_to_be_together() {
        for clusters in 1..5u32 {
            let labels = (0..9).map(|i| (i % 4 > 0).then_some(i % clusters));
            let start = LabelStart::new("", labels, clusters as usize);
            let (soft, together) = (start.soft(), start.together());
            for (i, j) in (0..9).flat_map(|i| (0..9).map(move |j| (i, j))) {
                let product = soft.rows().row(i).dot(&soft.rows().row(j));
                assert!(
                    (together(i, j) - product).abs() < 1e-12,
                    "{clusters}: {i} {j}"
                );
            }
        }
    }

    #[test]
    fn the_largest_clusters_are_kept() {
        let mut builder = EnsembleBuilder::new(6);
        builder.push("many", [0, 1, 1, 2, 2, 2].map(Some)).unwrap();
        builder.push("two", [0, 0, 0, 1, 1, 1].map(Some)).unwrap();
        let ensemble = builder.finish().unwrap();
        let starts: Vec<LabelStart> = LabelStart::of_bases(&ensemble, 2).collect();
        assert_eq!(starts[0].name, "base two");
        let expected = [None, Some(1), Some(1), Some(0), Some(0), Some(0)];
        assert_eq!(starts[1].labels, expected);
    }
}
