//! Settings of the choice of a number of clusters.

use std::num::NonZeroU32;

use partita_core::{Settings, SettingsError};
use partita_generate::{BaseKind, Scale};
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::{Criterion, Null, SelectError};

/// Settings of [`choose_clusters`](crate::choose_clusters). Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct ChooseSettings {
    /// What decides: `score` ([`choose_recipe`](crate::choose_recipe)) or `rcsi`. Where nothing is said: `score`, but of tables that are
    /// sparse, larger than memory or of fewer than 10 objects `rcsi`. The settings below but `scale` count for `rcsi` alone.
    pub criterion: Option<Criterion>,
    /// Name of the base clusterer; any but `kmeans-cosine`. Dispersion is measured where it is some k-means.
    pub base: String,
    /// Scaling of the columns before anything is measured: `none`, `zscore`, `minmax`, `mixed` or `auto`.
    pub scale: String,
    /// Base clusterings at each K.
    #[setting(range = 2..=1_000_000)]
    pub runs: NonZeroU32,
    /// Share of the objects that each base clustering sees.
    #[setting(above = 0.0, range = 0.0..=1.0)]
    pub subsample: f64,
    /// What tables without clusters look like; clusters must beat every kind.
    pub nulls: Vec<Null>,
    /// Tables without clusters drawn of each kind; fewer than 3 decide nothing.
    #[setting(range = 0..=100_000)]
    pub draws: u32,
    /// Base clusterings at each K of a drawn table.
    #[setting(range = 2..=1_000_000)]
    pub draw_runs: NonZeroU32,
    /// Chance of finding clusters where there are none, over all K together.
    #[setting(above = 0.0, range = 0.0..=1.0)]
    pub significance: f64,
    /// Share of the variance that the principal components which are clustered hold; never fewer than 20 components.
    #[setting(above = 0.0, range = 0.0..=1.0)]
    pub variance: f64,
    /// Most objects looked at; of more, so many are drawn.
    #[setting(range = 4..)]
    pub objects: usize,
    /// Most pairs counted; of more, all pairs of some objects.
    #[setting(range = 1..)]
    pub pairs: u64,
    /// Name of the method that makes the consensus at each K.
    pub consensus: String,
}

impl Default for ChooseSettings {
    fn default() -> Self {
        Self {
            criterion: None,
            base: BaseKind::KMeansGreedy.to_string(),
            scale: Scale::Auto.to_string(),
            runs: NonZeroU32::new(100).expect("100 is not 0"),
            subsample: 0.8,
            nulls: vec![Null::Gaussian, Null::Box],
            draws: 15,
            draw_runs: NonZeroU32::new(20).expect("20 is not 0"),
            significance: 0.02,
            variance: 0.9,
            objects: 2000,
            pairs: 2_000_000,
            consensus: "eac-average".into(),
        }
    }
}

impl ChooseSettings {
    /// A setting that is not as usual and counts where the criterion is `rcsi` alone.
    pub fn of_rcsi_alone(&self) -> Option<String> {
        let usual = Self {
            criterion: self.criterion,
            scale: self.scale.clone(),
            ..Self::default()
        };
        let (asked, usual) = (json!(self), json!(usual));
        let mut names = asked.as_object()?.keys();
        names.find(|name| asked[*name] != usual[*name]).cloned()
    }

    /// Refuses what cannot be followed.
    pub(crate) fn refuse(&self) -> Result<(), SelectError> {
        self.check_ranges()?;
        if self.nulls.contains(&Null::PermutedLabels) {
            let reason =
                "it is a kind of ensemble, not of table; choose from gaussian, box and permuted";
            Err(SettingsError::value("nulls", "permuted-labels", reason))?;
        }
        let base: BaseKind = self.base.parse()?;
        if base == BaseKind::KMeansCosine {
            let reason = "angles change when a table is centred, which its references are";
            Err(SettingsError::value("base", &self.base, reason))?;
        }
        Ok(())
    }
}

/// Settings of [`choose_clusters_of_ensemble`](crate::choose_clusters_of_ensemble). Start from `default()` and change
/// what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct EnsembleChoiceSettings {
    /// What decides. Where nothing is said: lifetime where the method has a tree, else BIC where it has one, else ANMI.
    pub criterion: Option<Criterion>,
    /// Ensembles without agreement that are drawn; fewer than 3 decide nothing.
    #[setting(range = 0..=100_000)]
    pub draws: u32,
    /// Chance of finding agreement where there is none.
    #[setting(range = 0.0..=1.0)]
    pub significance: f64,
    /// Most objects looked at; of more, so many are drawn.
    #[setting(range = 4..)]
    pub sample: usize,
    /// Most objects of a drawn ensemble.
    pub objects: usize,
    /// Most pairs counted; of more, all pairs of some objects.
    pub pairs: u64,
}

impl Default for EnsembleChoiceSettings {
    fn default() -> Self {
        Self {
            criterion: None,
            draws: 10,
            significance: 0.05,
            sample: 5000,
            objects: 1000,
            pairs: 2_000_000,
        }
    }
}
