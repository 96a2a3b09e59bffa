//! Medians of label rows that are not held: a search on a sample, then a pass for every round in which rows move.

use partita_core::{
    BaseClustering, BaseWeights, Clusters, ClustersError, Flow, Label, Monitor, Objective,
    PassRunner, ProblemSize, ProgressCounter, Row, RowBlock, RowFit, RowSample, Seed, Sense,
    Settings, WeightedEnsemble, WeightsError, tick_open_ended, whole_multiplicities,
};
use partita_kmeans::labels::{
    Counts, LabelChoice, RowVisitor, START_ROWS, WeightedLabelRows, base_weights,
    with_weighted_rows,
};
use serde::{Deserialize, Serialize};

use super::counts::Target;
use super::least_loss::LeastLoss;
use super::loss::{Kind, Loss, TABULATED, Terms};
use super::search::End;
use super::tally::Tally;
use super::{
    DESCENTS, LAST, MADE, MOST_WEIGHT, MedianBinderSettings, MedianDiagnostics, MedianSearch,
    MedianViSettings, Run, base_losses, most_clusters, stopped, sweeps_warning,
};
use crate::MedianError;
use crate::error::labelled;

/// [`median_vi`](super::median_vi) over label rows that are not held. The search is on a sample of 10,000 label rows that a hash draws, or
/// on all where no more differ. Then rows move all at once, a pass a round: each goes where one object costs least by the counts of the
/// round before, for as long as the loss, which is that of all rows, falls by more than one part in 10⁹; clusters are joined where that
/// lowers it. No cluster is opened after the search on the sample.
///
/// # Cost
/// O(n M K) a round; no memory that grows with n.
///
/// # Errors
/// As [`median_vi`](super::median_vi), and [`MedianError::Pass`] when rows cannot be read.
pub fn median_vi_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: Clusters,
    seed: Seed,
    settings: &MedianViSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MedianDiagnostics>, MedianError> {
    settings.validate(&size_of(rows, clusters))?;
    let loss = Loss {
        kind: Kind::Information(settings.loss),
        asymmetry: settings.search.asymmetry,
        one: 1.0,
    };
    median_rows(
        rows,
        weights,
        clusters,
        seed,
        loss,
        &settings.search,
        monitor,
    )
}

/// [`median_binder`](super::median_binder) over label rows that are not held, as [`median_vi_rows`].
///
/// # Errors
/// As [`median_vi_rows`].
pub fn median_binder_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: Clusters,
    seed: Seed,
    settings: &MedianBinderSettings,
    monitor: &dyn Monitor,
) -> Result<RowFit<MedianDiagnostics>, MedianError> {
    settings.validate(&size_of(rows, clusters))?;
    let loss = Loss {
        kind: Kind::Pairs(settings.loss),
        asymmetry: settings.search.asymmetry,
        one: 1.0,
    };
    median_rows(
        rows,
        weights,
        clusters,
        seed,
        loss,
        &settings.search,
        monitor,
    )
}

fn size_of(rows: &PassRunner<'_>, clusters: Clusters) -> ProblemSize {
    ProblemSize::of_bases(
        rows.source().rows() as usize,
        rows.source().bases(),
        clusters,
    )
}

fn median_rows(
    rows: &PassRunner<'_>,
    weights: Option<&BaseWeights>,
    clusters: Clusters,
    seed: Seed,
    loss: Loss,
    search: &MedianSearch,
    monitor: &dyn Monitor,
) -> Result<RowFit<MedianDiagnostics>, MedianError> {
    let (size, bases) = (size_of(rows, clusters), rows.source().bases());
    let _span = tracing::info_span!(
        "median by blocks",
        objects = size.objects,
        clusters = size.clusters
    )
    .entered();
    ClustersError::check(size.clusters, size.objects)?;
    WeightsError::check(weights, size.base_clusterings)?;
    labelled(Counts::together_over(rows)?.1)?;
    let sample = RowSample::draw(rows, START_ROWS, seed.child(0))?;
    let tried = (MADE + DESCENTS + LAST) * sample.weights.len() as u64;
    let progress = ProgressCounter::new(monitor, 2 * tried);
    let most = most_clusters(&size);
    let base_weights = base_weights(bases, weights);
    let start = rows.once(
        "median/start",
        |start: &Start| start.choice.is_of(bases),
        || {
            start(
                &sample,
                weights,
                &base_weights,
                most,
                seed.child(1),
                loss,
                search,
                &progress,
            )
        },
    )?;
    drop(sample);
    let offsets = BaseClustering::offsets(bases);
    let descent = Descent {
        rows,
        offsets: &offsets,
        base_weights: &base_weights,
        loss,
    };
    let mut trace = Vec::new();
    let (round, end) = descent.descend(
        start.choice,
        search.sweeps.get(),
        &progress.part(tried),
        &mut trace,
    )?;
    let end = if start.end == End::Interrupted {
        start.end
    } else {
        end
    };
    let objective = Objective {
        name: loss.name(),
        sense: Sense::Minimise,
        value: round.loss,
        trace,
    };
    let clusters = round.counts.clusters();
    let labels = LeastLoss::new(
        round.choice,
        round.becomes,
        &descent.tally(&round.counts),
        most,
    );
    let base_losses = base_losses(bases, round.losses);
    let details = MedianDiagnostics {
        clusters,
        base_losses,
        objective_by_restart: start.losses,
    };
    let mut fit = RowFit::new(clusters, stopped(end), labels, details);
    fit.rounds = objective.trace.len() as u64;
    fit.objective = Some(objective);
    fit.warnings
        .extend((end == End::Limit).then(|| sweeps_warning(search.sweeps)));
    Ok(fit)
}

