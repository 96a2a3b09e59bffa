//! Settings of NBCE-Gibbs.

use std::num::NonZeroU32;

use partita_core::{ProblemSize, SettingChoice, Settings, SettingsError};
use serde::{Deserialize, Serialize};

use super::partition_samples::check_pairs;
use crate::nbce::prior::NbcePrior;

/// Which partition stands for the posterior.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Summary {
    /// The sample with the highest joint density.
    Map,
    /// The one with the least expected share of wrong pairs.
    Binder,
    /// The one with the least expected variation of information.
    #[default]
    Vi,
    /// The cut of the co-assignment's average-link tree with the least expected variation of information.
    AverageLink,
}

/// Settings of [`NBCE_GIBBS`](crate::NBCE_GIBBS). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[settings(check = Self::check_together)]
#[non_exhaustive]
pub struct NbceGibbsSettings {
    /// How the Dirichlet process is made finite: symmetric, or stick-breaking, which expects sizes to fall and, with alpha0 up to 1, finds more clusters.
    pub prior: NbcePrior,
    /// Concentration α0 of the Dirichlet process: more means more clusters.
    #[setting(range = 1e-20..=1e20)]
    pub alpha0: f64,
    /// Label pseudo-count β: below 1 wants pure clusters and finds many, 1 to 5 give class-like numbers.
    #[setting(range = 1e-20..=1e20)]
    pub beta: f64,
    /// Draw α0 and β too, both under Gamma(1, 1); the values above are where they start.
    pub learn: bool,
    /// Independent chains.
    ///
    /// They start with K, K/2, K, K/2, … clusters: single moves join clusters more easily than they part them.
    #[setting(range = 1..=100_000)]
    pub chains: NonZeroU32,
    /// Sweeps of each chain before anything is kept.
    #[setting(range = 0..=100_000_000)]
    pub burn_in: u32,
    /// Sweeps of each chain after the burn-in.
    #[setting(range = 1..=100_000_000, alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub sweeps: NonZeroU32,
    /// Split–merge moves after each sweep: they part or join whole clusters, which single moves seldom do.
    #[setting(range = 0..=1_000_000)]
    pub moves: u32,
    /// Partitions kept of each chain, evenly spaced.
    #[setting(range = 1..=1_000_000)]
    pub keep: NonZeroU32,
    /// Which partition stands for the posterior: map, or binder, vi or average-link, which lose least on average.
    pub summary: Summary,
    /// Improve a Binder or VI summary by greedy moves of single objects.
    pub search: bool,
    /// Steps of annealed importance sampling of p(labels), all partitions summed; 0 leaves it out. As many more as it takes until the
    /// standard error stays small: 1000 of some hundred objects.
    ///
    /// 32 runs go from partitions of the prior to those of the posterior, a sweep a step.
    #[setting(range = 0..=1_000_000)]
    pub evidence: u32,
}

impl Default for NbceGibbsSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            prior: NbcePrior::Symmetric,
            alpha0: 1.0,
            beta: 1.0,
            learn: false,
            chains: count(4),
            burn_in: 200,
            sweeps: count(400),
            moves: 2,
            keep: count(50),
            summary: Summary::Vi,
            search: true,
            evidence: 0,
        }
    }
}

impl NbceGibbsSettings {
    /// Pairs of too many objects are not held, and shares are not labels.
    fn check_together(&self, size: &ProblemSize) -> Result<(), SettingsError> {
        match check_pairs(size.objects) {
            Err(error) if self.summary == Summary::AverageLink => {
                let (value, reason) = ("average-link".into(), error.to_string());
                Err(SettingsError::Unfit {
                    name: "summary",
                    value,
                    reason,
                })
            }
            _ if self.evidence > 0 && size.soft_shares > 0 => Err(SettingsError::Unfit {
                name: "evidence",
                value: self.evidence.to_string(),
                reason: "base clusterings with shares have no p(labels); leave it out or take their most probable labels".into(),
            }),
            _ => Ok(()),
        }
    }
}
