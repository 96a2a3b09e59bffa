//! What an iteration optimises, and why it stopped.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a method stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Stopped {
    /// Its tolerance was met.
    Converged,
    /// Not iterative: the answer is exact.
    Exact,
    /// It used up its iterations.
    IterationLimit,
    /// It was asked to; the result is the best so far.
    Interrupted,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Converged => "converged",
            Self::Exact => "exact",
            Self::IterationLimit => "iteration-limit",
            Self::Interrupted => "interrupted",
        })
    }
}

/// Whether less or more is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sense {
    /// Less is better.
    Minimise,
    /// More is better.
    Maximise,
}

/// What a method optimised.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Objective {
    /// What the number is, such as "weighted Kullback–Leibler divergence, nats".
    pub name: &'static str,
    /// Whether less or more is better.
    pub sense: Sense,
    /// The value at the result.
    pub value: f64,
    /// The value by iteration, of the run that was kept.
    pub trace: Vec<f64>,
}

impl Objective {
    /// An objective of which every iteration is known, the last one that of the result.
    ///
    /// # Panics
    /// If there was no iteration.
    pub fn of_trace(name: &'static str, sense: Sense, trace: Vec<f64>) -> Self {
        Self {
            name,
            sense,
            value: trace[trace.len() - 1],
            trace,
        }
    }
}
