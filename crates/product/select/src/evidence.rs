//! Co-association inside the clusters of a consensus, and across.

use partita_core::{Ensemble, Partition};

/// Mean evidence of pairs, c summed over N summed.
pub(crate) struct Inside {
    /// Inside each cluster; NaN for a cluster without a pair that was seen.
    pub(crate) clusters: Vec<f64>,
    /// Inside clusters.
    pub(crate) within: f64,
    /// Across.
    pub(crate) between: f64,
    /// Share of the pairs seen that are apart inside clusters or together across.
    pub(crate) contradicted: f64,
}

/// O(n M) time: pairs are counted from the sizes of what consensus and base clusters share. An object counts as often as `objects` says.
pub(crate) fn inside(
    ensemble: &Ensemble,
    partition: &Partition,
    objects: Option<&[u32]>,
) -> Inside {
    let count = |object: usize| objects.map_or(1, |objects| u64::from(objects[object]));
    let clusters = partition.clusters();
    let (mut together, mut seen) = (vec![0u64; clusters], vec![0u64; clusters]);
    let (mut all_together, mut all_seen) = (0, 0);
    for (u, base) in ensemble.bases().iter().enumerate() {
        let mut shared = vec![0u64; base.clusters() * clusters];
        for (object, (label, &cluster)) in ensemble.column(u).zip(partition.labels()).enumerate() {
            if let Some(label) = label {
                shared[label * clusters + cluster as usize] += count(object);
            }
        }
        let mut labelled = vec![0u64; clusters];
        for row in shared.chunks(clusters) {
            for (cluster, &count) in row.iter().enumerate() {
                labelled[cluster] += count;
                together[cluster] += pairs(count);
            }
            all_together += pairs(row.iter().sum());
        }
        labelled
            .iter()
            .zip(&mut seen)
            .for_each(|(&count, seen)| *seen += pairs(count));
        all_seen += pairs(labelled.iter().sum());
    }
    let (c, n): (u64, u64) = (together.iter().sum(), seen.iter().sum());
    Inside {
        clusters: together
            .iter()
            .zip(&seen)
            .map(|(&c, &n)| c as f64 / n as f64)
            .collect(),
        within: c as f64 / n as f64,
        between: (all_together - c) as f64 / (all_seen - n) as f64,
        contradicted: ((n - c) + (all_together - c)) as f64 / all_seen as f64,
    }
}

fn pairs(objects: u64) -> u64 {
    objects * objects.saturating_sub(1) / 2
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn evidence_can_be_checked_by_eye() {
        let mut builder = EnsembleBuilder::new(4);
        builder
            .push("a", [Some(0), Some(0), Some(1), Some(1)])
            .unwrap();
        builder
            .push("b", [Some(0), Some(0), Some(0), None])
            .unwrap();
        let ensemble = builder.finish().unwrap();
        let partition = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
        let found = inside(&ensemble, &partition, None);
        // {0, 1}: together twice of two; {2, 3}: once of once. Across: 0-2 and 1-2 in b of 4 in a and 2 in b.
        assert_eq!(
            (found.clusters, found.within, found.between),
            (vec![1.0, 1.0], 1.0, 2.0 / 6.0)
        );
        assert_eq!(found.contradicted, 2.0 / 9.0);
        // Object 2 twice.
        let (twice, copied) = (
            ensemble.select(&[0, 1, 2, 2, 3], &[0, 1]),
            vec![0, 0, 1, 1, 1],
        );
        let copied = inside(&twice, &Partition::new(copied, 2).unwrap(), None);
        let weighted = inside(&ensemble, &partition, Some(&[1, 1, 2, 1]));
        assert_eq!(
            (copied.clusters, copied.contradicted),
            (weighted.clusters, weighted.contradicted)
        );
    }
}
