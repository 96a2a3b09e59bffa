//! KC, QMI and IPVC: k-means on labels, category utility, and iterative voting.

use std::num::{NonZeroU32, Saturating};

use partita_core::{
    BaseClustering, BaseWeights, Capabilities, Ensemble, FitError, Label, Method, MethodInfo,
    Monitor, Objective, Outcome, Partition, PassRunner, Problem, ProblemSize, RowFit, RowProblem,
    Seed, Settings, SoftBases, WeightedEnsemble, Weights,
};
use partita_kmeans::labels::{
    Assignment, Counts, LabelChoice, Plan, RowVisitor, START_ROWS, SWAPS, WeightedLabelRows,
    base_weights, bytes_over, kmeans, kmeans_over, with_rows,
};
use serde::{Deserialize, Serialize};

use crate::MedianError;
use crate::criterion::{Criterion, CriterionFit};
use crate::error::{check, check_rows, labelled};
use crate::fractional_rows::{FractionalPlan, FractionalRows};

pub(crate) use crate::mean_labels::MeanLabels;

/// Settings of [`kc`], [`qmi`] and [`ipvc`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LabelMeansSettings {
    /// Independent initializations by k-means++ on label rows, every other one greedy; the best is kept.
    ///
    /// Those that differ are improved by moves of single rows (on large tables only the best), the best by random swaps of a cluster,
    /// up to eight an initialization. Beyond 10,000 different rows all are tried on so many, without swaps; the best goes on with all.
    #[setting(range = 1..=100_000, alias = "n_init", alias = "n_restarts")]
    pub restarts: NonZeroU32,
    /// The most rounds of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter")]
    pub rounds: NonZeroU32,
    /// Stop when a round gains at most this share of the sum of squares.
    #[setting(range = 0.0.., alias = "tol")]
    pub tolerance: f64,
}

/// Facts about a search from several initializations.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct LabelMeansDiagnostics {
    /// The objective that every initialization reached, on the rows that it was tried on.
    pub objective_by_restart: Vec<f64>,
}

impl Default for LabelMeansSettings {
    fn default() -> Self {
        let count = |number| NonZeroU32::new(number).expect("not zero");
        Self {
            restarts: count(10),
            rounds: count(200),
            tolerance: 1e-9,
        }
    }
}

/// k-means on labels: the partition with the smallest sum of squares of one-hot label rows about their means.
///
/// ```text
/// minimise  Σ_i Σ_u ω_u ‖e(ℓ_ui) − p_k(i)u‖²,    p_kuj = share of label j of base clustering u in cluster k
/// ```
/// The sum runs over the labels that are there. Rows stay stored labels and means are a table of ΣJ × K numbers: the
/// one-hot matrix is never built. The objective never rises from one round to the next. The certainty of an object
/// is the mean share, over its base clusterings, of its own label among the labels of its cluster.
///
/// # Cost
/// O(distinct neighbouring rows · M · K) time a round, in parallel over rows; 16 bytes a row besides the labels, and
/// 16 ΣJ K. Beyond [`LABELS_BY_BLOCKS`](partita_core::LABELS_BY_BLOCKS) labels [`kc_rows`] holds nothing of a row.
///
/// # Differences from the paper
/// Starts by k-means++, restarts, missing labels, weights of base clusterings; an empty cluster takes the row that
/// fits worst. After the last round single rows move wherever that lowers the sum of squares (Hartigan and Wong), and a cluster is
/// swapped for one about another row where that leads lower (Fränti, random swap), within a bound on the work.
///
/// # Errors
/// [`MedianError`] if K is out of range, weights or settings do not fit, or an object has no label.
///
/// # References
/// Topchy, Jain, Punch, *Clustering ensembles: models of consensus and weak partitions*, PAMI 2005; called KC by Du and
/// others, *A self-supervised framework for clustering ensemble*, 2013.
#[doc(alias("COCA"))]
pub fn kc(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    solve(
        Criterion::Kc,
        ensemble,
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )
}

/// The partition that shares the most quadratic mutual information with the base clusterings, which is the one with
/// the largest category utility.
///
/// ```text
/// maximise  Σ_u ω_u [ Σ_k P(k) Σ_j P_u(j | k)² − Σ_j P_u(j)² ]
/// ```
/// | paper | here |
/// |---|---|
/// | U(π_C, π_u) | the bracket; I²(π_C, π_u) is twice as much |
/// | P(C_k) | share of cluster k among the objects that base clustering u labels |
///
/// This is k-means on standardised (centred) one-hot labels: centring moves no distance, so with complete labels the
/// objective is that of [`kc`] up to sign, scale and a constant. They differ when labels are missing: here every base
/// clustering counts the same however few objects it labels, there every label does. Everything else is as in [`kc`].
///
/// # Cost
/// As [`kc`].
///
/// # Errors
/// As [`kc`].
///
/// # References
/// Topchy, Jain, Punch, *Combining multiple weak clusterings*, ICDM 2003; Mirkin, *Reinterpreting the category utility
/// function*, Machine Learning 2001.
pub fn qmi(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    solve(
        Criterion::Qmi,
        ensemble,
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )
}