/// The best result on the rows of a sample.
#[derive(Serialize, Deserialize)]
struct Start {
    choice: LabelChoice,
    /// The loss of every start.
    losses: Vec<f64>,
    end: End,
}

#[expect(clippy::too_many_arguments, reason = "what a search is made of")]
fn start(
    sample: &RowSample,
    weights: Option<&BaseWeights>,
    base_weights: &[f64],
    clusters: usize,
    seed: Seed,
    mut loss: Loss,
    search: &MedianSearch,
    monitor: &ProgressCounter<'_>,
) -> Start {
    let whole = whole_weights(sample);
    loss.one = whole.iter().sum::<f64>() / sample.weights.iter().sum::<f64>();
    let source = WeightedEnsemble {
        ensemble: &sample.ensemble,
        base_weights: weights,
        object_weights: None,
    };
    let run = Run {
        source,
        base_weights: base_weights.to_vec(),
        clusters,
        seed,
        loss,
        search,
        monitor,
    };
    with_weighted_rows(
        &sample.ensemble,
        &whole,
        OnSample {
            run,
            whole: sample.whole,
            progress: monitor,
        },
    )
}

/// The share of their sum by which weights may differ from whole multiples of the most common of them, which are then taken instead: rows
/// that count once are quick to move.
const NEARLY: f64 = 0.1;

/// What the rows of a sample count, as whole numbers. Where it is not all rows these are estimates, and coarse numbers do.
fn whole_weights(sample: &RowSample) -> Vec<f64> {
    let weights = &sample.weights;
    if !sample.whole {
        let mut sorted = weights.clone();
        sorted.sort_unstable_by(f64::total_cmp);
        let unit = sorted[sorted.len() / 2];
        let coarse: Vec<f64> = weights
            .iter()
            .map(|weight| (weight / unit).round().max(1.0))
            .collect();
        let apart: f64 = weights
            .iter()
            .zip(&coarse)
            .map(|(weight, times)| (weight - times * unit).abs())
            .sum();
        if apart <= NEARLY * weights.iter().sum::<f64>()
            && coarse.iter().sum::<f64>() < TABULATED as f64
        {
            return coarse;
        }
    }
    let most = if sample.whole {
        MOST_WEIGHT
    } else {
        4.0 * TABULATED as f64
    };
    whole_multiplicities(weights, most)
        .into_iter()
        .map(f64::from)
        .collect()
}

/// The search on the rows of a sample.
struct OnSample<'a> {
    run: Run<'a>,
    /// Whether these are all rows that differ.
    whole: bool,
    progress: &'a ProgressCounter<'a>,
}

impl RowVisitor for OnSample<'_> {
    type Out = Start;

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Start {
        let Self {
            run,
            whole,
            progress,
        } = self;
        let objects: u64 = (0..rows.len()).map(|row| u64::from(rows.weight(row))).sum();
        let terms = Terms::new(run.loss, objects as usize);
        let target = Target::new(rows, None, &run.base_weights, run.loss, &terms);
        let (found, losses) = run.best_start(&target, progress);
        let clusters = found
            .labels
            .iter()
            .max()
            .map_or(0, |&last| last as usize + 1);
        let mut counts = Counts::new(rows.offsets(), clusters);
        for (row, &k) in found.labels.iter().enumerate() {
            counts.add(rows.places(row), k, i64::from(rows.weight(row)));
        }
        let tally = Tally {
            counts: &counts,
            offsets: rows.offsets(),
            base_weights: &run.base_weights,
            loss: run.loss,
        };
        let choice = tally.choice();
        let choice = if whole {
            as_found(choice, rows, &found.labels)
        } else {
            choice
        };
        Start {
            choice,
            losses,
            end: found.end,
        }
    }
}

