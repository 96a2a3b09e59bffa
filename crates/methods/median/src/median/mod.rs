//! Median partitions: the partition with the least mean loss against the base clusterings, which finds K itself.

mod counts;
mod least_loss;
mod loss;
mod memory;
mod method;
mod passes;
mod search;
mod settings;
mod starts;
mod tally;

use std::num::NonZeroU32;

use partita_core::{
    BaseClustering, Clusters, ClustersError, Flow, Label, Monitor, MultiStart, Objective, Outcome,
    Partition, ProblemSize, ProgressCounter, Seed, Sense, Settings, Stopped, WeightedEnsemble,
    WeightsError, map_parallel, whole_multiplicities,
};
use partita_kmeans::labels::{
    RowVisitor, START_ROWS, WeightedLabelRows, base_weights, with_rows, with_weighted_rows,
};
use rand::seq::index;
use serde::Serialize;

use crate::MedianError;
use crate::error::labelled;
use counts::{Clustering, NOWHERE, Target};
use loss::{Kind, Loss, Terms};
use search::{End, Limits};
use starts::starts;

pub(crate) use least_loss::LeastLoss;
pub use loss::{InformationLoss, PairLoss};
pub use method::{MEDIAN_BINDER, MEDIAN_VI, MedianBinder, MedianVi};
pub use passes::{median_binder_rows, median_vi_rows};
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

/// The partition with the least mean variation of information against the base clusterings: what Bayesian clustering calls
/// the SALSO estimate of posterior samples, for any ensemble.
///
/// ```text
/// minimise  Σ_u ω_u L_u / Σ_u ω_u,    L_u = (1/n_u) [ a Σ_c f(s_c) + (2 − a) Σ_k f(n_k) − 2 Σ_kc f(n_kc) ],    f(x) = x log₂ x
/// NVI  (b + v − 2 j) / (f(n) − j)     ID  (b + v − j − min(b, v)) / n     NID  (b + v − j − min(b, v)) / (f(n) − min(b, v))
/// ```
/// with `b = Σ_k f(n_k)`, `v = Σ_c f(s_c)`, `j = Σ_kc f(n_kc)` over the `n_u` objects that base clustering u labels.
///
/// | paper | here |
/// |---|---|
/// | a | [`MedianSearch::asymmetry`] |
/// | maxNClusters | [`Clusters::Exactly`]; [`Clusters::Auto`] leaves the number free, up to 16 or twice the largest base clustering |
/// | nRuns | [`MedianSearch::restarts`] |
/// | zealous updates | clusters that are emptied and dealt out anew |
///
/// With K free the median is about as fine as the base clusterings: of base clusterings with 40 clusters it has some 30,
/// whatever the number of classes. Ask for at most K to have fewer.
///
/// The search starts from cuts of an average-link tree, from the best base clustering and from objects dealt out one by
/// one; joins pairs of clusters, moves single rows, and joins again until neither helps; and deals the clusters of the
/// three best results out anew, one after the other. Objects with the same label row stay together: for VI and Binder some
/// optimum does that, because the loss is concave in how such objects are shared out. The certainty of an object is the cost of
/// the next best cluster less that of its own, over the larger of the two.
///
/// # Cost
/// O(n M K) a sweep. Beyond 10,000 different label rows starts are tried on so many, and the best goes on with all.
/// 12 ΣJ K bytes a start, 24 bytes a label row. Beyond
/// [`LABELS_BY_BLOCKS`](partita_core::LABELS_BY_BLOCKS) labels [`median_vi_rows`] holds nothing of a row.
///
/// # Differences from the paper
/// Starts and joins as above (the paper: random and sequential starts, single moves); weights, of which those of objects are as many
/// copies (rounded to one part in 2²⁹ of their sum where they are not whole); missing labels, for which
/// every base clustering is compared on the objects that it labels.
///
/// # Errors
/// [`MedianError`] if K is out of range, weights or settings do not fit, or an object has no label.
///
/// # References
/// Dahl, Johnson, Müller, *Search algorithms and loss functions for Bayesian clustering*, JCGS 2022; Rastelli, Friel, *Optimal
/// Bayesian estimators for latent variable cluster models*, 2018.
#[doc(alias = "salso")]
#[doc(alias = "variation of information")]
pub fn median_vi<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: Clusters,
    seed: Seed,
    settings: &MedianViSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MedianDiagnostics>, MedianError> {
    let source = source.into();
    settings.validate(&ProblemSize::of(source.ensemble, clusters))?;
    let loss = Loss {
        kind: Kind::Information(settings.loss),
        asymmetry: settings.search.asymmetry,
        one: 1.0,
    };
    median(source, clusters, seed, loss, &settings.search, monitor)
}

