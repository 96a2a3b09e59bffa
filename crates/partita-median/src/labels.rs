//! KC, QMI and IPVC: k-means on labels in three readings.

use std::num::{NonZeroU32, Saturating};

use partita_core::{
    BaseWeights, Capabilities, Ensemble, FitError, Label, Method, MethodInfo, Monitor, Objective, Outcome, Partition,
    Problem, ProblemSize, Seed, Sense, Settings, Weights,
};
use serde::{Deserialize, Serialize};

use crate::MedianError;
use crate::error::check;
use partita_kmeans::labels::{Assignment, Fit, Plan, RowVisitor, WeightedLabelRows, base_weights, kmeans, with_rows};

/// Settings of [`kc`], [`qmi`] and [`ipvc`]. Start from `default()` and change what you mean to change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct LabelMeansSettings {
    /// Independent initializations by k-means++ on label rows; the best is kept.
    ///
    /// Beyond 10,000 different rows they are tried on so many of them, and the best goes on with all.
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
        Self { restarts: count(10), rounds: count(200), tolerance: 1e-9 }
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
/// 16 ΣJ K.
///
/// # Differences from the paper
/// Starts by k-means++, restarts, missing labels, weights of base clusterings; an empty cluster takes the row that
/// fits worst.
///
/// # Errors
/// [`MedianError`] if K is out of range, weights or settings do not fit, or an object has no label.
///
/// # References
/// Topchy, Jain, Punch, *Clustering ensembles: models of consensus and weak partitions*, PAMI 2005; called KC by Du and
/// others, *A self-supervised framework for clustering ensemble*, 2013.
pub fn kc(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    let _span = tracing::info_span!("kc", objects = ensemble.objects(), clusters).entered();
    solve(Reading::Kc, ensemble, weights, clusters, seed, settings, monitor)
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
    let _span = tracing::info_span!("qmi", objects = ensemble.objects(), clusters).entered();
    solve(Reading::Qmi, ensemble, weights, clusters, seed, settings, monitor)
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
/// until labels stand still, which need not happen.
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
    let _span = tracing::info_span!("ipvc", objects = ensemble.objects(), clusters).entered();
    solve(Reading::Ipvc, ensemble, weights, clusters, seed, settings, monitor)
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Reading {
    Kc,
    Qmi,
    Ipvc,
}

fn solve(
    reading: Reading,
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    settings: &LabelMeansSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<LabelMeansDiagnostics>, MedianError> {
    check(ensemble, weights, clusters, settings)?;
    let trust = base_weights(ensemble, weights);
    Ok(with_rows(ensemble, Means { reading, trust, clusters, seed, settings, monitor }))
}

struct Means<'a> {
    reading: Reading,
    trust: Vec<f64>,
    clusters: usize,
    seed: Seed,
    settings: &'a LabelMeansSettings,
    monitor: &'a dyn Monitor,
}

impl RowVisitor for Means<'_> {
    type Out = Outcome<LabelMeansDiagnostics>;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Self::Out {
        let trust = self.trust(rows);
        let plan = Plan {
            clusters: self.clusters,
            base_weights: &trust,
            assignment: if self.reading == Reading::Ipvc { Assignment::Likeliest } else { Assignment::Nearest },
            restarts: self.settings.restarts,
            rounds: self.settings.rounds,
            tolerance: self.settings.tolerance,
        };
        let fit = kmeans(rows, &plan, self.seed, self.monitor);
        let certainty = rows.expand(&certainties(rows, &fit, &trust));
        let partition = Partition::new(rows.expand(&fit.labels), self.clusters).expect("labels are below K");
        let mut outcome = Outcome::hard(partition, certainty, fit.stopped);
        outcome.rounds = fit.trace.len() as u64;
        outcome.objective = Some(self.described(self.objective(rows, &fit.trace)));
        let objective_by_restart = fit.starts.iter().map(|&value| self.objective(rows, &[value])[0]).collect();
        outcome.with(LabelMeansDiagnostics { objective_by_restart })
    }
}

