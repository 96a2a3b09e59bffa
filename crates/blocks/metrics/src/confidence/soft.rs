//! The evidence of soft base clusterings: shares take the place of labels, and the formulas of the module are otherwise the same.
//!
//! ```text
//! r_u(i, k) = Σ_c q_ic Σ_j q_jc / n_uk        over the clusters c of u, and the objects j of cluster k that u knows (i left out)
//! ```

use partita_core::{Memberships, Partition, WeightedEnsemble};

use super::evidence::SILENT_WEIGHT;
use crate::MetricsError;
use crate::contingency::check_sizes;

/// Sums of shares by cluster of a partition.
pub(super) struct Sums<'a> {
    shares: &'a Memberships,
    offsets: Vec<usize>,
    clusters: usize,
    /// Shares of the objects of every cluster in every base cluster, ΣJ × K.
    inside: Vec<f64>,
    /// Objects of every cluster that every base clustering knows, M × K.
    known: Vec<f64>,
    weights: Vec<f64>,
    /// One weight an object.
    multiplicities: Vec<f64>,
}

impl<'a> Sums<'a> {
    /// The sums of a partition.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] if the partition labels another number of objects or there is not one weight a base clustering or object.
    ///
    /// # Cost
    /// O(1) for every share.
    pub(super) fn of(
        shares: &'a Memberships,
        of: WeightedEnsemble<'_>,
        partition: &Partition,
    ) -> Result<Self, MetricsError> {
        let ensemble = of.ensemble;
        check_sizes(partition.objects(), ensemble.objects())?;
        let bases = ensemble.bases().len();
        let weights = of
            .shares()
            .map_or_else(|| vec![1.0; bases], <[f64]>::to_vec);
        check_sizes(weights.len(), bases)?;
        let multiplicities = of.each_multiplicity();
        check_sizes(multiplicities.len(), ensemble.objects())?;
        let offsets = ensemble.offsets();
        let clusters = partition.clusters();
        let mut sums = Sums {
            shares,
            inside: vec![0.0; offsets[bases] * clusters],
            known: vec![0.0; bases * clusters],
            offsets,
            clusters,
            weights,
            multiplicities,
        };
        for (object, &label) in partition.labels().iter().enumerate() {
            sums.add(object, label as usize);
        }
        Ok(sums)
    }
    /// The shares of an object in the order of base clusterings: the base clustering, and its part of the row.
    fn parts(&self, object: usize) -> impl Iterator<Item = (usize, &[u32], &[f64])> {
        let (clusters, shares) = self.shares.row(object);
        let mut at = 0;
        std::iter::from_fn(move || {
            let first = *clusters.get(at)? as usize;
            let base = self.offsets.partition_point(|&start| start <= first) - 1;
            let end = clusters.partition_point(|&c| (c as usize) < self.offsets[base + 1]);
            let part = (base, &clusters[at..end], &shares[at..end]);
            at = end;
            Some(part)
        })
    }

    fn add(&mut self, object: usize, label: usize) {
        let weight = self.multiplicities[object];
        let known: Vec<usize> = self.parts(object).map(|(base, ..)| base).collect();
        for base in known {
            self.known[base * self.clusters + label] += weight;
        }
        let (clusters, shares) = self.shares.row(object);
        for (&cluster, &share) in clusters.iter().zip(shares) {
            self.inside[cluster as usize * self.clusters + label] += weight * share;
        }
    }

    /// The margin of an object in cluster `own`, in -1..=1. O(K) for every share.
    pub(super) fn margin(&self, object: usize, own: usize) -> f64 {
        let (votes, weight) = self.votes(object, own);
        let others = (0..self.clusters).filter(|&k| k != own);
        let best_other = others.map(|k| votes[k]).fold(0.0, f64::max);
        (votes[own] - best_other) / (weight + SILENT_WEIGHT)
    }

    /// The shares of the evidence for an object in cluster `own`, K numbers with sum 1. O(K) for every share.
    pub(super) fn evidence(&self, object: usize, own: usize, live: &[bool]) -> Vec<f64> {
        let (mut votes, weight) = self.votes(object, own);
        let silent = SILENT_WEIGHT / live.iter().filter(|&&live| live).count() as f64;
        for (vote, &live) in votes.iter_mut().zip(live) {
            let share = (*vote + silent) / (weight + SILENT_WEIGHT);
            *vote = if live { share } else { 0.0 };
        }
        votes
    }

    /// The votes for every cluster, and the weight of all that vote.
    fn votes(&self, object: usize, own: usize) -> (Vec<f64>, f64) {
        let mut votes = vec![0.0; self.clusters];
        let mut rates = vec![0.0; self.clusters];
        let mut weight = 0.0;
        let one = self.multiplicities[object].min(1.0);
        for (base, clusters, shares) in self.parts(object) {
            for (k, rate) in rates.iter_mut().enumerate() {
                let alone = if k == own { one } else { 0.0 };
                let others = self.known[base * self.clusters + k] - alone;
                let together = clusters.iter().zip(shares).map(|(&cluster, &share)| {
                    share * (self.inside[cluster as usize * self.clusters + k] - alone * share)
                });
                let mean = (together.sum::<f64>() / others).max(0.0);
                *rate = if others > 0.0 { mean } else { 0.0 };
            }
            let total: f64 = rates.iter().sum();
            if total > 0.0 {
                weight += self.weights[base];
                for (vote, rate) in votes.iter_mut().zip(&rates) {
                    *vote += self.weights[base] * rate / total;
                }
            }
        }
        (votes, weight)
    }
}
