//! Comparison of probabilities.

use partita_core::{SoftPartition, ndarray::Array2};

use crate::contingency::check_sizes;
use crate::{MetricsError, matching};

/// Jensen–Shannon divergence of two soft partitions of the same objects, bits: the mean over objects, under
/// the permutation of clusters for which it is smallest. In 0..=1; 0 = the same up to names.
///
/// ```text
/// J(Y, Z) = 1/n min_σ Σ_i ½ KL(z_i ‖ m_i) + ½ KL(σy_i ‖ m_i),   m_i = ½ (z_i + σy_i),   logs to base 2
/// ```
/// The side with fewer clusters is padded with clusters of probability 0. The sum over clusters makes the best
/// permutation an assignment problem, which is solved exactly.
///
/// # Errors
/// [`MetricsError::Sizes`] and [`MetricsError::Empty`].
///
/// # Cost
/// O(n K L) time, O(m²) memory for m = max(K, L).
///
/// # References
/// Rota Bulò and others, *Pairwise probabilistic clustering using evidence accumulation*, 2015.
pub fn jensen_shannon(a: &SoftPartition, b: &SoftPartition) -> Result<f64, MetricsError> {
    check_sizes(a.objects(), b.objects())?;
    if a.objects() == 0 {
        return Err(MetricsError::Empty);
    }
    let side = a.clusters().max(b.clusters());
    let mut gain = Array2::<f64>::zeros((side, side));
    for (p, q) in a.rows().outer_iter().zip(b.rows().outer_iter()) {
        for k in 0..side {
            let p = p.get(k).copied().unwrap_or(0.0);
            for l in 0..side {
                gain[[k, l]] -= share(p, q.get(l).copied().unwrap_or(0.0));
            }
        }
    }
    let total = matching(gain.view())?.total;
    Ok((-total / a.objects() as f64).clamp(0.0, 1.0))
}

/// One cluster's share of the divergence of one object, bits.
fn share(p: f64, q: f64) -> f64 {
    let half = |x: f64| {
        if x > 0.0 {
            0.5 * x * (2.0 * x / (p + q)).log2()
        } else {
            0.0
        }
    };
    half(p) + half(q)
}

/// Perplexity of `labels` observed labels with this log-likelihood (nats): exp(−log-likelihood / labels), the
/// number of equally likely labels that would surprise as much. At least 1 for every normalised model.
///
/// NaN when there are no labels.
pub fn perplexity(log_likelihood: f64, labels: usize) -> f64 {
    (-log_likelihood / labels as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;
    use approx::assert_relative_eq;
    use partita_core::ndarray::array;

    #[test]
    fn certain_and_opposite_is_one_bit_and_renaming_is_nothing() {
        let a = SoftPartition::new(array![[1.0, 0.0], [0.25, 0.75]]).unwrap();
        let renamed = SoftPartition::new(array![[0.0, 0.0, 1.0], [0.0, 0.75, 0.25]]).unwrap();
        assert_eq!(jensen_shannon(&a, &renamed), Ok(0.0));
        let one = SoftPartition::new(array![[1.0, 0.0], [1.0, 0.0]]).unwrap();
        let apart = SoftPartition::new(array![[1.0, 0.0], [0.0, 1.0]]).unwrap();
        assert_eq!(jensen_shannon(&one, &apart), Ok(0.5));
        assert!(jensen_shannon(&one, &SoftPartition::new(array![[1.0]]).unwrap()).is_err());
    }

    #[test]
    fn a_fair_coin_has_perplexity_two() {
        assert_relative_eq!(
            perplexity(10.0 * 0.5f64.ln(), 10),
            2.0,
            max_relative = 1e-15
        );
        assert!(perplexity(0.0, 0).is_nan());
    }
}
