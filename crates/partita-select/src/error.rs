//! What can go wrong.

/// Why no method was chosen.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
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
    /// The watch asked to stop before any method had a result.
    #[error("stopped before there was a result")]
    Interrupted,
}

/// What all say alike is said once.
fn said(reasons: &[(&'static str, String)]) -> String {
    match reasons {
        [(_, first), rest @ ..] if rest.iter().all(|(_, reason)| reason == first) => first.clone(),
        _ => {
            let each = |(method, reason): &(&str, String)| {
                if reason.starts_with(method) { reason.clone() } else { format!("{method}: {reason}") }
            };
            reasons.iter().map(each).collect::<Vec<_>>().join("; ")
        }
    }
}
