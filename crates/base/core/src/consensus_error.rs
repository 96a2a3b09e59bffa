//! Why there is no consensus.

use std::error::Error;

use crate::{BudgetError, ClustersError, SettingsError, option};

/// Why there is no consensus.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsensusError {
    /// K out of range.
    #[error(transparent)]
    Clusters(#[from] ClustersError),
    /// The method does not choose K.
    #[error("{method} cannot choose the number of clusters; say how many, or take -k auto")]
    Auto {
        /// Name of the method.
        method: &'static str,
    },
    /// The labels say how many clusters there are.
    #[error(
        "{method}: with these settings there is a cluster for each of {fixed} names of labels, not {asked}; ask for {fixed}, or leave \
         the number out"
    )]
    FixedClusters {
        /// Name of the method.
        method: &'static str,
        /// Clusters there are.
        fixed: usize,
        /// Clusters asked for.
        asked: usize,
    },
    /// The method holds all label rows.
    #[error("{method} holds all label rows at once; it cannot read them block by block")]
    Streams {
        /// Name of the method.
        method: &'static str,
    },
    /// Objects that nobody labelled.
    #[error("{}", unlabelled(object, *others))]
    Unlabelled {
        /// Name or index of the first.
        object: String,
        /// How many more there are.
        others: usize,
    },
    /// A missing label, and the method takes none.
    #[error(
        "{method} takes no missing labels; object {object} has none in base clustering '{base}'"
    )]
    Missing {
        /// Name of the method.
        method: &'static str,
        /// Name or index of the object.
        object: String,
        /// Name of the base clustering.
        base: String,
    },
    /// The method reads a table and there is none, or it has other rows.
    #[error("{method} reads the table behind the ensemble: {reason}")]
    Features {
        /// Name of the method.
        method: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Soft base clusterings for a method that takes none.
    #[error(
        "{method} takes no soft base clusterings: {reason}; take another method, or the label of the largest share ({})",
        option("harden").on()
    )]
    SoftBases {
        /// Name of the method.
        method: &'static str,
        /// Why not.
        reason: &'static str,
    },
    /// Weights that do not fit.
    #[error("weights of {what}: {reason}")]
    Weights {
        /// What they are weights of.
        what: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// A start or pairs that do not fit.
    #[error("{method}: {reason}")]
    Given {
        /// Name of the method.
        method: &'static str,
        /// What is wrong.
        reason: String,
    },
    /// Settings that do not fit.
    #[error("{method}: {source}")]
    Settings {
        /// Name of the method.
        method: &'static str,
        /// What does not fit.
        source: SettingsError,
    },
    /// Too little memory.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// It was asked to stop before there was anything to give back.
    #[error("stopped before there was a result")]
    Interrupted,
    /// Something of this method's own.
    #[error("{method}: {source}")]
    Method {
        /// Name of the method.
        method: &'static str,
        /// What went wrong.
        source: Box<dyn Error + Send + Sync>,
    },
}

fn unlabelled(object: &str, others: usize) -> String {
    match others {
        0 => format!("object {object} has no label in any base clustering; remove it or label it"),
        1 => format!(
            "object {object} and one other have no label in any base clustering; remove them or label them"
        ),
        _ => format!(
            "object {object} and {others} others have no label in any base clustering; remove them or label them"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_without_a_label_are_counted() {
        let said = |others| {
            ConsensusError::Unlabelled {
                object: "c1".into(),
                others,
            }
            .to_string()
        };
        assert_eq!(
            said(0),
            "object c1 has no label in any base clustering; remove it or label it"
        );
        assert!(
            said(1).starts_with("object c1 and one other have"),
            "{}",
            said(1)
        );
        assert!(
            said(7).starts_with("object c1 and 7 others have"),
            "{}",
            said(7)
        );
    }
}
