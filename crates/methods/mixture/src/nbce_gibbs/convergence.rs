//! Convergence of Markov chains: split R-hat and effective sample size.

/// Split R-hat: how much wider all chains together spread than each for itself, halves of chains compared. 1 is
/// perfect, above 1.05 the chains have not met. 1 when nothing varies, infinite when constant chains differ.
///
/// Chains are cut to the shortest; fewer than four values a chain give NaN.
///
/// # References
/// Gelman et al., *Bayesian Data Analysis*, 3rd edition, 11.4.
#[doc(alias = "Gelman-Rubin")]
#[doc(alias = "potential scale reduction")]
pub fn r_hat(chains: &[Vec<f64>]) -> f64 {
    let halves = halves(chains);
    let length = halves.first().map_or(0, |half| half.len());
    if length < 2 {
        return f64::NAN;
    }
    let (within, pooled) = variances(&halves);
    match (within > 0.0, pooled > 0.0) {
        (true, _) => (pooled / within).sqrt(),
        (false, false) => 1.0,
        (false, true) => f64::INFINITY,
    }
}

/// Effective sample size of all chains together: how many independent draws their mean is worth (Geyer's initial
/// monotone sequence over split chains).
///
/// # References
/// Gelman et al., *Bayesian Data Analysis*, 3rd edition, 11.5; Geyer, *Practical Markov chain Monte Carlo*, 1992.
#[doc(alias = "ESS")]
pub fn effective_samples(chains: &[Vec<f64>]) -> f64 {
    let halves = halves(chains);
    let length = halves.first().map_or(0, |half| half.len());
    if length < 2 {
        return f64::NAN;
    }
    let total = (halves.len() * length) as f64;
    let (within, pooled) = variances(&halves);
    if pooled <= 0.0 {
        return total;
    }
    let correlation = |lag: usize| {
        let mean: f64 =
            halves.iter().map(|half| covariance(half, lag)).sum::<f64>() / halves.len() as f64;
        1.0 - (within - mean) / pooled
    };
    let (mut sum, mut previous) = (0.0, f64::INFINITY);
    for pair in 0..length / 2 {
        let both = correlation(2 * pair) + correlation(2 * pair + 1);
        if both <= 0.0 {
            break;
        }
        previous = both.min(previous);
        sum += previous;
    }
    (total / (2.0 * sum - 1.0).max(1.0 / total.ln().max(1.0))).min(total)
}

fn halves(chains: &[Vec<f64>]) -> Vec<&[f64]> {
    let half = chains.iter().map(Vec::len).min().unwrap_or(0) / 2;
    chains
        .iter()
        .flat_map(|chain| [&chain[..half], &chain[half..2 * half]])
        .collect()
}

/// The mean variance within sequences of equal length, and the pooled estimate.
fn variances(sequences: &[&[f64]]) -> (f64, f64) {
    let length = sequences[0].len() as f64;
    let means: Vec<f64> = sequences.iter().map(|sequence| mean(sequence)).collect();
    let spread =
        |sequence: &&[f64], mean: &f64| sequence.iter().map(|x| (x - mean).powi(2)).sum::<f64>();
    let within = sequences
        .iter()
        .zip(&means)
        .map(|(sequence, mean)| spread(sequence, mean))
        .sum::<f64>()
        / (length - 1.0)
        / sequences.len() as f64;
    let between = if means.len() > 1 {
        spread(&&means[..], &mean(&means)) / (means.len() as f64 - 1.0)
    } else {
        0.0
    };
    (within, (length - 1.0) / length * within + between)
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn covariance(values: &[f64], lag: usize) -> f64 {
    let mean = mean(values);
    values
        .iter()
        .zip(&values[lag..])
        .map(|(a, b)| (a - mean) * (b - mean))
        .sum::<f64>()
        / values.len() as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use partita_core::Seed;
    use rand_distr::{Distribution, StandardNormal};

    /// Chains of an autoregressive process with this memory.
    fn chains(memory: f64, count: u64) -> Vec<Vec<f64>> {
        let chain = |unit| {
            let mut rng = Seed::new(3).child(unit).rng();
            let mut x = 0.0;
            let noise = (1.0 - memory * memory).sqrt();
            let step = |_| {
                let draw: f64 = StandardNormal.sample(&mut rng);
                x = memory * x + noise * draw;
                x
            };
            (0..4000).map(step).collect()
        };
        (0..count).map(chain).collect()
    }

    #[test]
    fn independent_draws_count_in_full_and_remembered_ones_less() {
        let independent = chains(0.0, 4);
        assert!((r_hat(&independent) - 1.0).abs() < 0.01);
        assert!(effective_samples(&independent) > 14_000.0);
        // The effective size of an autoregressive chain is n (1 − ρ) / (1 + ρ).
        let found = effective_samples(&chains(0.9, 4));
        assert!((found / (16_000.0 / 19.0) - 1.0).abs() < 0.2, "{found}");
    }

    #[test]
    fn chains_in_different_places_have_a_large_r_hat() {
        let mut apart = chains(0.0, 4);
        apart[0].iter_mut().for_each(|x| *x += 3.0);
        assert!(r_hat(&apart) > 1.5 && effective_samples(&apart) < 50.0);
        assert_eq!(r_hat(&[vec![1.0; 10], vec![1.0; 10]]), 1.0);
        assert_eq!(r_hat(&[vec![1.0; 10], vec![2.0; 10]]), f64::INFINITY);
        assert!(r_hat(&[vec![1.0; 3]]).is_nan());
    }
}
