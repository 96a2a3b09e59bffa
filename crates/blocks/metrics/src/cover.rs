//! Overlapping clusters, and indices that compare them: Omega, overlapping NMI, extended BCubed.

use partita_core::SoftPartition;
use partita_core::ndarray::ArrayView1;
#[cfg(feature = "passes")]
use serde::Serialize;

use crate::MetricsError;
use crate::contingency::check_sizes;
use crate::pairs::harmonic;
use crate::relations::without_small;

/// Clusters of the same objects that may overlap: an object is in several, one or none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cover {
    /// The clusters of every object, ascending.
    of_object: Vec<Vec<u32>>,
    /// The objects of every cluster, ascending.
    objects: Vec<Vec<u32>>,
}

impl Cover {
    /// Every object in the clusters whose probability is at least the threshold, and in its most probable one whatever that is.
    ///
    /// # Errors
    /// [`MetricsError::Threshold`] unless `threshold` is in 0..=1.
    pub fn of_soft(soft: &SoftPartition, threshold: f64) -> Result<Self, MetricsError> {
        if !(0.0..=1.0).contains(&threshold) {
            return Err(MetricsError::Threshold { threshold });
        }
        let kept = without_small(soft, threshold);
        let rows = kept.rows();
        let of_object = rows.outer_iter().map(|row| {
            let clusters = (0..).zip(row).filter(|(_, p)| **p > 0.0);
            clusters.map(|(cluster, _)| cluster).collect()
        });
        Ok(Self::new(of_object.collect(), soft.clusters()))
    }

    /// The clusters of every object, each cluster at most once, below `clusters`.
    ///
    /// # Panics
    /// If a cluster is not below `clusters`.
    pub fn new(mut of_object: Vec<Vec<u32>>, clusters: usize) -> Self {
        let mut objects = vec![Vec::new(); clusters];
        for (object, own) in (0..).zip(&mut of_object) {
            own.sort_unstable();
            own.dedup();
            own.iter()
                .for_each(|&cluster| objects[cluster as usize].push(object));
        }
        Self { of_object, objects }
    }

    /// The clusters of every object, ascending.
    pub fn of_object(&self) -> &[Vec<u32>] {
        &self.of_object
    }

    /// How many clusters every object shares with object `i`, in `counts`; the objects that share one, ascending, `i` among them.
    fn shared(&self, i: usize, counts: &mut [u32]) -> Vec<u32> {
        let mut met = Vec::new();
        for &cluster in &self.of_object[i] {
            for &j in &self.objects[cluster as usize] {
                if counts[j as usize] == 0 {
                    met.push(j);
                }
                counts[j as usize] += 1;
            }
        }
        met.sort_unstable();
        met
    }
}

/// How much every object lies between clusters, n values: 0 where it is certain, 1 where it is in all alike.
///
/// ```text
/// b_i = 1 − √(K/(K−1) Σ_k (y_ik − 1/K)²)
/// ```
///
/// # References
/// Nepusz, Petróczi, Négyessy, Bazsó, *Fuzzy communities and the concept of bridgeness in complex networks*, Physical Review E 77, 2008.
pub fn bridgeness(soft: &SoftPartition) -> Vec<f64> {
    let k = soft.clusters() as f64;
    let certain = (1.0 - 1.0 / k).max(f64::MIN_POSITIVE);
    let of = |row: ArrayView1<'_, f64>| {
        let apart: f64 = row.iter().map(|y| (y - 1.0 / k).powi(2)).sum();
        if k > 1.0 {
            1.0 - (apart / certain).sqrt()
        } else {
            0.0
        }
    };
    soft.rows().outer_iter().map(of).collect()
}

