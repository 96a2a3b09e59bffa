//! Cumulative voting: base clusterings with any numbers of clusters vote with shares.

mod ballot;
mod bottleneck;
mod fractional;
pub(crate) mod rows;

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, Axis};
use partita_core::{
    BaseWeights, Capabilities, Ensemble, FitError, Label, Method, MethodInfo, Monitor, Outcome,
    Problem, ProblemSize, RowFit, RowProblem, Seed, Settings, SoftBases, SoftPartition, Stopped,
    WeightedEnsemble, Weights, sums_under_way,
};
use partita_kmeans::labels::{RowVisitor, WeightedLabelRows, base_weights, with_rows};
use serde::{Deserialize, Serialize};

use crate::MedianError;
use crate::error::check;
use crate::fractional_rows::FractionalRows;
use crate::plurality::{VoteDiagnostics, centre, centre_bytes, centre_row_bytes, live};
use ballot::Ballot;
use bottleneck::compress;

pub use rows::cumulative_rows;

/// Settings of [`cumulative`]: there is nothing to set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CumulativeSettings {}

/// How the clusters of a base clustering vote for those of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scheme {
    /// URCV: with the numbers of objects they share, so that large clusters speak louder.
    Unnormalised,
    /// RCV: with the shares of their objects, so that every base clustering has one vote an object.
    Normalised,
    /// ACV: with shares, and every base clustering that has voted changes the reference for those that follow.
    Adaptive,
}

/// Cumulative voting: clusters distribute their votes over the clusters of a reference, and the summary of all votes
/// is compressed to K clusters.
///
/// ```text
/// RCV    vote_u(q | i) = n_jq / n_j      n_jq objects of cluster j = ℓ_ui in reference cluster q,  n_j = Σ_q n_jq
/// URCV   vote_u(q | i) = n_jq
/// ACV    vote_u(q | i) = mean of P(q | ·) over cluster j,   P the mean of all votes so far
/// P(q | i) ∝ Σ_u ω_u vote_u(q | i)
/// ```
/// The reference is the base clustering of largest entropy among those with at least K clusters (the partition of
/// [`kc`](crate::kc) where there is none); ACV goes through the base clusterings by falling entropy. Its clusters
/// are merged until K are left, always the two whose merger loses the least information about the objects (the
/// generalised Jensen–Shannon divergence).
///
/// # An example to check by hand
/// Four objects; a = {0,1}{2,3} is the reference (entropy ln 2), b = {0,1,2}{3}, c = {0}{1,2,3}. With RCV the cluster
/// {0,1,2} votes (2/3, 1/3), {3} votes (0, 1), {0} (1, 0) and {1,2,3} (1/3, 2/3); object 0 gets the mean of (1, 0),
/// (2/3, 1/3), (1, 0). With URCV the votes of object 0 are (2, 0), (2, 1), (1, 0). With ACV c votes last, on the mean
/// of a and b.
/// ```
/// use partita_core::{EnsembleBuilder, Seed, Silent};
/// use partita_median::{Scheme, cumulative};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = EnsembleBuilder::new(4);
/// builder.push("a", [0, 0, 1, 1].map(Some))?;
/// builder.push("b", [0, 0, 0, 1].map(Some))?;
/// builder.push("c", [0, 1, 1, 1].map(Some))?;
/// let ensemble = builder.finish()?;
/// let first = |scheme| -> Result<Vec<f64>, Box<dyn std::error::Error>> {
///     let outcome = cumulative(&ensemble, None, 2, Seed::new(0), scheme, &Silent)?;
///     Ok(outcome.soft.ok_or("soft")?.rows().column(0).to_vec())
/// };
/// let close = |a: Vec<f64>, b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
/// assert!(close(first(Scheme::Normalised)?, [8.0 / 9.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 9.0]));
/// assert!(close(first(Scheme::Unnormalised)?, [5.0 / 6.0, 5.0 / 8.0, 3.0 / 8.0, 1.0 / 6.0]));
/// assert!(close(first(Scheme::Adaptive)?, [5.0 / 6.0, 37.0 / 54.0, 19.0 / 54.0, 7.0 / 54.0]));
/// # Ok(())
/// # }
/// ```
///
/// # Cost
/// O(n M c) time for a reference of c clusters and O(n c²) for the compression; 3 n c numbers.
///
/// # Differences from the paper
/// The un-normalised weights are read as counts of shared objects. A base clustering that shares no object with the
/// reference casts no vote. Missing labels, weights of base clusterings, and a reference when no base clustering has
/// K clusters are additions. A base clustering of weight 2 counts as if it were there twice, except in ACV, where
/// copies vote one after the other and the second meets a mean that the first has moved.
///
/// # Errors
/// [`MedianError`] if K is out of range, weights do not fit, or an object has no label.
///
/// # References
/// Ayad, Kamel, *Cumulative voting consensus method for partitions with variable number of clusters*, PAMI 2008.
pub fn cumulative(
    ensemble: &Ensemble,
    weights: Option<&BaseWeights>,
    clusters: usize,
    seed: Seed,
    scheme: Scheme,
    monitor: &dyn Monitor,
) -> Result<Outcome<VoteDiagnostics>, MedianError> {
    let source = WeightedEnsemble {
        ensemble,
        base_weights: weights,
        object_weights: None,
    };
    cumulative_weighted(source, clusters, seed, scheme, monitor)
}

