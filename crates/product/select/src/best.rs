//! The best of several methods: what agrees most with the others, or with the ensemble.

use partita_core::{
    BaseWeights, Consensus, ConsensusError, Ensemble, LEAF_WEIGHTS, Monitor, Outcome, Partition,
    Problem, ProgressCounter, SettingChoice, Stopped, consense, whole_multiplicities,
};
use partita_metrics::{Contingency, MetricsError, Normalisation};
use serde::{Deserialize, Serialize};
use tracing::info_span;

use crate::SelectError;

/// Units of progress of a method.
const UNITS: u64 = 1000;

/// How far a partition agrees with an ensemble.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Agreement {
    /// Mean normalised mutual information (geometric) with the base clusterings, each over the objects that it labels.
    pub anmi: f64,
    /// Mean adjusted Rand index with the base clusterings, likewise.
    pub ari: f64,
    /// Clusters that have objects.
    pub live_clusters: usize,
}

/// What became of a method.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Verdict {
    /// It gave a consensus.
    Found {
        /// How far that agrees with the ensemble.
        agreement: Agreement,
        /// Mean adjusted Rand index with what the other methods found; 1 where no other found anything.
        others: f64,
        /// Why it stopped.
        stopped: Stopped,
    },
    /// It gave none.
    Refused {
        /// Why, in its own words.
        reason: String,
    },
}

/// One line of the table.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct Entry {
    /// Name of the method.
    pub method: &'static str,
    /// What became of it.
    pub verdict: Verdict,
}

/// The method chosen, and what the others did.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Best {
    /// One line a method, in the order given.
    pub table: Vec<Entry>,
    /// The line of the method chosen.
    pub winner: usize,
    /// Its consensus.
    pub outcome: Outcome,
}

impl Best {
    /// Name of the method chosen.
    pub fn method(&self) -> &'static str {
        self.table[self.winner].method
    }
}

/// What the best of several consensus clusterings is measured by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, SettingChoice)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum BestCriterion {
    /// Mean adjusted Rand index with the consensus clusterings of the other methods; of equals the highest ANMI.
    #[default]
    Methods,
    /// Mean NMI with the base clusterings (ANMI), as Strehl and Ghosh have it.
    Bases,
}

/// Runs every method on the problem and keeps the consensus that agrees most with those of the other methods, or with the base
/// clusterings; of equals the first.
///
/// ```text
/// methods   1/(H − 1) Σ_{h' ≠ h} ARI(λ_h, λ_h')     for the consensus clusterings λ_1 … λ_H; of equals the highest ANMI
/// bases     ANMI(λ) = 1/M Σ_u I(λ, λ_u) / √(H(λ) H(λ_u))
/// ```
/// Where base clusterings have weights the mean over them is by weight; objects count their weights.
///
/// ANMI likes consensus clusterings that repeat what base clusterings say. Where these err alike (k-means on long clusters) the methods
/// that follow them most closely have the highest, and the worst clusters; agreement of methods is not misled by that, since they err
/// in different ways (`cargo xtask bench shapes -- 1 300 tuned best`).
///
/// A method that refuses the problem, because of missing labels, memory, settings, weights or a table that is not there,
/// is listed with its reason and costs nothing more. All run with the problem's seed and settings. When the monitor asks
/// to stop, the best consensus there is comes back and methods not reached are listed as stopped.
///
/// Both compare consensus clusterings of the same K, and know no truth.
///
/// # Errors
/// [`SelectError`] when there is no method, all refuse, or the monitor asks to stop before the first consensus.
///
/// # Cost
/// The methods', one after the other, O(n M) time each, and O(n) for each two. The outcomes of all are held.
///
/// # References
/// A. Strehl, J. Ghosh: Cluster ensembles, a knowledge reuse framework for combining multiple partitions, JMLR 3, 2002.
#[doc(alias("SAFE"))]
pub fn best(
    methods: &[&dyn Consensus],
    problem: &Problem<'_>,
    criterion: BestCriterion,
    monitor: &dyn Monitor,
) -> Result<Best, SelectError> {
    if methods.is_empty() {
        return Err(SelectError::NoMethods);
    }
    let progress = ProgressCounter::new(monitor, methods.len() as u64 * UNITS);
    let mut table: Vec<Entry> = Vec::with_capacity(methods.len());
    let mut outcomes: Vec<(usize, Outcome)> = Vec::new();
    for (at, method) in methods.iter().enumerate() {
        let name = method.info().name;
        let (verdict, outcome) = if progress.stopped() {
            (
                Verdict::Refused {
                    reason: ConsensusError::Interrupted.to_string(),
                },
                None,
            )
        } else {
            info_span!("method", name).in_scope(|| tried(*method, problem, &progress.part(UNITS)))
        };
        outcomes.extend(outcome.map(|outcome| (at, outcome)));
        table.push(Entry {
            method: name,
            verdict,
        });
    }
    let mut leader: Option<(usize, [f64; 2])> = None;
    for (place, others) in with_others(&outcomes, whole_objects(problem).as_deref())?
        .into_iter()
        .enumerate()
    {
        let Verdict::Found {
            agreement,
            others: said,
            ..
        } = &mut table[outcomes[place].0].verdict
        else {
            continue;
        };
        *said = others;
        let score = [
            if criterion == BestCriterion::Methods {
                others
            } else {
                agreement.anmi
            },
            agreement.anmi,
        ];
        if leader.is_none_or(|(_, highest)| score > highest) {
            leader = Some((place, score));
        }
    }
    match leader {
        Some((place, _)) => {
            let (winner, outcome) = outcomes.swap_remove(place);
            Ok(Best {
                table,
                winner,
                outcome,
            })
        }
        None if progress.was_stopped() => Err(SelectError::Interrupted),
        None => {
            let reason = |entry: Entry| match entry.verdict {
                Verdict::Refused { reason } => (entry.method, reason),
                Verdict::Found { .. } => (entry.method, String::new()),
            };
            Err(SelectError::AllRefused {
                reasons: table.into_iter().map(reason).collect(),
            })
        }
    }
}