/// How alike two covers are: 1 where they are the same but for the names of clusters.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "passes", derive(Serialize))]
#[non_exhaustive]
pub struct OverlapScores {
    /// The Omega index: the share of pairs of objects that are in as many clusters together in both covers, adjusted for chance. Of
    /// partitions it is the adjusted Rand index.
    pub omega: f64,
    /// Overlapping NMI of McDaid, Greene and Hurley: mutual information over the larger entropy.
    pub nmi_max: f64,
    /// Overlapping NMI of Lancichinetti, Fortunato and Kertész: one minus the mean normalised conditional entropy of a cluster.
    pub nmi_lfk: f64,
    /// Extended BCubed over the objects that have a cluster on the side that is asked: precision of the found clusters, recall of the true
    /// ones, and their harmonic mean.
    pub bcubed: BCubed,
}

/// Extended BCubed (Amigó and others): of the objects that share a found cluster, how many of these clusters are justified by true ones; and
/// the same the other way.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "passes", derive(Serialize))]
#[non_exhaustive]
pub struct BCubed {
    /// Mean over objects and those that share a found cluster of min(found, true) / found clusters shared.
    pub precision: f64,
    /// The same over true clusters shared.
    pub recall: f64,
    /// Their harmonic mean.
    pub f1: f64,
}

impl OverlapScores {
    /// The indices of found clusters against true ones.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] and [`MetricsError::Empty`].
    ///
    /// # Cost
    /// O(Σ of the squares of the clusters' sizes + K L n̄) time, O(n) memory.
    ///
    /// # References
    /// Collins, Dent, *Omega: a general formulation of the Rand index of cluster recovery suitable for non-disjoint solutions*, Multivariate
    /// Behavioral Research 23, 1988; Lancichinetti, Fortunato, Kertész, New Journal of Physics 11, 2009; McDaid, Greene, Hurley,
    /// *Normalized mutual information to evaluate overlapping community finding algorithms*, 2011; Amigó, Gonzalo, Artiles, Verdejo, *A
    /// comparison of extrinsic clustering evaluation metrics based on formal constraints*, Information Retrieval 12, 2009.
    pub fn of(found: &Cover, truth: &Cover) -> Result<Self, MetricsError> {
        let objects = found.of_object.len();
        check_sizes(objects, truth.of_object.len())?;
        if objects == 0 {
            return Err(MetricsError::Empty);
        }
        let [of_found, of_truth] = [conditional(found, truth), conditional(truth, found)];
        let information =
            (of_found.entropy - of_found.given + of_truth.entropy - of_truth.given) / 2.0;
        let most = of_found.entropy.max(of_truth.entropy);
        let (omega, bcubed) = pairs(found, truth);
        Ok(Self {
            omega,
            // Covers in which every cluster has all objects or none know nothing, and agree.
            nmi_max: if most > 0.0 { information / most } else { 1.0 },
            nmi_lfk: 1.0 - f64::midpoint(of_found.normalised, of_truth.normalised),
            bcubed,
        })
    }
}

/// Omega and extended BCubed, from how many clusters pairs of objects share.
fn pairs(found: &Cover, truth: &Cover) -> (f64, BCubed) {
    let objects = found.of_object.len();
    let [mut here, mut there] = [vec![0u32; objects], vec![0u32; objects]];
    // Pairs by how many clusters they share, 0 not counted.
    let mut shared = [Vec::<u64>::new(), Vec::new()];
    let mut same = 0u64;
    let mut means = [Mean::default(), Mean::default()];
    for i in 0..objects {
        let met = [found.shared(i, &mut here), truth.shared(i, &mut there)];
        for (side, (own, other)) in [(&here, &there), (&there, &here)].into_iter().enumerate() {
            let mut mean = Mean::default();
            for &j in &met[side] {
                let j = j as usize;
                mean.add(f64::from(own[j].min(other[j])) / f64::from(own[j]));
                if j > i {
                    let place = own[j] as usize;
                    let counts = &mut shared[side];
                    counts.resize(counts.len().max(place + 1), 0);
                    counts[place] += 1;
                }
            }
            if mean.count > 0.0 {
                means[side].add(mean.value());
            }
        }
        same += met[0]
            .iter()
            .filter(|&&j| j as usize > i && here[j as usize] == there[j as usize])
            .count() as u64;
        // Pairs that share no cluster in either are all others.
        let both = met[1]
            .iter()
            .filter(|&&j| j as usize > i && here[j as usize] == 0)
            .count();
        let apart = met[0].iter().filter(|&&j| j as usize > i).count() + both;
        same += (objects - i - 1 - apart) as u64;
        for (counts, met) in [(&mut here, &met[0]), (&mut there, &met[1])] {
            met.iter().for_each(|&j| counts[j as usize] = 0);
        }
    }
    let [precision, recall] = means.map(Mean::value);
    let bcubed = BCubed {
        precision,
        recall,
        f1: harmonic(precision, recall),
    };
    (adjusted(same, &shared, objects), bcubed)
}