/// [`cumulative`] where objects may have weights, and base clusterings may be soft.
fn cumulative_weighted(
    source: WeightedEnsemble<'_>,
    clusters: usize,
    seed: Seed,
    scheme: Scheme,
    monitor: &dyn Monitor,
) -> Result<Outcome<VoteDiagnostics>, MedianError> {
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    let _span = tracing::info_span!("cumulative", objects = ensemble.objects(), clusters).entered();
    check(ensemble, weights, clusters, &CumulativeSettings {})?;
    if let Some(rows) = FractionalRows::where_needed(source) {
        return fractional::fractional_votes(&rows, source, clusters, seed, scheme, monitor);
    }
    let sizes = |u: usize| {
        let mut sizes = vec![0.0; ensemble.bases()[u].clusters()];
        ensemble.column(u).flatten().for_each(|j| sizes[j] += 1.0);
        sizes
    };
    let order = by_entropy((0..ensemble.bases().len()).map(sizes));
    let enough = |u: &usize| live(ensemble, *u) >= clusters && live(ensemble, *u) != usize::MAX;
    let reference = order.iter().copied().find(enough);
    let centre = match reference {
        Some(_) => None,
        None => Some(
            centre(ensemble, weights, clusters, seed, monitor)?
                .labels()
                .to_vec(),
        ),
    };
    let base_weights = base_weights(ensemble.bases(), weights);
    let soft = with_rows(
        ensemble,
        Votes {
            scheme,
            clusters,
            order,
            reference,
            centre,
            base_weights,
        },
    );
    let reference = reference
        .map_or("kc", |u| ensemble.bases()[u].name())
        .to_owned();
    Ok(Outcome::soft(soft, Stopped::Exact).with(VoteDiagnostics { reference }))
}

/// Base clusterings by falling entropy of their cluster sizes; ties go to the earlier one.
fn by_entropy(sizes: impl Iterator<Item = Vec<f64>>) -> Vec<usize> {
    let entropies: Vec<f64> = sizes.map(|sizes| entropy(&sizes)).collect();
    let mut order: Vec<usize> = (0..entropies.len()).collect();
    order.sort_by(|&a, &b| entropies[b].total_cmp(&entropies[a]).then(a.cmp(&b)));
    order
}

/// Entropy of cluster sizes, nats.
fn entropy(sizes: &[f64]) -> f64 {
    let n: f64 = sizes.iter().sum();
    sizes
        .iter()
        .filter(|&&size| size > 0.0)
        .map(|size| -size / n * (size / n).ln())
        .sum()
}

struct Votes {
    scheme: Scheme,
    clusters: usize,
    /// Base clusterings in the order in which they vote.
    order: Vec<usize>,
    reference: Option<usize>,
    /// A label for every object where no base clustering is the reference.
    centre: Option<Vec<u32>>,
    base_weights: Vec<f64>,
}

