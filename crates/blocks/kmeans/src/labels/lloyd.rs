//! k-means on label rows, wherever they are: initializations on a sample, then a pass for every iteration.

use std::num::Saturating;

use partita_core::{
    BaseClustering, Monitor, PassError, PassRunner, ProblemSize, RowSample, Seed, Stopped,
    sums_under_way,
};

use super::climb::{LabelFit, climb};
use super::plan::{Plan, Progress};
use super::starts::{START_ROWS, best_start};

/// The best partition of rows that several initializations lead to: the smallest sum of squares of one-hot labels about the means of
/// their clusters, or another loss ([`Assignment`](super::Assignment)). Initializations are tried on a [`RowSample`] of 10,000 different
/// rows, which does not depend on the order of the rows. Where these are all, moves of single rows and random swaps improve the best; else
/// it goes on with all rows.
///
/// # Cost
/// O(n M K) an iteration, a pass each; no memory that grows with n.
///
/// # Errors
/// [`PassError`] when rows cannot be read.
pub fn kmeans(
    rows: &PassRunner<'_>,
    plan: &Plan<'_>,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<LabelFit, PassError> {
    let bases = rows.source().bases();
    let sample = RowSample::draw(rows, START_ROWS, seed.child(0))?;
    let fits = |start: &LabelFit| {
        start.choice.is_of(bases)
            && start
                .counts
                .are_of(&BaseClustering::offsets(bases), plan.clusters)
    };
    let start = rows.once("kmeans/starts", fits, || {
        best_start(&sample, plan, seed, monitor)
    })?;
    if sample.whole || start.stopped == Stopped::Interrupted {
        return Ok(start);
    }
    drop(sample);
    let total = plan.all_iterations();
    let progress = Progress {
        monitor,
        done: total - u64::from(plan.iterations.get()),
        total,
    };
    let starts = start.starts;
    Ok(LabelFit {
        starts,
        ..climb(rows, plan, start.counts, progress)?
    })
}

/// Bytes that [`kmeans`] holds at once, at most.
pub fn bytes(size: &ProblemSize) -> u64 {
    let [_, m, side, k] = size.saturating();
    let table = (side + m + Saturating(2)) * (k + Saturating(8)) * Saturating(8);
    // Scores in two precisions, before and after an iteration, beside the counts of the groups that are under way.
    let tables = table * Saturating(sums_under_way(size.objects) + 12);
    let sample = (START_ROWS + size.base_clusterings).min(size.objects) as u64;
    let drawn = RowSample::bytes(size, START_ROWS as u64);
    (tables + Saturating(drawn) + Saturating(sample) * (m * Saturating(2) + Saturating(80))).0
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use partita_core::ndarray::Array2;
    use partita_core::{Ensemble, EnsembleRows, Label, Silent};
    use rand::RngExt;

    use super::super::Assignment;
    use super::*;

    fn drawn(objects: usize, seed: Seed) -> Ensemble {
        let mut rng = seed.rng();
        let labels = Array2::from_shape_fn((objects, 4), |(i, u)| match rng.random_range(0..8) {
            0 if u != i % 4 => u8::MISSING,
            1 | 2 => rng.random_range(0..4),
            _ => ((i + u) % 4) as u8,
        });
        let names = || (0..4).map(|j: u32| j.to_string()).collect();
        let base = |u| BaseClustering::new(format!("u{u}"), names());
        Ensemble::from_bytes(labels, (0..4).map(base).collect()).unwrap()
    }

    #[test]
    fn the_order_of_rows_changes_nothing() {
        let ensemble = drawn(30_000, Seed::new(9));
        let order: Vec<u32> = (0..30_000).map(|i| i * 7919 % 30_000).collect();
        let shuffled = ensemble.select(&order, &[0, 1, 2, 3]);
        let number = |number| NonZeroU32::new(number).unwrap();
        let fit = |ensemble: &Ensemble| {
            let source = EnsembleRows::new(ensemble);
            let plan = Plan {
                clusters: 4,
                base_weights: &[1.0, 2.0, 0.5, 1.0],
                assignment: Assignment::Nearest,
                restarts: number(3),
                swaps: 8,
                iterations: number(50),
                tolerance: 0.0,
            };
            let rows = PassRunner::new(&source, &Silent);
            let found = kmeans(&rows, &plan, Seed::new(1), &Silent).unwrap();
            (found.counts, found.trace, found.starts)
        };
        assert_eq!(fit(&ensemble), fit(&shuffled));
    }
}
