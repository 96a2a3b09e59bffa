//! Different rows with what they count, and how sure objects are of a cluster by mean similarities.

use partita_core::{Fragments, Partition};
use partita_linkage::Rows as Dissimilarities;
use rayon::prelude::*;

/// Objects as different rows.
#[derive(Clone, Copy)]
pub(crate) struct Objects<'a> {
    pub(crate) fragments: &'a Fragments,
    /// What every fragment counts in a tree.
    pub(crate) leaves: &'a [u32],
    /// What every object counts.
    pub(crate) multiplicities: &'a [f64],
}

impl Objects<'_> {
    /// What a similarity of 1 counts, so that sums over all pairs fit 64 bits.
    pub(crate) fn unit(self) -> u64 {
        let objects: u64 = self.leaves.iter().map(|&leaf| u64::from(leaf)).sum();
        (u64::MAX / 4 / (objects.saturating_mul(objects) / 4).max(1)).clamp(1, 1 << 31)
    }

    /// The objects of every cluster.
    pub(crate) fn sizes(self, partition: &Partition) -> Vec<f64> {
        let mut sizes = vec![0.0; partition.clusters()];
        partition
            .labels()
            .iter()
            .zip(self.multiplicities)
            .for_each(|(&k, weight)| sizes[k as usize] += weight);
        sizes
    }

    /// A number for every object from its fragment and cluster; that of a fragment is that of its last object.
    pub(crate) fn each(
        self,
        partition: &Partition,
        of: impl Fn(usize, usize, f64) -> f64 + Sync,
    ) -> Vec<f64> {
        let mut own = vec![(0, 0.0); self.leaves.len()];
        for ((&fragment, &k), &weight) in self
            .fragments
            .of_object()
            .iter()
            .zip(partition.labels())
            .zip(self.multiplicities)
        {
            own[fragment as usize] = (k as usize, weight);
        }
        let value = |(fragment, (own, weight)): (usize, (usize, f64))| of(fragment, own, weight);
        let found: Vec<f64> = own.into_par_iter().enumerate().map(value).collect();
        self.fragments.expand(&found)
    }
}

/// The mean similarity to the own cluster over the sum of that and the best other's, from sums of similarities and of what they could
/// be at most. `itself` is what an object adds to the sums of its own cluster, which hold more than that if it is not alone there.
pub(crate) fn surety(
    alike: &mut [f64],
    seen: &mut [f64],
    own: usize,
    itself: f64,
    alone: bool,
) -> f64 {
    (alike[own], seen[own]) = (alike[own] - itself, seen[own] - itself);
    let mean = |k: usize| {
        if seen[k] > 0.5 {
            (alike[k] / seen[k]).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let other = (0..seen.len())
        .filter(|&k| k != own)
        .map(mean)
        .fold(0.0, f64::max);
    let own = if alone { 1.0 } else { mean(own) };
    if own + other > 0.0 {
        own / (own + other)
    } else {
        0.0
    }
}

/// Different rows that can be linked, and say how sure objects are of a cluster.
pub(crate) trait Similar: Dissimilarities {
    /// For every object the mean similarity to its own cluster, itself left out, over the sum of that and the best other's.
    fn certainty(&self, partition: &Partition, objects: Objects<'_>) -> Vec<f64>;
}
