//! What a method is and what can be relied upon.

use serde::Serialize;

use crate::{Clusters, ClustersError, ConsensusError};

/// What a method is. Documents, help texts and the table of methods are made from it.
#[derive(Clone, Copy, Debug)]
pub struct MethodInfo {
    /// Name on the command line: lower case, hyphens.
    pub name: &'static str,
    /// The family, which is the crate without its prefix.
    pub family: &'static str,
    /// One line for somebody who chooses.
    pub summary: &'static str,
    /// Authors, year, where.
    pub reference: &'static str,
    /// Time, in the field's notation.
    pub time: &'static str,
    /// Memory, in the field's notation.
    pub memory: &'static str,
    /// What to do when the memory budget is too small.
    pub remedy: &'static str,
    /// What can be relied upon.
    pub capabilities: Capabilities,
}

/// What can be relied upon. The conformance tests hold every method to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Capabilities {
    /// What it reads.
    pub reads: Reads,
    /// What it does with missing labels.
    pub missing: MissingLabels,
    /// Whether it gives probabilities.
    pub soft: bool,
    /// Whether it can choose the number of clusters ([`Clusters::Auto`]).
    pub auto_clusters: bool,
    /// Whether `Exactly(k)` is the most clusters it may use rather than the number it returns.
    pub clusters_is_maximum: bool,
    /// Whether it takes soft base clusterings.
    pub soft_bases: SoftBases,
    /// Whether it takes weights of base clusterings.
    pub base_weights: Weights,
    /// Whether it takes weights of objects.
    pub object_weights: Weights,
    /// Whether the seed changes anything.
    pub seeded: bool,
    /// Whether the outcome has draws from a posterior.
    pub posterior: bool,
    /// Whether the outcome has a dendrogram.
    pub tree: bool,
    /// Whether the outcome for any K is nothing but a cut of one and the same dendrogram.
    pub cuts_tree: bool,
    /// Whether the outcome has a model that labels new objects.
    pub predicts: bool,
    /// Whether label rows may stay in a file.
    pub streams: bool,
    /// Whether it can start from probabilities that a user gives ([`Problem::start`](crate::Problem::start)).
    pub start: bool,
    /// Whether it reads pairs that a user gives, and their counts ([`Problem::pairs`](crate::Problem::pairs)).
    pub pairs: bool,
}

/// What a method reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reads {
    /// Label rows only.
    Labels,
    /// Label rows and the table behind them.
    LabelsAndFeatures,
}

/// What a method does with missing labels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingLabels {
    /// They are handled; an object without any label is an error.
    Handled,
    /// They are handled; an object without any label is labelled by the prior.
    HandledByPrior,
    /// They are refused with an error that names the first one.
    Refused,
}

/// What a method does with weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Weights {
    /// They are part of what it optimises; of weights of base clusterings only proportions count.
    Native,
    /// They are part of what it optimises, as numbers of copies: where all have weight 2, all are there twice
    /// ([`BaseWeights::copies`](crate::BaseWeights::copies)).
    Copies,
    /// They are refused, and why.
    Refused(&'static str),
}

impl Weights {
    /// Whether weights are taken.
    pub fn are_taken(self) -> bool {
        !matches!(self, Self::Refused(_))
    }
}

/// What a method does with soft base clusterings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SoftBases {
    /// Shares are part of what it optimises.
    Native,
    /// They are refused, and why.
    Refused(&'static str),
}

impl Capabilities {
    /// Reads label rows in memory, handles missing labels, gives hard labels for a given K, is not seeded, and takes no
    /// weights. Start from it and change what differs.
    pub const HARD_LABELS: Self = Self {
        reads: Reads::Labels,
        missing: MissingLabels::Handled,
        soft: false,
        auto_clusters: false,
        clusters_is_maximum: false,
        soft_bases: SoftBases::Refused("it reads one label of each base clustering"),
        base_weights: Weights::Refused(UNWEIGHTED),
        object_weights: Weights::Refused("it counts every object once"),
        seeded: false,
        posterior: false,
        tree: false,
        cuts_tree: false,
        predicts: false,
        streams: false,
        start: false,
        pairs: false,
    };
}

const UNWEIGHTED: &str = "what it optimises has no weights";

impl MethodInfo {
    /// Whether the method can be asked for so many clusters of so many objects.
    ///
    /// # Errors
    /// [`ConsensusError::Clusters`] if K is 0 or above n, [`ConsensusError::Auto`] if the method does not choose K.
    pub fn check_clusters(&self, clusters: Clusters, objects: usize) -> Result<(), ConsensusError> {
        match clusters {
            Clusters::Exactly(clusters) => Ok(ClustersError::check(clusters, objects)?),
            Clusters::Auto if self.capabilities.auto_clusters => Ok(()),
            Clusters::Auto => Err(ConsensusError::Auto { method: self.name }),
        }
    }
}
