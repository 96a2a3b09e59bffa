//! KC, QMI and IPVC: k-means on labels, category utility, and iterative voting; and what they share with KCC and SEC.

use std::num::NonZeroU32;

use partita_core::{
    BaseClustering, Capabilities, FitError, Method, MethodInfo, Monitor, Objective, ProblemSize,
    RowFit, RowProblem, Sense, Settings, SoftBases, Weights,
};
use partita_kmeans::labels::{
    Assignment, Counts, LabelFit, Plan, SWAPS, Utility, base_weights, bytes, kmeans,
};
use serde::{Deserialize, Serialize};

use crate::MedianError;
use crate::chosen_labels::ChosenLabels;
use crate::error::labelled;

/// Settings of [`KC`], [`QMI`], [`IPVC`] and [`SEC`](crate::SEC). Start from `default()` and change what you mean to change.
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
    /// The most iterations of one initialization.
    #[setting(alias = "max_iter", alias = "n_iter", alias = "rounds")]
    pub iterations: NonZeroU32,
    /// Stop when an iteration gains at most this share of the sum of squares.
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
            iterations: count(200),
            tolerance: 1e-9,
        }
    }
}

/// What the partition is to be best in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Criterion {
    /// The sum of squares of labels about their means.
    Squares,
    /// Category utility in which every base clustering counts the same.
    MutualInformation,
    /// Votes.
    Votes,
    /// A utility of label distributions, divided by that of the base clustering itself where it is normalised; none is category utility.
    Utility {
        utility: Option<Utility>,
        normalised: bool,
    },
    /// The normalised cut of the co-association.
    Cut,
}

/// A criterion for the rows of one ensemble.
struct Target {
    criterion: Criterion,
    /// How often every label occurs.
    all: Counts,
    offsets: Vec<usize>,
    base_weights: Vec<f64>,
    /// What k-means counts each base clustering for.
    counting: Vec<f64>,
    /// Size of every base cluster.
    sizes: Vec<f64>,
}

impl Target {
    fn new(criterion: Criterion, all: Counts, offsets: Vec<usize>, base_weights: Vec<f64>) -> Self {
        let sizes = (0..offsets[base_weights.len()])
            .map(|place| all.of(place)[0])
            .collect();
        let mut target = Self {
            criterion,
            all,
            offsets,
            counting: base_weights.clone(),
            base_weights,
            sizes,
        };
        for u in 0..target.counting.len() {
            match criterion {
                Criterion::MutualInformation => {
                    target.counting[u] *= target.all.objects(0) / target.all.labelled(u, 0);
                }
                Criterion::Utility {
                    normalised: true, ..
                } => {
                    let own = target.worth(u).abs();
                    // A base clustering of one cluster has no entropy, and tells nothing.
                    if own > 1e-12 {
                        target.counting[u] /= own;
                    }
                }
                _ => {}
            }
        }
        target
    }

    fn utility(&self) -> Option<Utility> {
        match self.criterion {
            Criterion::Utility { utility, .. } => utility,
            _ => None,
        }
    }

    /// φ(p_u), the worth of the label distribution of a base clustering over all objects.
    fn worth(&self, u: usize) -> f64 {
        let shares =
            (self.offsets[u]..self.offsets[u + 1]).map(|place| self.all.share(u, place, 0));
        match self.utility() {
            Some(utility) => utility.worth(shares),
            None => shares.map(|share| share * share).sum(),
        }
    }

    /// The most that the labels of a base clustering could be worth, summed over objects.
    fn most(&self, u: usize) -> f64 {
        match self.utility() {
            Some(utility) => utility.most() * self.all.labelled(u, 0),
            None => self.all.square(u),
        }
    }