/// Iterative probabilistic voting: every object goes to the cluster in which its labels are most common.
///
/// ```text
/// k(i) ← argmax_k Σ_u ω_u p_ku,ℓ(i,u)          maximise  Σ_i Σ_u ω_u p_k(i)u,ℓ(i,u)
/// ```
/// | paper | here |
/// |---|---|
/// | 1/r Σ 1 − I(y_j, y_i) over a cluster | 1 − p_kuℓ |
///
/// The sum over objects of the share of their labels is the number of labels minus the sum of squares of [`kc`]: one
/// objective, two ways of moving. The vote leaves out ‖p_ku‖², so it may raise the sum of squares; it stops there and
/// keeps the round before.
///
/// # Cost
/// As [`kc`].
///
/// # Differences from the paper
/// Starts by k-means++ and restarts; a round that makes things worse is undone and ends the run, where the paper waits
/// until labels stand still, which need not happen. Single rows then move and clusters are swapped as in [`kc`].
///
/// # Errors
/// As [`kc`].
///
/// # References
/// Nguyen, Caruana, *Consensus clusterings*, ICDM 2007.
pub fn ipvc(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    solve(
        Criterion::Ipvc,
        ensemble,
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )
}

/// [`kc`] over label rows that are not held: a pass for every round. From the same start it takes the same steps to the same bits;
/// the start is another where more than 10,000 rows differ, since initializations are then tried on rows that a hash of their labels
/// draws.
///
/// # Cost
/// O(n M K) a round; no memory that grows with n.
///
/// # Errors
/// As [`kc`], and [`MedianError::Pass`] when rows cannot be read.
pub fn kc_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<LabelMeansDiagnostics>, MedianError> {
    Ok(solve_rows(
        Criterion::Kc,
        rows,
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )?
    .0)
}

/// [`qmi`] over label rows that are not held, as [`kc_rows`].
///
/// # Errors
/// As [`kc_rows`].
pub fn qmi_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<LabelMeansDiagnostics>, MedianError> {
    Ok(solve_rows(
        Criterion::Qmi,
        rows,
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )?
    .0)
}

/// [`ipvc`] over label rows that are not held, as [`kc_rows`].
///
/// # Errors
/// As [`kc_rows`].
pub fn ipvc_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<LabelMeansDiagnostics>, MedianError> {
    Ok(solve_rows(
        Criterion::Ipvc,
        rows,
        weights,
        clusters,
        seed,
        settings,
        monitor,
    )?
    .0)
}

fn solve(
    criterion: Criterion,
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    let source = WeightedEnsemble {
        ensemble,
        base_weights: weights,
        object_weights: None,
    };
    solve_weighted(criterion, source, clusters, seed, settings, monitor)
}

/// The search where objects may have weights, and base clusterings may be soft.
pub(crate) fn solve_weighted(
    criterion: Criterion,
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    let _span = match criterion {
        Criterion::Kc => {
            tracing::info_span!("kc", objects = ensemble.objects(), clusters).entered()
        }
        Criterion::Qmi => {
            tracing::info_span!("qmi", objects = ensemble.objects(), clusters).entered()
        }
        Criterion::Ipvc => {
            tracing::info_span!("ipvc", objects = ensemble.objects(), clusters).entered()
        }
    };
    check(ensemble, weights, clusters, settings)?;
    let base_weights = base_weights(ensemble.bases(), weights);
    if let Some(rows) = FractionalRows::where_needed(source) {
        let plan = FractionalPlan {
            clusters,
            base_weights: &base_weights,
            likeliest: criterion == Criterion::Ipvc,
            restarts: settings.restarts.get(),
            rounds: settings.rounds.get(),
            tolerance: settings.tolerance,
        };
        return Ok(of_fractions(
            criterion.of_fractions(&rows, &plan, seed, monitor),
            criterion,
            clusters,
        ));
    }
    Ok(with_rows(
        ensemble,
        InMemory {
            criterion,
            base_weights,
            clusters,
            seed,
            settings,
            monitor,
        },
    ))
}

/// The outcome of a search over shares and weighted objects.
fn of_fractions(
    found: CriterionFit,
    criterion: Criterion,
    clusters: usize,
) -> Outcome<LabelMeansDiagnostics> {
    let partition = Partition::new(found.labels, clusters).expect("labels are below K");
    let mut outcome = Outcome::hard(partition, found.certainty, found.stopped);
    outcome.rounds = found.trace.len() as u64;
    outcome.objective = Some(criterion.objective(found.trace));
    outcome.with(LabelMeansDiagnostics {
        objective_by_restart: found.starts,
    })
}

