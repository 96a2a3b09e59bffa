//! Soft means: the memberships that are closest to those of all base clusterings after their columns are matched.

mod cut;
mod matching;
mod passes;
mod rows;
mod search;
mod sums;

use std::num::{NonZeroU32, Saturating};

use partita_core::{
    Capabilities, FitError, Method, MethodInfo, Monitor, ProblemSize, RowFit, RowProblem,
    SettingChoice, Settings, SoftBases, Weights,
};
use serde::{Deserialize, Serialize};

pub(crate) use passes::{Matched, SumBase, SumMeans};

/// How many columns of the consensus a base cluster may share.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum ColumnMatching {
    /// One-to-one for base clusterings with at most K clusters, merge for those with more.
    #[default]
    Auto,
    /// Every base cluster has a column of its own; those beyond K are spread evenly over all columns.
    OneToOne,
    /// Base clusters may share a column; all go to one of the K.
    Merge,
}

impl ColumnMatching {
    /// Whether the clusters of a base clustering that has so many may share columns.
    fn merges(self, own: usize, clusters: usize) -> bool {
        self == Self::Merge || self == Self::Auto && own > clusters
    }
}

/// What the rows of the consensus may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum ConsensusRows {
    /// Any shares that sum to 1 (method SE of clue).
    #[default]
    Soft,
    /// One cluster (method HE of clue). The probabilities are then those of the matched columns.
    Hard,
}

/// How the columns are matched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
pub enum MatchingOrder {
    /// All base clusterings again and again until nothing improves.
    #[default]
    Search,
    /// One base clustering after the other, each once, to the mean of those before (method DWH of clue).
    Stream,
}

/// Settings of [`SOFT_MEAN`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct SoftMeanSettings {
    /// Whether base clusters may share a column: one-to-one, merge, or auto (merge where a base clustering has more than K clusters).
    pub matching: ColumnMatching,
    /// What rows of the consensus may be: soft (shares), or hard (one cluster).
    pub rows: ConsensusRows,
    /// How columns are matched: search (all, until nothing improves), or stream (each once, to the mean of those before).
    pub order: MatchingOrder,
    /// Starts: k-means on labels, base clusterings with K clusters, random matchings, by turns; a normalised cut first where base clusters
    /// share columns. All run for 3 iterations, the best quarter goes on, and the best is kept.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// Iterations of each, at most.
    #[setting(alias = "max_iter")]
    pub iterations: NonZeroU32,
    /// Stop when an iteration gains at most this share.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

impl Default for SoftMeanSettings {
    fn default() -> Self {
        let number = |number| NonZeroU32::new(number).expect("above 0");
        Self {
            matching: ColumnMatching::default(),
            rows: ConsensusRows::default(),
            order: MatchingOrder::default(),
            restarts: number(12),
            iterations: number(100),
            tolerance: 1.5e-8,
        }
    }
}

/// Facts about a soft mean.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SoftMeanDiagnostics {
    /// Base clusterings whose clusters may share a column.
    pub merged: usize,
    /// The objective of every start that went on to the end.
    pub objectives: Vec<f64>,
    /// Of the same starts, the share of squares that the consensus leaves, as a mean over its columns. Where base clusters share columns
    /// the first is that of the cut, which is kept unless the least is below two thirds of it; then that is kept.
    pub unexplained: Vec<f64>,
}

/// The method [`SOFT_MEAN`].
#[derive(Debug)]
pub struct SoftMean;

