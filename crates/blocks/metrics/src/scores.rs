//! Every external index of a result at once.

use partita_core::Partition;
#[cfg(feature = "passes")]
use serde::{Deserialize, Serialize};

use crate::{Contingency, F1, MetricsError, Normalisation};

/// Every external index of a partition against the truth, under the names that files and JSON use.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "passes", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct Scores {
    /// Accuracy under the best matching of clusters ([`Contingency::accuracy`]).
    pub h: f64,
    /// Adjusted Rand index.
    pub ari: f64,
    /// Adjusted mutual information, arithmetic normalisation.
    pub ami: f64,
    /// Normalised mutual information, by normalisation.
    pub nmi: NmiScores,
    /// Variation of information, nats.
    pub vi: f64,
    /// Purity of the found clusters.
    pub purity: f64,
    /// F1 in four readings.
    pub f1: F1,
    /// Fowlkes–Mallows index.
    pub fowlkes_mallows: f64,
}

/// Normalised mutual information by what it is divided by.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "passes", derive(Serialize, Deserialize))]
#[non_exhaustive]
pub struct NmiScores {
    /// Over the larger entropy.
    pub max: f64,
    /// Over the arithmetic mean of the entropies.
    pub arithmetic: f64,
    /// Over the geometric mean of the entropies.
    pub geometric: f64,
    /// Over the smaller entropy.
    pub min: f64,
}

impl Scores {
    /// The scores of a partition that was found against the true one.
    ///
    /// # Errors
    /// As [`Contingency::new`].
    pub fn of(found: &Partition, truth: &Partition) -> Result<Self, MetricsError> {
        Ok(Self::from(&Contingency::new(found, truth)?))
    }
}

impl From<&Contingency> for Scores {
    fn from(table: &Contingency) -> Self {
        Self {
            h: table.accuracy(),
            ari: table.ari(),
            ami: table.ami(),
            nmi: NmiScores {
                max: table.nmi(Normalisation::Max),
                arithmetic: table.nmi(Normalisation::Arithmetic),
                geometric: table.nmi(Normalisation::Geometric),
                min: table.nmi(Normalisation::Min),
            },
            vi: table.vi(),
            purity: table.purity(),
            f1: table.f1(),
            fowlkes_mallows: table.fowlkes_mallows(),
        }
    }
}
