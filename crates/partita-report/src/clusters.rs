//! Sizes, members and certainty of each cluster.

use partita_core::Ensemble;
use partita_core::ndarray::Array2;

use crate::Report;

/// Clusters that tables and figures show; of more, the largest are taken.
pub(crate) const SHOWN: usize = 60;

/// One cluster that is not empty.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Cluster {
    /// Its number in the file of labels.
    pub(crate) label: usize,
    /// Its objects, those whose labels can be trusted most first.
    pub(crate) members: Vec<u32>,
    /// Mean confidence of its objects, or certainty where there is none.
    pub(crate) mean: f64,
    /// Confidence (or certainty) that a tenth, a half and nine tenths of its objects do not exceed.
    pub(crate) deciles: [f64; 3],
}

/// The clusters shown and how often their objects are together.
pub(crate) struct Clusters {
    /// At most [`SHOWN`], in the order of their numbers.
    pub(crate) shown: Vec<Cluster>,
    /// Clusters that are not empty.
    pub(crate) live: usize,
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
        let mut live: Vec<usize> = (0..members.len()).filter(|&k| !members[k].is_empty()).collect();
        let found = live.len();
        live.sort_by_key(|&k| (std::cmp::Reverse(members[k].len()), k));
        live.truncate(SHOWN);
        live.sort_unstable();
        let shown: Vec<Cluster> =
            live.into_iter().map(|k| Cluster::new(k, std::mem::take(&mut members[k]), report.trust())).collect();
        let groups: Vec<&[u32]> = shown.iter().map(|cluster| cluster.members.as_slice()).collect();
        let evidence = report.ensemble.map(|ensemble| together(ensemble, &groups));
        Self { shown, live: found, evidence }
    }

    /// Mean co-association within a cluster shown.
    pub(crate) fn cohesion(&self, at: usize) -> Option<f64> {
        self.evidence.as_ref().map(|evidence| evidence[[at, at]]).filter(|x| x.is_finite())
    }

    /// The other cluster that shares most with a cluster shown, and its mean co-association with it; none if none does.
    pub(crate) fn nearest(&self, at: usize) -> Option<(usize, f64)> {
        let evidence = self.evidence.as_ref()?;
        let others = (0..self.shown.len()).filter(|&other| other != at && evidence[[at, other]].is_finite());
        let nearest = others.fold(None, |best: Option<usize>, other| match best {
            Some(best) if evidence[[at, best]] >= evidence[[at, other]] => Some(best),
            _ => Some(other),
        })?;
        Some((nearest, evidence[[at, nearest]])).filter(|nearest| nearest.1 > 0.0)
    }
}

impl Cluster {
    fn new(label: usize, mut members: Vec<u32>, trust: &[f64]) -> Self {
        let sure = |object: u32| trust[object as usize];
        members.sort_by_cached_key(|&i| (std::cmp::Reverse(rank(sure(i))), i));
        let mean = members.iter().map(|&object| sure(object)).sum::<f64>() / members.len() as f64;
        let last = members.len() - 1;
        // The most certain come first, so the lowest tenth is at the end.
        let deciles = [0.9, 0.5, 0.1].map(|share| sure(members[(share * last as f64).round() as usize]));
        Self { label, members, mean, deciles }
    }
}

/// Certainty as an order that rounding does not change.
pub(crate) fn rank(certainty: f64) -> u64 {
    (certainty.clamp(0.0, 1.0) * 1e9).round() as u64
}

/// Mean co-association Σc / ΣN over the pairs of objects of every two groups, an object with itself left out.
///
/// # Cost
/// O(n M + G² ΣJ): no pair of objects is looked at.
pub(crate) fn together(ensemble: &Ensemble, groups: &[&[u32]]) -> Array2<f64> {
    let (offsets, bases) = (ensemble.offsets(), ensemble.bases().len());
    let count = |group: &&[u32]| {
        let (mut inside, mut labelled) = (vec![0u64; offsets[bases]], vec![0u64; bases]);
        for &object in *group {
            for base in 0..bases {
                if let Some(cluster) = ensemble.label(object as usize, base) {
                    inside[offsets[base] + cluster] += 1;
                    labelled[base] += 1;
                }
            }
        }
        (inside, labelled)
    };
    let counts: Vec<(Vec<u64>, Vec<u64>)> = groups.iter().map(count).collect();
    Array2::from_shape_fn((groups.len(), groups.len()), |(a, b)| {
        let inner = |x: &[u64], y: &[u64]| x.iter().zip(y).map(|(x, y)| x * y).sum::<u64>();
        let (mut c, mut n) = (inner(&counts[a].0, &counts[b].0), inner(&counts[a].1, &counts[b].1));
        if a == b {
            let themselves: u64 = counts[a].1.iter().sum();
            (c, n) = (c - themselves, n - themselves);
        }
        if n == 0 { f64::NAN } else { c as f64 / n as f64 }
    })
}

/// At most `limit` objects of the clusters shown, from every cluster in proportion to its size and at least one, and
/// over the whole range of its certainty; ascending.
pub(crate) fn sample(clusters: &Clusters, limit: usize) -> Vec<u32> {
    let all: usize = clusters.shown.iter().map(|cluster| cluster.members.len()).sum();
    let mut taken: Vec<u32> = Vec::new();
    for cluster in &clusters.shown {
        let size = cluster.members.len();
        let share = if all <= limit { size } else { (size * limit / all).max(1) };
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
        builder.push("a", [Some(0), Some(0), Some(1), Some(1), Some(1)]).unwrap();
        builder.push("b", [Some(0), Some(0), Some(0), Some(1), None]).unwrap();
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
        assert_eq!((clusters.cohesion(0), clusters.cohesion(1)), (Some(1.0), Some(0.75)));
        assert_eq!(clusters.nearest(0), Some((1, 0.2)));
    }

    #[test]
    fn samples_come_from_every_cluster() {
        let labels: Vec<u32> = (0..1000).map(|i| u32::from(i % 100 == 0)).collect();
        let partition = Partition::new(labels.clone(), 2).unwrap();
        let certainty = vec![1.0; 1000];
        let clusters = Clusters::of(&Report::new("", Value::Null, &partition, &certainty));
        assert_eq!(sample(&clusters, 2000).len(), 1000);
        let few = sample(&clusters, 50);
        assert!(few.len() <= 50 && few.is_sorted_by(|a, b| a < b));
        assert!(few.iter().any(|&i| labels[i as usize] == 1));
    }
}