/// The consensus memberships that are closest to those of all base clusterings, when the columns of each are matched to them.
///
/// ```text
/// min over Y (n × K, rows on the simplex, or one-hot) and matchings Π_u   Σ_u w_u Σ_i v_i ‖Y_i − (Q_u Π_u)_i‖²
/// ```
///
/// | paper | here |
/// |---|---|
/// | Q_u | shares of the objects in the clusters of base clustering u; a missing row does not count |
/// | Π_u | the column of every base cluster: one each, or several to one column (merge) |
/// | w_u, v_i | weights of base clusterings and objects |
///
/// Matchings and rows are found in turn, so the objective falls in every iteration. A base clustering with more than K clusters has columns
/// beyond the K: one-to-one spreads the shares in them evenly, merge gives every one of its clusters to one of the K.
///
/// Merging has an optimum of no use, since nothing is lost where all base clusters go to one column. So the search then starts from the
/// normalised cut of the graph of objects and base clusters, of which those that the others break up count less (`lwgp`), and keeps the
/// optimum next to it unless columns were lost: another start is kept where it leaves less than two thirds of the share of squares, as a mean over
/// the columns:
///
/// ```text
/// (1/K) Σ_k  Σ_ui w_u v_i (x_uik − y_ik)² / Σ_ui w_u v_i (x_uik − mean of x_u·k)²,    x_u = Q_u Π_u;  1 where all x_·k are equal
/// ```
///
/// # Cost
/// O(restarts · iterations · (n M r K + M J³)) time for r shares of an object in a base clustering. All starts run to their ends on 10,000
/// different rows, or on all where no more differ; the best goes on over all rows, a pass for every iteration. Where base clusterings are
/// matched one after the other, each takes a pass. No memory that grows with n.
///
/// # Differences from the paper
/// Starts from k-means on labels and from base clusterings too, where clue starts at random; base clusterings may be merged; missing rows;
/// weights.
///
/// # References
/// Dimitriadou, Weingessel, Hornik, *A combination scheme for fuzzy clustering*, Int. J. Pattern Recognition 16 (2002); Gordon, Vichi,
/// *Fuzzy partition models for fitting a set of partitions*, Psychometrika 66 (2001); Hornik, *A CLUE for CLUster Ensembles*, J. Stat.
/// Software 14 (2005).
#[doc(alias("clue", "SE", "HE", "DWH", "fuzzy consensus"))]
pub static SOFT_MEAN: SoftMean = SoftMean;

static INFO: MethodInfo = MethodInfo {
    name: "soft-mean",
    family: "median",
    summary: "the memberships that are closest to those of all base clusterings after matching; for soft base clusterings",
    reference: "Dimitriadou, Weingessel, Hornik, A combination scheme for fuzzy clustering, IJPRAI 16 (2002)",
    time: "restarts · iterations · n M K",
    memory: "24 ΣJ K bytes a thread, and a sample of rows",
    remedy: "ask for fewer clusters, or set restarts lower",
    capabilities: Capabilities {
        soft: true,
        soft_bases: SoftBases::Native,
        base_weights: Weights::Native,
        object_weights: Weights::Native,
        seeded: true,
        streams: true,
        ..Capabilities::HARD_LABELS
    },
};

impl Method for SoftMean {
    type Settings = SoftMeanSettings;
    type Diagnostics = SoftMeanDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &SoftMeanSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<SoftMeanDiagnostics>, FitError> {
        let clusters = problem.given_clusters(INFO.name)?;
        Ok(passes::solve(problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &SoftMeanSettings) -> u64 {
        passes::row_bytes(size, settings)
    }
}

/// Bytes that a search on the rows of a sample holds at once, at most.
fn search_bytes(size: &ProblemSize, settings: &SoftMeanSettings) -> Saturating<u64> {
    let [n, m, side, k] = size.saturating();
    let entries = if size.soft_shares > 0 {
        n * side
    } else {
        n * m
    };
    // Sums of pieces that are under way, and of every start.
    let threads = rayon::current_num_threads() as u64;
    let sums = Saturating(u64::from(settings.restarts.get()) + 2 * threads + 2);
    let widest = Saturating(size.largest_base_clustering as u64);
    let quick = n * Saturating(40);
    let search = n * k * Saturating(16) + side * (k * sums + widest) * Saturating(8) + quick;
    let merges = settings.matching.merges(widest.0 as usize, k.0 as usize);
    let cut = if merges { cut::bytes(size) } else { 0 };
    entries * Saturating(12) + search.max(Saturating(cut))
}
