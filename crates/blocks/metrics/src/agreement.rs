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
/// O(n M) time, O(n) memory besides one table of overlaps at a time and a number for each base cluster.
pub fn object_agreement(
    partition: &Partition,
    ensemble: &Ensemble,
) -> Result<Vec<f64>, MetricsError> {
    let of_base = |u: usize| majorities(partition, ensemble, u);
    let largest: Vec<Vec<u32>> = (0..ensemble.bases().len())
        .map(of_base)
        .collect::<Result<_, _>>()?;
    let agreement = |(i, own): (usize, &u32)| {
        let labels = largest.iter().enumerate();
        let clusters = labels.filter_map(|(u, of)| Some(of[ensemble.label(i, u)?]));
        let (mut agreeing, mut labelled) = (0_u32, 0_u32);
        for cluster in clusters {
            labelled += 1;
            agreeing += u32::from(cluster == *own);
        }
        f64::from(agreeing) / f64::from(labelled)
    };
    Ok(partition
        .labels()
        .iter()
        .enumerate()
        .map(agreement)
        .collect())
}

/// The cluster in which most objects of each base cluster are; `u32::MAX` for a base cluster without objects.
fn majorities(
    partition: &Partition,
    ensemble: &Ensemble,
    base: usize,
) -> Result<Vec<u32>, MetricsError> {
    let mut largest = vec![(0, u32::MAX); ensemble.bases()[base].clusters()];
    let table = match Contingency::with_base(partition, ensemble, base) {
        Err(MetricsError::Empty) => None,
        table => Some(table?),
    };
    for (cluster, j, count) in table.iter().flat_map(Contingency::cells) {
        let most = &mut largest[j];
        if count > most.0 || (count == most.0 && (cluster as u32) < most.1) {
            *most = (count, cluster as u32);
        }
    }
    Ok(largest.into_iter().map(|(_, cluster)| cluster).collect())
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
