//! What a method is given.

use ndarray::ArrayView2;

use crate::{BaseWeights, Ensemble, MemoryBudget, Seed, SettingPairs};

/// How many clusters the consensus shall have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// So many. Methods that find the number themselves take it as the most they may use.
    Exactly(usize),
    /// The method chooses.
    Auto,
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
    /// Trust in the base clusterings, for methods that take it.
    pub weights: Option<&'a BaseWeights>,
    /// Settings of the method by name.
    pub settings: SettingPairs,
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
            settings: SettingPairs::default(),
            budget: MemoryBudget::UNLIMITED,
        }
    }

    /// The numbers that cost depends on. Where the method chooses K, √n stands for it.
    pub fn size(&self) -> ProblemSize {
        let objects = self.ensemble.objects();
        ProblemSize {
            objects,
            base_clusterings: self.ensemble.bases().len(),
            base_clusters: self.ensemble.bases().iter().map(crate::BaseClustering::clusters).sum(),
            clusters: match self.clusters {
                Clusters::Exactly(clusters) => clusters,
                Clusters::Auto => objects.isqrt(),
            },
        }
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
    /// Clusters of the consensus, K.
    pub clusters: usize,
}

impl ProblemSize {
    /// Unordered pairs of objects, n (n − 1) / 2.
    pub const fn pairs(&self) -> u64 {
        let n = self.objects as u64;
        n * n.saturating_sub(1) / 2
    }
}
