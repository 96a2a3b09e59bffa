//! Weights of base clusterings and of objects: how much each counts.

#[cfg(feature = "passes")]
use serde::{Deserialize, Serialize};

use crate::Ensemble;

/// A weight for every base clustering, 0 or above: how many base clusterings it stands for. To most methods only proportions count
/// ([`as_slice`](Self::as_slice)); to others they are numbers of copies ([`copies`](Self::copies), [`Weights::Copies`](crate::Weights)).
/// A base clustering of weight 0 is left out.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "passes", derive(Serialize, Deserialize))]
pub struct BaseWeights {
    /// In proportion; the mean of those above 0 is 1.
    proportions: Vec<f64>,
    copies: Vec<f64>,
}

/// A weight for every object, 0 or above: how many objects it stands for. An object of weight 0 is left out of the fit, and labelled
/// afterwards.
#[doc(alias = "sample_weight")]
#[derive(Clone, Debug, PartialEq)]
pub struct ObjectWeights(Vec<f64>);

/// Weights that mean nothing.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum WeightError {
    /// A weight that is negative, not a number, or so near 0 that its inverse is none.
    #[error("weight {place} is {value}; {}", Self::RULE)]
    Value {
        /// Its place, from 0.
        place: usize,
        /// The weight.
        value: f64,
    },
    /// No weight is above 0.
    #[error("no weight is above 0")]
    AllZero,
    /// Sums of weights would be rounded.
    #[error(
        "the weights add up to {sum:e}; sums are exact up to 2^53 = 9007199254740992, so divide all weights by a number"
    )]
    Sum {
        /// Their sum.
        sum: f64,
    },
}

impl WeightError {
    /// What a weight may be.
    pub const RULE: &str = "weights are 0 or above, and what is below 1e-300, or 1e-100 of the mean, is to be written as 0";
}

/// Numbers of copies of a base clustering that methods reckon with.
#[cfg(feature = "methods")]
const COPIES: std::ops::RangeInclusive<f64> = 1e-12..=1e12;

/// The largest sum up to which whole numbers are exact.
const MOST: f64 = (1u64 << 53) as f64;

fn check(weights: &[f64]) -> Result<(), WeightError> {
    let fits = |weight: f64| weight == 0.0 || (weight.is_finite() && weight >= 1e-300);
    if let Some(place) = weights.iter().position(|&weight| !fits(weight)) {
        return Err(WeightError::Value {
            place,
            value: weights[place],
        });
    }
    if weights.iter().all(|&weight| weight == 0.0) {
        Err(WeightError::AllZero)
    } else {
        Ok(())
    }
}

/// Not one weight a base clustering.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{found} weights for {bases} base clusterings")]
pub struct WeightsError {
    /// Weights given.
    pub found: usize,
    /// Base clusterings there are.
    pub bases: usize,
}

impl WeightsError {
    /// Refuses weights of another number of base clusterings.
    ///
    /// # Errors
    /// [`WeightsError`] with both numbers.
    pub fn check(weights: Option<&BaseWeights>, bases: usize) -> Result<(), Self> {
        match weights.map(|weights| weights.as_slice().len()) {
            Some(found) if found != bases => Err(Self { found, bases }),
            _ => Ok(()),
        }
    }
}

impl BaseWeights {
    /// These weights.
    ///
    /// # Errors
    /// [`WeightError`] for the first weight that is negative, not finite or next to nothing beside the others, and if none is above 0.
    pub fn new(given: Vec<f64>) -> Result<Self, WeightError> {
        check(&given)?;
        let counted = || given.iter().copied().filter(|&weight| weight > 0.0);
        let (first, number) = (counted().next().unwrap_or(1.0), counted().count() as f64);
        let sum: f64 = counted().sum();
        let mean = if counted().all(|weight| weight == first) {
            first
        } else if sum.is_finite() {
            sum / number
        } else {
            counted().map(|weight| weight / number).sum()
        };
        // Products of what is nearer to 0 than that are none.
        if let Some(place) = given
            .iter()
            .position(|weight| *weight > 0.0 && *weight < 1e-100 * mean)
        {
            return Err(WeightError::Value {
                place,
                value: given[place],
            });
        }
        let largest = given.iter().copied().fold(0.0, f64::max);
        let proportions = given.iter().map(|weight| weight / mean).collect();
        Ok(Self {
            proportions,
            copies: given
                .iter()
                .map(|weight| weight / largest.min(1.0))
                .collect(),
        })
    }

    /// One weight for every base clustering, in proportion to those given; the mean of those above 0 is 1.
    pub fn as_slice(&self) -> &[f64] {
        &self.proportions
    }

    /// How many base clusterings each stands for: the weights that were given; where none of these is above 1, as with scores of quality,
    /// the largest stands for one.
    pub fn copies(&self) -> &[f64] {
        &self.copies
    }

