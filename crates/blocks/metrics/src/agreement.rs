//! In how many base clusterings an object lies with its consensus cluster.

use partita_core::{Ensemble, Partition};

use crate::{Contingency, MetricsError};

/// The agreement of every object: the share of the base clusterings that label it whose base cluster of it lies mostly in its
/// cluster of `partition`; n values from 0 to 1, NaN for an object that no base clustering labels. Of two clusters with the
/// same part of a base cluster the first counts.
///
/// # Errors
/// [`MetricsError`] if the two are about different numbers of objects.
///
/// # Cost
/// O(n M) time, O(n) memory besides one table of overlaps at a time.
pub fn object_agreement(
    partition: &Partition,
    ensemble: &Ensemble,
) -> Result<Vec<f64>, MetricsError> {
    let n = ensemble.objects();
    let mut agreeing = vec![0_u32; n];
    let mut labelled = vec![0_u32; n];
    for (u, base) in ensemble.bases().iter().enumerate() {
        let table = match Contingency::with_base(partition, ensemble, u) {
            // It labels no object.
            Err(MetricsError::Empty) => continue,
            table => table?,
        };
        let mut largest = vec![(0, u32::MAX); base.clusters()];
        for (cluster, j, count) in table.cells() {
            let most = &mut largest[j];
            if count > most.0 || (count == most.0 && (cluster as u32) < most.1) {
                *most = (count, cluster as u32);
            }
        }
        for (i, label) in ensemble.column(u).enumerate() {
            let Some(j) = label else { continue };
            labelled[i] += 1;
            agreeing[i] += u32::from(largest[j].1 == partition.labels()[i]);
        }
    }
    let share = |(agreeing, labelled): (u32, u32)| f64::from(agreeing) / f64::from(labelled);
    Ok(agreeing.into_iter().zip(labelled).map(share).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn finer_base_clusterings_agree_and_missing_labels_do_not_count() {
        let mut builder = EnsembleBuilder::new(6);
        let finer = [0, 1, 1, 2, 2, 3].map(Some);
        let crossing = [Some(0), Some(0), Some(0), Some(0), None, Some(1)];
        builder.push("finer", finer).expect("six labels");
        builder.push("crossing", crossing).expect("six labels");
        let ensemble = builder.finish().expect("two base clusterings");
        let partition = Partition::from_values(&[0, 0, 0, 1, 1, 1]);
        let found = object_agreement(&partition, &ensemble).expect("the same objects");
        assert_eq!(found, [1.0, 1.0, 1.0, 0.5, 1.0, 1.0]);
        let other = Partition::from_values(&[0, 1]);
        assert!(object_agreement(&other, &ensemble).is_err());
    }
}
