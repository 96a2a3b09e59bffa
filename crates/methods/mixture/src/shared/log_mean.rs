//! The logarithm of a mean of weights, and its standard error: what annealed importance sampling ends with.

use serde::Serialize;

/// Runs of annealed importance sampling (Neal 2001).
pub(crate) const RUNS: u32 = 32;

/// The power of the likelihood at step `step` of `steps`: finer where it begins, since that is where weights differ most.
pub(crate) fn power(step: u32, steps: u32) -> f64 {
    (f64::from(step) / f64::from(steps)).powi(3)
}

/// The logarithm of a probability that was estimated by the mean of weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LogMean {
    /// ln of the mean, nats.
    pub value: f64,
    /// Its standard error, nats: by the spread of the weights, so that it is too small where all runs miss the same part.
    pub standard_error: f64,
}

impl LogMean {
    /// The mean of weights that are given by their logarithms.
    pub(crate) fn of(logs: &[f64]) -> Self {
        let top = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let runs = logs.len() as f64;
        let weights: Vec<f64> = logs.iter().map(|log| (log - top).exp()).collect();
        let mean = weights.iter().sum::<f64>() / runs;
        let squares = weights.iter().map(|weight| (weight / mean - 1.0).powi(2));
        Self {
            value: top + mean.ln(),
            standard_error: (squares.sum::<f64>() / (runs - 1.0) / runs).sqrt(),
        }
    }
}
