//! Ballots from the overlaps of base clusters, and passes that merge the columns they vote for.

use partita_coassoc::Overlap;
use partita_core::ndarray::{Array2, ArrayView1};
use partita_core::{
    Assigned, Entry, Monitor, PassError, PassRunner, Row, RowBlock, RowLabeller, RowMap, RowPass,
    RowProblem,
};
use partita_kmeans::labels::{Counts, base_weights};
use serde::{Deserialize, Serialize};

use super::ballot::Ballot;
use super::bottleneck::{joint, merge_cheapest};
use super::{Scheme, by_entropy};
use crate::MedianError;
use crate::error::labelled;
use crate::label_means::centre;
use crate::plurality::live;
use crate::row_sums::RowSums;

/// The votes of all base clusterings, with their columns merged until K are left, and the reference.
pub(super) fn votes(
    problem: &RowProblem<'_>,
    clusters: usize,
    scheme: Scheme,
    monitor: &dyn Monitor,
) -> Result<(Votes, Option<usize>), MedianError> {
    let rows = problem.passes();
    let overlap = Overlap::count(&rows)?;
    labelled(overlap.first_unlabelled())?;
    let bases = problem.rows.bases();
    let order = by_entropy((0..bases.len()).map(|u| overlap.of_bases(u, u).diag().to_vec()));
    let enough = |u: &usize| live(&overlap, *u).is_some_and(|own| own >= clusters);
    let reference = order.iter().copied().find(enough);
    let voters = Voters {
        rows: &rows,
        overlap,
        scheme,
        base_weights: base_weights(bases, problem.weights),
        order,
    };
    let ballots = match reference {
        Some(reference) if scheme == Scheme::Adaptive => voters.adaptive(reference)?,
        Some(reference) => voters.for_reference(reference),
        None => voters.for_centre(&centre(problem, clusters, monitor)?.counts, clusters),
    };
    let complete = voters.complete();
    let offsets = voters.overlap.offsets().to_vec();
    drop(voters);
    let votes = compressed(
        &rows,
        Votes::new(ballots, offsets, clusters),
        clusters,
        complete,
    )?;
    Ok((votes, reference))
}

/// What ballots are made from.
struct Voters<'a, 'r> {
    rows: &'a PassRunner<'r>,
    overlap: Overlap,
    scheme: Scheme,
    base_weights: Vec<f64>,
    /// Base clusterings in the order in which they vote.
    order: Vec<usize>,
}

impl Voters<'_, '_> {
    fn ballot(&self, u: usize, shared: &Array2<f64>) -> Ballot {
        Ballot::new(self.scheme, u, self.base_weights[u], shared)
    }

    /// The reference votes for itself first, then the others in their order.
    fn from(&self, reference: usize) -> impl Iterator<Item = usize> {
        let others = self.order.iter().copied().filter(move |&u| u != reference);
        std::iter::once(reference).chain(others)
    }

    /// Ballots on the clusters of a base clustering.
    fn for_reference(&self, reference: usize) -> Vec<Ballot> {
        let ballot = |u| self.ballot(u, &self.overlap.of_bases(u, reference).to_owned());
        self.from(reference).map(ballot).collect()
    }

    /// Ballots on the partition of k-means on labels, whose counts are the overlaps.
    fn for_centre(&self, counts: &Counts, clusters: usize) -> Vec<Ballot> {
        let offsets = self.overlap.offsets();
        let shared = |u: usize| {
            let size = offsets[u + 1] - offsets[u];
            Array2::from_shape_fn((size, clusters), |(j, k)| counts.of(offsets[u] + j)[k])
        };
        let ballot = |&u: &usize| self.ballot(u, &shared(u));
        self.order.iter().map(ballot).collect()
    }

    /// Ballots on the mean of the votes before.
    fn adaptive(&self, reference: usize) -> Result<Vec<Ballot>, PassError> {
        let mut ballots: Vec<Ballot> = Vec::new();
        for u in self.from(reference) {
            let shared = if u == reference {
                self.overlap.of_bases(u, u).to_owned()
            } else if self.complete() {
                self.mean_by_overlap(u, &ballots)
            } else {
                let offsets = self.overlap.offsets().to_vec();
                let votes = Votes::new(std::mem::take(&mut ballots), offsets, 1);
                let clusters = self.overlap.of_bases(u, u).nrows();
                let pass = MeanVotes {
                    votes,
                    base: u,
                    clusters,
                };
                let shared = self.rows.run(&pass)?;
                ballots = pass.votes.ballots;
                let columns = shared.0.len() / clusters;
                Array2::from_shape_vec((clusters, columns), shared.0)
                    .expect("a line for every cluster")
            };
            ballots.push(self.ballot(u, &shared));
        }
        Ok(ballots)
    }

