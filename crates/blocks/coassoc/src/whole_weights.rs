//! Weights of base clusterings as whole numbers, in which pairs are counted.
//!
//! With weights, a pair counts `Σ w_u` over the base clusterings that put it together, of `Σ w_u` over those that label both. Counts
//! stay whole numbers, so that no order of adding changes them: weights in whole proportions (2 : 1 : 1) are taken as they are, others
//! are rounded to one part in 2³¹ of their sum. Weights of objects have no part in counts of pairs.

use partita_core::{BaseWeights, WeightedEnsemble, WeightsError};

use crate::CoassocError;

/// The largest sum of weights in whole numbers.
pub(crate) const MOST: u32 = 1 << 31;

/// What every base clustering counts, in whole numbers; none where all count 1.
///
/// # Errors
/// [`CoassocError::Weights`] if there is not one weight a base clustering.
pub fn whole_weights(source: WeightedEnsemble<'_>) -> Result<Option<Vec<u32>>, CoassocError> {
    WeightsError::check(source.base_weights, source.ensemble.bases().len())?;
    let rounded = |weights: &BaseWeights| {
        let sum: f64 = weights.as_slice().iter().sum();
        weights
            .as_slice()
            .iter()
            .map(|weight| (weight / sum * f64::from(MOST)).floor() as u32)
            .collect()
    };
    let weights = source.base_weights.filter(|weights| !weights.are_even());
    Ok(weights.map(|weights| weights.whole(MOST).unwrap_or_else(|| rounded(weights))))
}

/// N of a pair that all base clusterings know: M, the sum of the whole weights, or 2³¹ where base clusterings are soft.
///
/// # Errors
/// As [`whole_weights`].
pub fn pair_unit(source: WeightedEnsemble<'_>) -> Result<u32, CoassocError> {
    let weights = whole_weights(source)?;
    let soft = source.ensemble.memberships().is_some();
    Ok(if soft {
        MOST
    } else {
        unit(weights.as_deref(), source.ensemble.bases().len())
    })
}

/// What a part of a count is worth where the weights' mean is 1: M over the sum of the whole weights.
pub(crate) fn scale(unit: u32, bases: usize) -> f64 {
    bases as f64 / f64::from(unit.max(1))
}

/// The sum of whole weights, or M.
pub(crate) fn unit(weights: Option<&[u32]>, bases: usize) -> u32 {
    weights.map_or(bases as u32, |weights| weights.iter().sum())
}

/// Bytes that hold a count of at most `unit`.
pub(crate) const fn width(unit: u32) -> u64 {
    match unit {
        0..=255 => 1,
        256..=65_535 => 2,
        _ => 4,
    }
}
