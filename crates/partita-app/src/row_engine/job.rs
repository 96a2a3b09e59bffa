//! What goes to workers and what comes back: the content of sealed files, and where they lie.

use std::path::{Path, PathBuf};

use partita::files::ManifestRows;
use partita::{BaseWeights, LabelCounts};
use serde::{Deserialize, Serialize};

use super::sealed::Hash;
use crate::row_report::ShownRows;

/// A task for the workers of all parts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Job {
    pub(super) manifest: Hash,
    pub(super) method: String,
    /// K.
    pub(super) clusters: u64,
    /// ΣJ.
    pub(super) base_clusters: u64,
    pub(super) round: Round,
    pub(super) task: Task,
}

/// Which pass of a fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Round {
    /// Numbered from 1.
    Sums(u32),
    Labels,
}

/// What a worker does with the rows of its part.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Task {
    /// A pass by its kind and state.
    Sum { kind: String, state: Vec<u8> },
    /// Labels by a labeller's kind and state, what confidence is counted from, and the seed of the run, by which objects are drawn for the
    /// report.
    Label {
        kind: String,
        state: Vec<u8>,
        counts: LabelCounts,
        weights: Option<BaseWeights>,
        ending: LabelEnding,
        seed: u64,
    },
}

/// The format of the files that labels of parts go to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LabelEnding {
    /// Text: `object,label,certainty,confidence`. The files one after the other are the file of the whole.
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
pub(super) struct PartResult {
    /// The model that it followed.
    pub(super) job: Hash,
    pub(super) manifest: Hash,
    pub(super) round: Round,
    /// Number of the part; none for all rows.
    pub(super) part: Option<u64>,
    pub(super) first: u64,
    pub(super) rows: u64,
    pub(super) content: Content,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Content {
    /// The sum, as `PassKind::sum` gives it.
    Sum(Vec<u8>),
    /// Labels are in a file of so many bytes beside this one; the sum of their confidences, and what the report shows of them.
    Labels { bytes: u64, confidence: f64, shown: ShownRows },
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
    /// The model of the round in the folder of a fit.
    pub(super) fn model(self, folder: &Path) -> PathBuf {
        match self {
            Self::Sums(number) => folder.join(format!("round{number}.model")),
            Self::Labels => folder.join("labels.model"),
        }
    }

    /// The sum over all rows in the folder of a fit.
    pub(super) fn whole(self, folder: &Path) -> PathBuf {
        self.model(folder).with_extension("sum")
    }
}

/// The number of a part with zeros in front, so that names sort as rows do.
pub(super) fn numbered(part: usize, parts: usize) -> String {
    let digits = parts.saturating_sub(1).to_string().len();
    format!("{part:0digits$}")
}

/// Where the sum of a part goes if nothing else is said: beside the model.
pub(super) fn sum_beside(model: &Path, part: usize, parts: usize) -> PathBuf {
    model.with_extension(format!("{}.sum", numbered(part, parts)))
}

/// Where the labels of a part go whose sum is there.
pub(super) fn labels_beside(sum: &Path, ending: LabelEnding) -> PathBuf {
    sum.with_extension(ending.as_str())
}

/// Number of parts.
pub(super) fn parts(rows: &ManifestRows) -> usize {
    rows.manifest().parts.len()
}