    /// Whether no label is missing: all objects then have votes of the same weight.
    fn complete(&self) -> bool {
        let objects = self.rows.source().rows() as f64;
        self.order
            .iter()
            .all(|&u| self.overlap.seen_by_both(u, u) == objects)
    }

    /// The mean votes of the objects of every cluster of base clustering `u`, summed: what ballots say is linear in the labels.
    fn mean_by_overlap(&self, u: usize, ballots: &[Ballot]) -> Array2<f64> {
        let given: f64 = ballots.iter().map(Ballot::weight).sum();
        let columns = ballots.first().map_or(0, |ballot| ballot.line(0).len());
        let mut shared = Array2::zeros((self.overlap.of_bases(u, u).nrows(), columns));
        for ballot in ballots {
            for ((j, other), objects) in self.overlap.of_bases(u, ballot.base).indexed_iter() {
                if *objects > 0.0 {
                    shared
                        .row_mut(j)
                        .scaled_add(objects / given, &ArrayView1::from(ballot.line(other)));
                }
            }
        }
        shared
    }
}

/// Ballots in their order, and what becomes of the columns that they vote for.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Votes {
    ballots: Vec<Ballot>,
    /// Where the clusters of every base clustering start.
    offsets: Vec<usize>,
    columns: usize,
    clusters: usize,
    /// The columns that make up each column of the result.
    groups: Vec<Vec<usize>>,
    /// What rows get for which nobody voted.
    prior: Vec<f64>,
}

impl Votes {
    fn new(ballots: Vec<Ballot>, offsets: Vec<usize>, clusters: usize) -> Self {
        let columns = ballots.first().map_or(0, |ballot| ballot.line(0).len());
        let groups = (0..columns).map(|column| vec![column]).collect();
        Self {
            ballots,
            offsets,
            columns,
            clusters,
            groups,
            prior: vec![1.0 / columns.max(1) as f64; columns],
        }
    }

    /// The votes for a row, and their weight.
    fn of_row(&self, row: &RowEntries, votes: &mut [f64]) -> f64 {
        votes.fill(0.0);
        let mut given = 0.0;
        for ballot in &self.ballots {
            for entry in row.of_base(ballot.base) {
                let label = entry.cluster - self.offsets[ballot.base];
                given += ballot.cast(label, entry.share, votes);
            }
        }
        given
    }

    /// The votes for a row as shares; false if there are none.
    fn shares(&self, row: &RowEntries, votes: &mut [f64]) -> bool {
        self.of_row(row, votes);
        // Eight partial sums, as ndarray adds.
        let sum = ArrayView1::from(&*votes).sum();
        if sum > 0.0 {
            votes.iter_mut().for_each(|vote| *vote /= sum);
        }
        sum > 0.0
    }

    fn merged(&self, shares: &[f64], into: &mut [f64]) {
        for (sum, group) in into.iter_mut().zip(&self.groups) {
            *sum = group.iter().map(|&column| shares[column]).sum();
        }
    }
}

impl RowLabeller for Votes {
    const KIND: &'static str = "median/cumulative-votes";
}

impl RowMap for Votes {
    type Out = Assigned;

    fn map<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Assigned {
        let (mut shares, mut soft) = (
            vec![0.0; self.columns],
            vec![0.0; block.len() * self.clusters],
        );
        let mut entries = RowEntries::default();
        for ((row, _), soft) in block.rows().zip(soft.chunks_exact_mut(self.clusters)) {
            entries.read(row, &self.offsets);
            if !self.shares(&entries, &mut shares) {
                shares.copy_from_slice(&self.prior);
            }
            self.merged(&shares, soft);
        }
        Assigned::of_soft(soft, self.clusters)
    }
}

/// What a row has in every base clustering.
#[derive(Default)]
struct RowEntries {
    entries: Vec<Entry>,
    /// Where the entries of each base clustering start, and the end of the last.
    starts: Vec<usize>,
}

impl RowEntries {
    fn read<'a, R: Row<'a>>(&mut self, row: R, offsets: &[usize]) {
        self.entries.clear();
        self.entries.extend(row.entries(offsets));
        self.starts.clear();
        let mut at = 0;
        for base in 0..offsets.len() {
            while self.entries.get(at).is_some_and(|entry| entry.base < base) {
                at += 1;
            }
            self.starts.push(at);
        }
    }

    fn of_base(&self, base: usize) -> &[Entry] {
        &self.entries[self.starts[base]..self.starts[base + 1]]
    }
}

/// The mean votes of the objects of each cluster of a base clustering, summed.
#[derive(Serialize, Deserialize)]
pub(crate) struct MeanVotes {
    votes: Votes,
    base: usize,
    clusters: usize,
}

impl RowPass for MeanVotes {
    type Sum = RowSums;
    const KIND: &'static str = "median/mean-votes";

