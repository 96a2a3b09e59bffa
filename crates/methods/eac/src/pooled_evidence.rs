//! The evidence of every object for the clusters of a partition, pooled over their objects.
//!
//! ```text
//! e(i, k) = Σ_{j in k, j ≠ i} c_ij / Σ_{j in k, j ≠ i} N_ij
//! ```
//! which is the mean of c/N weighted with N. A cluster that no base clustering saw together with i has evidence 0; an object that is a
//! cluster of its own has evidence 1 for it. With weights of base clusterings c and N are sums of weights, with weights of objects every j
//! counts its weight, and of i one object is left out.

use partita_core::ndarray::ArrayView1;
use partita_core::{Ensemble, Label, LabelRows, Partition, WeightedEnsemble};
use rayon::prelude::*;

/// How much more evidence another cluster must have for an object to move, so that no rounding decides.
const ROUNDING: f64 = 1e-9;

/// An object's mean evidence for its own cluster and for the best other one.
#[derive(Clone, Copy)]
struct Evidence {
    own: f64,
    other: f64,
    best_other: u32,
}

/// Where the objects of every consensus cluster lie in every base cluster.
pub(crate) struct Tables<'a> {
    source: WeightedEnsemble<'a>,
    partition: &'a Partition,
    offsets: Vec<usize>,
    /// For every base cluster, the consensus clusters found in it and how many of their objects.
    shared: Vec<Vec<(u32, f64)>>,
    /// For every consensus cluster and base clustering, the objects that are labelled; K × M.
    labelled: Vec<f64>,
    /// Their sums over all base clusterings, K, where no label is missing.
    complete: Option<Vec<f64>>,
    /// What being together in a base cluster counts.
    worth: Vec<f64>,
    /// Objects of every cluster.
    sizes: Vec<f64>,
}

impl<'a> Tables<'a> {
    /// `worth` is what being together in a base cluster counts, besides the weight of its base clustering.
    pub(crate) fn new(
        source: WeightedEnsemble<'a>,
        partition: &'a Partition,
        worth: impl Fn(usize) -> f64,
    ) -> Self {
        let ensemble = source.ensemble;
        let offsets = ensemble.offsets();
        let bases = ensemble.bases().len();
        let mut shared: Vec<Vec<(u32, f64)>> = vec![Vec::new(); offsets[bases]];
        let mut labelled = vec![0.0; partition.clusters() * bases];
        let mut sizes = vec![0.0; partition.clusters()];
        let mut seen = Vec::with_capacity(bases);
        for i in by_cluster(partition) {
            let cluster = partition.labels()[i as usize];
            let times = source.multiplicities();
            let weight = times.map_or(1.0, |times| times[i as usize]);
            sizes[cluster as usize] += weight;
            entries(ensemble, &offsets, i as usize, &mut seen);
            for entry in &seen {
                if entry.first {
                    labelled[cluster as usize * bases + entry.base as usize] += weight;
                }
                let shared = &mut shared[entry.base_cluster as usize];
                match shared.last_mut() {
                    Some((last, count)) if *last == cluster => *count += weight * entry.share,
                    _ => shared.push((cluster, weight * entry.share)),
                }
            }
        }
        let mut worth: Vec<f64> = (0..offsets[bases]).map(worth).collect();
        if let Some(weights) = source.shares() {
            for (ends, weight) in offsets.windows(2).zip(weights) {
                let clusters = &mut worth[ends[0]..ends[1]];
                clusters.iter_mut().for_each(|worth| *worth *= weight);
            }
            for (at, sum) in labelled.iter_mut().enumerate() {
                *sum *= weights[at % bases];
            }
        }
        let complete = ensemble.memberships().is_none() && ensemble.missing() == 0;
        let sums = labelled.chunks_exact(bases).map(|line| line.iter().sum());
        let complete = complete.then(|| sums.collect());
        Self {
            source,
            partition,
            offsets,
            shared,
            labelled,
            complete,
            worth,
            sizes,
        }
    }

    /// For every object the cluster that it has most evidence for: its own unless another has clearly more.
    pub(crate) fn best(&self) -> Vec<u32> {
        let pairs = self.each().zip(self.partition.labels());
        let best = pairs.map(|(e, &own)| {
            let other = e.other > e.own * (1.0 + ROUNDING);
            if other { e.best_other } else { own }
        });
        best.collect()
    }

