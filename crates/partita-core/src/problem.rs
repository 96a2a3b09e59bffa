//! What a method is given.

use std::num::Saturating;

use ndarray::ArrayView2;

use crate::{BaseClustering, BaseWeights, ConsensusError, Ensemble, MemoryBudget, Seed, SettingMap};

/// How many clusters the consensus shall have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// So many. Methods that find the number themselves take it as the most they may use.
    Exactly(usize),
    /// The method chooses.
    Auto,
}

/// K out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("asked for {clusters} clusters of {objects} objects; ask for 1 to {objects}")]
pub struct ClustersError {
    /// Clusters asked for.
    pub clusters: usize,
    /// Objects there are.
    pub objects: usize,
}

impl ClustersError {
    /// Refuses K = 0 and more clusters than objects.
    ///
    /// # Errors
    /// [`ClustersError`] with both numbers.
    pub fn check(clusters: usize, objects: usize) -> Result<(), Self> {
        if (1..=objects).contains(&clusters) { Ok(()) } else { Err(Self { clusters, objects }) }
    }
}

/// The table behind the ensemble: n objects × d named columns of finite numbers.
#[derive(Clone, Copy, Debug)]
pub struct Features<'a> {
    columns: &'a [String],
    values: ArrayView2<'a, f64>,
}

impl<'a> Features<'a> {
    /// Features with one name a column.
    ///
    /// # Errors
    /// A sentence that names the first number that is not finite, or the two lengths that differ.
    pub fn new(columns: &'a [String], values: ArrayView2<'a, f64>) -> Result<Self, String> {
        if columns.len() != values.ncols() {
            return Err(format!("{} column names for {} columns", columns.len(), values.ncols()));
        }
        if let Some(((object, column), value)) = values.indexed_iter().find(|(_, value)| !value.is_finite()) {
            return Err(format!("object {object} has {value} in column '{}'", columns[column]));
        }
        Ok(Self { columns, values })
    }

    /// Names of the columns, d of them.
    pub fn columns(&self) -> &'a [String] {
        self.columns
    }

    /// The numbers, n × d.
    pub fn values(&self) -> ArrayView2<'a, f64> {
        self.values
    }
}

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
    /// Weights of the base clusterings, for methods that take them.
    pub weights: Option<&'a BaseWeights>,
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

    /// The numbers that cost depends on.
    pub fn size(&self) -> ProblemSize {
        ProblemSize::of(self.ensemble, self.clusters)
    }
}

/// The numbers that time and memory depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProblemSize {
    /// Objects, n.
    pub objects: usize,
    /// Base clusterings, M.
    pub base_clusterings: usize,
    /// Clusters of all base clusterings together, ΣJ.
    pub base_clusters: usize,
    /// Clusters of the largest base clustering.
    pub largest_base_clustering: usize,
    /// Clusters of the consensus, K; √n where the method chooses.
    pub clusters: usize,
    /// Whether the method chooses K.
    pub auto: bool,
}

impl ProblemSize {
    /// The size of a consensus of `ensemble`.
    pub fn of(ensemble: &Ensemble, clusters: Clusters) -> Self {
        Self::of_bases(ensemble.objects(), ensemble.bases(), clusters)
    }

    /// The size of a consensus of so many objects.
    pub fn of_bases(objects: usize, bases: &[BaseClustering], clusters: Clusters) -> Self {
        Self {
            objects,
            base_clusterings: bases.len(),
            base_clusters: bases.iter().map(BaseClustering::clusters).sum(),
            largest_base_clustering: bases.iter().map(BaseClustering::clusters).max().unwrap_or(1),
            clusters: match clusters {
                Clusters::Exactly(clusters) => clusters,
                Clusters::Auto => objects.isqrt(),
            },
            auto: clusters == Clusters::Auto,
        }
    }

    /// The same where the method chooses at most so many clusters.
    #[must_use]
    pub fn at_most(self, most: usize) -> Self {
        Self { clusters: if self.auto { most.clamp(1, self.objects.max(1)) } else { self.clusters }, ..self }
    }

    /// n, M, ΣJ and K for estimates of memory: their sums and products end at the largest number instead of overflowing.
    pub fn saturating(&self) -> [Saturating<u64>; 4] {
        [self.objects, self.base_clusterings, self.base_clusters, self.clusters].map(|number| Saturating(number as u64))
    }

    /// Unordered pairs of objects, n (n − 1) / 2.
    pub const fn pairs(&self) -> u64 {
        let n = self.objects as u64;
        n * n.saturating_sub(1) / 2
    }
}
