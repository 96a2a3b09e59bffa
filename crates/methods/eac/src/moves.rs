//! Objects move to the cluster that they have most evidence for.

use partita_core::{Partition, WeightedEnsemble};

use crate::pooled_evidence::Tables;

/// The partition after every object with more mean evidence for another cluster has moved there, all at once, so many
/// times or until none moves; and how many stand elsewhere than at first. No cluster is left empty: where all of a
/// cluster's objects would leave and none come, they stay. `worth` is what being together in a base cluster counts.
///
/// # Cost
/// O(n M K) time an iteration at most (what clusters and base clusters share is visited, not all pairs), O(n M) memory.
pub(crate) fn moved(
    source: WeightedEnsemble<'_>,
    first: &Partition,
    iterations: u32,
    worth: impl Fn(usize) -> f64 + Copy,
) -> (Partition, usize) {
    let mut partition = first.clone();
    for _ in 0..iterations {
        let mut labels = Tables::new(source, &partition, worth).best();
        keep_clusters(partition.labels(), &mut labels, partition.clusters());
        let after = Partition::new(labels, partition.clusters())
            .expect("objects move between clusters there are");
        if after == partition {
            break;
        }
        partition = after;
    }
    let pairs = first.labels().iter().zip(partition.labels());
    let elsewhere = pairs.filter(|(a, b)| a != b).count();
    (partition.by_appearance(), elsewhere)
}

/// Takes back the moves out of clusters that would be left empty.
fn keep_clusters(before: &[u32], after: &mut [u32], clusters: usize) {
    loop {
        let mut sizes = vec![0u32; clusters];
        for &cluster in &*after {
            sizes[cluster as usize] += 1;
        }
        if sizes.iter().all(|&size| size > 0) {
            return;
        }
        for (&from, to) in before.iter().zip(&mut *after) {
            if sizes[from as usize] == 0 {
                *to = from;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Ensemble;

    fn ensemble(columns: &[&[u32]]) -> Ensemble {
        partita_conformance::ensemble(
            columns
                .iter()
                .enumerate()
                .map(|(u, column)| (format!("u{u}"), column.iter().copied().map(Some).collect())),
        )
    }

    #[test]
    fn an_object_goes_where_it_has_more_evidence() {
        // Object 2 is with 0 and 1 twice of three times, with 3 and 4 once.
        let ensemble = ensemble(&[&[0, 0, 0, 1, 1], &[0, 0, 0, 1, 1], &[0, 0, 1, 1, 1]]);
        let first = Partition::new(vec![0, 0, 1, 1, 1], 2).unwrap();
        let (partition, elsewhere) = moved((&ensemble).into(), &first, 5, |_| 1.0);
        assert_eq!((partition.labels(), elsewhere), (&[0, 0, 0, 1, 1][..], 1));
        assert_eq!(moved((&ensemble).into(), &first, 0, |_| 1.0), (first, 0));
    }

    #[test]
    fn no_cluster_is_left_empty() {
        // Objects 2 and 3 are never together, and both have more in common with the others.
        let ensemble = ensemble(&[&[0, 0, 0, 1], &[0, 0, 1, 0]]);
        let first = Partition::new(vec![0, 0, 1, 1], 2).unwrap();
        assert_eq!(moved((&ensemble).into(), &first, 3, |_| 1.0).0, first);
    }
}
