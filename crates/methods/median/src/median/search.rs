//! Local search for the median: rows move one at a time, clusters are joined, whole clusters are emptied and dealt out anew.

use partita_core::{Flow, Label, Monitor, ProgressCounter, Seed, tick_open_ended};
use rand::seq::SliceRandom;
use serde::{Deserialize, Serialize};

use super::counts::{Clustering, NOWHERE};

/// A change of the loss, times the number of objects, that is nothing but rounding.
const ROUNDING: f64 = 1e-9;

/// Clusters that are emptied and dealt out anew, at most.
const EMPTIED: usize = 10;

/// Sweeps after which half of a descent passes for done.
const SWEEPS: f64 = 4.0;

/// Rows of a sweep that are brought into the processor's cache together.
const AT_ONCE: usize = 64;

/// Units of progress of a cluster that is dealt out anew.
const UNITS: u64 = 100;

/// Counts that are looked at to join clusters, at most: beyond that they are not joined.
const JOINING_EFFORT: usize = 4_000_000_000;

/// Bounds of a search, and who looks on.
#[derive(Clone, Copy)]
pub(super) struct Limits<'a> {
    /// Clusters that may have objects.
    pub(super) clusters: usize,
    /// Sweeps of one descent.
    pub(super) sweeps: u32,
    pub(super) monitor: &'a dyn Monitor,
}

/// How a descent ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum End {
    Still,
    Limit,
    Interrupted,
}