    /// The same proportions with a mean of 1: as much evidence as without weights.
    #[must_use]
    pub fn in_proportion(self) -> Self {
        Self {
            copies: self.proportions.clone(),
            ..self
        }
    }

    /// Whether all count the same.
    pub fn are_even(&self) -> bool {
        self.proportions.iter().all(|&weight| weight == 1.0)
    }

    /// The weights, but for those under which a method that takes them so does what it does without.
    #[cfg(feature = "methods")]
    pub(crate) fn heeded(this: Option<&Self>, taken: crate::Weights) -> Option<&Self> {
        this.filter(|weights| match taken {
            crate::Weights::Copies => weights.copies.iter().any(|&weight| weight != 1.0),
            _ => !weights.are_even(),
        })
    }

    /// Why a method to which weights are numbers of copies cannot take these, if it cannot: powers and products of them would overflow.
    #[cfg(feature = "methods")]
    pub(crate) fn beyond_copies(
        &self,
        method: &str,
        bases: &[crate::BaseClustering],
    ) -> Option<String> {
        let fits = |weight: &f64| *weight == 0.0 || COPIES.contains(weight);
        let place = self.copies.iter().position(|weight| !fits(weight))?;
        let (name, copies) = (
            bases.get(place).map_or("", crate::BaseClustering::name),
            self.copies[place],
        );
        Some(format!(
            "that of '{name}' makes {copies:e} copies of it, which is what weights are to {method} (the largest is one where none is above \
             1); from 1e-12 to 1e12 can be taken, and 0 leaves a base clustering out"
        ))
    }

    /// The smallest whole numbers in these proportions, where their sum is at most `most`: with them sums are exact, and a weight of 2
    /// does to the bit what a copy does.
    pub fn whole(&self, most: u32) -> Option<Vec<u32>> {
        let least = self
            .proportions
            .iter()
            .copied()
            .filter(|&weight| weight > 0.0)
            .fold(f64::INFINITY, f64::min);
        let times = |factor: u32| {
            let scaled: Vec<f64> = self
                .proportions
                .iter()
                .map(|weight| weight / least * f64::from(factor))
                .collect();
            let near = scaled
                .iter()
                .all(|weight| (weight - weight.round()).abs() <= 1e-12 * weight);
            (near && scaled.iter().sum::<f64>() <= f64::from(most) + 0.5).then_some(scaled)
        };
        let scaled = (1..=LARGEST_DENOMINATOR).find_map(times)?;
        Some(
            scaled
                .into_iter()
                .map(|weight| weight.round() as u32)
                .collect(),
        )
    }

    #[cfg(feature = "methods")]
    pub(crate) fn selected(&self, order: &[u32]) -> Self {
        let chosen = |weights: &[f64]| order.iter().map(|&u| weights[u as usize]).collect();
        Self {
            proportions: chosen(&self.proportions),
            copies: chosen(&self.copies),
        }
    }
}

/// Fractions of the least weight that are recognised.
const LARGEST_DENOMINATOR: u32 = 1000;

impl ObjectWeights {
    /// These weights.
    ///
    /// # Errors
    /// [`WeightError`] for the first weight that is negative or not finite, if none is above 0, and if their sum is above 2⁵³.
    pub fn new(weights: Vec<f64>) -> Result<Self, WeightError> {
        check(&weights)?;
        let sum: f64 = weights.iter().sum();
        if sum > MOST {
            Err(WeightError::Sum { sum })
        } else {
            Ok(Self(weights))
        }
    }

    /// One weight for every object.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    /// Objects that all of them stand for.
    pub fn sum(&self) -> f64 {
        self.0.iter().sum()
    }

    /// Whether every object stands for itself alone.
    pub fn are_even(&self) -> bool {
        self.0.iter().all(|&weight| weight == 1.0)
    }

    #[cfg(feature = "methods")]
    pub(crate) fn selected(&self, order: &[u32]) -> Self {
        Self(order.iter().map(|&i| self.0[i as usize]).collect())
    }

    #[cfg(feature = "methods")]
    pub(crate) fn of_checked(weights: Vec<f64>) -> Self {
        Self(weights)
    }
}

/// The largest sum of whole weights with which sums over pairs of the leaves of a tree are still fine enough.
pub const LEAF_WEIGHTS: f64 = (1u32 << 24) as f64;

/// These weights as whole numbers of at least 1, in proportion: as they are where they are whole and their sum is at most `most`, else
/// rounded to one part of a quarter of that.
pub fn whole_multiplicities(weights: &[f64], most: f64) -> Vec<u32> {
    let total: f64 = weights.iter().sum();
    let whole = total <= most && weights.iter().all(|weight| weight.fract() == 0.0);
    let factor = if whole {
        1.0
    } else {
        (most / 4.0).max(weights.len() as f64) / total
    };
    weights
        .iter()
        .map(|weight| ((weight * factor).round() as u32).max(1))
        .collect()
}