/// The mean adjusted Rand index of every consensus with all others, in which objects count as often as `objects` says.
fn with_others(
    outcomes: &[(usize, Outcome)],
    objects: Option<&[u32]>,
) -> Result<Vec<f64>, MetricsError> {
    let Some(others) = outcomes.len().checked_sub(1).filter(|&others| others > 0) else {
        return Ok(vec![1.0; outcomes.len()]);
    };
    let mut means = vec![0.0; outcomes.len()];
    for a in 0..outcomes.len() {
        for b in 0..a {
            let (left, right) = (&outcomes[a].1.partition, &outcomes[b].1.partition);
            let table = match objects {
                None => Contingency::new(left, right)?,
                Some(objects) => {
                    let labels = right.labels().iter().map(|&label| Some(label as usize));
                    weighted_table(left, (labels, right.clusters()), objects)?
                }
            };
            let ari = table.ari() / others as f64;
            means[a] += ari;
            means[b] += ari;
        }
    }
    Ok(means)
}

/// How far a partition agrees with the base clusterings.
///
/// # Errors
/// [`MetricsError`] when it is one of other objects.
///
/// # Cost
/// O(n M) time.
pub fn agreement(partition: &Partition, ensemble: &Ensemble) -> Result<Agreement, MetricsError> {
    agreement_by(partition, ensemble, None, None)
}

/// Weights of the objects of a problem as whole numbers, where there are some: counts stay exact.
pub(crate) fn whole_objects(problem: &Problem<'_>) -> Option<Vec<u32>> {
    problem
        .weighted()
        .multiplicities()
        .map(|weights| whole_multiplicities(weights, LEAF_WEIGHTS))
}

/// The same where base clusterings have weights, of which means are taken, and objects count as often as `objects` says.
pub(crate) fn agreement_by(
    partition: &Partition,
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    objects: Option<&[u32]>,
) -> Result<Agreement, MetricsError> {
    let bases = ensemble.bases().len();
    let weight = |u: usize| weights.map_or(1.0, |weights| weights.as_slice()[u]);
    let (mut anmi, mut ari) = (0.0, 0.0);
    for u in (0..bases).filter(|&u| weight(u) > 0.0) {
        let table = match objects {
            None => Contingency::with_base(partition, ensemble, u)?,
            Some(objects) => {
                let labels = (ensemble.column(u), ensemble.bases()[u].clusters());
                weighted_table(partition, labels, objects)?
            }
        };
        anmi += weight(u) * table.nmi(Normalisation::Geometric);
        ari += weight(u) * table.ari();
    }
    let all = (0..bases).map(weight).sum::<f64>();
    Ok(Agreement {
        anmi: anmi / all,
        ari: ari / all,
        live_clusters: partition.live_clusters(),
    })
}

/// The table of a partition and labels of so many clusters in which objects count as often as `objects` says.
fn weighted_table(
    partition: &Partition,
    (labels, others): (impl Iterator<Item = Option<usize>>, usize),
    objects: &[u32],
) -> Result<Contingency, MetricsError> {
    let clusters = partition.clusters();
    let mut counts = vec![0u64; others * clusters];
    for ((label, &k), &count) in labels.zip(partition.labels()).zip(objects) {
        if let Some(label) = label {
            counts[label * clusters + k as usize] += u64::from(count);
        }
    }
    Contingency::of_counts(others, clusters, |label, k| counts[label * clusters + k])
}

/// One method's verdict, and its consensus if it found one.
fn tried(
    method: &dyn Consensus,
    problem: &Problem<'_>,
    monitor: &dyn Monitor,
) -> (Verdict, Option<Outcome>) {
    let refused = |reason: String| (Verdict::Refused { reason }, None);
    let outcome = match consense(method, problem, monitor) {
        Ok(outcome) => outcome,
        Err(error) => return refused(error.to_string()),
    };
    let objects = whole_objects(problem);
    match agreement_by(
        &outcome.partition,
        problem.ensemble,
        problem.weights,
        objects.as_deref(),
    ) {
        Ok(agreement) => (
            Verdict::Found {
                agreement,
                others: 1.0,
                stopped: outcome.stopped,
            },
            Some(outcome),
        ),
        Err(error) => refused(error.to_string()),
    }
}
