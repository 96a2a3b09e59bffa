//! Resolutions of the base clusterings that have one.

use std::fmt;
use std::str::FromStr;

use partita_core::Seed;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::GenerateError;
use crate::error::Result;

/// The resolutions that runs of Leiden draw from, evenly in their logarithm; written `0.1..2`, or `1` for one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub struct Resolutions {
    /// The smallest.
    pub low: f64,
    /// The largest.
    pub high: f64,
}

impl Default for Resolutions {
    /// What single-cell analyses try: from a few large clusters to many small ones.
    fn default() -> Self {
        Self {
            low: 0.1,
            high: 2.0,
        }
    }
}

impl Resolutions {
    /// Recipes that do not name them are written as before there were any.
    pub(crate) fn are_usual(&self) -> bool {
        *self == Self::default()
    }

    pub(crate) fn draw(self, seed: Seed) -> f64 {
        let share = seed.rng().random::<f64>();
        let drawn = self.low.powf(1.0 - share) * self.high.powf(share);
        drawn.clamp(self.low, self.high)
    }

    pub(crate) fn check(self) -> Result<()> {
        if self.low > 0.0 && self.low <= self.high && self.high.is_finite() {
            Ok(())
        } else {
            Err(GenerateError::Resolutions(self.to_string()))
        }
    }
}

impl FromStr for Resolutions {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self> {
        let (low, high) = text.split_once("..").unwrap_or((text, text));
        let wrong = |_| GenerateError::Resolutions(text.into());
        let found = Self {
            low: low.trim().parse().map_err(wrong)?,
            high: high.trim().parse().map_err(wrong)?,
        };
        found
            .check()
            .map(|()| found)
            .map_err(|_| GenerateError::Resolutions(text.into()))
    }
}

impl fmt::Display for Resolutions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.low == self.high {
            write!(f, "{}", self.low)
        } else {
            write!(f, "{}..{}", self.low, self.high)
        }
    }
}

impl From<Resolutions> for String {
    fn from(resolutions: Resolutions) -> Self {
        resolutions.to_string()
    }
}

impl TryFrom<String> for Resolutions {
    type Error = GenerateError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back_and_wrong_ones_are_refused() {
        for text in ["0.1..2", "1", "0.5..0.75"] {
            assert_eq!(text.parse::<Resolutions>().unwrap().to_string(), text);
        }
        for text in ["", "x", "2..1", "0..1", "-1", "1..inf", "NaN"] {
            let message = text.parse::<Resolutions>().unwrap_err().to_string();
            assert_eq!(
                message,
                format!(
                    "'{text}' says no resolutions; write 1, or a range of numbers above 0 such as 0.1..2"
                )
            );
        }
    }

    #[test]
    fn half_of_the_draws_are_below_the_geometric_mean() {
        let range: Resolutions = "0.1..10".parse().unwrap();
        let draws: Vec<f64> = (0..400).map(|i| range.draw(Seed::new(i))).collect();
        assert!(draws.iter().all(|draw| (0.1..=10.0).contains(draw)));
        let below = draws.iter().filter(|&&draw| draw < 1.0).count();
        assert!((160..240).contains(&below), "{below}");
        for extreme in ["1e-308..1e308", "0.3"] {
            let range: Resolutions = extreme.parse().unwrap();
            let drawn = range.draw(Seed::new(1));
            assert!((range.low..=range.high).contains(&drawn), "{drawn}");
        }
    }
}