/// The choice but for the rows, here all that differ, that would go elsewhere than they are.
fn as_found<L: Label>(
    choice: LabelChoice,
    rows: &WeightedLabelRows<'_, L>,
    labels: &[u32],
) -> LabelChoice {
    let mut elsewhere = Vec::new();
    for (at, &label) in labels.iter().enumerate() {
        let block = RowBlock::<&[L]>::new(0, rows.row(at), rows.bases(), None);
        choice.for_each(&block, |row, k, _| {
            elsewhere.extend((k != label).then(|| (row.key(), label)));
        });
    }
    choice.but_for(elsewhere)
}

/// What rows are, and what is to be small.
struct Descent<'a, 'r> {
    rows: &'a PassRunner<'r>,
    offsets: &'a [usize],
    base_weights: &'a [f64],
    loss: Loss,
}

/// All rows in clusters.
struct Round {
    choice: LabelChoice,
    /// What the clusters of the choice are called.
    becomes: Vec<u32>,
    counts: Counts,
    /// The loss against every base clustering, and their mean.
    losses: Vec<f64>,
    loss: f64,
}

/// A round that lowers the loss by no larger share is the last.
const TOLERANCE: f64 = 1e-9;

/// Counts that are looked at to join two clusters, at most: beyond that they are not joined.
const JOINING_EFFORT: usize = 100_000_000;

/// Rounds after which half of a descent passes for done.
const ROUNDS: f64 = 4.0;

impl Descent<'_, '_> {
    fn tally<'t>(&'t self, counts: &'t Counts) -> Tally<'t> {
        Tally {
            counts,
            offsets: self.offsets,
            base_weights: self.base_weights,
            loss: self.loss,
        }
    }

    /// Rounds until none lowers the loss.
    fn descend(
        &self,
        start: LabelChoice,
        rounds: u32,
        monitor: &dyn Monitor,
        trace: &mut Vec<f64>,
    ) -> Result<(Round, End), MedianError> {
        let mut now = self.joined(self.step(start)?);
        trace.push(now.loss);
        for round in 1..rounds {
            if tick_open_ended(monitor, f64::from(round), ROUNDS) == Flow::Stop {
                return Ok((now, End::Interrupted));
            }
            let next = self.joined(self.step(self.tally(&now.counts).choice())?);
            let gained = now.loss - next.loss;
            if gained > 0.0 {
                now = next;
                trace.push(now.loss);
            }
            if gained <= TOLERANCE * now.loss {
                return Ok((now, End::Still));
            }
        }
        Ok((now, End::Limit))
    }

    /// Every row goes where this choice says: a pass.
    fn step(&self, choice: LabelChoice) -> Result<Round, MedianError> {
        let counts = choice.count(self.rows)?;
        let (mut becomes, mut clusters) = (Vec::new(), 0);
        for k in 0..counts.clusters() as u32 {
            // What an empty cluster is called is of no account.
            let empty = counts.objects(k) == 0;
            becomes.push(if empty { 0 } else { clusters });
            clusters += u32::from(!empty);
        }
        let counts = counts.joined(&becomes, clusters as usize);
        Ok(self.round(choice, becomes, counts))
    }

    fn round(&self, choice: LabelChoice, becomes: Vec<u32>, counts: Counts) -> Round {
        let tally = self.tally(&counts);
        let losses = tally.losses();
        let loss = tally.mean(&losses);
        Round {
            choice,
            becomes,
            counts,
            losses,
            loss,
        }
    }

    /// Two clusters after the other become one while that lowers the loss.
    fn joined(&self, mut round: Round) -> Round {
        loop {
            let clusters = round.counts.clusters();
            let effort = clusters.saturating_pow(2) / 2 * self.offsets[self.base_weights.len()];
            let cheapest = (effort <= JOINING_EFFORT)
                .then(|| self.tally(&round.counts).cheapest_join())
                .flatten();
            let Some((a, b, _)) = cheapest.filter(|(_, _, cost)| *cost < 0.0) else {
                return round;
            };
            let call = |k: u32| {
                if k == b as u32 {
                    a as u32
                } else {
                    k - u32::from(k > b as u32)
                }
            };
            let names: Vec<u32> = (0..clusters as u32).map(call).collect();
            let counts = round.counts.joined(&names, clusters - 1);
            let becomes = round.becomes.iter().map(|&k| call(k)).collect();
            let next = self.round(round.choice.clone(), becomes, counts);
            if next.loss >= round.loss {
                return round;
            }
            round = next;
        }
    }
}
