//! Counts of objects with copies of themselves: the pairs among what a weighted object stands for.

use partita_core::WeightedEnsemble;

use crate::CoassocError;
use crate::pairs::Rows;

/// c and N of every object with a copy of itself, in parts of [`pair_unit`](crate::pair_unit): what
/// [`CoAssociation`](crate::CoAssociation) counts for two objects with the same labels or shares. Two with the same labels are always
/// together, c = N; two with the same shares to the degree of the sum of their squares.
///
/// # Errors
/// [`CoassocError::Weights`] if there is not one weight a base clustering.
///
/// # Cost
/// O(n M) time; labels or shares once more.
pub fn copy_counts<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
) -> Result<Vec<(u32, u32)>, CoassocError> {
    let source = source.into();
    let objects = source.ensemble.objects() as u32;
    CoassocError::check_bases(source.ensemble.bases().len())?;
    let rows = Rows::new(source)?;
    let (together, seen) = rows.count(&(0..objects).map(|i| (i, i)).collect::<Vec<_>>());
    let copy = |i: usize| {
        let seen = seen.as_ref().map_or(rows.unit(), |seen| seen.at(i));
        (together.at(i), seen)
    };
    Ok((0..objects as usize).map(copy).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CoAssociation;
    use partita_core::ndarray::array;
    use partita_core::{BaseWeights, Ensemble, EnsembleBuilder, MemoryBudget, Shares, Silent};

    /// Counts of every object with its copy, which stands after all of them.
    fn literal(ensemble: &Ensemble, weights: Option<&BaseWeights>) -> Vec<(u32, u32)> {
        let objects = ensemble.objects() as u32;
        let bases: Vec<u32> = (0..ensemble.bases().len() as u32).collect();
        let twice = ensemble.select(
            &(0..objects).chain(0..objects).collect::<Vec<u32>>(),
            &bases,
        );
        let source = WeightedEnsemble {
            base_weights: weights,
            ..(&twice).into()
        };
        let pairs = CoAssociation::count(source, MemoryBudget::UNLIMITED, &Silent).unwrap();
        (0..objects as usize)
            .map(|i| pairs.pair(i, i + objects as usize))
            .collect()
    }

    fn same(ensemble: &Ensemble) {
        let uneven = BaseWeights::new(vec![0.3, 1.7]).unwrap();
        for weights in [None, Some(&uneven)] {
            let source = WeightedEnsemble {
                base_weights: weights,
                ..ensemble.into()
            };
            assert_eq!(copy_counts(source).unwrap(), literal(ensemble, weights));
        }
    }

    #[test]
    fn a_copy_of_labels_is_always_together_with_them() {
        let mut builder = EnsembleBuilder::new(4);
        builder
            .push("a", [Some(0), Some(0), Some(1), None])
            .unwrap();
        builder.push("b", [Some(0), None, Some(0), None]).unwrap();
        let ensemble = builder.finish().unwrap();
        assert_eq!(
            copy_counts(&ensemble).unwrap(),
            [(2, 2), (1, 1), (2, 2), (0, 0)]
        );
        same(&ensemble);
    }

    #[test]
    fn a_copy_of_shares_is_together_as_their_squares_say() {
        let mut builder = EnsembleBuilder::new(3);
        let values = || vec!["0".to_owned(), "1".into()];
        let a = Shares::new(array![[0.25, 0.75], [0.5, 0.5], [0.0, 0.0]]).unwrap();
        builder.push_soft("a", values(), &a, 8).unwrap();
        let b = Shares::new(array![[1.0, 0.0], [0.2, 0.8], [0.4, 0.6]]).unwrap();
        builder.push_soft("b", values(), &b, 8).unwrap();
        same(&builder.finish().unwrap());
    }
}