/// The fit, and how often every label occurs in every cluster.
pub(crate) fn solve_rows(
    criterion: Criterion,
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<(RowFit<LabelMeansDiagnostics>, Counts, LabelChoice), MedianError> {
    check_rows(rows, weights, clusters, settings)?;
    let (all, first_unlabelled) = Counts::together_over(rows)?;
    labelled(first_unlabelled)?;
    let bases = rows.source().bases();
    let target = Target {
        criterion,
        base_weights: base_weights(bases, weights),
        all,
        offsets: BaseClustering::offsets(bases),
    };
    let counting = target.distance_weights();
    let found = kmeans_over(
        rows,
        &plan(criterion, &counting, clusters, settings),
        seed,
        monitor,
    )?;
    let (choice, counts) = (found.choice.clone(), found.counts.clone());
    let labels = MeanLabels {
        choice: found.choice,
        counts: found.counts,
        base_weights: counting,
    };
    let mut fit = RowFit::new(
        clusters,
        found.stopped,
        labels,
        target.diagnostics(&found.starts),
    );
    fit.rounds = found.trace.len() as u64;
    fit.objective = Some(target.described(&found.trace));
    Ok((fit, counts, choice))
}

fn plan<'a>(
    criterion: Criterion,
    counting: &'a [f64],
    clusters: usize,
    settings: &LabelMeansSettings,
) -> Plan<'a> {
    Plan {
        clusters,
        base_weights: counting,
        assignment: if criterion == Criterion::Ipvc {
            Assignment::Likeliest
        } else {
            Assignment::Nearest
        },
        restarts: settings.restarts,
        swaps: SWAPS,
        rounds: settings.rounds,
        tolerance: settings.tolerance,
    }
}

struct InMemory<'a> {
    criterion: Criterion,
    base_weights: Vec<f64>,
    clusters: usize,
    seed: Seed,
    settings: &'a LabelMeansSettings,
    monitor: &'a dyn Monitor,
}

impl RowVisitor for InMemory<'_> {
    type Out = Outcome<LabelMeansDiagnostics>;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Self::Out {
        let offsets = rows.offsets().to_vec();
        // The sum of squares needs no more than the counts by cluster.
        let alone = self.criterion == Criterion::Kc;
        let all = if alone {
            Counts::new(&offsets, 1)
        } else {
            Counts::together(rows)
        };
        let target = Target {
            criterion: self.criterion,
            base_weights: self.base_weights,
            all,
            offsets,
        };
        let counting = target.distance_weights();
        let plan = plan(self.criterion, &counting, self.clusters, self.settings);
        let fit = kmeans(rows, &plan, self.seed, self.monitor);
        let certainty = |at: usize| {
            fit.counts
                .mean_share(rows.places(at), fit.labels[at], &counting)
        };
        let certainty: Vec<f64> = (0..rows.len()).map(certainty).collect();
        let partition =
            Partition::new(rows.expand(&fit.labels), self.clusters).expect("labels are below K");
        let mut outcome = Outcome::hard(partition, rows.expand(&certainty), fit.stopped);
        outcome.rounds = fit.trace.len() as u64;
        outcome.objective = Some(target.described(&fit.trace));
        outcome.with(target.diagnostics(&fit.starts))
    }
}

/// The objective of a criterion, in terms of sums of squares.
struct Target {
    criterion: Criterion,
    base_weights: Vec<f64>,
    /// How often every label occurs.
    all: Counts,
    offsets: Vec<usize>,
}

impl Target {
    /// What a squared distance counts for, by base clustering.
    fn distance_weights(&self) -> Vec<f64> {
        if self.criterion != Criterion::Qmi {
            return self.base_weights.clone();
        }
        let objects = self.all.objects(0) as f64;
        let of_base =
            |(u, weight): (usize, &f64)| weight * objects / self.all.labelled(u, 0) as f64;
        self.base_weights.iter().enumerate().map(of_base).collect()
    }

    /// The objective from sums of squares.
    fn objective(&self, squares: &[f64]) -> Vec<f64> {
        match self.criterion {
            Criterion::Kc => squares.to_vec(),
            Criterion::Ipvc => {
                let of_base = |(u, weight): (usize, &f64)| weight * self.all.labelled(u, 0) as f64;
                let all: f64 = self.base_weights.iter().enumerate().map(of_base).sum();
                squares.iter().map(|value| all - value).collect()
            }
            Criterion::Qmi => {
                let (alone, objects) = (self.gini(), self.all.objects(0) as f64);
                squares
                    .iter()
                    .map(|value| alone - value / objects)
                    .collect()
            }
        }
    }

