//! One label for objects with equal label rows, from those of single objects.

use partita_core::{Fragments, Partition};

/// The same partition when objects with equal label rows go where most of them are by weight; ties go to the smaller number.
pub(crate) fn majority_by_row(
    partition: &Partition,
    weights: &[f64],
    fragments: &Fragments,
) -> Partition {
    let clusters = partition.clusters();
    let mut votes = vec![0.0; fragments.weights().len() * clusters];
    for ((&label, weight), &row) in partition
        .labels()
        .iter()
        .zip(weights)
        .zip(fragments.of_object())
    {
        votes[row as usize * clusters + label as usize] += weight;
    }
    let most = |votes: &[f64]| {
        (0..votes.len()).fold(0, |best, k| if votes[k] > votes[best] { k } else { best }) as u32
    };
    let labels: Vec<u32> = votes.chunks_exact(clusters).map(most).collect();
    Partition::new(fragments.expand(&labels), clusters).expect("labels of the same clusters")
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::EnsembleBuilder;

    #[test]
    fn equal_rows_go_where_most_are() {
        let mut builder = EnsembleBuilder::new(5);
        builder
            .push("a", [Some(0), Some(0), Some(0), Some(1), Some(1)])
            .unwrap();
        let (ensemble, partition) = (
            builder.finish().unwrap(),
            Partition::new(vec![0, 1, 1, 0, 1], 2).unwrap(),
        );
        let labels = |weights: [f64; 5]| {
            majority_by_row(&partition, &weights, &ensemble.fragments())
                .labels()
                .to_vec()
        };
        assert_eq!(labels([1.0; 5]), [1, 1, 1, 0, 0]);
        assert_eq!(labels([3.0, 1.0, 1.0, 1.0, 2.0]), [0, 0, 0, 1, 1]);
    }
}
