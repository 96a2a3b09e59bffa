//! Sizes, members and agreement of each cluster.

use partita_core::Ensemble;
use partita_core::ndarray::Array2;

use crate::text::cut;
use crate::{Counted, Report};

/// Clusters that tables and figures show; of more, the largest are taken.
pub(crate) const SHOWN: usize = 60;

/// Characters of a name of a cluster at most.
const NAME: usize = 60;

/// One cluster that is not empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cluster {
    /// Its number in the file of labels.
    pub(crate) label: usize,
    /// What it is called: its number where it has no name.
    pub(crate) name: String,
    /// Number of its objects.
    pub(crate) size: u64,
    /// Its objects as far as they are given one by one, those most agreed on first.
    pub(crate) members: Vec<u32>,
    /// Mean agreement of its objects.
    pub(crate) mean: f64,
    /// Agreement that a tenth, a half and nine tenths of its objects do not exceed.
    pub(crate) deciles: [f64; 3],
}

/// The clusters shown and how often their objects are together.
pub(crate) struct Clusters {
    /// At most [`SHOWN`], in the order of their numbers.
    pub(crate) shown: Vec<Cluster>,
    /// Clusters that are not empty.
    pub(crate) live: usize,
    /// What the clusters are called, by their numbers.
    names: Vec<String>,
    /// Objects of each cluster shown in every base cluster, base clusters numbered through, where there is an ensemble.
    pub(crate) counts: Option<Vec<Vec<u64>>>,
    /// Mean co-association of the objects of two clusters shown, where there is an ensemble; NaN where no pair was seen.
    pub(crate) evidence: Option<Array2<f64>>,
}

impl Clusters {
    /// # Cost
    /// O(n (M + log n) + K² ΣJ) for K clusters shown.
    pub(crate) fn of(report: &Report<'_>) -> Self {
        let mut members: Vec<Vec<u32>> = vec![Vec::new(); report.partition.clusters()];
        for (object, &label) in report.partition.labels().iter().enumerate() {
            members[label as usize].push(object as u32);
        }
        let counted = report.counted.as_ref();
        let size = |k: usize| counted.map_or(members[k].len() as u64, |counted| counted.sizes[k]);
        let mut live: Vec<usize> = (0..members.len()).filter(|&k| size(k) > 0).collect();
        let found = live.len();
        let mut names: Vec<String> = (0..members.len()).map(|k| k.to_string()).collect();
        let given = live.iter().zip(&report.cluster_names);
        given
            .filter(|(_, name)| !name.trim().is_empty())
            .for_each(|(&k, name)| names[k] = cut(name.trim(), NAME));
        live.sort_by_key(|&k| (std::cmp::Reverse(size(k)), k));
        live.truncate(SHOWN);
        live.sort_unstable();
        let of = |k: usize| {
            let members = std::mem::take(&mut members[k]);
            Cluster::new(k, names[k].clone(), members, report.agreement)
        };
        let mut shown: Vec<Cluster> = live.into_iter().map(of).collect();
        if let Some(counted) = counted {
            shown
                .iter_mut()
                .for_each(|cluster| cluster.recount(counted));
        }
        let counts = report.ensemble.map(|ensemble| {
            let offsets = ensemble.offsets();
            let inside = |cluster: &Cluster| match counted {
                Some(counted) => counted.in_base_clusters(cluster.label).to_vec(),
                None => in_base_clusters(ensemble, &offsets, &cluster.members),
            };
            shown.iter().map(inside).collect::<Vec<_>>()
        });
        let evidence = report.ensemble.zip(counts.as_ref());
        let evidence = evidence.map(|(of, counts)| together(&of.offsets(), counts));
        Self {
            shown,
            live: found,
            names,
            counts,
            evidence,
        }
    }

    /// Calls the clusters shown so, where there is a name.
    pub(crate) fn take_names(&mut self, names: Vec<Option<String>>) {
        for (cluster, name) in self.shown.iter_mut().zip(names) {
            if let Some(name) = name {
                cluster.name = cut(&name, NAME);
                self.names[cluster.label].clone_from(&cluster.name);
            }
        }
    }

    /// What a cluster is called.
    pub(crate) fn name(&self, label: usize) -> &str {
        &self.names[label]
    }

    /// Characters of the longest name of those shown, of at most so many each.
    pub(crate) fn longest(&self, limit: usize) -> usize {
        let names = self
            .shown
            .iter()
            .map(|cluster| cluster.name.chars().count());
        names.max().unwrap_or(0).min(limit)
    }

