//! What a method is given.

use crate::{
    BaseWeights, Clusters, ConsensusError, Ensemble, Features, MemoryBudget, ObjectWeights,
    PairList, PassEngine, PassRunner, ProblemSize, RowBlocks, Seed, SettingMap, Silent,
    SoftPartition, WeightedEnsemble,
};

/// One consensus to be found. Start from [`Problem::new`] and set what you mean to set.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Problem<'a> {
    /// The clusterings that shall become one.
    pub ensemble: &'a Ensemble,
    /// How many clusters.
    pub clusters: Clusters,
    /// Where chance starts.
    pub seed: Seed,
    /// The table, for methods that read one.
    pub features: Option<Features<'a>>,
    /// Weights of the base clusterings, for methods that take them. A method that is fitted sees them only where they differ, and all
    /// above 0.
    pub weights: Option<&'a BaseWeights>,
    /// Weights of the objects, for methods that take them. A method that is fitted sees them only where they are not all 1, and all
    /// above 0; objects with the same label row are then one, of their weights' sum (unless they are fewer than the clusters, or the
    /// method reads a table).
    pub object_weights: Option<&'a ObjectWeights>,
    /// Probabilities to start from, n × K, for methods that can.
    pub start: Option<&'a SoftPartition>,
    /// The pairs of objects to read, and their counts where base clusterings do not say them, for methods that read pairs.
    pub pairs: Option<&'a PairList>,
    /// Settings of the method by name.
    pub settings: SettingMap,
    /// Memory that may be held at once.
    pub budget: MemoryBudget,
}

impl<'a> Problem<'a> {
    /// The consensus of `ensemble` into `clusters`, with seed 0, default settings and no memory limit.
    pub fn new(ensemble: &'a Ensemble, clusters: Clusters) -> Self {
        Self {
            ensemble,
            clusters,
            seed: Seed::default(),
            features: None,
            weights: None,
            object_weights: None,
            start: None,
            pairs: None,
            settings: SettingMap::default(),
            budget: MemoryBudget::UNLIMITED,
        }
    }

    /// The same with this seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Seed::new(seed);
        self
    }

    /// The same with settings of the method.
    #[must_use]
    pub fn settings(mut self, settings: SettingMap) -> Self {
        self.settings = settings;
        self
    }

    /// The same with the table behind the ensemble.
    #[must_use]
    pub fn features(mut self, features: Features<'a>) -> Self {
        self.features = Some(features);
        self
    }

    /// The same with weights of base clusterings.
    #[must_use]
    pub fn base_weights(mut self, weights: &'a BaseWeights) -> Self {
        self.weights = Some(weights);
        self
    }

    /// The same with weights of objects.
    #[must_use]
    pub fn object_weights(mut self, weights: &'a ObjectWeights) -> Self {
        self.object_weights = Some(weights);
        self
    }

    /// The same with probabilities to start from.
    #[must_use]
    pub fn start(mut self, start: &'a SoftPartition) -> Self {
        self.start = Some(start);
        self
    }

    /// The same with the pairs to read.
    #[must_use]
    pub fn pairs(mut self, pairs: &'a PairList) -> Self {
        self.pairs = Some(pairs);
        self
    }

    /// Whether a user gives what tells objects with the same label row apart.
    pub(crate) fn tells_objects_apart(&self) -> bool {
        self.start.is_some() || self.pairs.is_some()
    }

    /// The same with a memory budget.
    #[must_use]
    pub fn budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The number of clusters asked for.
    ///
    /// # Errors
    /// [`ConsensusError::Auto`] where the method shall choose and does not.
    pub fn given_clusters(&self, method: &'static str) -> Result<usize, ConsensusError> {
        match self.clusters {
            Clusters::Exactly(clusters) => Ok(clusters),
            Clusters::Auto => Err(ConsensusError::Auto { method }),
        }
    }

    /// The ensemble with its weights.
    pub fn weighted(&self) -> WeightedEnsemble<'a> {
        WeightedEnsemble {
            ensemble: self.ensemble,
            base_weights: self.weights,
            object_weights: self.object_weights,
        }
    }

    /// The numbers that cost depends on.
    pub fn size(&self) -> ProblemSize {
        ProblemSize::of(self.ensemble, self.clusters)
    }

    /// The same problem over rows: those of its ensemble, in some form.
    pub fn over<'b>(&'b self, rows: &'b dyn RowBlocks) -> RowProblem<'b> {
        let Self {
            clusters,
            seed,
            weights,
            settings,
            budget,
            ..
        } = self.clone();
        RowProblem {
            rows,
            clusters,
            seed,
            weights,
            settings,
            budget,
            soft: true,
            by_blocks: false,
            engine: None,
        }
    }
}

