//! Which divergence, as a setting.

use std::fmt;
use std::str::FromStr;

use partita_core::{SettingType, SettingValues};
use serde::{Deserialize, Serialize};

/// What a wrong co-occurrence probability costs. Written `kl`, `l2`, `exponential` or `beta:1.5`.
///
/// A Mahalanobis divergence of `(x, 1−x)` is `(a₁₁ − 2a₁₂ + a₂₂)(x−p)²`: [`L2`](Self::L2) times a constant, so `mahalanobis` is another
/// name of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
#[non_exhaustive]
pub enum Divergence {
    /// Kullback–Leibler: maximum likelihood of binomial counts.
    #[default]
    Kl,
    /// Squared difference.
    L2,
    /// The Bregman divergence of `e^x`.
    Exponential,
    /// The Bregman divergence of `x^p`, 1 < p ≤ 2; 2 is twice [`L2`](Self::L2).
    Beta(f64),
}

/// A text that names no divergence with a guarantee.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DivergenceError {
    /// No such divergence.
    #[error("there is no divergence '{0}'; take kl, l2, exponential or beta:p with 1 < p ≤ 2")]
    Unknown(String),
    /// The power is out of range.
    #[error(
        "beta:{0} is not convex in both arguments; only 1 < p ≤ 2 keeps every step's problem convex (kl is the limit p → 1)"
    )]
    Power(String),
    /// The divergence exists but loses the guarantee.
    #[error(
        "{0} is not convex in its second argument on [0, 1], so a step could stop at a maximum; take kl, l2, exponential or beta:p"
    )]
    Concave(&'static str),
}

impl SettingType for Divergence {
    fn values() -> SettingValues {
        SettingValues::Text("kl, l2, exponential or beta:p with 1 < p ≤ 2")
    }
}

impl FromStr for Divergence {
    type Err = DivergenceError;

    fn from_str(text: &str) -> Result<Self, DivergenceError> {
        match text {
            "kl" => Ok(Self::Kl),
            "l2" | "mahalanobis" => Ok(Self::L2),
            "exponential" => Ok(Self::Exponential),
            "itakura-saito" | "is" => Err(DivergenceError::Concave("the Itakura–Saito divergence")),
            "hellinger" => Err(DivergenceError::Concave(
                "the Hellinger-like divergence of −√x",
            )),
            _ => {
                let Some(power) = text.strip_prefix("beta:") else {
                    return Err(DivergenceError::Unknown(text.into()));
                };
                let number = power.parse().ok().filter(|&p| p > 1.0 && p <= 2.0);
                number
                    .map(Self::Beta)
                    .ok_or_else(|| DivergenceError::Power(power.into()))
            }
        }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Kl => f.write_str("kl"),
            Self::L2 => f.write_str("l2"),
            Self::Exponential => f.write_str("exponential"),
            Self::Beta(power) => write!(f, "beta:{power}"),
        }
    }
}

impl TryFrom<String> for Divergence {
    type Error = DivergenceError;

    fn try_from(text: String) -> Result<Self, DivergenceError> {
        text.parse()
    }
}

impl From<Divergence> for String {
    fn from(divergence: Divergence) -> Self {
        divergence.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        use Divergence::{Beta, Exponential, Kl, L2};
        assert_eq!("mahalanobis".parse(), Ok(L2));
        for divergence in [Kl, L2, Exponential, Beta(1.5), Beta(2.0)] {
            assert_eq!(divergence.to_string().parse(), Ok(divergence));
        }
    }

    #[test]
    fn what_has_no_guarantee_is_refused_with_the_reason() {
        for (text, reason) in [
            ("itakura-saito", "not convex in its second argument"),
            ("hellinger", "not convex"),
            ("beta:2.5", "only 1 < p ≤ 2"),
            ("beta:1", "only 1 < p ≤ 2"),
            ("beta:x", "only 1 < p ≤ 2"),
            ("huber", "there is no divergence 'huber'"),
        ] {
            let message = text.parse::<Divergence>().unwrap_err().to_string();
            assert!(message.contains(reason), "{message}");
        }
    }
}
