//! Diagnostics of a probabilistic consensus: its initializations, its choice of K, objects without evidence.

use partita_core::Stopped;
use serde::Serialize;

/// Facts about a probabilistic consensus.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PccDiagnostics {
    /// What became of every initialization.
    pub restarts: Vec<PccRestart>,
    /// The initialization that was kept.
    pub start: String,
    /// By what share the highest objective of all runs is above the lowest.
    pub spread: f64,
    /// The same of the runs that went to the tolerance.
    pub spread_of_finished: f64,
    /// Clusters that have objects.
    pub live_clusters: usize,
    /// Objects that are in no pair of the evidence, by place.
    #[serde(skip)]
    pub isolated: Vec<usize>,
    /// Their names, where objects have names.
    #[serde(rename = "isolated", skip_serializing_if = "Vec::is_empty")]
    pub isolated_names: Vec<String>,
    /// How K was chosen, where it was not given.
    #[serde(flatten)]
    pub choice: Option<PccChoice>,
}

/// What became of one initialization.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PccRestart {
    /// How it was made.
    pub start: String,
    /// The objective reached.
    pub objective: f64,
    /// Iterations taken.
    pub iterations: u64,
    /// Relative violation of the optimality conditions.
    pub kkt_gap: f64,
    /// Whether it went to the tolerance; the others were given up before.
    pub finished: bool,
    /// Why it stopped.
    pub stopped: Stopped,
}

/// How K was chosen.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PccChoice {
    /// The number of clusters chosen.
    pub chosen: usize,
    /// The first run, with as many clusters as are tried at most.
    pub live_at_most: LiveAtMost,
    /// How well halves of the base clusterings predict each other, for every K tried.
    pub held_out: Vec<HeldOut>,
}

/// A run with many clusters, and how many of them it used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LiveAtMost {
    /// Clusters it might have used.
    pub clusters: usize,
    /// Clusters that have objects.
    pub live: usize,
}

/// How well halves of the base clusterings predict each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct HeldOut {
    /// Clusters of the fit to one half.
    pub clusters: usize,
    /// Divergence of the other half from what it predicts, both ways; less is better.
    pub divergence: f64,
}