    fn plan<'a>(&'a self, clusters: usize, settings: &LabelMeansSettings) -> Plan<'a> {
        let assignment = match (self.criterion, self.utility()) {
            (Criterion::Cut, _) => Assignment::NormalisedCut(&self.sizes),
            (Criterion::Votes, _) => Assignment::Likeliest,
            (_, Some(utility)) => Assignment::Utility(utility),
            (_, None) => Assignment::Nearest,
        };
        Plan {
            clusters,
            base_weights: &self.counting,
            assignment,
            restarts: settings.restarts,
            swaps: SWAPS,
            iterations: settings.iterations,
            tolerance: settings.tolerance,
        }
    }

    /// What losses of k-means are in terms of the objective.
    fn objective(&self, losses: &[f64]) -> Vec<f64> {
        let objects = self.all.objects(0);
        let mut reach = 0.0;
        let mut unit = objects;
        for u in 0..self.base_weights.len() {
            reach += match self.criterion {
                Criterion::Squares | Criterion::Cut => return losses.to_vec(),
                Criterion::Votes => {
                    unit = 1.0;
                    self.base_weights[u] * self.all.square(u)
                }
                Criterion::MutualInformation => {
                    let labelled = self.all.labelled(u, 0);
                    self.base_weights[u] * (self.all.square(u) / labelled - self.worth(u))
                }
                Criterion::Utility { .. } => {
                    let above = self.most(u) - self.all.labelled(u, 0) * self.worth(u);
                    self.counting[u] * above / objects
                }
            };
        }
        losses.iter().map(|loss| reach - loss / unit).collect()
    }

    fn described(&self, losses: &[f64]) -> Objective {
        let (name, sense) = match self.criterion {
            Criterion::Squares => ("sum of squares of one-hot labels", Sense::Minimise),
            Criterion::MutualInformation => (
                "category utility, summed over base clusterings",
                Sense::Maximise,
            ),
            Criterion::Votes => ("votes: shares of own labels, summed", Sense::Maximise),
            Criterion::Utility { .. } => ("utility, summed over base clusterings", Sense::Maximise),
            Criterion::Cut => ("normalised cut of the co-association", Sense::Minimise),
        };
        let trace = self.objective(losses);
        Objective {
            name,
            sense,
            value: trace.last().copied().unwrap_or(f64::NAN),
            trace,
        }
    }
}

