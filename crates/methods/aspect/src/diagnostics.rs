//! Diagnostics of the aspect model: its initializations, its components, its choice of K.

use serde::Serialize;

/// Facts about an aspect model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PencaDiagnostics {
    /// What became of every initialization.
    pub restarts: Vec<PencaRestart>,
    /// The initialization that was kept.
    pub start: String,
    /// Clusters that have objects.
    pub live_clusters: usize,
    /// Components of positive probability.
    pub live_components: usize,
    /// Probability of every component, K numbers.
    pub shares: Vec<f64>,
    /// How often two objects are together, all unordered pairs counted.
    pub pairs_together: f64,
    /// How K was chosen, where it was not given.
    #[serde(flatten)]
    pub choice: Option<PencaChoice>,
}

/// What became of one initialization.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PencaRestart {
    /// How it was made.
    pub start: String,
    /// The log-likelihood reached, nats.
    pub log_likelihood: f64,
    /// Iterations taken.
    pub iterations: u32,
    /// Why it stopped; `outrun` where others were better after the first iterations.
    pub stopped: String,
}

/// How K was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PencaChoice {
    /// The criteria for every number of components tried.
    pub criteria: Vec<Criteria>,
    /// The number chosen.
    pub chosen: usize,
}

/// What a number of components is worth.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Criteria {
    /// Components asked for.
    pub clusters: usize,
    /// Components of positive probability.
    pub live: usize,
    /// The log-likelihood reached, nats.
    pub log_likelihood: f64,
    /// Bayesian information criterion; less is better.
    pub bic: f64,
    /// Message length, nats; less is better.
    pub mdl: f64,
    /// Lower bound of the log evidence under a Dirichlet process, nats, where that decides; more is better.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<f64>,
}
