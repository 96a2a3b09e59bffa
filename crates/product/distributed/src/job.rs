//! What goes to workers and what comes back: the content of sealed files, and where they lie.

use std::fs;
use std::path::{Path, PathBuf};

use partita::BaseWeights;
use partita::extend::LabelCounts;
use partita::files::ManifestRows;
use serde::{Deserialize, Serialize};

use crate::sealed::Hash;
use crate::task_columns::TaskColumns;
use partita_app::AppError;
use partita_app::tasks::{PredictedCounts, ShownRows};

/// A task for the workers of all parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Job {
    pub(crate) manifest: Hash,
    /// The method of a fit; else [`EVALUATE`] or [`PREDICT`].
    pub(crate) method: String,
    /// K.
    pub(crate) clusters: u64,
    /// ΣJ.
    pub(crate) base_clusters: u64,
    pub(crate) round: Round,
    pub(crate) task: Task,
}

/// What [`Job::method`] says of an evaluation.
pub(crate) const EVALUATE: &str = "evaluate";

/// What [`Job::method`] says of a prediction.
pub(crate) const PREDICT: &str = "predict";

/// What all jobs of a folder are for.
pub(crate) struct Purpose {
    /// As [`Job::method`].
    pub(crate) method: String,
    /// K.
    pub(crate) clusters: u64,
    /// JSON of the plan, to which the steps between passes are bound.
    pub(crate) plan: String,
    /// What sums are over, if not all base clusterings.
    pub(crate) columns: Option<TaskColumns>,
}

/// Which pass of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Round {
    /// Numbered from 1.
    Sums(u32),
    Labels,
}

/// What a worker does with the rows of its part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Task {
    /// A pass by its kind and state, over all base clusterings or these.
    Sum {
        kind: String,
        state: Vec<u8>,
        columns: Option<TaskColumns>,
    },
    /// Labels by a labeller's kind and state, and whether these have probabilities; what agreement is counted from, and the seed of the
    /// run, by which objects are drawn for the report.
    Label {
        kind: String,
        state: Vec<u8>,
        soft: bool,
        counts: LabelCounts,
        weights: Option<BaseWeights>,
        ending: LabelEnding,
        seed: u64,
    },
    /// Labels by a saved model, its JSON. Values that are unknown to it are refused, or taken as missing.
    Predict {
        model: String,
        refuse: bool,
        ending: LabelEnding,
    },
}

impl Task {
    /// The format of the labels that it writes.
    pub(crate) fn ending(&self) -> Option<LabelEnding> {
        match self {
            Self::Sum { .. } => None,
            Self::Label { ending, .. } | Self::Predict { ending, .. } => Some(*ending),
        }
    }
}

/// The format of the files that labels of parts go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelEnding {
    /// Text: `object,label,agreement`, and `probability` where there are some. The files one after the other are the file of the whole.
    #[default]
    Csv,
    /// The columns of the text.
    Parquet,
    /// The labels alone.
    Npy,
}

impl LabelEnding {
    /// The ending of the files.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Csv => "csv",
            Self::Parquet => "parquet",
            Self::Npy => "npy",
        }
    }
}

/// What a worker made of its part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct PartResult {
    /// The job that it followed.
    pub(crate) job: Hash,
    pub(crate) manifest: Hash,
    pub(crate) round: Round,
    /// Number of the part; none for all rows.
    pub(crate) part: Option<u64>,
    pub(crate) first: u64,
    pub(crate) rows: u64,
    pub(crate) content: Content,
}

impl PartResult {
    /// The file with the labels of the part whose result this is; refuses one that was changed.
    pub(crate) fn label_file(&self, sum: &Path, ending: LabelEnding) -> Result<PathBuf, AppError> {
        let Some(bytes) = self.content.label_bytes() else {
            return Err(AppError::content(sum, "this is a sum, not labels"));
        };
        let labels = labels_beside(sum, ending);
        let found = fs::metadata(&labels)
            .map_err(|error| AppError::io(&labels, "be read", error))?
            .len();
        if found == bytes {
            return Ok(labels);
        }
        let part = self.part.unwrap_or_default();
        let reason = format!(
            "{found} bytes, where part {part} wrote {bytes}; remove it and have that part run again"
        );
        Err(AppError::content(&labels, reason))
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum Content {
    /// The sum, as `PassKind::sum` gives it.
    Sum(Vec<u8>),
    /// Labels are in a file of so many bytes beside this one; the sum of their agreements, and what the report shows of them.
    Labels {
        bytes: u64,
        agreement: f64,
        shown: ShownRows,
    },
    /// The same for labels of a saved model, with what was counted of them.
    Predicted { bytes: u64, counts: PredictedCounts },
}

impl Content {
    /// Bytes of the file with the labels.
    pub(crate) fn label_bytes(&self) -> Option<u64> {
        match self {
            Self::Sum(_) => None,
            Self::Labels { bytes, .. } | Self::Predicted { bytes, .. } => Some(*bytes),
        }
    }
}

impl std::fmt::Display for Round {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Sums(number) => write!(f, "round {number}"),
            Self::Labels => f.write_str("the labels"),
        }
    }
}

impl Round {
    /// The file of the job in the folder of a fit.
    pub(crate) fn job_file(self, folder: &Path) -> PathBuf {
        match self {
            Self::Sums(number) => folder.join(format!("round{number}.job")),
            Self::Labels => folder.join("labels.job"),
        }
    }

    /// The sum over all rows in the folder of a fit.
    pub(crate) fn whole(self, folder: &Path) -> PathBuf {
        self.job_file(folder).with_extension("sum")
    }
}

/// The number of a part with zeros in front, so that names sort as rows do.
pub(crate) fn numbered(part: usize, parts: usize) -> String {
    let digits = parts.saturating_sub(1).to_string().len();
    format!("{part:0digits$}")
}

/// Where the sum of a part goes if nothing else is said: beside the job.
pub(crate) fn sum_beside(job: &Path, part: usize, parts: usize) -> PathBuf {
    job.with_extension(format!("{}.sum", numbered(part, parts)))
}

/// Where the labels of a part go whose sum is there.
pub(crate) fn labels_beside(sum: &Path, ending: LabelEnding) -> PathBuf {
    sum.with_extension(ending.as_str())
}

/// Number of parts.
pub(crate) fn parts(rows: &ManifestRows) -> usize {
    rows.manifest().parts.len()
}
