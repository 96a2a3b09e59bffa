//! Numbers of clusters of the base clusterings.

use std::fmt;
use std::str::FromStr;

use partita_core::Seed;
use rand::RngExt;
use serde::{Deserialize, Serialize};

use crate::GenerateError;
use crate::error::Result;

/// How many clusters the base clusterings have.
///
/// | text | meaning |
/// |---|---|
/// | `10` | 10 in every one |
/// | `4,6,8` | 4, 6, 8, 4, 6, … in turn |
/// | `4..20` | drawn evenly from 4 to 20, both included |
/// | `sqrt` | drawn evenly from ⌈√n/2⌉ to ⌈√n⌉ |
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
#[non_exhaustive]
pub enum BaseK {
    /// These numbers in turn, the first run of each base clusterer taking the first.
    Turns(Vec<usize>),
    /// Drawn evenly between two numbers, both included.
    Range {
        /// The smallest number.
        first: usize,
        /// The largest number.
        last: usize,
    },
    /// Drawn evenly from ⌈√n/2⌉ to ⌈√n⌉, n being the objects of the table.
    Sqrt,
}

impl BaseK {
    /// Smallest and largest number of clusters for a table of so many objects.
    pub fn bounds(&self, objects: usize) -> (usize, usize) {
        match self {
            Self::Turns(turns) => (
                turns.iter().copied().min().unwrap_or(0),
                turns.iter().copied().max().unwrap_or(0),
            ),
            Self::Range { first, last } => (*first, *last),
            Self::Sqrt => {
                let root = (objects as f64).sqrt();
                ((root / 2.0).ceil() as usize, root.ceil() as usize)
            }
        }
    }

    /// The number for run `turn` of a base clusterer.
    pub(crate) fn draw(&self, objects: usize, turn: usize, seed: Seed) -> usize {
        match self {
            Self::Turns(turns) => turns[turn % turns.len()],
            Self::Range { .. } | Self::Sqrt => {
                let (first, last) = self.bounds(objects);
                seed.rng().random_range(first as u64..=last as u64) as usize
            }
        }
    }

    pub(crate) fn check(&self) -> Result<()> {
        match self {
            Self::Turns(turns) if turns.is_empty() => Err(GenerateError::BaseK(String::new())),
            Self::Range { first, last } if first > last => Err(GenerateError::Reversed {
                first: *first,
                last: *last,
            }),
            Self::Turns(_) | Self::Range { .. } if self.bounds(0).0 == 0 => {
                Err(GenerateError::NoClusters)
            }
            _ => Ok(()),
        }
    }
}

impl FromStr for BaseK {
    type Err = GenerateError;

    fn from_str(text: &str) -> Result<Self> {
        let text = text.trim();
        let number = |part: &str| {
            part.trim()
                .parse()
                .map_err(|_| GenerateError::BaseK(text.into()))
        };
        let parsed = if text == "sqrt" {
            Self::Sqrt
        } else if let Some((first, last)) = text.split_once("..") {
            Self::Range {
                first: number(first)?,
                last: number(last.strip_prefix('=').unwrap_or(last))?,
            }
        } else {
            Self::Turns(text.split(',').map(number).collect::<Result<_, _>>()?)
        };
        parsed.check()?;
        Ok(parsed)
    }
}

impl fmt::Display for BaseK {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Turns(turns) => {
                let texts: Vec<String> = turns.iter().map(ToString::to_string).collect();
                f.write_str(&texts.join(","))
            }
            Self::Range { first, last } => write!(f, "{first}..{last}"),
            Self::Sqrt => f.write_str("sqrt"),
        }
    }
}

impl From<BaseK> for String {
    fn from(base_k: BaseK) -> Self {
        base_k.to_string()
    }
}

impl TryFrom<String> for BaseK {
    type Error = GenerateError;

    fn try_from(text: String) -> Result<Self> {
        text.parse()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_read_back() {
        for (text, bounds) in [
            ("10", (10, 10)),
            ("4,6,8,5", (4, 8)),
            ("4..20", (4, 20)),
            ("sqrt", (6, 11)),
        ] {
            let base_k: BaseK = text.parse().unwrap();
            assert_eq!(base_k.to_string(), text);
            assert_eq!(base_k.bounds(120), bounds);
        }
        assert_eq!("4..=20".parse::<BaseK>().unwrap().to_string(), "4..20");
    }

    #[test]
    fn what_is_no_number_of_clusters_is_refused() {
        let message = |text: &str| text.parse::<BaseK>().unwrap_err().to_string();
        assert_eq!(
            message("20..4"),
            "the range of clusters 20..4 is reversed; write 4..20"
        );
        assert_eq!(
            message("0"),
            "a base clustering needs at least 1 cluster, asked for 0"
        );
        assert_eq!(message("3,0"), message("0..4"));
        for text in ["", "x", "1.5", "-2", "3..", "4,,5"] {
            assert!(
                message(text).contains("says no number of clusters"),
                "{text}"
            );
        }
    }

    #[test]
    fn lists_are_taken_in_turn_and_ranges_are_covered() {
        let turns: BaseK = "4,6".parse().unwrap();
        assert_eq!(
            [0, 1, 2].map(|turn| turns.draw(99, turn, Seed::new(0))),
            [4, 6, 4]
        );
        let range: BaseK = "4..6".parse().unwrap();
        let mut seen = [0; 7];
        for unit in 0..300 {
            seen[range.draw(99, 0, Seed::new(unit))] += 1;
        }
        assert!(seen[4] > 60 && seen[5] > 60 && seen[6] > 60, "{seen:?}");
    }
}
