//! How many clusters, and the numbers that time and memory depend on.

use std::num::Saturating;

use crate::{BaseClustering, Ensemble, Memberships};

/// How many clusters the consensus shall have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clusters {
    /// So many. Methods that find the number themselves take it as the most they may use.
    Exactly(usize),
    /// The method chooses.
    Auto,
}

impl From<usize> for Clusters {
    fn from(clusters: usize) -> Self {
        Self::Exactly(clusters)
    }
}

/// K out of range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("asked for {clusters} clusters where there {}; ask for {}", there_are(*.objects), range(*.objects))]
pub struct ClustersError {
    /// Clusters asked for.
    pub clusters: usize,
    /// Objects there are.
    pub objects: usize,
}

fn there_are(objects: usize) -> String {
    match objects {
        1 => "is 1 object".into(),
        objects => format!("are {objects} objects"),
    }
}

/// The numbers of clusters that so many objects can have.
fn range(objects: usize) -> String {
    if objects > 1 {
        format!("1 to {objects}")
    } else {
        "1".into()
    }
}

impl ClustersError {
    /// Refuses K = 0 and more clusters than objects.
    ///
    /// # Errors
    /// [`ClustersError`] with both numbers.
    pub fn check(clusters: usize, objects: usize) -> Result<(), Self> {
        if (1..=objects).contains(&clusters) {
            Ok(())
        } else {
            Err(Self { clusters, objects })
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
    /// Clusters of the largest base clustering.
    pub largest_base_clustering: usize,
    /// Shares of objects in base clusters that are held where base clusterings are soft; 0 where all are hard.
    pub soft_shares: usize,
    /// Bytes of the names of objects; 0 where they have none.
    pub object_names: usize,
    /// Clusters of the consensus, K; √n where the method chooses.
    pub clusters: usize,
    /// Whether the method chooses K.
    pub auto: bool,
}

impl ProblemSize {
    /// The size of a consensus of `ensemble`.
    pub fn of(ensemble: &Ensemble, clusters: Clusters) -> Self {
        let size = Self::of_bases(ensemble.objects(), ensemble.bases(), clusters);
        let names = ensemble.object_names().unwrap_or_default();
        Self {
            soft_shares: ensemble.memberships().map_or(0, Memberships::len),
            object_names: names
                .iter()
                .map(|name| name.len() + size_of::<String>())
                .sum(),
            ..size
        }
    }

    /// The size of a consensus of so many objects.
    pub fn of_bases(objects: usize, bases: &[BaseClustering], clusters: Clusters) -> Self {
        Self {
            objects,
            base_clusterings: bases.len(),
            base_clusters: bases.iter().map(BaseClustering::clusters).sum(),
            largest_base_clustering: bases
                .iter()
                .map(BaseClustering::clusters)
                .max()
                .unwrap_or(1),
            soft_shares: 0,
            object_names: 0,
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
        Self {
            clusters: if self.auto {
                most.clamp(1, self.objects.max(1))
            } else {
                self.clusters
            },
            ..self
        }
    }

    /// n, M, ΣJ and K for estimates of memory: their sums and products end at the largest number instead of overflowing.
    pub fn saturating(&self) -> [Saturating<u64>; 4] {
        [
            self.objects,
            self.base_clusterings,
            self.base_clusters,
            self.clusters,
        ]
        .map(|number| Saturating(number as u64))
    }

    /// Unordered pairs of objects, n (n − 1) / 2.
    pub const fn pairs(&self) -> u64 {
        let n = self.objects as u64;
        n * n.saturating_sub(1) / 2
    }
}