/// An ensemble, with weights of its base clusterings and of its objects where they count differently.
#[derive(Clone, Copy, Debug)]
pub struct WeightedEnsemble<'a> {
    /// The label rows.
    pub ensemble: &'a Ensemble,
    /// Weights of the base clusterings; none where all count the same.
    pub base_weights: Option<&'a BaseWeights>,
    /// Weights of the objects; none where every object stands for itself alone.
    pub object_weights: Option<&'a ObjectWeights>,
}

impl<'a> From<&'a Ensemble> for WeightedEnsemble<'a> {
    fn from(ensemble: &'a Ensemble) -> Self {
        Self {
            ensemble,
            base_weights: None,
            object_weights: None,
        }
    }
}

impl WeightedEnsemble<'_> {
    /// What every row counts.
    pub fn multiplicities(&self) -> Option<&[f64]> {
        self.object_weights.map(ObjectWeights::as_slice)
    }

    /// What every row counts, 1 where nothing is said.
    pub fn each_multiplicity(&self) -> Vec<f64> {
        self.multiplicities()
            .map_or_else(|| vec![1.0; self.ensemble.objects()], <[f64]>::to_vec)
    }

    /// Whether rows are more than labels that count once: shares, or weights of objects.
    pub fn is_fractional(&self) -> bool {
        self.ensemble.memberships().is_some() || self.object_weights.is_some()
    }

    /// What every base clustering counts; the mean is 1.
    pub fn shares(&self) -> Option<&[f64]> {
        self.base_weights.map(BaseWeights::as_slice)
    }

    /// How many base clusterings each stands for.
    pub fn base_copies(&self) -> Option<&[f64]> {
        self.base_weights.map(BaseWeights::copies)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_mean_one_and_are_not_negative() {
        assert_eq!(
            BaseWeights::new(vec![1.0, 3.0]).unwrap().as_slice(),
            [0.5, 1.5]
        );
        assert_eq!(
            BaseWeights::new(vec![1.0, 0.0, 3.0]).unwrap().as_slice(),
            [0.5, 0.0, 1.5]
        );
        assert_eq!(
            BaseWeights::new(vec![1.0, -2.0]),
            Err(WeightError::Value {
                place: 1,
                value: -2.0
            })
        );
        assert_eq!(BaseWeights::new(vec![0.0, 0.0]), Err(WeightError::AllZero));
        assert!(
            ObjectWeights::new(vec![1.0, 1e-320])
                .unwrap_err()
                .to_string()
                .contains("is to be written as 0")
        );
        assert!(
            BaseWeights::new(vec![f64::NAN]).is_err()
                && BaseWeights::new(vec![f64::INFINITY]).is_err()
        );
        let even = BaseWeights::new(vec![0.1; 3]).unwrap();
        assert!(even.are_even() && even.copies() == [1.0; 3]);
        let copies = |given: &[f64]| BaseWeights::new(given.to_vec()).unwrap();
        assert_eq!(copies(&[2.0, 1.0, 0.0]).copies(), [2.0, 1.0, 0.0]);
        assert_eq!(copies(&[0.5, 0.25]).copies(), [1.0, 0.5]);
        assert_eq!(copies(&[1.0, 3.0]).in_proportion().copies(), [0.5, 1.5]);
        assert_eq!(
            BaseWeights::new(vec![1e308, 1e308, 5e307])
                .unwrap()
                .whole(10),
            Some(vec![2, 2, 1])
        );
    }

    #[test]
    fn weights_in_whole_proportions_are_found() {
        let whole = |weights: &[f64], most| BaseWeights::new(weights.to_vec()).unwrap().whole(most);
        assert_eq!(whole(&[1.0, 1.0, 2.0], 255), Some(vec![1, 1, 2]));
        assert_eq!(whole(&[0.5, 0.75, 0.0], 255), Some(vec![2, 3, 0]));
        assert_eq!(whole(&[0.1, 0.2, 0.3], 255), Some(vec![1, 2, 3]));
        assert_eq!(whole(&[1.0, 2.0], 2), None);
        assert_eq!(whole(&[1.0, std::f64::consts::PI], u32::MAX), None);
    }

    #[test]
    fn weights_of_objects_are_multiplicities() {
        assert_eq!(ObjectWeights::new(vec![2.0, 0.0, 0.5]).unwrap().sum(), 2.5);
        assert_eq!(
            ObjectWeights::new(vec![1.0, f64::NAN])
                .unwrap_err()
                .to_string(),
            format!("weight 1 is NaN; {}", WeightError::RULE)
        );
        assert!(matches!(
            ObjectWeights::new(vec![1e300]),
            Err(WeightError::Sum { .. })
        ));
        assert_eq!(ObjectWeights::new(vec![0.0]), Err(WeightError::AllZero));
    }
}
