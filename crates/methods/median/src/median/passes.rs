//! Medians of label rows: a search on a sample, then a pass for every iteration in which rows move.

use partita_core::{
    AnyBlock, BaseClustering, EnsembleRows, Flow, Label, Monitor, Objective, PassRunner,
    ProgressCounter, Row, RowBlock, RowFit, RowProblem, RowSample, Sense, WeightedEnsemble,
    tick_open_ended, whole_multiplicities,
};
use partita_kmeans::labels::{Counts, LabelChoice, START_ROWS, base_weights};
use serde::{Deserialize, Serialize};

use super::counts::Target;
use super::loss::{Loss, TABULATED, Terms};
use super::sample_rows::SampleRows;
use super::search::End;
use super::tally::Tally;
use super::{
    DESCENTS, LAST, MADE, MOST_WEIGHT, MedianDiagnostics, MedianSearch, Run, base_losses,
    most_clusters, stopped, sweeps_warning,
};
use crate::MedianError;
use crate::chosen_labels::ChosenLabels;
use crate::error::labelled;

/// The fit of a loss. Starts are tried on a [`RowSample`] of 10,000 label rows, or on all where no more differ; then rows move all at
/// once, a pass an iteration. No cluster is opened after the search on the sample.
pub(super) fn solve(
    problem: &RowProblem<'_>,
    loss: Loss,
    search: &MedianSearch,
    monitor: &dyn Monitor,
) -> Result<RowFit<MedianDiagnostics>, MedianError> {
    let size = problem.size();
    let bases = problem.rows.bases();
    let _span =
        tracing::info_span!("median", objects = size.objects, clusters = size.clusters).entered();
    let rows = problem.passes();
    labelled(Counts::together(&rows)?.1)?;
    let sample = RowSample::draw(&rows, START_ROWS, problem.seed.child(0))?;
    let tried = (MADE + DESCENTS + LAST) * sample.weights.len() as u64;
    let progress = ProgressCounter::new(monitor, 2 * tried);
    let most = most_clusters(&size);
    let base_weights = base_weights(bases, problem.weights);
    let offsets = BaseClustering::offsets(bases);
    let fits = |start: &Start| start.choice.is_of(bases);
    let start = rows.once("median/start", fits, || {
        let whole = whole_weights(&sample);
        let unit = whole.iter().map(|&weight| f64::from(weight)).sum::<f64>();
        let run = Run {
            source: WeightedEnsemble {
                ensemble: &sample.ensemble,
                base_weights: problem.weights,
                object_weights: None,
            },
            base_weights: &base_weights,
            clusters: most,
            seed: problem.seed.child(1),
            loss: Loss {
                one: unit / sample.weights.iter().sum::<f64>(),
                ..loss
            },
            search,
        };
        let on_sample = OnSample {
            run,
            whole: sample.whole,
            offsets: &offsets,
            weights: &whole,
            progress: &progress,
        };
        EnsembleRows::new(&sample.ensemble).with_all(|block| match block {
            AnyBlock::Bytes(block) => on_sample.start(block.labels()),
            AnyBlock::Words(block) => on_sample.start(block.labels()),
            AnyBlock::Shares(_) => unreachable!("these are labels"),
        })
    })?;
    drop(sample);
    let descent = Descent {
        rows: &rows,
        offsets: &offsets,
        base_weights: &base_weights,
        loss,
    };
    let mut trace = Vec::new();
    let part = progress.part(tried);
    let (iteration, end) = descent.descend(start.choice, search.sweeps.get(), &part, &mut trace)?;
    let end = if start.end == End::Interrupted {
        start.end
    } else {
        end
    };
    let clusters = iteration.counts.clusters();
    let labels = ChosenLabels {
        choice: iteration.choice,
        becomes: iteration.becomes,
    };
    let details = MedianDiagnostics {
        clusters,
        base_losses: base_losses(bases, iteration.losses),
        objective_by_restart: start.losses,
    };
    let mut fit = RowFit::new(clusters, stopped(end), labels, details);
    fit.iterations = trace.len() as u64;
    fit.objective = Some(Objective {
        name: loss.name(),
        sense: Sense::Minimise,
        value: iteration.loss,
        trace,
    });
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

/// The share of their sum by which weights may differ from whole multiples of the most common of them, which are then taken instead: rows
/// that count once are quick to move.
const NEARLY: f64 = 0.1;

/// What the rows of a sample count, as whole numbers. Where it is not all rows these are estimates, and coarse numbers do.
fn whole_weights(sample: &RowSample) -> Vec<u32> {
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
            return coarse.into_iter().map(|weight| weight as u32).collect();
        }
    }
    let most = if sample.whole {
        MOST_WEIGHT
    } else {
        4.0 * TABULATED as f64
    };
    whole_multiplicities(weights, most)
}

/// The search on the rows of a sample.
struct OnSample<'a> {
    run: Run<'a>,
    /// Whether these are all rows that differ.
    whole: bool,
    offsets: &'a [usize],
    weights: &'a [u32],
    progress: &'a ProgressCounter<'a>,
}

