//! Errors of a choice.

use partita_coassoc::CoassocError;
use partita_core::{BudgetError, ConsensusError, FitError, SettingsError, option};
use partita_generate::GenerateError;
use partita_metrics::MetricsError;
use partita_spectral::SpectralError;

/// Why nothing was chosen.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SelectError {
    /// There is nothing to choose from.
    #[error("there is no method to choose from; name at least one")]
    NoMethods,
    /// Every method refused the problem.
    #[error("none of the {} methods gave a consensus: {}", .reasons.len(), said(.reasons))]
    AllRefused {
        /// Names of the methods, and what each of them said.
        reasons: Vec<(&'static str, String)>,
    },
    /// The monitor asked to stop before there was any result.
    #[error("stopped before there was a result")]
    Interrupted,
    /// No number of clusters to look at.
    #[error("cannot look at {first} to {last} clusters of {objects} objects; {}", room(*.most))]
    Range {
        /// The smallest number given.
        first: usize,
        /// The largest number given.
        last: usize,
        /// Objects looked at.
        objects: usize,
        /// The most clusters that can be looked at.
        most: usize,
    },
    /// A setting out of range.
    #[error(transparent)]
    Settings(#[from] SettingsError),
    /// No such method.
    #[error(transparent)]
    Method(#[from] partita::extend::MethodError),
    /// A table that cannot be looked at.
    #[error("{0}")]
    Table(String),
    /// It would not fit.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// No base clusterings.
    #[error(transparent)]
    Generate(GenerateError),
    /// No consensus.
    #[error(transparent)]
    Consensus(ConsensusError),
    /// No fit of a method.
    #[error(transparent)]
    Fit(FitError),
    /// No pair statistics.
    #[error(transparent)]
    Coassoc(CoassocError),
    /// No principal components.
    #[error(transparent)]
    Spectral(#[from] SpectralError),
    /// No agreement.
    #[error(transparent)]
    Metrics(#[from] MetricsError),
}

impl From<FitError> for SelectError {
    fn from(error: FitError) -> Self {
        match error {
            FitError::Interrupted => Self::Interrupted,
            FitError::Budget(budget) => Self::Budget(budget),
            FitError::Settings(settings) => Self::Settings(settings),
            other => Self::Fit(other),
        }
    }
}

impl From<GenerateError> for SelectError {
    fn from(error: GenerateError) -> Self {
        match error {
            GenerateError::NothingFinished { .. } => Self::Interrupted,
            GenerateError::Budget(budget) => Self::Budget(budget),
            other => Self::Generate(other),
        }
    }
}

impl From<ConsensusError> for SelectError {
    fn from(error: ConsensusError) -> Self {
        match error {
            ConsensusError::Interrupted => Self::Interrupted,
            ConsensusError::Budget(budget) => Self::Budget(budget),
            other => Self::Consensus(other),
        }
    }
}

impl From<CoassocError> for SelectError {
    fn from(error: CoassocError) -> Self {
        match error {
            CoassocError::Interrupted => Self::Interrupted,
            CoassocError::Budget(budget) => Self::Budget(budget),
            other => Self::Coassoc(other),
        }
    }
}

/// What to do about a range that does not fit.
fn room(most: usize) -> String {
    match most {
        0 | 1 => format!(
            "they are too few to choose from: give a number of clusters ({})",
            option("k").called("n-clusters")
        ),
        _ => format!("name two numbers between 2 and {most}"),
    }
}

/// What all say alike is said once.
fn said(reasons: &[(&'static str, String)]) -> String {
    match reasons {
        [(_, first), rest @ ..] if rest.iter().all(|(_, reason)| reason == first) => first.clone(),
        _ => {
            let each = |(method, reason): &(&str, String)| {
                if reason.starts_with(method) {
                    reason.clone()
                } else {
                    format!("{method}: {reason}")
                }
            };
            reasons.iter().map(each).collect::<Vec<_>>().join("; ")
        }
    }
}
