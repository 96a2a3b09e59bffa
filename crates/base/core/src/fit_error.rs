//! Why a fit failed.

use std::error::Error;

use crate::{BudgetError, ConsensusError, SettingsError};

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