/// Pairs that share as many clusters in both, less what chance makes of the numbers, over what is left of 1.
fn adjusted(same: u64, shared: &[Vec<u64>; 2], objects: usize) -> f64 {
    let all = objects as f64 * (objects as f64 - 1.0) / 2.0;
    if all == 0.0 {
        return 1.0;
    }
    let apart = |counts: &[u64]| all - counts.iter().sum::<u64>() as f64;
    let together = shared[0].iter().zip(&shared[1]);
    let chance = apart(&shared[0]) * apart(&shared[1])
        + together.map(|(&a, &b)| a as f64 * b as f64).sum::<f64>();
    let (observed, expected) = (same as f64 / all, chance / (all * all));
    if expected >= 1.0 {
        1.0
    } else {
        (observed - expected) / (1.0 - expected)
    }
}

#[derive(Clone, Copy, Default)]
struct Mean {
    sum: f64,
    count: f64,
}

impl Mean {
    fn add(&mut self, value: f64) {
        self.sum += value;
        self.count += 1.0;
    }

    fn value(self) -> f64 {
        if self.count > 0.0 {
            self.sum / self.count
        } else {
            0.0
        }
    }
}

/// What the clusters of one cover tell, and what is left when the other is known, in bits.
struct Conditional {
    entropy: f64,
    given: f64,
    /// Mean of what is left of each cluster over its own entropy.
    normalised: f64,
}

