//! One label and one certainty for objects with equal label rows, from those of single objects.

use partita_core::{Fragments, Partition};

/// The same partition when objects with equal label rows go where most of them are; ties go to the smaller number.
pub(crate) fn majority_by_row(partition: &Partition, row_of: &[u32], rows: usize) -> Partition {
    let mut votes = vec![0u32; rows * partition.clusters()];
    for (&label, &row) in partition.labels().iter().zip(row_of) {
        votes[row as usize * partition.clusters() + label as usize] += 1;
    }
    let most = |row: &u32| {
        let votes = &votes[*row as usize * partition.clusters()..][..partition.clusters()];
        (0..votes.len()).fold(0, |best, k| if votes[k] > votes[best] { k } else { best }) as u32
    };
    Partition::new(row_of.iter().map(most).collect(), partition.clusters()).expect("labels of the same clusters")
}

/// Gives objects with equal label rows their mean.
pub(crate) fn mean_by_row(values: &[f64], fragments: &Fragments) -> Vec<f64> {
    let mut means = vec![0.0; fragments.weights().len()];
    values.iter().zip(fragments.of_object()).for_each(|(value, &row)| means[row as usize] += value);
    means.iter_mut().zip(fragments.weights()).for_each(|(mean, &weight)| *mean = (*mean / f64::from(weight)).min(1.0));
    fragments.expand(&means)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_rows_go_where_most_are() {
        let partition = Partition::new(vec![0, 1, 1, 0, 1], 2).unwrap();
        assert_eq!(majority_by_row(&partition, &[0, 0, 0, 1, 1], 2).labels(), [1, 1, 1, 0, 0]);
    }
}
