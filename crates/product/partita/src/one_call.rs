//! A consensus in one call.

use partita_core::{
    BaseWeights, Clusters, ConsensusError, Ensemble, Features, MemoryBudget, Monitor,
    ObjectWeights, Outcome, Problem, Silent, consense, serde_json::Value,
};

use crate::methods::{DEFAULT_METHOD, MethodError, method};

/// The consensus of an ensemble into so many clusters, by [`DEFAULT_METHOD`] if no method is named.
///
/// ```
/// use partita::EnsembleBuilder;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut ensemble = EnsembleBuilder::new(6);
/// ensemble.push("tool a", ["x", "x", "x", "y", "y", "y"].map(Some))?;
/// ensemble.push("tool b", [1, 1, 2, 2, 2, 2].map(Some))?;
/// ensemble.push("tool c", [7, 7, 7, 9, 9, 9].map(Some))?;
/// let found = partita::consensus(&ensemble.finish()?, 2).run()?;
/// assert_eq!(found.partition.by_appearance().labels(), [0, 0, 0, 1, 1, 1]);
/// # Ok(())
/// # }
/// ```
pub fn consensus(ensemble: &Ensemble, clusters: impl Into<Clusters>) -> ConsensusCall<'_> {
    ConsensusCall {
        problem: Problem::new(ensemble, clusters.into()),
        method: DEFAULT_METHOD,
        monitor: &Silent,
    }
}

/// A consensus that [`consensus`] asks for and [`run`](Self::run) finds.
#[must_use = "nothing is done before `run`"]
#[derive(Clone)]
pub struct ConsensusCall<'a> {
    problem: Problem<'a>,
    method: &'a str,
    monitor: &'a dyn Monitor,
}

impl<'a> ConsensusCall<'a> {
    /// By the method of this name, one of [`METHODS`](crate::METHODS).
    pub fn method(mut self, name: &'a str) -> Self {
        self.method = name;
        self
    }

    /// With a setting of the method, as `partita methods METHOD` and [`Consensus::settings`](crate::extend::Consensus::settings) list them.
    pub fn set(mut self, setting: &str, value: impl Into<Value>) -> Self {
        self.problem.settings.set(setting, value);
        self
    }

    /// With this seed instead of 0.
    pub fn seed(mut self, seed: u64) -> Self {
        self.problem = self.problem.seed(seed);
        self
    }

    /// With the table behind the ensemble, for methods that read one.
    pub fn features(mut self, features: Features<'a>) -> Self {
        self.problem.features = Some(features);
        self
    }

    /// With weights of the base clusterings.
    pub fn base_weights(mut self, weights: &'a BaseWeights) -> Self {
        self.problem.weights = Some(weights);
        self
    }

    /// With weights of the objects.
    pub fn object_weights(mut self, weights: &'a ObjectWeights) -> Self {
        self.problem.object_weights = Some(weights);
        self
    }

    /// Within so much memory.
    pub fn budget(mut self, budget: MemoryBudget) -> Self {
        self.problem.budget = budget;
        self
    }

    /// Watched by whoever wants to see progress or to stop it.
    pub fn monitor(mut self, monitor: &'a dyn Monitor) -> Self {
        self.monitor = monitor;
        self
    }

    /// Finds the consensus.
    ///
    /// # Cost
    /// That of the method ([`MethodInfo::time`](crate::extend::MethodInfo::time)).
    ///
    /// # Errors
    /// [`CallError`] for a method that is not there, and what [`consense`](crate::extend::consense) refuses.
    pub fn run(self) -> Result<Outcome, CallError> {
        let method = method(self.method)?;
        Ok(consense(method, &self.problem, self.monitor)?)
    }
}

/// Why [`ConsensusCall::run`] found nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The method is not there.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// The problem does not fit the method, or the method found no consensus.
    #[error(transparent)]
    Consensus(#[from] ConsensusError),
}
