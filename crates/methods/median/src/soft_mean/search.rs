//! The search: matchings and the rows that are closest to matched columns in turn, from several starts.

use std::convert::Infallible;

use partita_core::ndarray::{Array2, ArrayView1, ArrayView2, s};
use partita_core::{
    Flow, Monitor, MultiStart, Objective, Partition, ProgressCounter, Seed, Sense, SoftPartition,
    Stopped, WeightedEnsemble,
};
use partita_kmeans::labels::quick_partition;
use rand::seq::SliceRandom;
use rayon::prelude::*;

use super::cut::weighted_cut;
use super::rows::WeightedShares;
use super::sums::MeanSums;
use super::{ColumnMatching, ConsensusRows, SoftMeanDiagnostics, SoftMeanSettings, matching};

/// Iterations of a start before the best go on, and how many of them do at least; of many starts a quarter goes on.
const ROUGH_ROUNDS: u32 = 3;
const FINALISTS: usize = 2;

/// The cut is kept while it leaves at most so many times the share of squares that the best start leaves.
const KEPT: f64 = 1.5;

/// Units of progress: the eigenvectors and the groups of a cut, a start that runs for a few iterations, and one that goes on.
const EIGENVECTORS: u64 = 1_000;
const GROUPS: u64 = 500;
const ROUGH: u64 = 200;
const FINAL: u64 = 600;

/// One start and where it led.
pub(super) struct Run {
    pub(super) codes: Vec<u32>,
    pub(super) sums: MeanSums,
    pub(super) trace: Vec<f64>,
    pub(super) stopped: Stopped,
}

impl Run {
    /// Columns of base clusters, and the sums over the rows that are closest to them.
    pub(super) fn new(codes: Vec<u32>, sums: MeanSums) -> Self {
        Self {
            codes,
            trace: vec![sums.loss],
            sums,
            stopped: Stopped::IterationLimit,
        }
    }

    /// Matchings and rows in turn, until the run is over or has so many iterations.
    pub(super) fn go_on<E>(
        &mut self,
        columns: &Columns,
        (iterations, tolerance): (u32, f64),
        monitor: &dyn Monitor,
        sums: impl Fn(&[u32]) -> Result<MeanSums, E>,
    ) -> Result<(), E> {
        while self.stopped == Stopped::IterationLimit && self.trace.len() <= iterations as usize {
            let codes = columns.matched(self.sums.products(), Some(&self.codes));
            if codes == self.codes {
                self.stopped = Stopped::Converged;
                break;
            }
            let sums = sums(&codes)?;
            if self.sums.loss - sums.loss <= tolerance * self.sums.loss {
                self.stopped = Stopped::Converged;
                break;
            }
            self.trace.push(sums.loss);
            (self.codes, self.sums) = (codes, sums);
            if monitor.tick(self.trace.len() as u64 - 1, u64::from(iterations)) == Flow::Stop {
                self.stopped = Stopped::Interrupted;
            }
        }
        Ok(())
    }
}

/// What says which of some runs is best.
fn values(runs: &[Run], merges: bool) -> Vec<f64> {
    runs.iter()
        .map(|run| {
            if merges {
                run.sums.unexplained()
            } else {
                run.sums.loss
            }
        })
        .collect()
}

/// The columns that base clusters may go to.
pub(super) struct Columns {
    offsets: Vec<usize>,
    /// Clusters of the consensus, K.
    clusters: usize,
    /// Products of the shares within each base clustering whose clusters may share a column; none for the others.
    co_shares: Vec<Option<Array2<f64>>>,
}

impl Columns {
    pub(super) fn new(
        offsets: &[usize],
        clusters: usize,
        matching: ColumnMatching,
        co_shares: impl Fn(usize) -> Array2<f64> + Sync,
    ) -> Self {
        let merges = |u: usize| matching.merges(offsets[u + 1] - offsets[u], clusters);
        let co_shares = (0..offsets.len() - 1)
            .into_par_iter()
            .map(|u| merges(u).then(|| co_shares(u)));
        Self {
            offsets: offsets.to_vec(),
            clusters,
            co_shares: co_shares.collect(),
        }
    }

