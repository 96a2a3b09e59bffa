//! One consensus of one ensemble: the problem that a method is given, and the record of what it did.

use std::path::Path;

use partita::extend::{Consensus, Problem, consense};
use partita::ndarray::ArrayView2;
use partita::{
    BaseWeights, Clusters, Ensemble, Features, MemoryBudget, ObjectWeights, Outcome, Seed,
};

use crate::error::AppError;
use crate::experiment::description::MethodChoice;
use crate::input::given::Given;
use crate::observer::Observer;
use crate::output::record::MethodRecord;
use crate::run::significance::{merge_clusters, of_test};
use crate::stopwatch::Stopwatch;
use crate::{methods, phases, seeds};

/// What all methods of a run share.
#[derive(Clone, Copy)]
pub(crate) struct Shared<'a> {
    pub(crate) ensemble: &'a Ensemble,
    pub(crate) features: Option<Features<'a>>,
    pub(crate) weights: Option<&'a BaseWeights>,
    pub(crate) object_weights: Option<&'a ObjectWeights>,
    pub(crate) given: &'a Given,
    pub(crate) clusters: Clusters,
    /// A scaled table on which clusters are tested and merged, where that is asked for.
    pub(crate) tested: Option<ArrayView2<'a, f64>>,
    /// The seed of the run.
    pub(crate) seed: u64,
    pub(crate) budget: MemoryBudget,
    /// What the objects come from, for messages.
    pub(crate) source: &'a Path,
}

impl Shared<'_> {
    /// The consensus of a method.
    pub(crate) fn consensus(
        &self,
        method: &dyn Consensus,
        choice: &MethodChoice,
        observer: &dyn Observer,
    ) -> Result<(Outcome, MethodRecord), AppError> {
        let mut problem = Problem::new(self.ensemble, self.clusters);
        (problem.features, problem.weights, problem.object_weights) =
            (self.features, self.weights, self.object_weights);
        problem.start = self.given.start.as_ref();
        problem.pairs = self.given.pairs.as_ref();
        (problem.seed, problem.budget) = (seeds::consensus(Seed::new(self.seed)), self.budget);
        problem.settings = choice.settings.clone();
        let name = methods::name_of(method);
        phases::taken();
        let stopwatch = Stopwatch::start();
        let mut outcome = consense(method, &problem, &*observer.begin(name)).map_err(|source| {
            AppError::Consensus {
                input: self.source.into(),
                source,
            }
        })?;
        if let Some(table) = self.tested {
            let monitor = observer.begin("testing clusters");
            let how = (Seed::new(self.seed), self.budget);
            let found = merge_clusters(&mut outcome, table, how, &*monitor);
            drop(monitor);
            observer.note(&found.map_err(|error| of_test(self.source, error))?);
        }
        let record = MethodRecord::new(name, self.seed, self.ensemble, &outcome, stopwatch.read());
        outcome
            .warnings
            .iter()
            .for_each(|warning| observer.warn(&format!("{name}: {warning}")));
        Ok((outcome, record))
    }
}
