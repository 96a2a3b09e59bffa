//! KCC and SEC: k-means on labels for other utilities than the sum of squares, and for the normalised cut of the co-association.

use std::num::NonZeroU32;

use partita_core::{
    BaseClustering, BaseWeights, EnsembleRows, FitError, Label, Method, MethodInfo, Monitor,
    Objective, Outcome, Partition, PassRunner, Problem, ProblemSize, RowFit, RowProblem, Seed,
    Sense, SettingChoice, Settings, Silent, WeightedEnsemble,
};
use partita_kmeans::labels::{
    Assignment, Counts, Plan, RowVisitor, SWAPS, Utility, WeightedLabelRows, base_weights, kmeans,
    kmeans_over, with_rows,
};
use serde::{Deserialize, Serialize};

use crate::error::{check, check_rows, labelled};
use crate::fractional_kmeans;
use crate::fractional_rows::{FractionalPlan, FractionalRows};
use crate::fractional_utility::{FractionalCriterion, FractionalKind};
use crate::label_means::{FRACTIONAL, KC_INFO, MeanLabels, bytes, row_bytes};
use crate::{LabelMeansDiagnostics, LabelMeansSettings, MedianError};

/// What label distributions of clusters are worth to [`kcc`].
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

/// Settings of [`kcc`]. Start from `default()` and change what you mean to change.
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
    /// How k-means goes about.
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
/// `utility=c` is [`kc`](crate::kc()) to the byte. The entropy makes a label that a cluster lacks impossible, which would freeze
/// clusters: in the first three rounds one object, a tenth and next to nothing, distributed as all are, is added to every
/// cluster. After the last round single rows move, and clusters are swapped, wherever that raises the utility, as in
/// [`kc`](crate::kc()). On base clusterings with up to √n clusters all utilities lose to cuts such as lwgp.
///
/// # Cost
/// As [`kc`](crate::kc()).
///
/// # Differences from the paper
/// Starts by k-means++, the best of several is kept; weights; soft base clusterings, whose m are mean shares.
///
/// # Errors
/// As [`kc`](crate::kc()).
///
/// # References
/// Wu, Liu, Xiong, Cao, Chen, *K-means-based consensus clustering: a unified view*, IEEE TKDE 27(1), 2015; Liu and others, *Entropy-based
/// consensus clustering for patient stratification*, Bioinformatics 2017; Punera, Ghosh, *Consensus-based ensembles of soft
/// clusterings*, 2008.
#[doc(alias = "ECC")]
#[doc(alias = "ITK")]
#[doc(alias = "category utility")]
pub fn kcc<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &KccSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    solve(
        Criterion::Utility(settings),
        source.into(),
        clusters,
        seed,
        &settings.search,
        monitor,
    )
}

/// [`kcc`] over label rows that are not held: a pass for every round.
///
/// # Errors
/// As [`kcc`], and [`MedianError::Pass`] when rows cannot be read.
pub fn kcc_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &KccSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<LabelMeansDiagnostics>, MedianError> {
    solve_rows(
        Criterion::Utility(settings),
        rows,
        weights,
        clusters,
        seed,
        &settings.search,
        monitor,
    )
}

/// Spectral ensemble clustering: the normalised cut of the co-association, which is k-means on label rows over their degrees.
///
/// ```text
/// minimise  Σ_k [ 1 − Σ_c n_kc² / Σ_c n_kc s_c ]  =  Σ_i δ_i ‖Z_i / δ_i − μ_k(i)‖² and a constant,    δ_i = Σ_u ω_u s_ℓ(i,u)
/// ```
/// with s_c the size of base cluster c, n_kc how much of it is in cluster k, and μ_k = Σ_{i in k} Z_i / Σ_{i in k} δ_i. The
/// objective is the exact value of the cut. After the last round single rows move, and clusters are swapped, wherever that lowers the
/// cut, as in [`kc`](crate::kc()). A baseline: `lwgp` and `hbgf` cut other graphs and come nearer to known classes.
///
/// # Cost
/// As [`kc`](crate::kc()).
///
/// # Differences from the paper
/// Starts by k-means++ on the share of labels that differ; restarts; moves of single rows and swaps at the end; weights; soft base
/// clusterings, with shares Z; missing labels have no degree.
///
/// # Errors
/// As [`kc`](crate::kc()).
///
/// # References
/// Liu, Liu, Wu, Tao, Fu, *Spectral ensemble clustering via weighted k-means*, KDD 2015 and IEEE TKDE 2017.
#[doc(alias = "spectral ensemble clustering")]
pub fn sec<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    solve(
        Criterion::Cut,
        source.into(),
        clusters,
        seed,
        settings,
        monitor,
    )
}

