//! How well base clusterings find each cluster again.

use partita_core::{Ensemble, Partition};

use crate::MetricsError;
use crate::contingency::Contingency;

/// A cluster whose most similar base cluster has a smaller Jaccard coefficient is dissolved in a base clustering.
const DISSOLVED: f64 = 0.5;

/// One with a larger coefficient is recovered.
const RECOVERED: f64 = 0.75;

/// How well base clusterings find a cluster again, each in 0..=1; NaN where none labels any of its objects.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ClusterStability {
    /// Mean over the base clusterings of the largest Jaccard coefficient |A ∩ B| / |A ∪ B| of the cluster A with a base cluster B.
    pub jaccard: f64,
    /// Share of the base clusterings in which it is below .5.
    pub dissolved: f64,
    /// Share of those in which it is above .75.
    pub recovered: f64,
}

/// The stability of every cluster of a partition as R's `fpc::clusterboot` has it, over base clusterings in place of its resampled ones. Objects
/// that a base clustering does not label are in neither set. Every base clustering counts once.
///
/// **Stability is no p-value**: one round population that is cut in two or three may be cut alike every time.
///
/// # Errors
/// [`MetricsError::Sizes`] if the partition labels another number of objects.
///
/// # Cost
/// O(n M).
///
/// # References
/// - C. Hennig: Cluster-wise assessment of cluster stability. *Comput. Stat. Data Anal.* 52 (2007): the coefficient, and both limits.
#[doc(alias = "clusterboot")]
pub fn cluster_stability(
    ensemble: &Ensemble,
    partition: &Partition,
) -> Result<Vec<ClusterStability>, MetricsError> {
    let mut all: Vec<Vec<f64>> = vec![Vec::new(); partition.clusters()];
    for base in 0..ensemble.bases().len() {
        let table = match Contingency::with_base(partition, ensemble, base) {
            Err(MetricsError::Empty) => continue,
            table => table?,
        };
        for (found, best) in all.iter_mut().zip(table.jaccard()) {
            found.extend(best);
        }
    }
    let of = |found: &Vec<f64>| {
        let share = |holds: fn(&f64) -> bool| {
            found.iter().filter(|x| holds(x)).count() as f64 / found.len() as f64
        };
        ClusterStability {
            jaccard: found.iter().sum::<f64>() / found.len() as f64,
            dissolved: share(|&x| x < DISSOLVED),
            recovered: share(|&x| x > RECOVERED),
        }
    };
    Ok(all.iter().map(of).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;
    use std::collections::BTreeSet;

    #[test]
    fn it_is_what_sets_of_objects_say() {
        let own = [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2];
        let bases = [
            [0, 0, 0, 0, 1, 1, 1, 2, 2, 2, 2, 2].map(Some),
            [0, 0, 1, 1, 2, 2, 2, 2, 2, 2, 2, 0].map(Some),
            [
                Some(5),
                Some(5),
                None,
                Some(4),
                None,
                None,
                None,
                Some(4),
                Some(4),
                Some(4),
                None,
                Some(1),
            ],
        ];
        let mut builder = EnsembleBuilder::new(own.len());
        for (at, base) in bases.iter().enumerate() {
            builder.push(at.to_string(), *base).unwrap();
        }
        let ensemble = builder.finish().unwrap();
        let found =
            cluster_stability(&ensemble, &Partition::new(own.to_vec(), 3).unwrap()).unwrap();
        for (cluster, found) in found.iter().enumerate() {
            let mut best = Vec::new();
            for base in &bases {
                let labelled = (0..own.len()).filter(|&i| base[i].is_some());
                let with = |holds: &dyn Fn(usize) -> bool| -> BTreeSet<usize> {
                    labelled.clone().filter(|&i| holds(i)).collect()
                };
                let a = with(&|i| own[i] as usize == cluster);
                if a.is_empty() {
                    continue;
                }
                let coefficient = |label: u32| {
                    let b = with(&|i| base[i] == Some(label));
                    a.intersection(&b).count() as f64 / a.union(&b).count().max(1) as f64
                };
                best.push((0..9).map(coefficient).fold(0.0, f64::max));
            }
            let count = |holds: fn(f64) -> bool| best.iter().filter(|x| holds(**x)).count() as f64;
            let (all, sum) = (best.len() as f64, best.iter().sum::<f64>());
            assert!((found.jaccard - sum / all).abs() < 1e-12, "{cluster}");
            assert_eq!(found.dissolved, count(|x| x < 0.5) / all);
            assert_eq!(found.recovered, count(|x| x > 0.75) / all);
        }
        assert_eq!(found[0].recovered, 1.0 / 3.0);
        assert_eq!(found[1].jaccard, f64::midpoint(1.0, 3.0 / 7.0));
        assert!(cluster_stability(&ensemble, &Partition::new(vec![0], 1).unwrap()).is_err());
    }
}