    /// Mean co-association within a cluster shown.
    pub(crate) fn cohesion(&self, at: usize) -> Option<f64> {
        let evidence = self.evidence.as_ref()?;
        Some(evidence[[at, at]]).filter(|x| x.is_finite())
    }

    /// What full colour stands for in matrices of the co-association: the mean within clusters over their objects, so that a good
    /// cluster is dark whatever number of clusters the base clusterings have. 1 where no pair was seen.
    pub(crate) fn full_colour(&self) -> f64 {
        let (mut sum, mut objects) = (0.0, 0.0);
        for (at, cluster) in self.shown.iter().enumerate() {
            if let Some(within) = self.cohesion(at) {
                sum += within * cluster.size as f64;
                objects += cluster.size as f64;
            }
        }
        if sum > 0.0 { sum / objects } else { 1.0 }
    }

    /// The other cluster that shares most with a cluster shown, and its mean co-association with it; none if none does.
    pub(crate) fn nearest(&self, at: usize) -> Option<(usize, f64)> {
        let evidence = self.evidence.as_ref()?;
        let mut nearest = None;
        for (other, &share) in evidence.row(at).iter().enumerate() {
            if other != at && share > nearest.map_or(0.0, |nearest: (usize, f64)| nearest.1) {
                nearest = Some((other, share));
            }
        }
        nearest
    }
}

impl Cluster {
    fn new(label: usize, name: String, mut members: Vec<u32>, agreement: &[f64]) -> Self {
        let sure = |object: u32| agreement[object as usize];
        members.sort_by_cached_key(|&i| (std::cmp::Reverse(rank(sure(i))), i));
        let mean = members.iter().map(|&object| sure(object)).sum::<f64>() / members.len() as f64;
        let last = members.len().saturating_sub(1);
        // Those most agreed on come first, so the lowest tenth is at the end.
        let place = |share: f64| (share * last as f64).round() as usize;
        let at = |share: f64| members.get(place(share)).map_or(f64::NAN, |&i| sure(i));
        Self {
            label,
            name,
            size: members.len() as u64,
            deciles: [0.9, 0.5, 0.1].map(at),
            members,
            mean,
        }
    }

    /// Whether it has a name besides its number.
    pub(crate) fn named(&self) -> bool {
        self.name != self.label.to_string()
    }

    /// What it is called where nothing else says that it is a cluster.
    pub(crate) fn title(&self) -> String {
        if self.named() {
            self.name.clone()
        } else {
            format!("cluster {}", self.name)
        }
    }

    /// Takes from counts of all objects what members that are a sample only estimate.
    fn recount(&mut self, counted: &Counted) {
        let agreement = &counted.agreement[self.label];
        (self.size, self.mean) = (counted.sizes[self.label], agreement.mean());
        self.deciles = [0.1, 0.5, 0.9].map(|share| agreement.quantile(share));
    }
}

/// Agreement as an order that rounding does not change.
pub(crate) fn rank(agreement: f64) -> u64 {
    (agreement.clamp(0.0, 1.0) * 1e9).round() as u64
}

/// Base clusters that an object is in, numbered through all base clusterings; `offsets` says where each begins.
fn base_clusters(
    ensemble: &Ensemble,
    offsets: &[usize],
    object: u32,
) -> impl Iterator<Item = usize> {
    let bases = 0..ensemble.bases().len();
    bases.filter_map(move |u| Some(offsets[u] + ensemble.label(object as usize, u)?))
}

/// Objects of a group in every base cluster, ΣJ numbers.
fn in_base_clusters(ensemble: &Ensemble, offsets: &[usize], group: &[u32]) -> Vec<u64> {
    let mut inside = vec![0; offsets[ensemble.bases().len()]];
    for &object in group {
        base_clusters(ensemble, offsets, object).for_each(|j| inside[j] += 1);
    }
    inside
}

/// The share of the objects of some groups that is in every base cluster.
pub(crate) struct Profiles<'a> {
    ensemble: &'a Ensemble,
    offsets: Vec<usize>,
    shares: Vec<Vec<f32>>,
}

impl<'a> Profiles<'a> {
    pub(crate) fn of(ensemble: &'a Ensemble, groups: &[impl AsRef<[u32]>]) -> Self {
        let offsets = ensemble.offsets();
        let profile = |group: &[u32]| {
            let inside = in_base_clusters(ensemble, &offsets, group).into_iter();
            let share = |objects: u64| objects as f32 / group.len().max(1) as f32;
            inside.map(share).collect()
        };
        let shares = groups.iter().map(|group| profile(group.as_ref())).collect();
        Self {
            ensemble,
            offsets,
            shares,
        }
    }

