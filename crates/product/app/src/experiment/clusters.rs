//! How many clusters an experiment is asked for: a number, a range to choose from, or each method's own criterion.

use std::fmt;
use std::ops::RangeInclusive;
use std::str::FromStr;

use partita::Clusters;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The largest number of clusters that is looked at of labels, where none is named.
const MOST: usize = 12;

/// The most clusters that are made to be merged again.
const MOST_PARTS: usize = 40;

/// Objects for each of these clusters, so that most have the 30 rows that the test of gaps learns on and counts.
const OBJECTS_A_PART: usize = 100;

/// How many clusters the consensus of an experiment has.
///
/// | as text | meaning |
/// |---|---|
/// | `10` | so many |
/// | `2..12` | the number of these that `choose-k` finds; 1 where it finds no clusters |
/// | `2..` | from 2 to as many as the table has objects for, 40 at most; to 12 of labels |
/// | `auto` | the same as `2..` |
/// | `significant` | those between which a test on the table sees gaps: the consensus has one for every 100 objects, 40 at most, and neighbours without a gap are merged |
/// | `method` | what each method finds by its own criterion |
///
/// In JSON a number or one of the texts. Records of versions before `2..12` existed say `"auto"` for `method`, and are
/// read so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClustersAsked {
    /// So many.
    Exactly(usize),
    /// Chosen from these numbers by stability or agreement against a null model; 1 where there are no clusters.
    Chosen {
        /// The smallest.
        first: usize,
        /// The largest, where one is named.
        last: Option<usize>,
    },
    /// As many as a test of gaps leaves of more.
    Significant,
    /// Each method chooses by its own criterion.
    Method,
}

impl ClustersAsked {
    /// The number is open, and no range is named.
    pub const OPEN: Self = Self::Chosen {
        first: 2,
        last: None,
    };

    /// The range of numbers looked at of labels.
    pub fn range_of_labels(first: usize, last: Option<usize>) -> RangeInclusive<usize> {
        first..=last.unwrap_or(MOST.max(first))
    }

    /// What a method is asked for, and a recipe that multiplies a number of clusters: no number where it is to be chosen.
    pub fn clusters(self) -> Clusters {
        match self {
            Self::Exactly(clusters) => Clusters::Exactly(clusters),
            Self::Chosen { .. } | Self::Significant | Self::Method => Clusters::Auto,
        }
    }

    /// The clusters of so many objects that are tested and merged.
    pub(crate) fn parts(objects: usize) -> usize {
        (objects / OBJECTS_A_PART).clamp(2, MOST_PARTS)
    }

    /// The most that a method may be asked for, of so many objects.
    pub(crate) fn most(self, objects: usize) -> Clusters {
        match self {
            Self::Chosen { last, .. } => {
                Clusters::Exactly(last.unwrap_or(MOST).min(objects.max(1)))
            }
            Self::Significant => Clusters::Exactly(Self::parts(objects)),
            Self::Exactly(_) | Self::Method => self.clusters(),
        }
    }
}

impl From<Clusters> for ClustersAsked {
    fn from(clusters: Clusters) -> Self {
        match clusters {
            Clusters::Exactly(clusters) => Self::Exactly(clusters),
            Clusters::Auto => Self::Method,
        }
    }
}

impl FromStr for ClustersAsked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        const FORM: &str = "write a number of clusters such as 10, a range such as 2..12, auto, significant, or method";
        match (text, text.split_once("..")) {
            ("auto", _) => Ok(Self::OPEN),
            ("significant", _) => Ok(Self::Significant),
            ("method", _) => Ok(Self::Method),
            (_, Some((first, ""))) => match first.parse() {
                Ok(first) => Ok(Self::Chosen { first, last: None }),
                Err(_) => Err(format!("'{first}' is not a number; {FORM}")),
            },
            (_, Some((first, last))) => {
                let number = |text: &str| {
                    text.parse::<usize>()
                        .map_err(|_| format!("'{text}' is not a number; {FORM}"))
                };
                match (number(first)?, number(last)?) {
                    (first, last) if first > last => Err(format!("{text} is reversed; {FORM}")),
                    (_, 0 | 1) => Err(format!("{text} holds no number of clusters from 2; {FORM}")),
                    (first, last) => Ok(Self::Chosen {
                        first,
                        last: Some(last),
                    }),
                }
            }
            (_, None) => match text.parse() {
                Ok(0) => Err(format!("there is no partition into 0 clusters; {FORM}")),
                Ok(clusters) => Ok(Self::Exactly(clusters)),
                Err(_) => Err(FORM.into()),
            },
        }
    }
}

impl fmt::Display for ClustersAsked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exactly(clusters) => write!(f, "{clusters}"),
            Self::Chosen { first, last } => {
                let last = last.map_or_else(String::new, |last| last.to_string());
                write!(f, "{first}..{last}")
            }
            Self::Significant => f.write_str("significant"),
            Self::Method => f.write_str("method"),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(usize),
    Word(String),
}

impl Serialize for ClustersAsked {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Exactly(clusters) => Written::Number(*clusters),
            other => Written::Word(other.to_string()),
        }
        .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for ClustersAsked {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match Written::deserialize(deserializer)? {
            Written::Number(clusters) => Ok(Self::Exactly(clusters)),
            Written::Word(word) if word == "auto" => Ok(Self::Method),
            Written::Word(word) => word.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(first: usize, last: Option<usize>) -> ClustersAsked {
        ClustersAsked::Chosen { first, last }
    }

    #[test]
    fn texts_say_which_number() {
        let read = |text: &str| text.parse::<ClustersAsked>();
        assert_eq!(read("7"), Ok(ClustersAsked::Exactly(7)));
        assert_eq!(
            (read("auto"), read("3..5")),
            (Ok(ClustersAsked::OPEN), Ok(chosen(3, Some(5))))
        );
        assert_eq!(read("4.."), Ok(chosen(4, None)));
        assert_eq!(read("method"), Ok(ClustersAsked::Method));
        for wrong in ["0", "-3", "x", "5..3", "2..x", "0..1", "..", "x.."] {
            assert!(
                read(wrong).is_err_and(|error| error.contains("2..12")),
                "{wrong}"
            );
        }
    }

    #[test]
    fn auto_of_an_older_record_is_the_methods_own() {
        let json = |count: ClustersAsked| serde_json::to_string(&count).unwrap();
        assert_eq!(json(ClustersAsked::OPEN), "\"2..\"");
        let range = chosen(2, Some(12));
        for count in [
            ClustersAsked::OPEN,
            range,
            ClustersAsked::Significant,
            ClustersAsked::Method,
            ClustersAsked::Exactly(4),
        ] {
            assert_eq!(
                serde_json::from_str::<ClustersAsked>(&json(count)).unwrap(),
                count
            );
        }
        assert_eq!(
            serde_json::from_str::<ClustersAsked>("\"auto\"").unwrap(),
            ClustersAsked::Method
        );
        assert!(serde_json::from_str::<ClustersAsked>("\"many\"").is_err());
    }
}