impl RowVisitor for Votes {
    type Out = SoftPartition;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> SoftPartition {
        let start = self.start(rows);
        let weights: Vec<f64> = (0..rows.len())
            .map(|at| f64::from(rows.weight(at)))
            .collect();
        let mut votes = Array2::<f64>::zeros(start.dim());
        let mut given = vec![0.0; rows.len()];
        if let Some(reference) = self.reference {
            // The reference votes for itself, with its sizes where votes are not normalised.
            self.cast(rows, &start, reference, &mut votes, &mut given);
        }
        for &u in self.order.iter().filter(|&&u| Some(u) != self.reference) {
            let adaptive = (self.scheme == Scheme::Adaptive && self.reference.is_some())
                .then(|| mean(&votes, &given));
            self.cast(
                rows,
                adaptive.as_ref().unwrap_or(&start),
                u,
                &mut votes,
                &mut given,
            );
        }
        settle(&mut votes, &weights);
        let merged = if votes.ncols() > self.clusters {
            compress(votes.view(), &weights, self.clusters)
        } else {
            votes
        };
        let places: Vec<usize> = rows.expand(&(0..rows.len()).collect::<Vec<_>>());
        let spread = pad(merged, self.clusters).select(Axis(0), &places);
        SoftPartition::new(spread).expect("normalised votes are on the simplex")
    }
}

impl Votes {
    /// The reference as a matrix: rows × its clusters, rows without a label are zero.
    fn start<L: Label>(&self, rows: &WeightedLabelRows<'_, L>) -> Array2<f64> {
        let columns = self
            .reference
            .map_or(self.clusters, |u| rows.offsets()[u + 1] - rows.offsets()[u]);
        let mut start = Array2::zeros((rows.len(), columns));
        for at in 0..rows.len() {
            let label = match (self.reference, &self.centre) {
                (Some(u), _) => rows.row(at)[u].cluster(),
                (None, centre) => centre
                    .as_ref()
                    .map(|labels| labels[rows.first(at)] as usize),
            };
            if let Some(k) = label {
                start[[at, k]] = 1.0;
            }
        }
        start
    }

    /// Lets base clustering `u` vote on what `current` says of its clusters.
    fn cast<L: Label>(
        &self,
        rows: &WeightedLabelRows<'_, L>,
        current: &Array2<f64>,
        u: usize,
        votes: &mut Array2<f64>,
        given: &mut [f64],
    ) {
        let mut shared =
            Array2::<f64>::zeros((rows.offsets()[u + 1] - rows.offsets()[u], current.ncols()));
        for at in 0..rows.len() {
            if let Some(j) = rows.row(at)[u].cluster() {
                shared
                    .row_mut(j)
                    .scaled_add(f64::from(rows.weight(at)), &current.row(at));
            }
        }
        let ballot = Ballot::new(self.scheme, u, self.base_weights[u], &shared);
        for at in 0..rows.len() {
            let Some(j) = rows.row(at)[u].cluster() else {
                continue;
            };
            given[at] += ballot.cast(
                j,
                votes
                    .row_mut(at)
                    .into_slice()
                    .expect("lines of a new array"),
            );
        }
    }
}

/// The mean of the votes so far; rows without one are zero.
fn mean(votes: &Array2<f64>, given: &[f64]) -> Array2<f64> {
    let mut mean = votes.clone();
    for (mut row, &given) in mean.outer_iter_mut().zip(given) {
        if given > 0.0 {
            row.mapv_inplace(|vote| vote / given);
        }
    }
    mean
}

/// Scales every row to sum 1; rows for which nobody voted get the mean of the others.
fn settle(votes: &mut Array2<f64>, weights: &[f64]) {
    let mut prior = vec![0.0; votes.ncols()];
    for (mut row, weight) in votes.outer_iter_mut().zip(weights) {
        let sum = row.sum();
        if sum > 0.0 {
            row.mapv_inplace(|vote| vote / sum);
            prior
                .iter_mut()
                .zip(&row)
                .for_each(|(prior, vote)| *prior += weight * vote);
        }
    }
    let total: f64 = prior.iter().sum();
    for mut row in votes.outer_iter_mut().filter(|row| row.sum() <= 0.0) {
        row.iter_mut()
            .zip(&prior)
            .for_each(|(vote, prior)| *vote = prior / total);
    }
}