fn conditional(of: &Cover, given: &Cover) -> Conditional {
    let n = of.of_object.len() as f64;
    let h = |count: f64| {
        if count > 0.0 {
            -count / n * (count / n).log2()
        } else {
            0.0
        }
    };
    let mut sums = Conditional {
        entropy: 0.0,
        given: 0.0,
        normalised: 0.0,
    };
    let mut common = vec![0u32; given.objects.len()];
    let clusters = of.objects.iter().filter(|cluster| !cluster.is_empty());
    for cluster in clusters.clone() {
        common.fill(0);
        for &i in cluster {
            given.of_object[i as usize]
                .iter()
                .for_each(|&other| common[other as usize] += 1);
        }
        let size = cluster.len() as f64;
        let own = h(size) + h(n - size);
        let mut least = own;
        for (other, &common) in given.objects.iter().zip(&common) {
            let d = f64::from(common);
            let (b, c) = (size - d, other.len() as f64 - d);
            let a = n - b - c - d;
            // A cluster is not told by one that is more like its complement.
            if h(a) + h(d) >= h(b) + h(c) {
                let alone = h(other.len() as f64) + h(n - other.len() as f64);
                least = least.min(h(a) + h(b) + h(c) + h(d) - alone);
            }
        }
        sums.entropy += own;
        sums.given += least;
        sums.normalised += if own > 0.0 { least / own } else { 0.0 };
    }
    sums.normalised /= (clusters.count() as f64).max(1.0);
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contingency;
    use partita_core::ndarray::Array2;
    use partita_core::{Partition, Seed};
    use rand::RngExt;

    fn drawn(objects: usize, clusters: u32, seed: u64) -> Cover {
        let mut rng = Seed::new(seed).rng();
        let mut own = || {
            (0..clusters)
                .filter(|_| rng.random_bool(0.4))
                .collect::<Vec<u32>>()
        };
        Cover::new((0..objects).map(|_| own()).collect(), clusters as usize)
    }

    fn both(of: &Cover, i: usize, j: usize) -> usize {
        of.of_object[i]
            .iter()
            .filter(|cluster| of.of_object[j].contains(cluster))
            .count()
    }

    /// Omega as Collins and Dent write it, over all pairs and numbers of clusters.
    fn plain_omega(a: &Cover, b: &Cover) -> f64 {
        let n = a.of_object.len();
        let pairs = (0..n).flat_map(|i| (i + 1..n).map(move |j| (i, j)));
        let shared: Vec<(usize, usize)> =
            pairs.map(|(i, j)| (both(a, i, j), both(b, i, j))).collect();
        let all = shared.len() as f64;
        let share = |is: &dyn Fn(&(usize, usize)) -> bool| {
            shared.iter().filter(|pair| is(pair)).count() as f64 / all
        };
        let observed = share(&|(a, b)| a == b);
        let expected: f64 = (0..10)
            .map(|k| share(&|(a, _)| *a == k) * share(&|(_, b)| *b == k))
            .sum();
        (observed - expected) / (1.0 - expected)
    }

    fn plain_precision(a: &Cover, b: &Cover) -> f64 {
        let n = a.of_object.len();
        let mut means = Vec::new();
        for i in 0..n {
            let met: Vec<usize> = (0..n).filter(|&j| both(a, i, j) > 0).collect();
            let parts = met
                .iter()
                .map(|&j| both(a, i, j).min(both(b, i, j)) as f64 / both(a, i, j) as f64);
            if !met.is_empty() {
                means.push(parts.sum::<f64>() / met.len() as f64);
            }
        }
        means.iter().sum::<f64>() / means.len() as f64
    }

    /// H(X | Y) of McDaid and others from the table of two columns of zeros and ones, over their entropy where that is asked for.
    fn plain_given(a: &Cover, b: &Cover, normalised: bool) -> f64 {
        let n = a.of_object.len();
        let has =
            |of: &Cover, i: usize, k: usize| usize::from(of.of_object[i].contains(&(k as u32)));
        let h = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        let mut sum = 0.0;
        for k in 0..a.objects.len() {
            let mut best: Option<f64> = None;
            let mut own = 0.0;
            for l in 0..b.objects.len() {
                let mut table = [[0.0; 2]; 2];
                (0..n).for_each(|i| table[has(a, i, k)][has(b, i, l)] += 1.0 / n as f64);
                let joint: f64 = table.iter().flatten().map(|&p| h(p)).sum();
                let column = h(table[0][0] + table[1][0]) + h(table[0][1] + table[1][1]);
                own = h(table[0][0] + table[0][1]) + h(table[1][0] + table[1][1]);
                if h(table[0][0]) + h(table[1][1]) >= h(table[0][1]) + h(table[1][0]) {
                    best = Some(best.map_or(joint - column, |best| best.min(joint - column)));
                }
            }
            let left = best.unwrap_or(own).min(own);
            sum += if !normalised {
                left
            } else if own > 0.0 {
                left / own
            } else {
                0.0
            };
        }
        let clusters = a.objects.iter().filter(|own| !own.is_empty()).count();
        if normalised {
            sum / clusters as f64
        } else {
            sum
        }
    }

    fn entropy(of: &Cover) -> f64 {
        let n = of.of_object.len() as f64;
        let h = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        of.objects
            .iter()
            .map(|own| h(own.len() as f64 / n) + h(1.0 - own.len() as f64 / n))
            .sum()
    }

    #[test]
    fn the_indices_are_those_of_plain_sums() {
        for seed in 0..40 {
            let a = drawn(14, 2 + (seed % 3) as u32, seed);
            let b = drawn(14, 3, 1000 + seed);
            let found = OverlapScores::of(&a, &b).unwrap();
            let (precision, recall) = (plain_precision(&a, &b), plain_precision(&b, &a));
            let (h, l) = (entropy(&a), entropy(&b));
            let given = |normalised| {
                [
                    plain_given(&a, &b, normalised),
                    plain_given(&b, &a, normalised),
                ]
            };
            let [x, y] = given(false);
            let nmi_max = (h - x + l - y) / 2.0 / h.max(l);
            let nmi_lfk = 1.0 - given(true).iter().sum::<f64>() / 2.0;
            for (found, plain) in [
                (found.omega, plain_omega(&a, &b)),
                (found.bcubed.precision, precision),
                (found.bcubed.recall, recall),
                (
                    found.bcubed.f1,
                    2.0 * precision * recall / (precision + recall),
                ),
                (found.nmi_max, nmi_max),
                (found.nmi_lfk, nmi_lfk),
            ] {
                assert!(
                    (found - plain).abs() < 1e-12,
                    "seed {seed}: {found} {plain}"
                );
            }
        }
    }

    #[test]
    fn the_same_clusters_agree_and_partitions_have_the_adjusted_rand_index() {
        let a = drawn(30, 4, 7);
        let turned = a
            .of_object
            .iter()
            .map(|own| own.iter().map(|k| 3 - k).collect());
        let found = OverlapScores::of(&a, &Cover::new(turned.collect(), 4)).unwrap();
        let all = [found.omega, found.nmi_max, found.nmi_lfk, found.bcubed.f1];
        assert!(
            all.iter().all(|value| (value - 1.0).abs() < 1e-12),
            "{found:?}"
        );
        let labels =
            |of: &dyn Fn(u32) -> u32| Partition::new((0..30).map(of).collect(), 3).unwrap();
        let [one, other] = [labels(&|i| i % 3), labels(&|i| i / 10)];
        let cover = |of: &Partition| Cover::new(of.labels().iter().map(|&k| vec![k]).collect(), 3);
        let found = OverlapScores::of(&cover(&one), &cover(&other)).unwrap();
        let ari = Contingency::new(&one, &other).unwrap().ari();
        assert!((found.omega - ari).abs() < 1e-12, "{} {ari}", found.omega);
    }

    #[test]
    fn a_threshold_gives_clusters_and_the_most_probable_one_in_any_case() {
        let rows =
            Array2::from_shape_vec((3, 3), vec![0.5, 0.3, 0.2, 0.9, 0.1, 0.0, 0.4, 0.3, 0.3]);
        let soft = SoftPartition::new(rows.unwrap()).unwrap();
        let of = |threshold| Cover::of_soft(&soft, threshold).unwrap().of_object;
        assert_eq!(of(0.3), [vec![0, 1], vec![0], vec![0, 1, 2]]);
        assert_eq!(of(0.0), [vec![0, 1, 2], vec![0, 1], vec![0, 1, 2]]);
        assert_eq!(of(1.0), [vec![0], vec![0], vec![0]]);
        // The sum of squares of (0.9, 0.1, 0) less a third each is 0.82 − 1/3, of a certain row 2/3.
        let between = bridgeness(&soft);
        assert!((between[1] - (1.0 - ((0.82 - 1.0 / 3.0) / (2.0 / 3.0_f64)).sqrt())).abs() < 1e-12);
        assert!(between[2] > between[0] && between[0] > between[1]);
        let ends = SoftPartition::new(Array2::from_elem((1, 4), 0.25)).unwrap();
        assert_eq!(bridgeness(&ends), [1.0]);
        assert!(
            Cover::of_soft(&soft, 1.5)
                .unwrap_err()
                .to_string()
                .contains("1.5")
        );
    }
}