/// The partition with the least mean Binder loss against the base clusterings: the one that puts fewest pairs of objects
/// together that base clusterings separate, or the other way round. Known as correlation clustering of the co-association, and as
/// clustering aggregation (LOCALSEARCH of Gionis, Mannila and Tsaparas).
///
/// ```text
/// minimise  Σ_u ω_u L_u / Σ_u ω_u,    L_u = (1/n_u²) [ a Σ_c s_c² + (2 − a) Σ_k n_k² − 2 Σ_kc n_kc² ]
/// ```
/// which is 2 · pairs that differ / n² for a = 1, or `1 − ARI` with `loss=ari`. With K free it leaves many small clusters.
/// Everything else is as in [`median_vi`].
///
/// # Errors
/// As [`median_vi`].
///
/// # References
/// Binder, *Bayesian cluster analysis*, Biometrika 1978; Gionis, Mannila, Tsaparas, *Clustering aggregation*, TKDD 2007; Dahl,
/// Johnson, Müller, JCGS 2022.
#[doc(alias = "correlation clustering")]
#[doc(alias = "clustering aggregation")]
#[doc(alias = "LOCALSEARCH")]
pub fn median_binder<'a>(
    source: impl Into<WeightedEnsemble<'a>>,
    clusters: Clusters,
    seed: Seed,
    settings: &MedianBinderSettings,
    monitor: &dyn Monitor,
) -> Result<Outcome<MedianDiagnostics>, MedianError> {
    let source = source.into();
    settings.validate(&ProblemSize::of(source.ensemble, clusters))?;
    let loss = Loss {
        kind: Kind::Pairs(settings.loss),
        asymmetry: settings.search.asymmetry,
        one: 1.0,
    };
    median(source, clusters, seed, loss, &settings.search, monitor)
}

/// The largest sum of weights of objects, as whole numbers.
const MOST_WEIGHT: f64 = (1u32 << 31) as f64;

fn median(
    source: WeightedEnsemble<'_>,
    clusters: Clusters,
    seed: Seed,
    mut loss: Loss,
    search: &MedianSearch,
    monitor: &dyn Monitor,
) -> Result<Outcome<MedianDiagnostics>, MedianError> {
    let (ensemble, weights) = (source.ensemble, source.base_weights);
    let size = ProblemSize::of(ensemble, clusters);
    let _span =
        tracing::info_span!("median", objects = size.objects, clusters = size.clusters).entered();
    ClustersError::check(size.clusters, size.objects)?;
    WeightsError::check(weights, size.base_clusterings)?;
    labelled(ensemble.first_unlabelled().map(|object| object as u64))?;
    let base_weights = base_weights(ensemble.bases(), weights);
    let clusters = most_clusters(&size);
    let Some(given) = source.multiplicities() else {
        return Ok(with_rows(
            ensemble,
            Run {
                source,
                base_weights,
                clusters,
                seed,
                loss,
                search,
                monitor,
            },
        ));
    };
    let whole: Vec<f64> = whole_multiplicities(given, MOST_WEIGHT)
        .into_iter()
        .map(f64::from)
        .collect();
    loss.one = whole.iter().sum::<f64>() / given.iter().sum::<f64>();
    let run = Run {
        source,
        base_weights,
        clusters,
        seed,
        loss,
        search,
        monitor,
    };
    Ok(with_weighted_rows(ensemble, &whole, run))
}

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

/// Units of progress: of every row that starts are tried on, to make them, for their descents and for the last part of the best; of
/// every row, where there are more.
const MADE: u64 = 20;
const DESCENTS: u64 = 50;
const LAST: u64 = 100;
const ALL: u64 = 5;