    fn merges(&self) -> bool {
        self.co_shares.iter().any(Option::is_some)
    }

    /// Columns that a base clustering may be matched to one by one: K, or its own number where that is larger.
    fn wide(&self, u: usize) -> usize {
        let own = self.offsets[u + 1] - self.offsets[u];
        if self.co_shares[u].is_some() {
            self.clusters
        } else {
            own.max(self.clusters)
        }
    }

    /// The columns of all base clusters that fit rows best, from `codes` on where there are some.
    fn matched(&self, products: ArrayView2<'_, f64>, codes: Option<&[u32]>) -> Vec<u32> {
        let bases = self.offsets.windows(2).enumerate();
        let base = |(u, ends): (usize, &[usize])| {
            self.matched_base(
                u,
                products.slice(s![ends[0]..ends[1], ..]),
                codes.map(|codes| &codes[ends[0]..ends[1]]),
            )
        };
        bases.flat_map(base).collect()
    }

    /// The columns of one base clustering by its products (J × K).
    pub(super) fn matched_base(
        &self,
        u: usize,
        products: ArrayView2<'_, f64>,
        codes: Option<&[u32]>,
    ) -> Vec<u32> {
        let Some(co_shares) = &self.co_shares[u] else {
            return matching::one_to_one(products, self.wide(u));
        };
        let largest = |row: ArrayView1<'_, f64>| {
            (1..row.len()).fold(0, |best, at| if row[at] > row[best] { at } else { best }) as u32
        };
        let mut columns = codes.map_or_else(
            || products.outer_iter().map(largest).collect(),
            <[u32]>::to_vec,
        );
        matching::merged(products, co_shares.view(), &mut columns);
        columns
    }

    /// Columns by chance: each of K at most once among the clusters of a base clustering while there are some left.
    fn random(&self, seed: Seed) -> Vec<u32> {
        let mut rng = seed.rng();
        let base = |u: usize| {
            let (clusters, wide) = (self.offsets[u + 1] - self.offsets[u], self.wide(u));
            let mut columns: Vec<u32> = (0..wide.max(clusters))
                .map(|column| (column % wide) as u32)
                .collect();
            columns.shuffle(&mut rng);
            columns.truncate(clusters);
            columns
        };
        (0..self.offsets.len() - 1).flat_map(base).collect()
    }

    /// Base clusterings in the order in which they are matched one after the other: those with K clusters first. And whether the
    /// first has K clusters.
    pub(super) fn stream_order(&self) -> (Vec<usize>, bool) {
        let exact = |u: usize| self.offsets[u + 1] - self.offsets[u] == self.clusters;
        let mut order: Vec<usize> = (0..self.offsets.len() - 1).collect();
        order.sort_by_key(|&u| (!exact(u), u));
        let first = order.first().is_some_and(|&u| exact(u));
        (order, first)
    }
}

pub(super) struct Search<'a> {
    rows: &'a WeightedShares<'a>,
    pub(super) columns: Columns,
    settings: &'a SoftMeanSettings,
    monitor: &'a dyn Monitor,
}

impl<'a> Search<'a> {
    pub(super) fn new(
        rows: &'a WeightedShares<'a>,
        settings: &'a SoftMeanSettings,
        monitor: &'a dyn Monitor,
    ) -> Self {
        let columns = Columns::new(&rows.offsets, rows.clusters, settings.matching, |u| {
            rows.co_shares(u)
        });
        Self {
            rows,
            columns,
            settings,
            monitor,
        }
    }

    fn sums(&self, codes: &[u32]) -> MeanSums {
        self.rows
            .sums(codes, self.settings.rows == ConsensusRows::Hard)
    }

    fn go_on(&self, run: &mut Run, iterations: u32, monitor: &dyn Monitor) {
        let sums = |codes: &[u32]| Ok::<_, Infallible>(self.sums(codes));
        let Ok(()) = run.go_on(
            &self.columns,
            (iterations, self.settings.tolerance),
            monitor,
            sums,
        );
    }

