//! Median partitions: the partition with the least mean loss against the base clusterings, which finds K itself.

mod counts;
mod loss;
mod memory;
mod method;
mod passes;
mod sample_rows;
mod search;
mod settings;
mod starts;
mod tally;

use std::num::NonZeroU32;

use partita_core::{
    BaseClustering, Flow, Label, Monitor, MultiStart, ProblemSize, ProgressCounter, Seed, Sense,
    Stopped, WeightedEnsemble, map_parallel,
};
use serde::Serialize;

use counts::{Clustering, NOWHERE, Target};
use loss::Loss;
use search::{End, Limits};
use starts::starts;

pub use loss::{InformationLoss, PairLoss};
pub use method::{MEDIAN_BINDER, MEDIAN_VI, MedianBinder, MedianVi};
pub use settings::{MedianBinderSettings, MedianSearch, MedianViSettings};

/// Facts about a median.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct MedianDiagnostics {
    /// Clusters of the median.
    pub clusters: usize,
    /// The loss of every base clustering against the median, the smallest first.
    pub base_losses: Vec<BaseLoss>,
    /// The loss that every start reached, on the rows that it was tried on: cuts of a tree and the best base clustering first,
    /// then the restarts.
    pub objective_by_restart: Vec<f64>,
}

/// How far a base clustering is from the median.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct BaseLoss {
    /// Name of the base clustering.
    pub base: String,
    /// Its loss.
    pub loss: f64,
}

/// The largest sum of weights of objects, as whole numbers.
const MOST_WEIGHT: f64 = (1u32 << 31) as f64;

/// Counts of one clustering that are held at most where K is free.
const MOST_COUNTS: usize = 1 << 26;

/// The most clusters of a median.
fn most_clusters(size: &ProblemSize) -> usize {
    if !size.auto {
        return size.clusters;
    }
    let free = (2 * size.largest_base_clustering).max(16);
    free.min((MOST_COUNTS / size.base_clusters.max(1)).max(16))
        .min(size.objects)
}

/// Starts that go on to the last, thorough part of the search.
const FINALISTS: usize = 3;

/// Units of progress, of every row that starts are tried on: to make them, for their descents and for the last part of the best.
const MADE: u64 = 20;
const DESCENTS: u64 = 50;
const LAST: u64 = 100;

struct Run<'a> {
    source: WeightedEnsemble<'a>,
    base_weights: &'a [f64],
    clusters: usize,
    seed: Seed,
    loss: Loss,
    search: &'a MedianSearch,
}

/// Rows in clusters, with the loss after each sweep that led there.
struct Found {
    labels: Vec<u32>,
    trace: Vec<f64>,
    end: End,
}

impl Run<'_> {
    fn limits<'m>(&self, monitor: &'m dyn Monitor) -> Limits<'m> {
        Limits {
            clusters: self.clusters,
            sweeps: self.search.sweeps.get(),
            monitor,
        }
    }

    /// The best result of all starts, and the loss of each.
    fn best_start<L: Label>(
        &self,
        target: &Target<'_, L>,
        progress: &ProgressCounter<'_>,
    ) -> (Found, Vec<f64>) {
        let (width, rows) = (
            (2 * self.clusters).min(target.len()).max(self.clusters),
            target.len() as u64,
        );
        let mut given = starts(
            self.source,
            target,
            self.clusters,
            width,
            self.seed.child(2),
            &progress.part(MADE * rows),
        );
        let nothing = vec![NOWHERE; target.len()];
        given.extend((0..self.search.restarts.get()).map(|_| nothing.clone()));
        let share = DESCENTS * rows / given.len() as u64;
        let descend = |(start, labels): (usize, &Vec<u32>)| {
            self.descended(
                target,
                labels,
                width,
                self.seed.child(3).child(start as u64),
                &progress.part(share),
            )
        };
        // Once somebody asks to stop, starts that have not begun are left out, but for the first.
        let wanted = |start: usize| start == 0 || progress.flow() == Flow::Continue;
        let found = map_parallel(given.iter().enumerate(), |given| {
            wanted(given.0).then(|| descend(given))
        });
        let mut found: Vec<Found> = found.into_iter().flatten().collect();
        let select = MultiStart::new(Sense::Minimise);
        let losses = |found: &[Found]| {
            found
                .iter()
                .map(|f| *f.trace.last().unwrap_or(&f64::NAN))
                .collect::<Vec<f64>>()
        };
        let reached = losses(&found);
        let finalists = select.finalists(&reached, FINALISTS, f64::INFINITY);
        let share = LAST * rows / finalists.len() as u64;
        let last = |start: usize| {
            self.emptied(
                target,
                &found[start],
                self.seed.child(4).child(start as u64),
                &progress.part(share),
            )
        };
        found = map_parallel(finalists, last);
        let best = select
            .best(&losses(&found))
            .expect("there is at least one start");
        (found.swap_remove(best), reached)
    }

    /// Rows that are nowhere are dealt out, then the descent.
    fn descended<L: Label>(
        &self,
        target: &Target<'_, L>,
        labels: &[u32],
        width: usize,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Found {
        let mut clustering = Clustering::of(target, width, labels);
        let most = self.clusters.max(clustering.live());
        clustering.allocate(most, seed.child(0));
        let mut trace = vec![clustering.loss()];
        let end = clustering.descend(&self.limits(monitor), seed.child(1), &mut trace);
        let labels = clustering.numbered();
        Found { labels, trace, end }
    }

    /// A result, improved by dealing out whole clusters.
    fn emptied<L: Label>(
        &self,
        target: &Target<'_, L>,
        found: &Found,
        seed: Seed,
        monitor: &dyn Monitor,
    ) -> Found {
        let mut clustering = Clustering::of(target, self.clusters, &found.labels);
        let mut trace = found.trace.clone();
        let mut end = found.end;
        let limits = self.limits(monitor);
        if end != End::Interrupted
            && clustering.empty_clusters(&limits, seed, &mut trace) == End::Interrupted
        {
            end = End::Interrupted;
        }
        let labels = clustering.numbered();
        Found { labels, trace, end }
    }
}

fn stopped(end: End) -> Stopped {
    match end {
        End::Still => Stopped::Converged,
        End::Limit => Stopped::IterationLimit,
        End::Interrupted => Stopped::Interrupted,
    }
}

fn sweeps_warning(sweeps: NonZeroU32) -> String {
    format!("it stopped at its limit of {sweeps} sweeps, before nothing moved; set sweeps higher")
}

/// The loss of every base clustering, the smallest first.
fn base_losses(bases: &[BaseClustering], losses: Vec<f64>) -> Vec<BaseLoss> {
    let base = |(base, loss): (&BaseClustering, f64)| BaseLoss {
        base: base.name().to_owned(),
        loss,
    };
    let mut base_losses: Vec<BaseLoss> = bases.iter().zip(losses).map(base).collect();
    base_losses.sort_by(|a, b| a.loss.total_cmp(&b.loss).then_with(|| a.base.cmp(&b.base)));
    base_losses
}