/// [`sec`] over label rows that are not held: a pass for every round.
///
/// # Errors
/// As [`sec`], and [`MedianError::Pass`] when rows cannot be read.
pub fn sec_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<LabelMeansDiagnostics>, MedianError> {
    solve_rows(
        Criterion::Cut,
        rows,
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )
}

#[derive(Clone, Copy)]
enum Criterion<'a> {
    Utility(&'a KccSettings),
    Cut,
}

impl Criterion<'_> {
    fn utility(self) -> Option<Utility> {
        let Self::Utility(settings) = self else {
            return None;
        };
        match settings.utility {
            KccUtility::C => None,
            KccUtility::H => Some(Utility::Entropy { smoothing: 1.0 }),
            KccUtility::Cos => Some(Utility::Norm(2.0)),
            KccUtility::Lp => Some(Utility::Norm(settings.p)),
        }
    }

    fn normalised(self) -> bool {
        matches!(
            self,
            Self::Utility(KccSettings {
                normalised: true,
                ..
            })
        )
    }

    /// The same for shares and weighted objects.
    fn fractional(self) -> FractionalKind {
        match (self, self.utility()) {
            (Self::Cut, _) => FractionalKind::Cut,
            (_, Some(utility)) => FractionalKind::Utility(utility),
            (_, None) => FractionalKind::Squares,
        }
    }

    /// The objective from its trace.
    fn described(self, trace: Vec<f64>) -> Objective {
        let (name, sense) = match self {
            Self::Cut => ("normalised cut of the co-association", Sense::Minimise),
            Self::Utility(_) => ("utility, summed over base clusterings", Sense::Maximise),
        };
        Objective {
            name,
            sense,
            value: trace.last().copied().unwrap_or(f64::NAN),
            trace,
        }
    }
}

/// A criterion for one ensemble.
struct Target<'a> {
    criterion: Criterion<'a>,
    all: Counts,
    offsets: Vec<usize>,
    /// Size of every base cluster.
    sizes: Vec<f64>,
    /// What each base clustering counts, normalised if that is asked for.
    counting: Vec<f64>,
}

/// The worth of distributions by category utility.
fn squares(shares: impl Iterator<Item = f64>) -> f64 {
    shares.map(|share| share * share).sum()
}

impl<'a> Target<'a> {
    fn new(
        criterion: Criterion<'a>,
        all: Counts,
        offsets: Vec<usize>,
        base_weights: Vec<f64>,
    ) -> Self {
        let sizes = (0..offsets[base_weights.len()])
            .map(|place| all.of(place)[0] as f64)
            .collect();
        let mut target = Self {
            criterion,
            all,
            offsets,
            sizes,
            counting: base_weights,
        };
        if criterion.normalised() {
            let own: Vec<f64> = (0..target.counting.len())
                .map(|u| target.own_worth(u).abs())
                .collect();
            // A base clustering of one cluster has no entropy, and tells nothing.
            let scaled =
                |(weight, own): (&f64, f64)| if own > 1e-12 { weight / own } else { *weight };
            target.counting = target.counting.iter().zip(own).map(scaled).collect();
        }
        target
    }

    fn utility(&self) -> Option<Utility> {
        self.criterion.utility()
    }

