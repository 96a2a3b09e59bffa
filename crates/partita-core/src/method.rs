//! What a consensus method is: its settings, its facts, and the function that fits it.

use std::error::Error;

use serde::Serialize;

use crate::{
    BudgetError, Clusters, ClustersError, ConsensusError, Monitor, Outcome, Problem, ProblemSize, RowFit, RowProblem,
    Settings, SettingsError,
};

/// A consensus method. Write one function and this trait; the list of methods, help, settings by name, budgets, JSON and
/// the conformance tests are derived from it ([`crate::Consensus`]).
///
/// A method is a value, so that methods which differ in one parameter (a linkage, a divergence) are one implementation.
pub trait Method: Sync {
    /// What can be set.
    type Settings: Settings;
    /// Facts of this method's own about a fit, such as the spread over restarts.
    type Diagnostics: Serialize;
    /// Why there is no consensus.
    type Error: Into<FitError>;

    /// What the method is and what can be relied upon.
    fn info(&self) -> &'static MethodInfo;

    /// Compares settings with each other, with the size of the problem, and with what else this method is made of.
    ///
    /// # Errors
    /// [`SettingsError`] for the first that does not fit.
    fn check(&self, settings: &Self::Settings, size: &ProblemSize) -> Result<(), SettingsError> {
        settings.check(size)
    }

    /// Bytes held at once, at most, with these settings.
    fn bytes(&self, size: &ProblemSize, settings: &Self::Settings) -> u64;

    /// Finds the consensus of a problem that [`consense`](crate::consense) has checked and brought into canonical order,
    /// with settings that are within their ranges.
    ///
    /// # Errors
    /// Whatever keeps it from being found.
    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &Self::Settings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<Self::Diagnostics>, Self::Error>;

    /// Finds the consensus of label rows that it does not hold, for methods that can ([`Capabilities::streams`]).
    ///
    /// # Errors
    /// Whatever keeps it from being found.
    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &Self::Settings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<Self::Diagnostics>, FitError> {
        let _ = (problem, settings, monitor);
        Err(ConsensusError::Streams { method: self.info().name }.into())
    }

    /// Bytes held at once by [`fit_rows`](Self::fit_rows), at most, besides the rows themselves.
    fn row_bytes(&self, size: &ProblemSize, settings: &Self::Settings) -> u64 {
        self.bytes(size, settings)
    }
}

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
    /// What its certainty means.
    pub certainty: &'static str,
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
    /// Whether it takes weights of base clusterings.
    pub base_weights: Weights,
    /// Whether it takes weights of objects.
    pub object_weights: Weights,
    /// Whether the seed changes anything.
    pub seeded: bool,
    /// Whether the outcome has a dendrogram.
    pub tree: bool,
    /// Whether the outcome for any K is nothing but a cut of one and the same dendrogram.
    pub cuts_tree: bool,
    /// Whether the outcome has a model that labels new objects.
    pub predicts: bool,
    /// Whether label rows may stay in a file.
    pub streams: bool,
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
    /// They are part of what it optimises.
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
        base_weights: Weights::Refused(UNWEIGHTED),
        object_weights: Weights::Refused(UNWEIGHTED),
        seeded: false,
        tree: false,
        cuts_tree: false,
        predicts: false,
        streams: false,
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

/// Why a fit failed, sorted by whose turn it is: what every method can run into, and the rest.
#[derive(Debug, thiserror::Error)]
pub enum FitError {
    /// Settings that do not fit this ensemble.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// Too little memory.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// It was asked to stop before there was anything to give back.
    #[error("stopped before there was a result")]
    Interrupted,
    /// One of the errors that every method shares.
    #[error(transparent)]
    Consensus(#[from] ConsensusError),
    /// Something of this method's own.
    #[error("{0}")]
    Other(Box<dyn Error + Send + Sync>),
}

impl FitError {
    /// An error of a method's own.
    pub fn other(error: impl Error + Send + Sync + 'static) -> Self {
        Self::Other(Box::new(error))
    }

    /// The error as that of a method.
    pub(crate) fn of(self, method: &'static str) -> ConsensusError {
        match self {
            Self::Settings(source) => ConsensusError::Settings { method, source },
            Self::Budget(error) => error.into(),
            Self::Interrupted => ConsensusError::Interrupted,
            Self::Consensus(error) => error,
            Self::Other(source) => ConsensusError::Method { method, source },
        }
    }
}