impl OnSample<'_> {
    fn start<L: Label>(&self, labels: &[L]) -> Start {
        let rows = SampleRows {
            labels,
            offsets: self.offsets,
            weights: self.weights,
        };
        let run = &self.run;
        let objects: u64 = self.weights.iter().map(|&weight| u64::from(weight)).sum();
        let terms = Terms::new(run.loss, objects as usize);
        let target = Target::new(&rows, run.base_weights, run.loss, &terms);
        let (found, losses) = run.best_start(&target, self.progress);
        let clusters = found.labels.iter().max().map_or(0, |&last| last + 1);
        let mut counts = Counts::new(self.offsets, clusters as usize, false);
        for (row, &k) in found.labels.iter().enumerate() {
            let weight = f64::from(self.weights[row]);
            counts.add(rows.row(row).entries(self.offsets), k, weight);
        }
        let tally = Tally {
            counts: &counts,
            offsets: self.offsets,
            base_weights: run.base_weights,
            loss: run.loss,
        };
        let mut choice = tally.choice();
        if self.whole {
            let block = RowBlock::<&[L]>::new(0, labels, rows.bases(), None);
            choice = choice.as_found(&block, &found.labels);
        }
        Start {
            choice,
            losses,
            end: found.end,
        }
    }
}

/// What rows are, and what is to be small.
struct Descent<'a, 'r> {
    rows: &'a PassRunner<'r>,
    offsets: &'a [usize],
    base_weights: &'a [f64],
    loss: Loss,
}

/// All rows in clusters.
struct Iteration {
    choice: LabelChoice,
    /// What the clusters of the choice are called.
    becomes: Vec<u32>,
    counts: Counts,
    /// The loss against every base clustering, and their mean.
    losses: Vec<f64>,
    loss: f64,
}

/// An iteration that lowers the loss by no larger share is the last.
const TOLERANCE: f64 = 1e-9;

/// Counts that are looked at to join two clusters, at most: beyond that they are not joined.
const JOINING_EFFORT: usize = 100_000_000;

/// Iterations after which half of a descent passes for done.
const ITERATIONS: f64 = 4.0;

impl Descent<'_, '_> {
    fn tally<'t>(&'t self, counts: &'t Counts) -> Tally<'t> {
        Tally {
            counts,
            offsets: self.offsets,
            base_weights: self.base_weights,
            loss: self.loss,
        }
    }

    /// Iterations until none lowers the loss.
    fn descend(
        &self,
        start: LabelChoice,
        iterations: u32,
        monitor: &dyn Monitor,
        trace: &mut Vec<f64>,
    ) -> Result<(Iteration, End), MedianError> {
        let mut now = self.joined(self.step(start)?);
        trace.push(now.loss);
        for iteration in 1..iterations {
            if tick_open_ended(monitor, f64::from(iteration), ITERATIONS) == Flow::Stop {
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
    fn step(&self, choice: LabelChoice) -> Result<Iteration, MedianError> {
        let counts = choice.count(self.rows)?;
        let (mut becomes, mut clusters) = (Vec::new(), 0);
        for k in 0..counts.clusters() as u32 {
            // What an empty cluster is called is of no account.
            let empty = counts.objects(k) == 0.0;
            becomes.push(if empty { 0 } else { clusters });
            clusters += u32::from(!empty);
        }
        let counts = counts.joined(&becomes, clusters as usize);
        Ok(self.iteration(choice, becomes, counts))
    }

    fn iteration(&self, choice: LabelChoice, becomes: Vec<u32>, counts: Counts) -> Iteration {
        let tally = self.tally(&counts);
        let losses = tally.losses();
        let loss = tally.mean(&losses);
        Iteration {
            choice,
            becomes,
            counts,
            losses,
            loss,
        }
    }

    /// Two clusters after the other become one while that lowers the loss.
    fn joined(&self, mut iteration: Iteration) -> Iteration {
        loop {
            let clusters = iteration.counts.clusters();
            let effort = clusters.saturating_pow(2) / 2 * self.offsets[self.base_weights.len()];
            let cheapest = (effort <= JOINING_EFFORT)
                .then(|| self.tally(&iteration.counts).cheapest_join())
                .flatten();
            let Some((a, b, _)) = cheapest.filter(|(_, _, cost)| *cost < 0.0) else {
                return iteration;
            };
            let call = |k: u32| {
                if k == b as u32 {
                    a as u32
                } else {
                    k - u32::from(k > b as u32)
                }
            };
            let names: Vec<u32> = (0..clusters as u32).map(call).collect();
            let counts = iteration.counts.joined(&names, clusters - 1);
            let becomes = iteration.becomes.iter().map(|&k| call(k)).collect();
            let next = self.iteration(iteration.choice.clone(), becomes, counts);
            if next.loss >= iteration.loss {
                return iteration;
            }
            iteration = next;
        }
    }
}
