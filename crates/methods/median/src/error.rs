//! Errors of median partitions.

use partita_core::{FitError, PassError};

/// Rows that no median can be found for.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum MedianError {
    /// An object that nobody labelled.
    #[error("object {object} has no label in any base clustering")]
    Unlabelled {
        /// Index of the object.
        object: u64,
    },
    /// A pass over rows that did not come to its end.
    #[error(transparent)]
    Pass(#[from] PassError),
}

impl From<MedianError> for FitError {
    fn from(error: MedianError) -> Self {
        match error {
            MedianError::Pass(PassError::Interrupted) => Self::Interrupted,
            other => Self::other(other),
        }
    }
}

/// Refuses an object without any label, if there is one.
pub(crate) fn labelled(first_unlabelled: Option<u64>) -> Result<(), MedianError> {
    match first_unlabelled {
        Some(object) => Err(MedianError::Unlabelled { object }),
        None => Ok(()),
    }
}
