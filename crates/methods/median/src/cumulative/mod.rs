//! Cumulative voting: base clusterings with any numbers of clusters vote with shares.

mod ballot;
mod bottleneck;
mod votes;

use std::num::Saturating;

use partita_coassoc::Overlap;
use partita_core::{
    BLOCK_ROWS, Capabilities, FitError, Method, MethodInfo, Monitor, ProblemSize, RowFit,
    RowProblem, Settings, SoftBases, Stopped, Weights, sums_under_way,
};
use partita_kmeans::labels::bytes;
use serde::{Deserialize, Serialize};

use crate::plurality::{VoteDiagnostics, diagnostics};

pub(crate) use votes::{MeanVotes, PairSums, Votes};

/// Settings of [`RCV`], [`URCV`] and [`ACV`]: there is nothing to set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, Settings)]
#[serde(default, deny_unknown_fields)]
#[non_exhaustive]
pub struct CumulativeSettings {}

/// How the clusters of a base clustering vote for those of the reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Scheme {
    /// URCV: with the numbers of objects they share, so that large clusters speak louder.
    Unnormalised,
    /// RCV: with the shares of their objects, so that every base clustering has one vote an object.
    Normalised,
    /// ACV: with shares, and every base clustering that has voted changes the reference for those that follow.
    Adaptive,
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
/// [`KC`](crate::KC) where there is none); ACV goes through the base clusterings by falling entropy. Its clusters
/// are merged until K are left, always the two whose merger loses the least information about the objects (the
/// generalised Jensen–Shannon divergence).
///
/// # An example to check by hand
/// Four objects; a = {0,1}{2,3} is the reference (entropy ln 2), b = {0,1,2}{3}, c = {0}{1,2,3}. With RCV the cluster
/// {0,1,2} votes (2/3, 1/3), {3} votes (0, 1), {0} (1, 0) and {1,2,3} (1/3, 2/3); object 0 gets the mean of (1, 0),
/// (2/3, 1/3), (1, 0). With URCV the votes of object 0 are (2, 0), (2, 1), (1, 0). With ACV c votes last, on the mean
/// of a and b.
/// ```
/// use partita_core::{Clusters, Consensus, EnsembleBuilder, Problem, Silent, consense};
/// use partita_median::{ACV, RCV, URCV};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut builder = EnsembleBuilder::new(4);
/// builder.push("a", [0, 0, 1, 1].map(Some))?;
/// builder.push("b", [0, 0, 0, 1].map(Some))?;
/// builder.push("c", [0, 1, 1, 1].map(Some))?;
/// let ensemble = builder.finish()?;
/// let first = |method: &dyn Consensus| -> Result<Vec<f64>, Box<dyn std::error::Error>> {
///     let outcome = consense(method, &Problem::new(&ensemble, Clusters::Exactly(2)), &Silent)?;
///     let column = outcome.partition.labels()[0] as usize;
///     Ok(outcome.soft.ok_or("soft")?.rows().column(column).to_vec())
/// };
/// let close = |a: Vec<f64>, b: [f64; 4]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
/// assert!(close(first(&RCV)?, [8.0 / 9.0, 2.0 / 3.0, 1.0 / 3.0, 1.0 / 9.0]));
/// assert!(close(first(&URCV)?, [5.0 / 6.0, 5.0 / 8.0, 3.0 / 8.0, 1.0 / 6.0]));
/// assert!(close(first(&ACV)?, [5.0 / 6.0, 37.0 / 54.0, 19.0 / 54.0, 7.0 / 54.0]));
/// # Ok(())
/// # }
/// ```
///
/// # Cost
/// O(n M²) time and (ΣJ)² numbers for the overlaps of base clusters, from which all ballots follow; in ACV with missing labels each base
/// clustering takes a pass. Merging a reference of c clusters takes c − K passes of O(n M c); no memory that grows with n.
///
/// # Differences from the paper
/// The un-normalised weights are read as counts of shared objects. A base clustering that shares no object with the
/// reference casts no vote. Missing labels, weights of base clusterings, and a reference when no base clustering has
/// K clusters are additions. A base clustering of weight 2 counts as if it were there twice, except in ACV, where
/// copies vote one after the other and the second meets a mean that the first has moved.
///
/// # References
/// Ayad, Kamel, *Cumulative voting consensus method for partitions with variable number of clusters*, PAMI 2008.
#[derive(Debug)]
pub struct Cumulative {
    scheme: Scheme,
    info: &'static MethodInfo,
}

/// RCV, normalised cumulative voting on a fixed reference.
pub static RCV: Cumulative = Cumulative {
    scheme: Scheme::Normalised,
    info: &RCV_INFO,
};

/// URCV, un-normalised cumulative voting on a fixed reference.
pub static URCV: Cumulative = Cumulative {
    scheme: Scheme::Unnormalised,
    info: &MethodInfo {
        name: "urcv",
        summary: "cumulative voting in which large clusters speak louder",
        ..RCV_INFO
    },
};

/// ACV, cumulative voting on a reference that adapts to the votes.
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

    fn fit_rows(
        &self,
        problem: &RowProblem<'_>,
        _settings: &CumulativeSettings,
        monitor: &dyn Monitor,
    ) -> Result<RowFit<VoteDiagnostics>, FitError> {
        let clusters = problem.given_clusters(self.info.name)?;
        let (votes, reference) = votes::votes(problem, clusters, self.scheme, monitor)?;
        let details = diagnostics(problem.rows.bases(), reference);
        Ok(RowFit::new(clusters, Stopped::Exact, votes, details))
    }

    fn row_bytes(&self, size: &ProblemSize, _settings: &CumulativeSettings) -> u64 {
        let [n, _, side, _] = size.saturating();
        let columns = Saturating(size.largest_base_clustering.max(size.clusters) as u64);
        // Ballots, and sums over pairs of columns or clusters of the reference, by level of the sum.
        let levels =
            u64::from((n.0 / BLOCK_ROWS + 1).ilog2()) + 2 * sums_under_way(size.objects) + 4;
        let sums = columns * columns * Saturating(levels) * Saturating(8);
        let tables = side * columns * Saturating(16) + sums;
        (Saturating(bytes(size)) + Saturating(Overlap::bytes(size)) + tables).0
    }
}