/// The fit of a criterion.
pub(crate) fn solve(
    criterion: Criterion,
    problem: &RowProblem<'_>,
    clusters: usize,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<LabelMeansDiagnostics>, MedianError> {
    let _span =
        tracing::info_span!("k-means on labels", rows = problem.rows.rows(), clusters).entered();
    let rows = problem.passes();
    let (all, first_unlabelled) = Counts::together(&rows)?;
    labelled(first_unlabelled)?;
    let bases = problem.rows.bases();
    let offsets = BaseClustering::offsets(bases);
    let target = Target::new(
        criterion,
        all,
        offsets,
        base_weights(bases, problem.weights),
    );
    let plan = target.plan(clusters, settings);
    let found = kmeans(&rows, &plan, problem.seed, monitor)?;
    let details = LabelMeansDiagnostics {
        objective_by_restart: target.objective(&found.starts),
    };
    let objective = target.described(&found.trace);
    let labels = ChosenLabels {
        choice: found.choice,
        becomes: (0..clusters as u32).collect(),
    };
    let mut fit = RowFit::new(clusters, found.stopped, labels, details);
    fit.iterations = objective.trace.len() as u64;
    fit.objective = Some(objective);
    Ok(fit)
}

/// The partition of [`KC`] with its own defaults: a reference for base clusterings none of which will do.
pub(crate) fn centre(
    problem: &RowProblem<'_>,
    clusters: usize,
    monitor: &dyn Monitor,
) -> Result<LabelFit, MedianError> {
    let settings = LabelMeansSettings::default();
    let weights = base_weights(problem.rows.bases(), problem.weights);
    let plan = Plan {
        clusters,
        base_weights: &weights,
        assignment: Assignment::Nearest,
        restarts: settings.restarts,
        swaps: SWAPS,
        iterations: settings.iterations,
        tolerance: settings.tolerance,
    };
    Ok(kmeans(&problem.passes(), &plan, problem.seed, monitor)?)
}

/// A method of this file, which differs from the others in its criterion.
#[derive(Debug)]
pub struct LabelMeans {
    criterion: Criterion,
    info: &'static MethodInfo,
}

/// k-means on labels: the partition with the smallest sum of squares of one-hot label rows about their means.
///
/// ```text
/// minimise  Σ_i Σ_u ω_u ‖e(ℓ_ui) − p_k(i)u‖²,    p_kuj = share of label j of base clustering u in cluster k
/// ```
/// The sum runs over the labels that are there. Rows stay stored labels and means are a table of ΣJ × K numbers: the
/// one-hot matrix is never built. The objective never rises from one iteration to the next.
///
/// # Cost
/// O(distinct neighbouring rows · M · K) time an iteration, in parallel over rows; 16 bytes a row besides the labels, and
/// 16 ΣJ K. Rows are not held.
///
/// # Differences from the paper
/// Starts by k-means++, restarts, missing labels, weights of base clusterings; an empty cluster takes the row that
/// fits worst. After the last iteration single rows move wherever that lowers the sum of squares (Hartigan and Wong), and a cluster is
/// swapped for one about another row where that leads lower (Fränti, random swap), within a bound on the work.
///
/// # References
/// Topchy, Jain, Punch, *Clustering ensembles: models of consensus and weak partitions*, PAMI 2005; called KC by Du and
/// others, *A self-supervised framework for clustering ensemble*, 2013.
#[doc(alias("COCA"))]
pub static KC: LabelMeans = LabelMeans {
    criterion: Criterion::Squares,
    info: &KC_INFO,
};

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
/// objective is that of [`KC`] up to sign, scale and a constant. They differ when labels are missing: here every base
/// clustering counts the same however few objects it labels, there every label does. Everything else is as in [`KC`].
///
/// # Cost
/// As [`KC`].
///
/// # References
/// Topchy, Jain, Punch, *Combining multiple weak clusterings*, ICDM 2003; Mirkin, *Reinterpreting the category utility
/// function*, Machine Learning 2001.
pub static QMI: LabelMeans = LabelMeans {
    criterion: Criterion::MutualInformation,
    info: &MethodInfo {
        name: "qmi",
        summary: "the most quadratic mutual information with the base clusterings, by k-means on labels",
        reference: "Topchy, Jain, Punch, Combining multiple weak clusterings, ICDM 2003",
        ..KC_INFO
    },
};

/// Iterative probabilistic voting: every object goes to the cluster in which its labels are most common.
///
/// ```text
/// k(i) ← argmax_k Σ_u ω_u p_ku,ℓ(i,u)          maximise  Σ_i Σ_u ω_u p_k(i)u,ℓ(i,u)
/// ```
/// | paper | here |
/// |---|---|
/// | 1/r Σ 1 − I(y_j, y_i) over a cluster | 1 − p_kuℓ |
///
/// The sum over objects of the share of their labels is the number of labels minus the sum of squares of [`KC`]: one
/// objective, two ways of moving. The vote leaves out ‖p_ku‖², so it may raise the sum of squares; it stops there and
/// keeps the iteration before.
///
/// # Cost
/// As [`KC`].
///
/// # Differences from the paper
/// Starts by k-means++ and restarts; an iteration that makes things worse is undone and ends the run, where the paper waits
/// until labels stand still, which need not happen. Single rows then move and clusters are swapped as in [`KC`].
///
/// # References
/// Nguyen, Caruana, *Consensus clusterings*, ICDM 2007.
pub static IPVC: LabelMeans = LabelMeans {
    criterion: Criterion::Votes,
    info: &MethodInfo {
        name: "ipvc",
        summary: "every object joins the cluster in which its labels are most common, until no object moves or the objective stays the same",
        reference: "Nguyen, Caruana, Consensus clusterings, ICDM 2007",
        ..KC_INFO
    },
};

pub(crate) const KC_INFO: MethodInfo = MethodInfo {
    name: "kc",
    family: "median",
    summary: "k-means on labels: fast at any size, takes missing labels",
    reference: "Topchy, Jain, Punch, Clustering ensembles: models of consensus and weak partitions, PAMI 2005",
    time: "restarts · iterations · n M K",
    memory: "24 ΣJ K bytes, and distinct rows once more where they are held",
    remedy: "ask for fewer clusters",
    capabilities: Capabilities {
        base_weights: Weights::Native,
        seeded: true,
        streams: true,
        soft_bases: SoftBases::Native,
        object_weights: Weights::Native,
        ..Capabilities::HARD_LABELS
    },
};

impl Method for LabelMeans {
    type Settings = LabelMeansSettings;
    type Diagnostics = LabelMeansDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        settings: &LabelMeansSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        Ok(solve(self.criterion, problem, clusters, settings, monitor)?)
    }

    fn row_bytes(&self, size: &ProblemSize, _: &LabelMeansSettings) -> u64 {
        bytes(size)
    }
}