/// The same columns and empty ones up to `clusters`.
fn pad(columns: Array2<f64>, clusters: usize) -> Array2<f64> {
    let known = columns.ncols();
    if known == clusters {
        return columns;
    }
    Array2::from_shape_fn((columns.nrows(), clusters), |(i, k)| {
        if k < known { columns[[i, k]] } else { 0.0 }
    })
}

/// A method of this file, which differs from the others in how clusters vote.
#[derive(Debug)]
pub struct Cumulative {
    scheme: Scheme,
    info: &'static MethodInfo,
}

/// RCV, normalised cumulative voting on a fixed reference: [`cumulative`].
pub static RCV: Cumulative = Cumulative {
    scheme: Scheme::Normalised,
    info: &RCV_INFO,
};

/// URCV, un-normalised cumulative voting on a fixed reference: [`cumulative`].
pub static URCV: Cumulative = Cumulative {
    scheme: Scheme::Unnormalised,
    info: &MethodInfo {
        name: "urcv",
        summary: "cumulative voting in which large clusters speak louder",
        ..RCV_INFO
    },
};

/// ACV, cumulative voting on a reference that adapts to the votes: [`cumulative`].
pub static ACV: Cumulative = Cumulative {
    scheme: Scheme::Adaptive,
    info: &MethodInfo {
        name: "acv",
        summary: "cumulative voting on a reference that every vote changes",
        ..RCV_INFO
    },
};

const RCV_INFO: MethodInfo = MethodInfo {
    name: "rcv",
    family: "median",
    summary: "cumulative voting: clusters of any number vote with shares for those of the richest base clustering",
    reference: "Ayad, Kamel, Cumulative voting consensus method for partitions with variable number of clusters, PAMI 2008",
    certainty: "share of the votes",
    time: "n M J + n J² for a reference of J clusters",
    memory: "32 n J bytes",
    remedy: "make base clusterings with fewer clusters",
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

impl Method for Cumulative {
    type Settings = CumulativeSettings;
    type Diagnostics = VoteDiagnostics;

    fn info(&self) -> &'static MethodInfo {
        self.info
    }

    fn bytes(&self, size: &ProblemSize, _settings: &CumulativeSettings) -> u64 {
        let [n, ..] = size.saturating();
        let mean = (size.base_clusters / size.base_clusterings.max(1)).max(size.clusters) as u64;
        (centre_bytes(size) + n * Saturating(mean) * Saturating(32 * 2)).0
    }

    fn fit(
        &self,
        problem: &Problem<'_>,
        _settings: &CumulativeSettings,
        monitor: &dyn Monitor,
    ) -> Result<Outcome<VoteDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        Ok(cumulative_weighted(
            problem.weighted(),
            clusters,
            problem.seed,
            self.scheme,
            monitor,
        )?)
    }

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        _settings: &CumulativeSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<VoteDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        let rows = problem.passes();
        Ok(cumulative_rows(
            &rows,
            problem.weights,
            clusters,
            problem.seed,
            self.scheme,
            monitor,
        )?)
    }

    fn row_bytes(&self, size: &ProblemSize, _settings: &CumulativeSettings) -> u64 {
        let [n, _, side, _] = size.saturating();
        let columns = Saturating(size.largest_base_clustering.max(size.clusters) as u64);
        // Ballots, and sums over pairs of columns or clusters of the reference, by level of the sum.
        let levels = Saturating(
            u64::from((n.0 / partita_core::BLOCK_ROWS + 1).ilog2()) + 2 * sums_under_way() + 4,
        );
        let tables = side * columns * Saturating(16) + columns * columns * levels * Saturating(8);
        (centre_row_bytes(size) + Saturating(Overlap::bytes(size)) + tables).0
    }
}