impl<L: Label> Clustering<'_, L> {
    /// Moves a row to the cluster that is cheapest for it as if it were nowhere; whether it was elsewhere before.
    fn place(&mut self, at: usize, most: usize, costs: &mut Vec<f64>) -> bool {
        let (from, stays) = (self.labels[at], self.is_among_others(at));
        if !stays {
            self.take(at);
        }
        let to = self.choose(at, from, most, costs);
        if stays && to != from {
            self.take(at);
        }
        if self.labels[at] == NOWHERE {
            self.put(at, to);
        }
        to != from
    }

    /// The cheapest cluster for a row that is nowhere or [among others](Self::is_among_others): one that has objects, or one without where there may be one more. It is
    /// `stay` unless another is clearly cheaper, and of equals the first.
    fn choose(&self, at: usize, stay: u32, most: usize, costs: &mut Vec<f64>) -> u32 {
        let own = if stay == NOWHERE {
            0
        } else {
            stay as usize + 1
        };
        costs.resize(self.reach().max(own), 0.0);
        self.costs(at, costs);
        let empty = match stay {
            stay if stay != NOWHERE && self.size(stay as usize) == 0 => Some(stay as usize),
            _ => (0..costs.len()).find(|&k| self.size(k) == 0),
        };
        let empty = empty.filter(|_| self.live() < most);
        let open = |k: usize| self.size(k) > 0 || Some(k) == empty;
        let first = (0..costs.len()).find(|&k| open(k)).unwrap_or(0);
        let start = if stay != NOWHERE && open(stay as usize) {
            stay as usize
        } else {
            first
        };
        let cheaper = |best: usize, k: usize| {
            if costs[k] < costs[best] - ROUNDING {
                k
            } else {
                best
            }
        };
        (0..costs.len()).filter(|&k| open(k)).fold(start, cheaper) as u32
    }

    /// Moves every row to its cheapest cluster, one after the other in this order, or those before somebody wants to stop; whether any
    /// moved.
    pub(super) fn sweep(&mut self, order: &[u32], most: usize, stop: impl Fn() -> bool) -> bool {
        let (mut moved, mut costs) = (false, Vec::new());
        for some in order.chunks(AT_ONCE).take_while(|_| !stop()) {
            self.fetch(some);
            for &at in some {
                moved |= self.place(at as usize, most, &mut costs);
            }
        }
        self.recount_sums();
        moved
    }

    /// Sweeps in orders drawn anew until nothing moves. Adds the loss after each to `trace`.
    fn settle(&mut self, limits: &Limits<'_>, seed: Seed, trace: &mut Vec<f64>) -> End {
        let (mut order, mut rng) = (
            (0..self.labels.len() as u32).collect::<Vec<u32>>(),
            seed.rng(),
        );
        for sweep in 0..limits.sweeps {
            order.shuffle(&mut rng);
            let stop = || limits.monitor.flow() == Flow::Stop;
            let moved = self.sweep(&order, limits.clusters, stop);
            trace.push(self.loss());
            if stop() {
                return End::Interrupted;
            }
            if !moved {
                return End::Still;
            }
            if tick_open_ended(limits.monitor, f64::from(sweep + 1), SWEEPS) == Flow::Stop {
                return End::Interrupted;
            }
        }
        End::Limit
    }

    /// Rows that are nowhere go where they cost least, in an order that is drawn.
    pub(super) fn allocate(&mut self, most: usize, seed: Seed) {
        let mut free: Vec<u32> = (0..self.labels.len() as u32)
            .filter(|&at| self.labels[at as usize] == NOWHERE)
            .collect();
        free.shuffle(&mut seed.rng());
        self.sweep(&free, most, || false);
    }

    /// Joins the two clusters that cost least to join, for as long as there are more than `most` or joining lowers the loss;
    /// whether any were. Once somebody wants to stop, only those above `most` are.
    pub(super) fn join_clusters(
        &mut self,
        &Limits {
            clusters: most,
            monitor,
            ..
        }: &Limits<'_>,
    ) -> bool {
        let mut live: Vec<usize> = (0..self.reach()).filter(|&k| self.size(k) > 0).collect();
        let effort = live.len().saturating_pow(2) / 2 * self.target.rows.base_clusters();
        let stop = || monitor.flow() == Flow::Stop;
        if live.len() <= most && (effort > JOINING_EFFORT || stop()) {
            return false;
        }
        let mut costs: Vec<Vec<f64>> = (0..live.len())
            .map(|a| (0..a).map(|b| self.joining(live[a], live[b])).collect())
            .collect();
        let before = live.len();
        while let Some((a, b)) = cheapest(&costs) {
            if live.len() <= most && (costs[a][b] >= -ROUNDING || stop()) {
                break;
            }
            self.join(live[b], live[a]);
            self.recount_sums();
            live.remove(a);
            costs.remove(a);
            costs.iter_mut().skip(a).for_each(|line| {
                line.remove(a);
            });
            for other in (0..live.len()).filter(|&other| other != b) {
                costs[other.max(b)][other.min(b)] = self.joining(live[other], live[b]);
            }
        }
        live.len() < before
    }

    /// Joins clusters and moves rows until neither helps.
    pub(super) fn descend(&mut self, limits: &Limits<'_>, seed: Seed, trace: &mut Vec<f64>) -> End {
        self.join_clusters(limits);
        for turn in 0.. {
            let end = self.settle(limits, seed.child(turn), trace);
            if end == End::Interrupted || !self.join_clusters(limits) {
                return end;
            }
        }
        End::Still
    }

    /// Empties some clusters, one after the other, and deals their rows out anew; what does not lower the loss is undone.
    pub(super) fn empty_clusters(
        &mut self,
        limits: &Limits<'_>,
        seed: Seed,
        trace: &mut Vec<f64>,
    ) -> End {
        let mut best = self.loss();
        let mut clusters: Vec<u32> = (0..self.reach() as u32)
            .filter(|&k| self.size(k as usize) > 1)
            .collect();
        clusters.shuffle(&mut seed.rng());
        clusters.truncate(EMPTIED);
        let progress = ProgressCounter::new(limits.monitor, clusters.len() as u64 * UNITS);
        for (&k, unit) in clusters.iter().zip(1..) {
            let part = progress.part(UNITS);
            if self.size(k as usize) == 0 {
                continue;
            }
            let limits = &Limits {
                monitor: &part,
                ..*limits
            };
            let (before, mut steps) = (self.labels.clone(), Vec::new());
            (0..self.labels.len())
                .filter(|&at| before[at] == k)
                .for_each(|at| {
                    self.take(at);
                });
            self.recount_sums();
            self.allocate(limits.clusters, seed.child(2 * unit));
            let end = self.settle(limits, seed.child(2 * unit + 1), &mut steps);
            let found = self.loss();
            if found < best - 1e-12 {
                best = found;
                trace.append(&mut steps);
            } else {
                self.put_all(&before);
            }
            if end == End::Interrupted {
                return end;
            }
        }
        End::Still
    }
}

/// Where the smallest of the costs is; the first of equals.
fn cheapest(costs: &[Vec<f64>]) -> Option<(usize, usize)> {
    let all = costs
        .iter()
        .enumerate()
        .flat_map(|(a, line)| (0..line.len()).map(move |b| (a, b)));
    all.reduce(|best, at| {
        if costs[at.0][at.1] < costs[best.0][best.1] {
            at
        } else {
            best
        }
    })
}
