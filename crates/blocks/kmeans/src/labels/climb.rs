//! Iterations of k-means on label rows, a pass each.

use partita_core::{BaseClustering, Flow, PassError, PassRunner, Stopped};
use serde::{Deserialize, Serialize};

use super::choice::{LabelChoice, WorstFit};
use super::counts::Counts;
use super::plan::{Plan, Progress};

/// The result of [`kmeans`](super::kmeans): everything but the labels, which follow from a row.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LabelFit {
    /// Which cluster a row is in.
    pub choice: LabelChoice,
    /// How often every label occurs in every cluster.
    pub counts: Counts,
    /// The loss by iteration.
    pub trace: Vec<f64>,
    /// Why it stopped.
    pub stopped: Stopped,
    /// The loss of every initialization, on the rows that they are tried on.
    pub starts: Vec<f64>,
}

/// Iterations from these counts until nothing moves, the loss stands still, or the iterations are used up. An empty cluster takes the
/// row that fits its own worst, while any row fits less than perfectly.
pub(super) fn climb(
    rows: &PassRunner<'_>,
    plan: &Plan<'_>,
    start: Counts,
    progress: Progress<'_>,
) -> Result<LabelFit, PassError> {
    let offsets = BaseClustering::offsets(rows.source().bases());
    let mut fit = LabelFit {
        choice: LabelChoice::by(&start, &offsets, plan, 0),
        counts: start,
        trace: Vec::new(),
        stopped: Stopped::IterationLimit,
        starts: Vec::new(),
    };
    for iteration in 1..=u64::from(plan.iterations.get()) {
        let choice = LabelChoice::by(&fit.counts, &offsets, plan, iteration - 1);
        let counts = choice.count(rows)?;
        let (choice, counts) = filled(rows, plan, choice, counts)?;
        let loss = plan.assignment.loss(&counts, &offsets, plan.base_weights);
        let gained = fit.trace.last().map_or(f64::INFINITY, |last| last - loss);
        let may_rise = iteration <= plan.assignment.first_iterations();
        if gained < 0.0 && !may_rise {
            // The nearest mean never does this; the likeliest cluster may: that iteration is undone.
            fit.stopped = Stopped::Converged;
            break;
        }
        fit.choice = choice;
        fit.counts = counts;
        fit.trace.push(loss);
        if gained <= plan.tolerance * loss && !may_rise {
            fit.stopped = Stopped::Converged;
            break;
        }
        if progress
            .monitor
            .tick(progress.done + iteration, progress.total)
            == Flow::Stop
        {
            fit.stopped = Stopped::Interrupted;
            break;
        }
    }
    Ok(fit)
}

/// Choice and counts after every empty cluster has taken the row that fits worst.
fn filled(
    rows: &PassRunner<'_>,
    plan: &Plan<'_>,
    mut choice: LabelChoice,
    mut counts: Counts,
) -> Result<(LabelChoice, Counts), PassError> {
    // No cluster loses its last row to another, so that so many are enough, unless what other processes say is wrong.
    for _ in 0..plan.clusters {
        let Some(empty) = counts.first_empty() else {
            break;
        };
        let pass = WorstFit {
            choice,
            counts,
            base_weights: plan.base_weights.to_vec(),
        };
        let worst = rows.run(&pass)?.0;
        choice = pass.choice;
        counts = pass.counts;
        let Some(worst) = worst else { break };
        let entries = worst.row.entries(worst.shares, choice.offsets());
        counts.add(entries.iter().copied(), worst.cluster, -worst.objects);
        counts.add(entries.iter().copied(), empty, worst.objects);
        choice.take(worst.row, empty);
    }
    Ok((choice, counts))
}
