//! KCC and SEC: k-means on labels for other utilities than the sum of squares, and for the normalised cut of the co-association.

use partita_core::{
    FitError, Method, MethodInfo, Monitor, ProblemSize, RowFit, RowProblem, SettingChoice, Settings,
};
use partita_kmeans::labels::{Utility, bytes};
use serde::{Deserialize, Serialize};

use crate::label_means::{Criterion, KC_INFO, solve};
use crate::{LabelMeansDiagnostics, LabelMeansSettings};

/// What label distributions of clusters are worth to [`KCC`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum KccUtility {
    /// Category utility, the sum of squares: that of kc.
    C,
    /// Mutual information: entropy-based consensus clustering (ECC), information-theoretic k-means (ITK).
    #[default]
    H,
    /// The length of the distribution.
    Cos,
    /// The norm of the distribution whose exponent is the setting p.
    Lp,
}

/// Settings of [`KCC`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default)]
#[non_exhaustive]
pub struct KccSettings {
    /// What is to be large: c (category utility), h (mutual information), cos or lp (norms of label distributions).
    pub utility: KccUtility,
    /// Exponent of the norm, for utility=lp.
    #[setting(above = 1.0, range = ..=100.0)]
    pub p: f64,
    /// Divide the utility of every base clustering by what it is worth itself: those with many clusters count less.
    pub normalised: bool,
    /// Starts, iterations and tolerance of k-means.
    #[setting(flatten)]
    #[serde(flatten)]
    pub search: LabelMeansSettings,
}

impl Default for KccSettings {
    fn default() -> Self {
        Self {
            utility: KccUtility::H,
            p: 5.0,
            normalised: false,
            search: LabelMeansSettings::default(),
        }
    }
}

/// The method [`KCC`].
#[derive(Debug)]
pub struct Kcc;

/// The method [`SEC`].
#[derive(Debug)]
pub struct Sec;

/// k-means-based consensus clustering: the partition that has most utility for the base clusterings.
///
/// ```text
/// maximise  Σ_u ω_u (n_u / n) U_u,    U_u = Σ_k (n_k^u / n_u) φ(m_ku) − φ(p_u)
/// ```
/// where m_ku is the label distribution of base clustering u inside cluster k, p_u that of all objects, and n_u the objects that
/// u labels.
///
/// | utility | φ(m) | an object goes where this is largest, summed over its labels | normalised by |
/// |---|---|---|---|
/// | `c` | Σ m² | 2 m_ℓ − Σ m² | Σ p² |
/// | `h` | Σ m ln m | ln m_ℓ | entropy of p |
/// | `cos` | ‖m‖₂ | m_ℓ / ‖m‖₂ | ‖p‖₂ |
/// | `lp` | ‖m‖_p | (m_ℓ / ‖m‖_p)^(p − 1) | ‖p‖_p |
///
/// `utility=c` is [`KC`](crate::KC) to the byte. The entropy makes a label that a cluster lacks impossible, which would freeze
/// clusters: in the first three iterations one object, a tenth and next to nothing, distributed as all are, is added to every
/// cluster. After the last iteration single rows move, and clusters are swapped, wherever that raises the utility, as in
/// [`KC`](crate::KC). On base clusterings with up to √n clusters all utilities lose to cuts such as lwgp.
///
/// # Cost
/// As [`KC`](crate::KC).
///
/// # Differences from the paper
/// Starts by k-means++, the best of several is kept; weights; soft base clusterings, whose m are mean shares.
///
/// # References
/// Wu, Liu, Xiong, Cao, Chen, *K-means-based consensus clustering: a unified view*, IEEE TKDE 27(1), 2015; Liu and others, *Entropy-based
/// consensus clustering for patient stratification*, Bioinformatics 2017; Punera, Ghosh, *Consensus-based ensembles of soft
/// clusterings*, 2008.
#[doc(alias = "ECC")]
#[doc(alias = "ITK")]
#[doc(alias = "category utility")]
pub static KCC: Kcc = Kcc;

/// Spectral ensemble clustering: the normalised cut of the co-association, which is k-means on label rows over their degrees.
///
/// ```text
/// minimise  Σ_k [ 1 − Σ_c n_kc² / Σ_c n_kc s_c ]  =  Σ_i δ_i ‖Z_i / δ_i − μ_k(i)‖² and a constant,    δ_i = Σ_u ω_u s_ℓ(i,u)
/// ```
/// with s_c the size of base cluster c, n_kc how much of it is in cluster k, and μ_k = Σ_{i in k} Z_i / Σ_{i in k} δ_i. The
/// objective is the exact value of the cut. After the last iteration single rows move, and clusters are swapped, wherever that lowers the
/// cut, as in [`KC`](crate::KC). A baseline: `lwgp` and `hbgf` cut other graphs and come nearer to known classes.
///
/// # Cost
/// As [`KC`](crate::KC).
///
/// # Differences from the paper
/// Starts by k-means++ on the share of labels that differ; restarts; moves of single rows and swaps at the end; weights; soft base
/// clusterings, with shares Z; missing labels have no degree.
///
/// # References
/// Liu, Liu, Wu, Tao, Fu, *Spectral ensemble clustering via weighted k-means*, KDD 2015 and IEEE TKDE 2017.
#[doc(alias = "spectral ensemble clustering")]
pub static SEC: Sec = Sec;

static KCC_INFO: MethodInfo = MethodInfo {
    name: "kcc",
    summary: "k-means on labels for a utility of your choice: mutual information (ECC, ITK), category utility, norms",
    reference: "Wu, Liu, Xiong, Cao and Chen 2015, IEEE TKDE 27(1)",
    ..KC_INFO
};

static SEC_INFO: MethodInfo = MethodInfo {
    name: "sec",
    summary: "normalised cut of the co-association by weighted k-means on labels; a baseline, lwgp and hbgf agree more with known classes",
    reference: "Liu, Liu, Wu, Tao and Fu, Spectral ensemble clustering via weighted k-means, KDD 2015",
    ..KC_INFO
};

impl KccSettings {
    fn criterion(&self) -> Criterion {
        let utility = match self.utility {
            KccUtility::C => None,
            KccUtility::H => Some(Utility::Entropy { smoothing: 1.0 }),
            KccUtility::Cos => Some(Utility::Norm(2.0)),
            KccUtility::Lp => Some(Utility::Norm(self.p)),
        };
        Criterion::Utility {
            utility,
            normalised: self.normalised,
        }
    }
}

impl Method for Kcc {
    type Settings = KccSettings;
    type Diagnostics = LabelMeansDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &KCC_INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &KccSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(KCC_INFO.name)?;
        let criterion = settings.criterion();
        Ok(solve(
            criterion,
            problem,
            clusters,
            &settings.search,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, _: &KccSettings) -> u64 {
        bytes(size)
    }
}

impl Method for Sec {
    type Settings = LabelMeansSettings;
    type Diagnostics = LabelMeansDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &SEC_INFO
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &LabelMeansSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(SEC_INFO.name)?;
        Ok(solve(Criterion::Cut, problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, _: &LabelMeansSettings) -> u64 {
        bytes(size)
    }
}
