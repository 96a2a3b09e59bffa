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
    /// The objects of every cluster that has some.
    clusters: Vec<Vec<u32>>,
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
            let live = (0..).zip(row).filter(|(_, p)| **p > 0.0);
            live.map(|(cluster, _)| cluster).collect()
        });
        Ok(Self::new(of_object.collect()))
    }

    /// The clusters of every object.
    pub fn new(mut of_object: Vec<Vec<u32>>) -> Self {
        let most = of_object.iter().flatten().max().map_or(0, |&most| most + 1);
        let mut clusters = vec![Vec::new(); most as usize];
        for (object, own) in (0..).zip(&mut of_object) {
            own.sort_unstable();
            own.dedup();
            own.iter().for_each(|&k| clusters[k as usize].push(object));
        }
        Self {
            of_object,
            clusters: clusters.into_iter().filter(|own| !own.is_empty()).collect(),
        }
    }

    /// The clusters of every object, ascending.
    pub fn of_object(&self) -> &[Vec<u32>] {
        &self.of_object
    }
}

/// How much every object lies between clusters, n values: 0 where it is certain, 1 where it is in all alike.
///
/// ```text
/// b_i = 1 − √(K/(K−1) Σ_k (y_ik − 1/K)²)
/// ```
///
/// # References
/// Nepusz and others, *Fuzzy communities and the concept of bridgeness in complex networks*, Physical Review E 77, 2008.
pub fn bridgeness(soft: &SoftPartition) -> Vec<f64> {
    let k = soft.clusters() as f64;
    let of = |row: ArrayView1<'_, f64>| {
        let apart: f64 = row.iter().map(|y| (y - 1.0 / k).powi(2)).sum();
        if k > 1.0 {
            1.0 - (apart * k / (k - 1.0)).sqrt()
        } else {
            0.0
        }
    };
    soft.rows().outer_iter().map(of).collect()
}

/// How alike found and true clusters are that may overlap: 1 where they are the same but for their names.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "passes", derive(Serialize))]
#[non_exhaustive]
pub struct OverlapScores {
    /// The Omega index: the share of pairs of objects that are in as many clusters together in both, adjusted for chance. Of partitions
    /// it is the adjusted Rand index.
    pub omega: f64,
    /// Overlapping NMI of McDaid, Greene and Hurley: mutual information over the larger entropy.
    pub nmi_max: f64,
    /// Extended BCubed: of the objects that share a found cluster, the mean of min(found, true) / found clusters shared.
    pub bcubed_precision: f64,
    /// The same of the true clusters.
    pub bcubed_recall: f64,
    /// The harmonic mean of both.
    pub bcubed_f1: f64,
}

impl OverlapScores {
    /// The indices of found clusters against true ones.
    ///
    /// # Errors
    /// [`MetricsError::Sizes`] and [`MetricsError::Empty`].
    ///
    /// # Cost
    /// O(n² + Σ of the squares of the clusters' sizes) time, O(n) memory.
    ///
    /// # References
    /// Collins, Dent, *Omega: a general formulation of the Rand index*, Multivariate Behavioral Research 23, 1988; McDaid, Greene, Hurley,
    /// *Normalized mutual information to evaluate overlapping community finding algorithms*, 2011; Amigó, Gonzalo, Artiles, Verdejo,
    /// Information Retrieval 12, 2009 (BCubed).
    pub fn of(found: &Cover, truth: &Cover) -> Result<Self, MetricsError> {
        check_sizes(found.of_object.len(), truth.of_object.len())?;
        if found.of_object.is_empty() {
            return Err(MetricsError::Empty);
        }
        let (h, l) = (entropies(found, truth), entropies(truth, found));
        let most = h.own.max(l.own);
        let told = f64::midpoint(h.own - h.given, l.own - l.given);
        let (omega, precision, recall) = pairs(found, truth);
        Ok(Self {
            omega,
            // Clusters that all objects are in know nothing, and agree.
            nmi_max: if most > 0.0 { told / most } else { 1.0 },
            bcubed_precision: precision,
            bcubed_recall: recall,
            bcubed_f1: harmonic(precision, recall),
        })
    }
}

