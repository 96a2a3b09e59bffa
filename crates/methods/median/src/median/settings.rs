//! Settings of the medians.

use std::num::NonZeroU32;

use partita_core::{ProblemSize, Settings, SettingsError};
use serde::{Deserialize, Serialize};

use super::loss::{InformationLoss, PairLoss};

/// How the search for a median goes about, whatever the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct MedianSearch {
    /// Weight of pairs that base clusterings join and the median separates, from 0 to 2; the rest to 2 is for the others. More
    /// gives fewer clusters.
    #[setting(range = 0.0..=2.0, alias = "a")]
    pub asymmetry: f64,
    /// Starts in which objects are dealt out one by one in an order that is drawn, besides those from cuts of a tree and from
    /// the best base clustering.
    #[setting(range = 1..=10_000, alias = "n_init", alias = "n_runs")]
    pub restarts: NonZeroU32,
    /// The most sweeps over all objects of one descent.
    #[setting(range = 1..=1_000_000, alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub sweeps: NonZeroU32,
}

impl Default for MedianSearch {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            asymmetry: 1.0,
            restarts: count(4),
            sweeps: count(200),
        }
    }
}

/// Settings of [`MEDIAN_VI`](crate::MEDIAN_VI). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[settings(check = Self::check_together)]
#[non_exhaustive]
pub struct MedianViSettings {
    /// What is to be small: vi (variation of information), nvi (normalised), id (information distance), nid (normalised).
    pub loss: InformationLoss,
    /// How the search goes about.
    #[setting(flatten)]
    #[serde(flatten)]
    pub search: MedianSearch,
}

/// Settings of [`MEDIAN_BINDER`](crate::MEDIAN_BINDER). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[settings(check = Self::check_together)]
#[non_exhaustive]
pub struct MedianBinderSettings {
    /// What is to be small: binder (pairs of objects on which partitions differ), or ari (1 − the adjusted Rand index).
    pub loss: PairLoss,
    /// How the search goes about.
    #[setting(flatten)]
    #[serde(flatten)]
    pub search: MedianSearch,
}

impl MedianViSettings {
    fn check_together(&self, _size: &ProblemSize) -> Result<(), SettingsError> {
        asymmetry_fits(&self.search, self.loss == InformationLoss::Vi, "loss=vi")
    }
}

impl MedianBinderSettings {
    fn check_together(&self, _size: &ProblemSize) -> Result<(), SettingsError> {
        asymmetry_fits(&self.search, self.loss == PairLoss::Binder, "loss=binder")
    }
}

/// Only losses that are sums of two kinds of disagreement can weigh them.
fn asymmetry_fits(search: &MedianSearch, has: bool, which: &str) -> Result<(), SettingsError> {
    if has || search.asymmetry == 1.0 {
        return Ok(());
    }
    let (value, reason) = (
        search.asymmetry.to_string(),
        format!("only {which} has an asymmetry; leave it at 1"),
    );
    Err(SettingsError::Unfit {
        name: "asymmetry",
        value,
        reason,
    })
}