    /// In how many base clusterings an object and one of a group are together, on average over the group.
    pub(crate) fn with(&self, object: u32, group: usize) -> f64 {
        let shares = &self.shares[group];
        let of = base_clusters(self.ensemble, &self.offsets, object);
        f64::from(of.map(|j| shares[j]).sum::<f32>())
    }
}

/// Mean co-association Σc / ΣN over the pairs of objects of every two groups, an object with itself left out, from their objects in
/// every base cluster. `offsets` says where the base clusters of every base clustering start.
///
/// # Cost
/// O(G² ΣJ): no pair of objects is looked at.
fn together(offsets: &[usize], counts: &[Vec<u64>]) -> Array2<f64> {
    let sums = |inside: &Vec<u64>| {
        let bases = offsets.windows(2);
        bases.map(|u| inside[u[0]..u[1]].iter().sum()).collect()
    };
    let labelled: Vec<Vec<u64>> = counts.iter().map(sums).collect();
    // Numbers of pairs go beyond 64 bits where there are thousands of millions of objects.
    let inner = |x: &[u64], y: &[u64]| -> u128 {
        let pairs = x.iter().zip(y);
        pairs.map(|(&x, &y)| u128::from(x) * u128::from(y)).sum()
    };
    Array2::from_shape_fn((counts.len(), counts.len()), |(a, b)| {
        let mut c = inner(&counts[a], &counts[b]);
        let mut n = inner(&labelled[a], &labelled[b]);
        if a == b {
            let themselves: u128 = labelled[a].iter().map(|&objects| u128::from(objects)).sum();
            (c, n) = (c - themselves, n - themselves);
        }
        // Not a number where no pair was seen.
        c as f64 / n as f64
    })
}

/// At most `limit` objects of the clusters shown, from every cluster in proportion to its size and at least one, and
/// over the whole range of its agreement; ascending.
pub(crate) fn sample(clusters: &Clusters, limit: usize) -> Vec<u32> {
    let shown = clusters.shown.iter();
    let all: usize = shown.map(|cluster| cluster.members.len()).sum();
    let mut taken: Vec<u32> = Vec::new();
    for cluster in &clusters.shown {
        let size = cluster.members.len();
        let share = if all <= limit {
            size
        } else {
            (size * limit / all).max(1).min(size)
        };
        taken.extend((0..share).map(|at| cluster.members[at * size / share]));
    }
    taken.sort_unstable();
    taken
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::{EnsembleBuilder, Partition};
    use serde_json::Value;

    fn ensemble() -> Ensemble {
        let mut builder = EnsembleBuilder::new(5);
        let (a, b) = (
            [0, 0, 1, 1, 1].map(Some),
            [Some(0), Some(0), Some(0), Some(1), None],
        );
        builder.push("a", a).unwrap();
        builder.push("b", b).unwrap();
        builder.finish().unwrap()
    }

    #[test]
    fn evidence_between_clusters_can_be_counted_by_hand() {
        let partition = Partition::new(vec![0, 0, 2, 2, 2], 3).unwrap();
        let ensemble = ensemble();
        let mut report = Report::new("", Value::Null, &partition, &[1.0, 0.5, 0.2, 0.9, 0.4]);
        report.ensemble = Some(&ensemble);
        let clusters = Clusters::of(&report);
        assert_eq!((clusters.live, clusters.shown[1].label), (2, 2));
        assert_eq!(clusters.shown[1].members, [3, 4, 2]);
        assert_eq!(clusters.shown[1].deciles, [0.2, 0.4, 0.9]);
        // Within {2, 3, 4}: base a 3 of 3, base b 0 of 1. Across: base a 0 of 6, base b 2 of 4.
        assert_eq!(
            [0, 1].map(|at| clusters.cohesion(at)),
            [1.0, 0.75].map(Some)
        );
        assert_eq!(clusters.nearest(0), Some((1, 0.2)));
    }

    #[test]
    fn samples_come_from_every_cluster() {
        let labels: Vec<u32> = (0..1000).map(|i| u32::from(i % 100 == 0)).collect();
        let partition = Partition::new(labels.clone(), 2).unwrap();
        let agreement = vec![1.0; 1000];
        let clusters = Clusters::of(&Report::new("", Value::Null, &partition, &agreement));
        assert_eq!(sample(&clusters, 2000).len(), 1000);
        let few = sample(&clusters, 50);
        assert!(few.len() <= 50 && few.is_sorted_by(|a, b| a < b));
        assert!(few.iter().any(|&i| labels[i as usize] == 1));
    }
}