/// Omega, and precision and recall of extended BCubed, from how many clusters every pair of objects shares.
fn pairs(found: &Cover, truth: &Cover) -> (f64, f64, f64) {
    let n = found.of_object.len();
    // Pairs by how many clusters they share, in either.
    let mut shared = [Vec::<f64>::new(), Vec::new()];
    let mut same = 0.0;
    let mut bcubed = [(0.0, 0.0); 2];
    for i in 0..n {
        let counts = [found, truth].map(|cover| {
            let mut counts = vec![0u32; n];
            let own = cover
                .clusters
                .iter()
                .filter(|own| own.binary_search(&(i as u32)).is_ok());
            own.flatten().for_each(|&j| counts[j as usize] += 1);
            counts
        });
        for side in 0..2 {
            let both = counts[side]
                .iter()
                .zip(&counts[1 - side])
                .filter(|(own, _)| **own > 0);
            let parts = both.map(|(&own, &other)| f64::from(own.min(other)) / f64::from(own));
            let (met, sum) = parts.fold((0.0, 0.0), |(met, sum), part| (met + 1.0, sum + part));
            if met > 0.0 {
                bcubed[side] = (bcubed[side].0 + sum / met, bcubed[side].1 + 1.0);
            }
            for &count in &counts[side][i + 1..] {
                let length = shared[side].len().max(count as usize + 1);
                shared[side].resize(length, 0.0);
                shared[side][count as usize] += 1.0;
            }
        }
        let later = counts[0][i + 1..].iter().zip(&counts[1][i + 1..]);
        same += later.filter(|(a, b)| a == b).count() as f64;
    }
    let [precision, recall] =
        bcubed.map(|(sum, count)| if count > 0.0 { sum / count } else { 0.0 });
    let all = (n as f64 * (n as f64 - 1.0) / 2.0).max(1.0);
    let chance: f64 = shared[0].iter().zip(&shared[1]).map(|(a, b)| a * b).sum();
    let (observed, expected) = (same / all, chance / (all * all));
    let omega = if n < 2 || expected >= 1.0 {
        1.0
    } else {
        (observed - expected) / (1.0 - expected)
    };
    (omega, precision, recall)
}

/// What the clusters of one cover tell, and what is left when those of the other are known, in bits.
struct Entropies {
    own: f64,
    given: f64,
}