/// A consensus to be found over label rows, wherever they are.
#[derive(Clone)]
#[non_exhaustive]
pub struct RowProblem<'a> {
    /// The label rows.
    pub rows: &'a dyn RowBlocks,
    /// How many clusters.
    pub clusters: Clusters,
    /// Where chance starts.
    pub seed: Seed,
    /// Weights of the base clusterings, for methods that take them.
    pub weights: Option<&'a BaseWeights>,
    /// Settings of the method by name.
    pub settings: SettingMap,
    /// Memory that may be held at once.
    pub budget: MemoryBudget,
    /// Whether soft methods tell the probabilities besides labels.
    pub soft: bool,
    /// Fit by blocks however few the rows are: what tests of passes ask for. Otherwise up to
    /// [`LABELS_BY_BLOCKS`](crate::LABELS_BY_BLOCKS) labels are held, and the result is that of [`consense`](crate::consense).
    pub by_blocks: bool,
    /// Who runs the passes, if not this process: of `rows` only the base clusterings and the number of rows are asked then.
    pub engine: Option<&'a dyn PassEngine>,
}

impl<'a> RowProblem<'a> {
    /// The consensus of `rows` into `clusters`, with seed 0, default settings, no memory limit, and probabilities.
    pub fn new(rows: &'a dyn RowBlocks, clusters: Clusters) -> Self {
        let (seed, settings, budget) = (
            Seed::default(),
            SettingMap::default(),
            MemoryBudget::UNLIMITED,
        );
        Self {
            rows,
            clusters,
            seed,
            weights: None,
            settings,
            budget,
            soft: true,
            by_blocks: false,
            engine: None,
        }
    }

    /// The same with this seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = Seed::new(seed);
        self
    }

    /// The same with settings of the method.
    #[must_use]
    pub fn settings(mut self, settings: SettingMap) -> Self {
        self.settings = settings;
        self
    }

    /// The same with weights of base clusterings.
    #[must_use]
    pub fn base_weights(mut self, weights: &'a BaseWeights) -> Self {
        self.weights = Some(weights);
        self
    }

    /// The same with a memory budget.
    #[must_use]
    pub fn budget(mut self, budget: MemoryBudget) -> Self {
        self.budget = budget;
        self
    }

    /// The numbers that cost depends on.
    pub fn size(&self) -> ProblemSize {
        ProblemSize::of_bases(self.rows.rows() as usize, self.rows.bases(), self.clusters)
    }

    /// The number of clusters asked for.
    ///
    /// # Errors
    /// [`ConsensusError::Auto`] where the method shall choose and does not.
    pub fn given_clusters(&self, method: &'static str) -> Result<usize, ConsensusError> {
        match self.clusters {
            Clusters::Exactly(clusters) => Ok(clusters),
            Clusters::Auto => Err(ConsensusError::Auto { method }),
        }
    }

    /// Passes over the rows that run to their end: whether to stop is asked between passes.
    pub fn passes(&self) -> PassRunner<'a> {
        PassRunner::new(self.rows, &Silent).by(self.engine)
    }
}