    fn each(&self) -> impl IndexedParallelIterator<Item = Evidence> + '_ {
        let start = || (vec![0.0; self.partition.clusters()], Vec::new(), Vec::new());
        let objects = (0..self.source.ensemble.objects()).into_par_iter();
        objects.map_init(start, |(together, touched, seen), i| {
            entries(self.source.ensemble, &self.offsets, i, seen);
            self.of(i, seen, together, touched)
        })
    }

    /// The evidence of one object, which is in the base clusters `seen`. `together` is all 0 before and after.
    fn of(
        &self,
        object: usize,
        seen: &[Entry],
        together: &mut [f64],
        touched: &mut Vec<u32>,
    ) -> Evidence {
        let own = self.partition.labels()[object];
        let times = self.source.multiplicities();
        let one = times.map_or(1.0, |times| times[object].min(1.0));
        for entry in seen {
            let base_cluster = entry.base_cluster as usize;
            let worth = self.worth[base_cluster] * entry.share;
            for &(cluster, count) in &self.shared[base_cluster] {
                if together[cluster as usize] == 0.0 {
                    touched.push(cluster);
                }
                let own = if cluster == own {
                    one * entry.share
                } else {
                    0.0
                };
                together[cluster as usize] += worth * (count - own);
            }
        }
        let mut found = Evidence {
            own: 1.0,
            other: 0.0,
            best_other: own,
        };
        for &cluster in touched.iter().filter(|&&cluster| cluster != own) {
            let here = together[cluster as usize] / self.seen(seen, cluster);
            if here > found.other || (here == found.other && cluster < found.best_other) {
                found.other = here;
                found.best_other = cluster;
            }
        }
        if self.sizes[own as usize] > one {
            let weight = |u: usize| self.source.shares().map_or(1.0, |weights| weights[u]);
            let company = self.seen(seen, own) - known(seen).map(|u| one * weight(u)).sum::<f64>();
            found.own = 0.0;
            if company > ROUNDING {
                found.own = together[own as usize].max(0.0) / company;
            }
        }
        for cluster in touched.drain(..) {
            together[cluster as usize] = 0.0;
        }
        found
    }

    /// Labels that a cluster's objects have where an object has some.
    fn seen(&self, seen: &[Entry], cluster: u32) -> f64 {
        if let Some(sums) = &self.complete {
            return sums[cluster as usize];
        }
        let row = &self.labelled[cluster as usize * self.source.ensemble.bases().len()..];
        known(seen).map(|u| row[u]).sum()
    }
}

/// The objects, those of a cluster together and in their order.
fn by_cluster(partition: &Partition) -> Vec<u32> {
    let mut order: Vec<u32> = (0..partition.objects() as u32).collect();
    order.sort_by_key(|&i| partition.labels()[i as usize]);
    order
}

/// A base cluster that an object is in.
struct Entry {
    base: u32,
    base_cluster: u32,
    /// The share of the object in it: 1 for a label.
    share: f64,
    /// Whether it is the first of its base clustering.
    first: bool,
}

/// Fills `seen` with the base clusters that an object is in, in their order.
fn entries(ensemble: &Ensemble, offsets: &[usize], object: usize, seen: &mut Vec<Entry>) {
    seen.clear();
    let Some(shares) = ensemble.memberships() else {
        return match ensemble.rows() {
            LabelRows::Bytes(rows) => seen.extend(hard_entries(rows.row(object), offsets)),
            LabelRows::Words(rows) => seen.extend(hard_entries(rows.row(object), offsets)),
        };
    };
    let (clusters, own) = shares.row(object);
    for (&base_cluster, &share) in clusters.iter().zip(own) {
        let base = offsets.partition_point(|&start| start <= base_cluster as usize) as u32 - 1;
        let first = seen.last().is_none_or(|last| last.base != base);
        seen.push(Entry {
            base,
            base_cluster,
            share,
            first,
        });
    }
}

fn hard_entries<L: Label>(
    row: ArrayView1<'_, L>,
    offsets: &[usize],
) -> impl Iterator<Item = Entry> {
    let labels = row.into_iter().zip(offsets).zip(0..);
    labels.filter_map(|((label, start), base)| {
        let base_cluster = (start + label.cluster()?) as u32;
        Some(Entry {
            base,
            base_cluster,
            share: 1.0,
            first: true,
        })
    })
}

/// The base clusterings that know an object.
fn known(entries: &[Entry]) -> impl Iterator<Item = usize> {
    let firsts = entries.iter().filter(|entry| entry.first);
    firsts.map(|entry| entry.base as usize)
}