fn entropies(of: &Cover, given: &Cover) -> Entropies {
    let n = of.of_object.len() as f64;
    let h = |count: f64| {
        if count > 0.0 {
            -count / n * (count / n).log2()
        } else {
            0.0
        }
    };
    let mut sums = Entropies {
        own: 0.0,
        given: 0.0,
    };
    for cluster in &of.clusters {
        let size = cluster.len() as f64;
        let own = h(size) + h(n - size);
        let mut least = own;
        for other in &given.clusters {
            let common = other.iter().filter(|&i| cluster.binary_search(i).is_ok());
            let d = common.count() as f64;
            let (b, c) = (size - d, other.len() as f64 - d);
            let a = n - b - c - d;
            // A cluster is not told by one that is more like its complement.
            if h(a) + h(d) >= h(b) + h(c) {
                least = least.min(h(a) + h(b) + h(c) + h(d) - h(c + d) - h(a + b));
            }
        }
        sums.own += own;
        sums.given += least;
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Contingency;
    use partita_core::ndarray::array;
    use partita_core::{Partition, Seed};
    use rand::RngExt;

    fn drawn(clusters: u32, seed: u64) -> Cover {
        let mut rng = Seed::new(seed).rng();
        let mut own = || (0..clusters).filter(|_| rng.random_bool(0.4)).collect();
        Cover::new((0..14).map(|_| own()).collect())
    }

    fn both(of: &Cover, i: usize, j: usize) -> usize {
        let own = of.of_object[i].iter();
        own.filter(|cluster| of.of_object[j].contains(cluster))
            .count()
    }

    /// Omega as Collins and Dent write it, over all pairs and numbers of clusters.
    fn plain_omega(a: &Cover, b: &Cover) -> f64 {
        let pairs = (0..14).flat_map(|i| (i + 1..14).map(move |j| (i, j)));
        let shared: Vec<_> = pairs.map(|(i, j)| (both(a, i, j), both(b, i, j))).collect();
        let share = |is: &dyn Fn(&(usize, usize)) -> bool| {
            shared.iter().filter(|pair| is(pair)).count() as f64 / shared.len() as f64
        };
        let of_count = |k: usize| share(&|(a, _)| *a == k) * share(&|(_, b)| *b == k);
        let expected: f64 = (0..10).map(of_count).sum();
        (share(&|(a, b)| a == b) - expected) / (1.0 - expected)
    }

    fn plain_precision(a: &Cover, b: &Cover) -> f64 {
        let mut means = Vec::new();
        for i in 0..14 {
            let met: Vec<usize> = (0..14).filter(|&j| both(a, i, j) > 0).collect();
            let part = |&j: &usize| both(a, i, j).min(both(b, i, j)) as f64 / both(a, i, j) as f64;
            if !met.is_empty() {
                means.push(met.iter().map(part).sum::<f64>() / met.len() as f64);
            }
        }
        means.iter().sum::<f64>() / means.len() as f64
    }

    /// H(X) and H(X | Y) of McDaid and others, from tables of two columns of zeros and ones.
    fn plain_entropies(a: &Cover, b: &Cover) -> [f64; 2] {
        let h = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        let mut sums = [0.0; 2];
        for x in &a.clusters {
            let mut left = f64::INFINITY;
            let p = x.len() as f64 / 14.0;
            let own = h(p) + h(1.0 - p);
            for y in &b.clusters {
                let mut t = [[0.0; 2]; 2];
                for i in 0..14 {
                    t[usize::from(x.contains(&i))][usize::from(y.contains(&i))] += 1.0 / 14.0;
                }
                let joint: f64 = t.iter().flatten().map(|&p| h(p)).sum();
                if h(t[0][0]) + h(t[1][1]) >= h(t[0][1]) + h(t[1][0]) {
                    left = left.min(joint - h(t[0][0] + t[1][0]) - h(t[0][1] + t[1][1]));
                }
            }
            sums = [sums[0] + own, sums[1] + left.min(own)];
        }
        sums
    }

    #[test]
    fn the_indices_are_those_of_plain_sums() {
        for seed in 0..40 {
            let (a, b) = (drawn(2 + (seed % 3) as u32, seed), drawn(3, 1000 + seed));
            let found = OverlapScores::of(&a, &b).unwrap();
            let ([h, x], [l, y]) = (plain_entropies(&a, &b), plain_entropies(&b, &a));
            for (found, plain) in [
                (found.omega, plain_omega(&a, &b)),
                (found.bcubed_precision, plain_precision(&a, &b)),
                (found.bcubed_recall, plain_precision(&b, &a)),
                (found.nmi_max, (h - x + l - y) / 2.0 / h.max(l)),
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
        let a = drawn(4, 7);
        let turned = a
            .of_object
            .iter()
            .map(|own| own.iter().map(|k| 3 - k).collect());
        let found = OverlapScores::of(&a, &Cover::new(turned.collect())).unwrap();
        let all = [found.omega, found.nmi_max, found.bcubed_f1];
        assert!(
            all.iter().all(|value| (value - 1.0).abs() < 1e-12),
            "{found:?}"
        );
        let [one, other] = [|i: u32| i % 3, |i: u32| i / 10]
            .map(|label| Partition::new((0..30).map(label).collect(), 3).unwrap());
        let cover = |of: &Partition| Cover::new(of.labels().iter().map(|&k| vec![k]).collect());
        let found = OverlapScores::of(&cover(&one), &cover(&other)).unwrap();
        assert!((found.omega - Contingency::new(&one, &other).unwrap().ari()).abs() < 1e-12);
    }

    #[test]
    fn a_threshold_gives_clusters_and_the_most_probable_one_in_any_case() {
        let rows = array![[0.5, 0.3, 0.2], [0.9, 0.1, 0.0], [0.4, 0.3, 0.3]];
        let soft = SoftPartition::new(rows).unwrap();
        let of = |threshold| Cover::of_soft(&soft, threshold).unwrap().of_object;
        assert_eq!(of(0.3), [vec![0, 1], vec![0], vec![0, 1, 2]]);
        assert_eq!(of(0.0), [vec![0, 1, 2], vec![0, 1], vec![0, 1, 2]]);
        assert_eq!(of(1.0), [vec![0], vec![0], vec![0]]);
        let refused = Cover::of_soft(&soft, 1.5).unwrap_err().to_string();
        assert!(refused.contains("1.5"));
        let between = bridgeness(&soft);
        assert!((between[1] - (1.0 - (1.5 * (0.82 - 1.0 / 3.0_f64)).sqrt())).abs() < 1e-12);
        assert!(between[2] > between[0] && between[0] > between[1]);
    }
}
