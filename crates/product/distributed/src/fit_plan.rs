//! What is fitted in a folder: written by the first fold, the same ever after.

use std::path::Path;

use partita::extend::SettingMap;
use partita::files::ManifestRows;
use serde::{Deserialize, Serialize};

use crate::job::{LabelEnding, Purpose};
use crate::sealed::hex;
use partita_app::methods::DEFAULT;
use partita_app::{AppError, WeightSource, json_text, read_json, write_json};

/// The version of the form of [`FitPlan`] that this library writes and reads.
const FIT_VERSION: u32 = 1;

/// The file of the plan in the folder of a fit.
const PLAN: &str = "fit.json";

/// A consensus of the rows of a manifest.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct FitPlan {
    /// The version of this form.
    pub fit_version: u32,
    /// SHA-256 of the manifest.
    pub manifest: String,
    /// The method.
    pub method: String,
    /// Its settings that are not the defaults.
    pub settings: SettingMap,
    /// K.
    pub clusters: usize,
    /// Where chance starts.
    pub seed: u64,
    /// Weights of the base clusterings.
    pub base_weights: Option<WeightSource>,
    /// The format of the files of labels.
    #[serde(default)]
    pub labels: LabelEnding,
}

/// What a fold is asked for: all of it the first time, as much as one likes after.
#[derive(Clone, Debug, Default)]
pub struct PlanAsked {
    /// The method.
    pub method: Option<String>,
    /// Its settings.
    pub settings: Option<SettingMap>,
    /// K.
    pub clusters: Option<usize>,
    /// Where chance starts.
    pub seed: Option<u64>,
    /// Weights of the base clusterings.
    pub base_weights: Option<WeightSource>,
    /// The format of the files of labels.
    pub labels: Option<LabelEnding>,
}

impl FitPlan {
    /// What the jobs of its folder are for.
    pub(crate) fn purpose(&self) -> Result<Purpose, AppError> {
        let (method, clusters) = (self.method.clone(), self.clusters as u64);
        Ok(Purpose {
            method,
            clusters,
            plan: json_text(self)?,
            columns: None,
        })
    }

    /// Writes the plan of a new folder.
    pub(crate) fn save(&self, folder: &Path) -> Result<(), AppError> {
        let path = folder.join(PLAN);
        if path.exists() {
            return Ok(());
        }
        std::fs::create_dir_all(folder).map_err(|error| AppError::io(folder, "be made", error))?;
        write_json(&path, self)
    }
}

impl PlanAsked {
    /// The plan of a folder, or a new one.
    pub(crate) fn plan(&self, folder: &Path, rows: &ManifestRows) -> Result<FitPlan, AppError> {
        let path = folder.join(PLAN);
        if !path.exists() {
            return self.new_plan(rows);
        }
        let saved = read_json(&path, "take another folder")?;
        let plan: FitPlan = serde_json::from_value(saved).map_err(|error| {
            AppError::content(&path, format!("this is not the plan of a fit ({error})"))
        })?;
        let other = |what: &str| {
            AppError::content(
                &path,
                format!("this folder is of a fit with another {what}; take another folder"),
            )
        };
        let same = [
            ("version of the program", plan.fit_version == FIT_VERSION),
            ("manifest", plan.manifest == hex(&rows.hash())),
            (
                "method",
                self.method
                    .as_ref()
                    .is_none_or(|method| *method == plan.method),
            ),
            (
                "number of clusters",
                self.clusters
                    .is_none_or(|clusters| clusters == plan.clusters),
            ),
            ("seed", self.seed.is_none_or(|seed| seed == plan.seed)),
            (
                "setting",
                self.settings
                    .as_ref()
                    .is_none_or(|settings| *settings == plan.settings),
            ),
            (
                "choice of weights",
                self.base_weights.is_none() || self.base_weights == plan.base_weights,
            ),
            (
                "format of labels",
                self.labels.is_none_or(|labels| labels == plan.labels),
            ),
        ];
        same.iter()
            .find(|(_, same)| !same)
            .map_or(Ok(plan), |(what, _)| Err(other(what)))
    }

    fn new_plan(&self, rows: &ManifestRows) -> Result<FitPlan, AppError> {
        let missing = || {
            AppError::request(
                "the first fold of a folder says how many clusters there shall be: give -k",
            )
        };
        Ok(FitPlan {
            fit_version: FIT_VERSION,
            manifest: hex(&rows.hash()),
            method: self.method.clone().unwrap_or_else(|| DEFAULT.to_owned()),
            settings: self.settings.clone().unwrap_or_default(),
            clusters: self.clusters.ok_or_else(missing)?,
            seed: self.seed.unwrap_or(0),
            base_weights: self.base_weights.clone(),
            labels: self.labels.unwrap_or_default(),
        })
    }
}