    /// All starts for a few iterations, then the best to the end. Where base clusters share columns the first is the cut, and goes on.
    pub(super) fn multi_start(&self, source: WeightedEnsemble<'_>, seed: Seed) -> Vec<Run> {
        let merges = self.columns.merges();
        let restarts = self.settings.restarts.get();
        let cut = if merges { EIGENVECTORS + GROUPS } else { 0 };
        let finals = (FINALISTS.max(restarts as usize / 4) + usize::from(merges)) as u64;
        let progress = ProgressCounter::new(
            self.monitor,
            cut + u64::from(restarts) * ROUGH + finals * FINAL,
        );
        let mut runs: Vec<Run> = Vec::new();
        for start in 0..restarts {
            if progress.stopped() && !runs.is_empty() {
                break;
            }
            let matched = |rows: &Array2<f64>| {
                self.columns
                    .matched(self.rows.products(rows.view()).view(), None)
            };
            let codes = match start % 3 {
                0 if start == 0 && merges => {
                    let parts = (&progress.part(EIGENVECTORS), &progress.part(GROUPS));
                    let cut = weighted_cut(source, self.rows, seed.child(0), (parts.0, parts.1));
                    matched(&one_hot(&cut.unwrap_or_else(|| {
                        quick_partition(source, self.rows.clusters, seed.child(0))
                    })))
                }
                2 => self.columns.random(seed.child(u64::from(start))),
                _ => matched(&self.start(source, start as usize, seed)),
            };
            let sums = self.sums(&codes);
            let mut run = Run::new(codes, sums);
            self.go_on(
                &mut run,
                ROUGH_ROUNDS.min(self.settings.iterations.get()),
                &progress.part(ROUGH),
            );
            runs.push(run);
        }
        let objectives = values(&runs, merges);
        let most = FINALISTS.max(runs.len() / 4);
        let mut finalists =
            MultiStart::new(Sense::Minimise).finalists(&objectives, most, f64::INFINITY);
        if merges {
            finalists.retain(|&at| at != 0);
            finalists.insert(0, 0);
        }
        let mut runs: Vec<Option<Run>> = runs.into_iter().map(Some).collect();
        let go_on = |at: usize| {
            let mut run = runs[at].take().expect("every finalist once");
            self.go_on(
                &mut run,
                self.settings.iterations.get(),
                &progress.part(FINAL),
            );
            run
        };
        finalists.into_iter().map(go_on).collect()
    }

    /// The rows of a start: a base clustering with K clusters, or k-means on labels, by turns.
    fn start(&self, source: WeightedEnsemble<'_>, start: usize, seed: Seed) -> Array2<f64> {
        let ensemble = source.ensemble;
        let k = self.rows.clusters;
        let mut exact =
            (0..ensemble.bases().len()).filter(|&u| ensemble.bases()[u].clusters() == k);
        if start % 3 == 1
            && let Some(base) = exact.nth(start / 3)
        {
            let mut rows = ensemble.base_shares(base).rows().to_owned();
            rows.outer_iter_mut()
                .filter(|row| row.sum() == 0.0)
                .for_each(|mut row| row.fill(1.0 / k as f64));
            return rows;
        }
        one_hot(&quick_partition(source, k, seed.child(start as u64)))
    }
}

/// The best of some runs, and what there is to say of all.
pub(super) fn best(runs: Vec<Run>, columns: &Columns) -> (Run, SoftMeanDiagnostics) {
    let merged = columns.co_shares.iter().flatten().count();
    let (objectives, unexplained) = (values(&runs, false), values(&runs, true));
    let least = MultiStart::new(Sense::Minimise)
        .best(if merged > 0 {
            &unexplained
        } else {
            &objectives
        })
        .unwrap_or(0);
    let best = if merged > 0 && unexplained[0] <= KEPT * unexplained[least] {
        0
    } else {
        least
    };
    let run = runs.into_iter().nth(best).expect("at least one start");
    (
        run,
        SoftMeanDiagnostics {
            merged,
            objectives,
            unexplained,
        },
    )
}

pub(super) fn objective(trace: Vec<f64>) -> Objective {
    Objective {
        name: "squared distance to the memberships of all base clusterings",
        sense: Sense::Minimise,
        value: trace.last().copied().unwrap_or_default(),
        trace,
    }
}

fn one_hot(partition: &Partition) -> Array2<f64> {
    SoftPartition::of(partition).into_rows()
}
