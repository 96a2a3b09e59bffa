//! Settings of mixtures, and requests that cannot be followed.

use partita_core::Settings;
use serde::{Deserialize, Serialize};

/// Numbers that a mixture may be given; a shape has its own. Without a value each recipe uses the one in
/// [`families`](crate::families).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SynthSettings {
    /// Components of the mixture, K.
    pub clusters: Option<usize>,
    /// Numbers an object.
    pub dimensions: Option<usize>,
    /// The least distance of two centres of `gaussians`, in standard deviations.
    pub separation: Option<f64>,
}

/// A recipe that cannot be followed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SynthError {
    /// There is no such recipe.
    #[error("there is no synthetic data set '{name}'; there are {}", .known.join(", "))]
    Unknown {
        /// The name given.
        name: String,
        /// The names that exist, nearest first.
        known: Vec<String>,
    },
    /// A setting that this recipe does not have, or a value it cannot have.
    #[error("'{name}' cannot have {setting} = {value}: {why}")]
    Setting {
        /// The recipe.
        name: String,
        /// The setting.
        setting: &'static str,
        /// The value given.
        value: String,
        /// What would do.
        why: &'static str,
    },
    /// Fewer objects than clusters.
    #[error("'{name}' has {clusters} clusters; {objects} objects are too few")]
    TooFew {
        /// The recipe.
        name: String,
        /// Objects asked for.
        objects: usize,
        /// Clusters.
        clusters: usize,
    },
}

/// Refuses settings that a recipe does not have.
pub(crate) fn refuse(
    name: &str,
    given: &SynthSettings,
    settings: &[&'static str],
    why: &'static str,
) -> Result<(), SynthError> {
    let values = [
        ("clusters", given.clusters.map(|value| value.to_string())),
        (
            "dimensions",
            given.dimensions.map(|value| value.to_string()),
        ),
        (
            "separation",
            given.separation.map(|value| value.to_string()),
        ),
    ];
    match values
        .into_iter()
        .find(|(setting, value)| value.is_some() && settings.contains(setting))
    {
        Some((setting, Some(value))) => Err(SynthError::Setting {
            name: name.into(),
            setting,
            value,
            why,
        }),
        _ => Ok(()),
    }
}