    fn zero(&self) -> RowSums {
        RowSums(vec![0.0; self.clusters * self.votes.columns])
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut RowSums) {
        let mut votes = vec![0.0; self.votes.columns];
        let mut entries = RowEntries::default();
        for (row, weight) in block.rows() {
            entries.read(row, &self.votes.offsets);
            let own = entries.of_base(self.base);
            if own.is_empty() {
                continue;
            }
            let given = self.votes.of_row(&entries, &mut votes);
            if given > 0.0 {
                for entry in own {
                    let label = entry.cluster - self.votes.offsets[self.base];
                    let line = &mut sum.0[label * votes.len()..][..votes.len()];
                    for (sum, vote) in line.iter_mut().zip(&votes) {
                        *sum += weight * entry.share * (vote / given);
                    }
                }
            }
        }
    }
}

/// Sums over rows from which the losses of mergers follow: of every column, of every pair that is asked for, and the weight of the rows
/// for which nobody voted.
#[derive(Serialize, Deserialize)]
pub(crate) struct PairSums {
    votes: Votes,
    pairs: Vec<(usize, usize)>,
}

impl RowPass for PairSums {
    type Sum = RowSums;
    const KIND: &'static str = "median/merger-losses";

    fn zero(&self) -> RowSums {
        RowSums(vec![0.0; self.votes.groups.len() + self.pairs.len() + 1])
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut RowSums) {
        let (mut shares, mut columns) = (
            vec![0.0; self.votes.columns],
            vec![0.0; self.votes.groups.len()],
        );
        let (of_columns, rest) = sum.0.split_at_mut(columns.len());
        let (of_pairs, without) = rest.split_at_mut(self.pairs.len());
        let mut entries = RowEntries::default();
        for (row, weight) in block.rows() {
            entries.read(row, &self.votes.offsets);
            if !self.votes.shares(&entries, &mut shares) {
                without[0] += weight;
                continue;
            }
            self.votes.merged(&shares, &mut columns);
            of_columns
                .iter_mut()
                .zip(&columns)
                .for_each(|(sum, x)| *sum += weight * x);
            for (sum, &(a, b)) in of_pairs.iter_mut().zip(&self.pairs) {
                if columns[a] > 0.0 && columns[b] > 0.0 {
                    *sum += weight * joint(columns[a], columns[b]);
                }
            }
        }
    }
}

impl PairSums {
    /// The loss of every merger of the pairs, and the sums of the columns over rows with votes.
    fn losses(&self, rows: &PassRunner<'_>) -> Result<(Vec<f64>, Vec<f64>), PassError> {
        let sums = rows.run(self)?.0;
        let (columns, rest) = sums.split_at(self.votes.groups.len());
        let without = rest[self.pairs.len()];
        let total: f64 = columns.iter().sum();
        // Rows without votes have the mean of the others.
        let prior: Vec<f64> = columns.iter().map(|sum| sum / total).collect();
        let whole: Vec<f64> = columns
            .iter()
            .zip(&prior)
            .map(|(sum, share)| sum + without * share)
            .collect();
        let loss = |(&(a, b), sum): (&(usize, usize), &f64)| {
            let both = if prior[a] > 0.0 && prior[b] > 0.0 {
                without * joint(prior[a], prior[b])
            } else {
                0.0
            };
            sum + both - joint(whole[a], whole[b])
        };
        Ok((self.pairs.iter().zip(rest).map(loss).collect(), prior))
    }
}

/// The votes with their columns merged until `clusters` are left, and what rows without votes get.
fn compressed(
    rows: &PassRunner<'_>,
    votes: Votes,
    clusters: usize,
    complete: bool,
) -> Result<Votes, PassError> {
    if complete && votes.columns <= clusters {
        return Ok(votes);
    }
    let few = votes.columns <= clusters;
    let pairs = if few {
        Vec::new()
    } else {
        (0..votes.columns)
            .flat_map(|a| (0..a).map(move |b| (a, b)))
            .collect()
    };
    let mut pass = PairSums { votes, pairs };
    let (losses, prior) = pass.losses(rows)?;
    pass.votes.prior = prior;
    if few {
        return Ok(pass.votes);
    }
    let mut losses = losses.into_iter();
    let lines = (0..pass.votes.columns)
        .map(|a| losses.by_ref().take(a).collect())
        .collect();
    merge_cheapest(lines, clusters, |a, b| {
        let gone = pass.votes.groups.remove(a);
        pass.votes.groups[b].extend(gone);
        let left = pass.votes.groups.len();
        if left == clusters {
            return Ok(Vec::new());
        }
        pass.pairs = (0..left).map(|other| (b, other)).collect();
        pass.losses(rows).map(|(losses, _)| losses)
    })?;
    Ok(pass.votes)
}