    fn assignment(&self) -> Assignment<'_> {
        match (self.criterion, self.utility()) {
            (Criterion::Cut, _) => Assignment::NormalisedCut(&self.sizes),
            (_, Some(utility)) => Assignment::Utility(utility),
            (_, None) => Assignment::Nearest,
        }
    }

    /// φ(p_u).
    fn own_worth(&self, u: usize) -> f64 {
        let shares =
            (self.offsets[u]..self.offsets[u + 1]).map(|place| self.all.share(u, place, 0));
        self.utility().map_or_else(
            || squares(shares.clone()),
            |utility| utility.worth(shares.clone()),
        )
    }

    fn plan(&self, clusters: usize, settings: &LabelMeansSettings) -> Plan<'_> {
        let (assignment, base_weights) = (self.assignment(), self.counting.as_slice());
        let (restarts, rounds, tolerance): (NonZeroU32, NonZeroU32, f64) =
            (settings.restarts, settings.rounds, settings.tolerance);
        Plan {
            clusters,
            base_weights,
            assignment,
            restarts,
            swaps: SWAPS,
            rounds,
            tolerance,
        }
    }

    /// What losses of k-means are in terms of the objective.
    fn objective(&self, losses: &[f64]) -> Vec<f64> {
        if let Criterion::Cut = self.criterion {
            return losses.to_vec();
        }
        let objects = self.all.objects(0) as f64;
        let most = self.utility().map_or(1.0, Utility::most);
        let above = |(u, weight): (usize, &f64)| {
            weight * self.all.labelled(u, 0) as f64 / objects * (most - self.own_worth(u))
        };
        let reach: f64 = self.counting.iter().enumerate().map(above).sum();
        losses.iter().map(|loss| reach - loss / objects).collect()
    }

    fn described(&self, losses: &[f64]) -> Objective {
        self.criterion.described(self.objective(losses))
    }
}

fn solve(
    criterion: Criterion<'_>,
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    check(ensemble, weights, clusters, settings)?;
    let base_weights = base_weights(ensemble.bases(), weights);
    if let Some(rows) = FractionalRows::where_needed(source) {
        let of = FractionalCriterion::new(
            &rows,
            criterion.fractional(),
            ensemble.offsets(),
            &base_weights,
            criterion.normalised(),
        );
        return Ok(solve_fractional(
            criterion, &of, &rows, clusters, seed, settings, monitor,
        ));
    }
    let source = EnsembleRows::new(ensemble);
    let (all, _) = Counts::together_over(&PassRunner::new(&source, &Silent))?;
    let target = Target::new(criterion, all, ensemble.offsets(), base_weights);
    Ok(with_rows(
        ensemble,
        InMemory {
            target: &target,
            clusters,
            seed,
            settings,
            monitor,
        },
    ))
}

/// The search over shares and weighted objects.
fn solve_fractional(
    criterion: Criterion<'_>,
    of: &FractionalCriterion<'_>,
    rows: &FractionalRows<'_>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Outcome<LabelMeansDiagnostics> {
    let plan = FractionalPlan {
        clusters,
        base_weights: &of.counting,
        likeliest: false,
        restarts: settings.restarts.get(),
        rounds: settings.rounds.get(),
        tolerance: settings.tolerance,
    };
    let fit = of.search(&plan, seed, monitor);
    let certainty = |row: usize| {
        fit.means
            .certainty(rows, row, fit.labels[row] as usize, &of.counting)
    };
    let certainty: Vec<f64> = (0..rows.len()).map(certainty).collect();
    let partition = Partition::new(rows.expand(&fit.labels), clusters).expect("labels are below K");
    let mut outcome = Outcome::hard(partition, rows.expand(&certainty), fit.stopped);
    outcome.rounds = fit.trace.len() as u64;
    outcome.objective = Some(criterion.described(of.objective(&fit.trace)));
    outcome.with(LabelMeansDiagnostics {
        objective_by_restart: of.objective(&fit.starts),
    })
}

struct InMemory<'a> {
    target: &'a Target<'a>,
    clusters: usize,
    seed: Seed,
    settings: &'a LabelMeansSettings,
    monitor: &'a dyn Monitor,
}