struct Run<'a> {
    source: WeightedEnsemble<'a>,
    base_weights: Vec<f64>,
    clusters: usize,
    seed: Seed,
    loss: Loss,
    search: &'a MedianSearch,
    monitor: &'a dyn Monitor,
}

/// Rows in clusters, with the loss after each sweep that led there.
struct Found {
    labels: Vec<u32>,
    /// The loss against every base clustering.
    losses: Vec<f64>,
    trace: Vec<f64>,
    end: End,
    /// The certainty of every row, where the last sweep moved none.
    certainty: Option<Vec<f64>>,
}

impl RowVisitor for Run<'_> {
    type Out = Outcome<MedianDiagnostics>;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Self::Out {
        let objects: u64 = (0..rows.len()).map(|row| u64::from(rows.weight(row))).sum();
        let terms = Terms::new(self.loss, objects as usize);
        let some = sample(rows.len(), self.seed.child(0));
        let rest = if some.is_some() {
            ALL * rows.len() as u64
        } else {
            0
        };
        let target = Target::new(rows, some.as_deref(), &self.base_weights, self.loss, &terms);
        let tried = (MADE + DESCENTS + LAST) * target.len() as u64;
        let progress = ProgressCounter::new(self.monitor, tried + rest);
        let (mut best, losses) = self.best_start(&target, &progress);
        let whole = Target::new(rows, None, &self.base_weights, self.loss, &terms);
        if let Some(some) = some {
            let mut labels = vec![NOWHERE; rows.len()];
            some.iter()
                .zip(&best.labels)
                .for_each(|(&row, &k)| labels[row as usize] = k);
            best = self.descended(
                &whole,
                &labels,
                self.clusters,
                self.seed.child(1),
                &progress.part(rest),
            );
        }
        self.outcome(&whole, best, losses)
    }
}

/// Rows that starts are tried on, where there are too many.
fn sample(rows: usize, seed: Seed) -> Option<Vec<u32>> {
    (rows > START_ROWS).then(|| {
        let mut drawn = index::sample(&mut seed.rng(), rows, START_ROWS).into_vec();
        drawn.sort_unstable();
        drawn.into_iter().map(|row| row as u32).collect()
    })
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
        let certainty = (end == End::Still).then(|| std::mem::take(&mut clustering.certainty));
        let (labels, losses) = clustering.numbered();
        Found {
            labels,
            losses,
            trace,
            end,
            certainty,
        }
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
        let (labels, losses) = clustering.numbered();
        Found {
            labels,
            losses,
            trace,
            end,
            certainty: None,
        }
    }

    fn outcome<L: Label>(
        &self,
        target: &Target<'_, L>,
        found: Found,
        objective_by_restart: Vec<f64>,
    ) -> Outcome<MedianDiagnostics> {
        let clusters = found
            .labels
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let again = || {
            certainty(
                &mut Clustering::of(target, self.clusters, &found.labels),
                self.clusters,
            )
        };
        let certainty = found.certainty.unwrap_or_else(again);
        let partition = Partition::new(target.rows.expand(&found.labels), clusters)
            .expect("labels are numbered");
        let mut outcome = Outcome::hard(
            partition,
            target.rows.expand(&certainty),
            stopped(found.end),
        );
        outcome.rounds = found.trace.len() as u64;
        outcome
            .warnings
            .extend((found.end == End::Limit).then(|| sweeps_warning(self.search.sweeps)));
        let (name, value) = (self.loss.name(), target.mean(&found.losses));
        outcome.objective = Some(Objective {
            name,
            sense: Sense::Minimise,
            value,
            trace: found.trace,
        });
        let base_losses = base_losses(self.source.ensemble.bases(), found.losses);
        outcome.with(MedianDiagnostics {
            clusters,
            base_losses,
            objective_by_restart,
        })
    }
}

fn stopped(end: End) -> Stopped {
    match end {
        End::Still => Stopped::Converged,
        End::Limit => Stopped::RoundLimit,
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

/// The certainty of every row.
fn certainty<L: Label>(clustering: &mut Clustering<'_, L>, most: usize) -> Vec<f64> {
    let mut costs = Vec::new();
    (0..clustering.labels.len())
        .map(|at| clustering.place(at, most, &mut costs, false).1.certainty())
        .collect()
}