impl Means<'_> {
    /// What a squared distance counts for, by base clustering.
    fn trust<L: Label>(&self, rows: &WeightedLabelRows<'_, L>) -> Vec<f64> {
        if self.reading != Reading::Qmi {
            return self.trust.clone();
        }
        let objects = rows.objects() as f64;
        self.trust.iter().zip(rows.labelled()).map(|(trust, labelled)| trust * objects / labelled as f64).collect()
    }

    /// The objective of the reading from sums of squares.
    fn objective<L: Label>(&self, rows: &WeightedLabelRows<'_, L>, squares: &[f64]) -> Vec<f64> {
        match self.reading {
            Reading::Kc => squares.to_vec(),
            Reading::Ipvc => {
                let labelled = rows.labelled();
                let all: f64 = self.trust.iter().zip(&labelled).map(|(trust, &count)| trust * count as f64).sum();
                squares.iter().map(|value| all - value).collect()
            }
            Reading::Qmi => {
                let (alone, objects) = (self.gini(rows), rows.objects() as f64);
                squares.iter().map(|value| alone - value / objects).collect()
            }
        }
    }

    /// Σ_u ω_u (1 − Σ_j P_u(j)²).
    fn gini<L: Label>(&self, rows: &WeightedLabelRows<'_, L>) -> f64 {
        let labelled = rows.labelled();
        let mut counts = vec![0u64; rows.base_clusters()];
        for at in 0..rows.len() {
            rows.places(at).for_each(|(_, place)| counts[place] += u64::from(rows.weight(at)));
        }
        let spread = |(u, trust): (usize, &f64)| {
            let share = |place: usize| counts[place] as f64 / labelled[u] as f64;
            let own: f64 = (rows.offsets()[u]..rows.offsets()[u + 1]).map(|p| share(p) * share(p)).sum();
            trust * (1.0 - own)
        };
        self.trust.iter().enumerate().map(spread).sum()
    }

    fn described(&self, trace: Vec<f64>) -> Objective {
        let (name, sense) = match self.reading {
            Reading::Kc => ("sum of squares of one-hot labels", Sense::Minimise),
            Reading::Qmi => ("category utility, summed over base clusterings", Sense::Maximise),
            Reading::Ipvc => ("votes: shares of own labels, summed", Sense::Maximise),
        };
        Objective { name, sense, value: trace.last().copied().unwrap_or(f64::NAN), trace }
    }
}

/// Mean share of a row's labels in its cluster, by trust.
fn certainties<L: Label>(rows: &WeightedLabelRows<'_, L>, fit: &Fit, trust: &[f64]) -> Vec<f64> {
    let certainty = |at: usize| {
        let (mut sum, mut all) = (0.0, 0.0);
        for (u, place) in rows.places(at) {
            sum += trust[u] * fit.counts.share(u, place, fit.labels[at] as usize);
            all += trust[u];
        }
        (sum / all).clamp(0.0, 1.0)
    };
    (0..rows.len()).map(certainty).collect()
}

/// Bytes that a search holds at once, at most.
pub(crate) fn bytes(size: &ProblemSize, restarts: u32) -> u64 {
    let [n, _, side, k] = size.saturating();
    let objectives = Saturating(16 * u64::from(restarts));
    (n * Saturating(40) + (side + Saturating(1)) * (k + Saturating(4)) * Saturating(24) + objectives).0
}

/// A method of this file, which differs from the others in what it reads the labels as.
#[derive(Debug)]
pub struct LabelMeans {
    reading: Reading,
    info: &'static MethodInfo,
}

/// KC, k-means on labels: [`kc`].
pub static KC: LabelMeans = LabelMeans { reading: Reading::Kc, info: &KC_INFO };

/// QMI, the largest category utility: [`qmi`].
pub static QMI: LabelMeans = LabelMeans {
    reading: Reading::Qmi,
    info: &MethodInfo {
        name: "qmi",
        summary: "the most quadratic mutual information with the base clusterings, by k-means on labels",
        reference: "Topchy, Jain, Punch, Combining multiple weak clusterings, ICDM 2003",
        ..KC_INFO
    },
};

/// IPVC, iterative probabilistic voting: [`ipvc`].
pub static IPVC: LabelMeans = LabelMeans {
    reading: Reading::Ipvc,
    info: &MethodInfo {
        name: "ipvc",
        summary: "every object joins the cluster in which its labels are most common, until that stands still",
        reference: "Nguyen, Caruana, Consensus clusterings, ICDM 2007",
        ..KC_INFO
    },
};

const KC_INFO: MethodInfo = MethodInfo {
    name: "kc",
    family: "median",
    summary: "k-means on labels: fast at any size, takes missing labels",
    reference: "Topchy, Jain, Punch, Clustering ensembles: models of consensus and weak partitions, PAMI 2005",
    certainty: "mean share of the object's labels among the labels of its cluster",
    time: "restarts · rounds · n M K",
    memory: "40 n + 24 ΣJ K bytes",
    remedy: "ask for fewer clusters",
    capabilities: Capabilities { base_weights: Weights::Native, seeded: true, ..Capabilities::HARD_LABELS },
};

impl Method for LabelMeans {
    type Settings = LabelMeansSettings;
    type Diagnostics = LabelMeansDiagnostics;
    type Error = FitError;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn bytes(&self, size: &ProblemSize, settings: &LabelMeansSettings) -> u64 {
        bytes(size, settings.restarts.get())
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        settings: &LabelMeansSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<LabelMeansDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        let solve = match self.reading {
            Reading::Kc => kc,
            Reading::Qmi => qmi,
            Reading::Ipvc => ipvc,
        };
        Ok(solve(problem.ensemble, problem.weights, clusters, problem.seed, settings, monitor)?)
    }
}
