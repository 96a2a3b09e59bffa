//! A number of clusters in JSON: the number, or `"auto"`.

use partita::Clusters;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written {
    Number(usize),
    Word(String),
}

pub(crate) fn serialize<S: Serializer>(clusters: &Clusters, serializer: S) -> Result<S::Ok, S::Error> {
    match clusters {
        Clusters::Exactly(clusters) => Written::Number(*clusters),
        Clusters::Auto => Written::Word("auto".into()),
    }
    .serialize(serializer)
}

pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Clusters, D::Error> {
    match Written::deserialize(deserializer)? {
        Written::Number(clusters) => Ok(Clusters::Exactly(clusters)),
        Written::Word(word) if word == "auto" => Ok(Clusters::Auto),
        Written::Word(word) => {
            Err(D::Error::custom(format!("'{word}' is not a number of clusters; write one, or auto")))
        }
    }
}