impl RowVisitor for InMemory<'_> {
    type Out = Outcome<LabelMeansDiagnostics>;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Self::Out {
        let target = self.target;
        let fit = kmeans(
            rows,
            &target.plan(self.clusters, self.settings),
            self.seed,
            self.monitor,
        );
        let certainty = |at: usize| {
            fit.counts
                .mean_share(rows.places(at), fit.labels[at], &target.counting)
        };
        let certainty: Vec<f64> = (0..rows.len()).map(certainty).collect();
        let partition =
            Partition::new(rows.expand(&fit.labels), self.clusters).expect("labels are below K");
        let mut outcome = Outcome::hard(partition, rows.expand(&certainty), fit.stopped);
        outcome.rounds = fit.trace.len() as u64;
        outcome.objective = Some(target.described(&fit.trace));
        outcome.with(LabelMeansDiagnostics {
            objective_by_restart: target.objective(&fit.starts),
        })
    }
}

fn solve_rows(
    criterion: Criterion<'_>,
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<LabelMeansDiagnostics>, MedianError> {
    check_rows(rows, weights, clusters, settings)?;
    let (all, first_unlabelled) = Counts::together_over(rows)?;
    labelled(first_unlabelled)?;
    let bases = rows.source().bases();
    let target = Target::new(
        criterion,
        all,
        BaseClustering::offsets(bases),
        base_weights(bases, weights),
    );
    let found = kmeans_over(rows, &target.plan(clusters, settings), seed, monitor)?;
    let details = LabelMeansDiagnostics {
        objective_by_restart: target.objective(&found.starts),
    };
    let (rounds, objective) = (found.trace.len() as u64, target.described(&found.trace));
    let labels = MeanLabels {
        choice: found.choice,
        counts: found.counts,
        base_weights: target.counting,
    };
    let mut fit = RowFit::new(clusters, found.stopped, labels, details);
    (fit.rounds, fit.objective) = (rounds, Some(objective));
    Ok(fit)
}

/// k-means-based consensus clustering: [`kcc`].
#[derive(Debug)]
pub struct Kcc;

/// Spectral ensemble clustering: [`sec`].
#[derive(Debug)]
pub struct Sec;

/// k-means-based consensus clustering: [`kcc`].
pub static KCC: Kcc = Kcc;

/// Spectral ensemble clustering: [`sec`].
pub static SEC: Sec = Sec;

static KCC_INFO: MethodInfo = MethodInfo {
    name: "kcc",
    summary: "k-means on labels for a utility of your choice: mutual information (ECC, ITK), category utility, norms",
    reference: "Wu, Liu, Xiong, Cao and Chen 2015, IEEE TKDE 27(1)",
    capabilities: FRACTIONAL,
    ..KC_INFO
};

static SEC_INFO: MethodInfo = MethodInfo {
    name: "sec",
    summary: "normalised cut of the co-association by weighted k-means on labels; a baseline, lwgp and hbgf agree more with known classes",
    reference: "Liu, Liu, Wu, Tao and Fu, Spectral ensemble clustering via weighted k-means, KDD 2015",
    capabilities: FRACTIONAL,
    ..KC_INFO
};

impl Method for Kcc {
    type Settings = KccSettings;
    type Diagnostics = LabelMeansDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &KCC_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &KccSettings) -> u64 {
        let restarts = settings.search.restarts.get();
        bytes(size, restarts).saturating_add(fractional_kmeans::bytes(size, restarts))
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &KccSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(KCC_INFO.name)?;
        Ok(kcc(
            problem.weighted(),
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &KccSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(KCC_INFO.name)?;
        Ok(kcc_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &KccSettings) -> u64 {
        row_bytes(size, settings.search.restarts.get())
    }
}

impl Method for Sec {
    type Settings = LabelMeansSettings;
    type Diagnostics = LabelMeansDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        &SEC_INFO
    }

    fn bytes(&self, size: &ProblemSize, settings: &LabelMeansSettings) -> u64 {
        let restarts = settings.restarts.get();
        bytes(size, restarts).saturating_add(fractional_kmeans::bytes(size, restarts))
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &LabelMeansSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(SEC_INFO.name)?;
        Ok(sec(
            problem.weighted(),
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &LabelMeansSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(SEC_INFO.name)?;
        Ok(sec_rows(
            &problem.passes(),
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &LabelMeansSettings) -> u64 {
        row_bytes(size, settings.restarts.get())
    }
}
