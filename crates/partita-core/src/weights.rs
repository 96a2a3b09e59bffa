//! Weights of base clusterings: how much each counts.

use serde::{Deserialize, Serialize};

/// A positive weight for every base clustering, scaled so that the mean is 1.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BaseWeights(Vec<f64>);

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
    /// Weights in proportion to `weights`.
    ///
    /// # Errors
    /// The index and value of the first weight that is not positive and finite.
    pub fn new(mut weights: Vec<f64>) -> Result<Self, (usize, f64)> {
        if let Some(bad) = weights.iter().position(|w| !(w.is_finite() && *w > 0.0)) {
            return Err((bad, weights[bad]));
        }
        let mean = weights.iter().sum::<f64>() / weights.len() as f64;
        weights.iter_mut().for_each(|w| *w /= mean);
        Ok(Self(weights))
    }

    /// One weight for every base clustering; their mean is 1.
    pub fn as_slice(&self) -> &[f64] {
        &self.0
    }

    #[cfg(feature = "methods")]
    pub(crate) fn selected(&self, order: &[u32]) -> Self {
        Self(order.iter().map(|&u| self.0[u as usize]).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_have_mean_one_and_are_positive() {
        assert_eq!(BaseWeights::new(vec![1.0, 3.0]).unwrap().as_slice(), [0.5, 1.5]);
        assert_eq!(BaseWeights::new(vec![1.0, 0.0]), Err((1, 0.0)));
        assert!(BaseWeights::new(vec![f64::NAN]).is_err());
    }
}