    /// Σ_u ω_u (1 − Σ_j P_u(j)²).
    fn gini(&self) -> f64 {
        let spread = |(u, weight): (usize, &f64)| {
            let share =
                |place: usize| self.all.of(place)[0] as f64 / self.all.labelled(u, 0) as f64;
            let own: f64 = (self.offsets[u]..self.offsets[u + 1])
                .map(|p| share(p) * share(p))
                .sum();
            weight * (1.0 - own)
        };
        self.base_weights.iter().enumerate().map(spread).sum()
    }

    fn described(&self, squares: &[f64]) -> Objective {
        self.criterion.objective(self.objective(squares))
    }

    fn diagnostics(&self, starts: &[f64]) -> LabelMeansDiagnostics {
        LabelMeansDiagnostics {
            objective_by_restart: self.objective(starts),
        }
    }
}

/// Bytes that a search holds at once, at most.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let [n, _, side, k] = size.saturating();
    let objectives = Saturating(16 * u64::from(restarts));
    (n * Saturating(40)
        + (side + Saturating(1)) * (k + Saturating(4)) * Saturating(24)
        + objectives)
        .0
}

/// Bytes that a search over rows that are not held holds at once, at most.
pub(crate) fn row_bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let sample = ProblemSize {
        objects: size.objects.min(START_ROWS + size.base_clusterings),
        ..*size
    };
    bytes_over(size, bytes(&sample, restarts))
}

/// A method of this file, which differs from the others in its criterion.
#[derive(Debug)]
pub struct LabelMeans {
    criterion: Criterion,
    info: &'static MethodInfo,
}

/// KC, k-means on labels: [`kc`].
pub static KC: LabelMeans = LabelMeans {
    criterion: Criterion::Kc,
    info: &MethodInfo {
        capabilities: FRACTIONAL,
        ..KC_INFO
    },
};

/// QMI, the largest category utility: [`qmi`].
pub static QMI: LabelMeans = LabelMeans {
    criterion: Criterion::Qmi,
    info: &MethodInfo {
        name: "qmi",
        summary: "the most quadratic mutual information with the base clusterings, by k-means on labels",
        reference: "Topchy, Jain, Punch, Combining multiple weak clusterings, ICDM 2003",
        certainty: "mean share of the object's labels among the labels of its cluster; a base clustering counts by the \
                    inverse of how many objects it labels",
        capabilities: FRACTIONAL,
        ..KC_INFO
    },
};

/// IPVC, iterative probabilistic voting: [`ipvc`].
pub static IPVC: LabelMeans = LabelMeans {
    criterion: Criterion::Ipvc,
    info: &MethodInfo {
        name: "ipvc",
        summary: "every object joins the cluster in which its labels are most common, until no object moves or the objective stays the same",
        reference: "Nguyen, Caruana, Consensus clusterings, ICDM 2007",
        capabilities: FRACTIONAL,
        ..KC_INFO
    },
};

pub(crate) const KC_INFO: MethodInfo = MethodInfo {
    name: "kc",
    family: "median",
    summary: "k-means on labels: fast at any size, takes missing labels",
    reference: "Topchy, Jain, Punch, Clustering ensembles: models of consensus and weak partitions, PAMI 2005",
    certainty: "mean share of the object's labels among the labels of its cluster",
    time: "restarts · rounds · n M K",
    memory: "40 n + 24 ΣJ K bytes",
    remedy: "ask for fewer clusters",
    capabilities: Capabilities {
        base_weights: Weights::Native,
        seeded: true,
        streams: true,
        ..Capabilities::HARD_LABELS
    },
};

/// What methods can do besides that take label rows as fractions.
pub(crate) const FRACTIONAL: Capabilities = Capabilities {
    soft_bases: SoftBases::Native,
    object_weights: Weights::Native,
    ..KC_INFO.capabilities
};

impl Method for LabelMeans {
    type Settings = LabelMeansSettings;
    type Diagnostics = LabelMeansDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn bytes(&self, size: &ProblemSize, settings: &LabelMeansSettings) -> u64 {
        let restarts = settings.restarts.get();
        bytes(size, restarts).saturating_add(crate::fractional_kmeans::bytes(size, restarts))
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &LabelMeansSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        Ok(solve_weighted(
            self.criterion,
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
        let clusters = problem.given_clusters(self.info.name)?;
        let rows = problem.passes();
        Ok(solve_rows(
            self.criterion,
            &rows,
            problem.weights,
            clusters,
            problem.seed,
            settings,
            monitor,
        )?
        .0)
    }

    fn row_bytes(&self, size: &ProblemSize, settings: &LabelMeansSettings) -> u64 {
        row_bytes(size, settings.restarts.get())
    }
}
