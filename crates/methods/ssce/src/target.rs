//! The consensus that a model learns: labels, or probabilities.

use partita_core::{Partition, SoftPartition};

/// A hard or a soft consensus.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Target<'a> {
    /// One label an object.
    Hard(&'a Partition),
    /// A row of probabilities an object.
    Soft(&'a SoftPartition),
}

impl Target<'_> {
    /// Objects, n.
    pub(crate) fn objects(self) -> usize {
        match self {
            Self::Hard(partition) => partition.objects(),
            Self::Soft(soft) => soft.objects(),
        }
    }

    /// Clusters, K.
    pub(crate) fn clusters(self) -> usize {
        match self {
            Self::Hard(partition) => partition.clusters(),
            Self::Soft(soft) => soft.clusters(),
        }
    }

    /// The most probable cluster of every object.
    pub(crate) fn labels(self) -> Vec<u32> {
        match self {
            Self::Hard(partition) => partition.labels().to_vec(),
            Self::Soft(soft) => soft.hard().labels().to_vec(),
        }
    }

    /// Calls `each` with the clusters of object `i` and their probabilities above 0.
    pub(crate) fn shares(self, i: usize, mut each: impl FnMut(usize, f64)) {
        match self {
            Self::Hard(partition) => each(partition.labels()[i] as usize, 1.0),
            Self::Soft(soft) => {
                for (k, &share) in soft.rows().row(i).iter().enumerate() {
                    if share > 0.0 {
                        each(k, share);
                    }
                }
            }
        }
    }
}
