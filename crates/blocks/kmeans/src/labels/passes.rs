//! k-means on label rows that are not held: initializations on a sample, then a pass for every round.

use std::num::Saturating;

use partita_core::{
    BaseClustering, Label, Mergeable, Monitor, PassError, PassKind, PassRunner, ProblemSize, Row,
    RowBlock, RowKey, RowPass, RowSample, Seed, Stopped, StoredRows, sums_under_way,
};
use serde::{Deserialize, Serialize};

use super::counts::{Counts, Together};
use super::lloyd::{START_ROWS, best_start};
use super::rounds::{Plan, Progress, Rounds, climb};
use super::rows::{RowVisitor, WeightedLabelRows, with_weighted_rows};
use super::scores::Scores;

/// Rows that choose their clusters at a time.
const ROWS: usize = 2048;

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[
    PassKind::of::<Together>(),
    PassKind::of::<CountChosen>(),
    PassKind::of::<WorstFit>(),
];

/// The result of [`kmeans_over`]: everything but the labels, which follow from a row.
#[derive(Debug)]
pub struct RowsFit {
    /// Which cluster a label row is in.
    pub choice: LabelChoice,
    /// How often every label occurs in every cluster.
    pub counts: Counts,
    /// Sum of squares by round.
    pub trace: Vec<f64>,
    /// Why it stopped.
    pub stopped: Stopped,
    /// Sum of squares of every initialization, on the rows that they are tried on.
    pub starts: Vec<f64>,
}

/// [`kmeans`](super::kmeans) of label rows that are not held. From the same start it takes the same steps, to the same bits; the start is
/// another where more than 10,000 rows differ: initializations are then tried on a [`RowSample`] of so many, which does not depend
/// on the order of the rows, and nothing else does.
///
/// # Cost
/// O(n M K) a round, a pass each.
///
/// # Errors
/// [`PassError`] when rows cannot be read.
pub fn kmeans_over(
    rows: &PassRunner<'_>,
    plan: &Plan<'_>,
    seed: Seed,
    monitor: &dyn Monitor,
) -> Result<RowsFit, PassError> {
    let offsets = BaseClustering::offsets(rows.source().bases());
    let sample = RowSample::draw(rows, START_ROWS, seed.child(0))?;
    let (start, starts) = rows.once(
        "kmeans/starts",
        |(start, _): &(Counts, Vec<f64>)| start.are_of(&offsets, plan.clusters),
        || {
            with_weighted_rows(
                &sample.ensemble,
                &sample.weights,
                Starts {
                    plan,
                    seed,
                    monitor,
                },
            )
        },
    )?;
    drop(sample);
    let total = plan.all_rounds(true);
    let progress = Progress {
        monitor,
        done: total - u64::from(plan.rounds.get()),
        total,
    };
    let choice = LabelChoice::by(&start, &offsets, plan, 0);
    let mut passes = Passes {
        rows,
        plan,
        choice,
        counts: start,
        round: 0,
        before: None,
    };
    let (trace, stopped) = climb(&mut passes, plan, progress)?;
    Ok(RowsFit {
        choice: passes.choice,
        counts: passes.counts,
        trace,
        stopped,
        starts,
    })
}

/// Bytes that [`kmeans_over`] holds at once, at most, when `start` bytes are held for initializations on 10,000 rows.
pub fn bytes_over(size: &ProblemSize, start: u64) -> u64 {
    let [_, m, side, k] = size.saturating();
    let table = (side + m + Saturating(2)) * (k + Saturating(8)) * Saturating(8);
    // Scores in two precisions, before and after a round, beside the counts of the groups that are under way.
    let tables = table * Saturating(sums_under_way() + 6);
    (tables + Saturating(RowSample::bytes(size, START_ROWS as u64)) + Saturating(start)).0
}

/// Counts of the best start on the rows of a sample, and what all reached.
struct Starts<'a> {
    plan: &'a Plan<'a>,
    seed: Seed,
    monitor: &'a dyn Monitor,
}

impl RowVisitor for Starts<'_> {
    type Out = (Counts, Vec<f64>);

    fn run<L: Label>(self, rows: &WeightedLabelRows<'_, L>) -> Self::Out {
        let all: Vec<u32> = (0..rows.len() as u32).collect();
        let fit = best_start(rows, &all, self.plan, true, self.seed, self.monitor);
        (fit.counts, fit.starts)
    }
}

/// Which cluster a label row is in: the best by its labels, but for the rows that empty clusters took.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LabelChoice {
    scores: Scores,
    taken: Vec<(RowKey, u32)>,
}

impl LabelChoice {
    fn by(counts: &Counts, offsets: &[usize], plan: &Plan<'_>, round: u64) -> Self {
        let assignment = plan.assignment.in_round(round);
        Self {
            scores: Scores::new(offsets, counts, plan.base_weights, assignment),
            taken: Vec::new(),
        }
    }

    /// Whether it is of rows with these base clusterings.
    pub fn is_of(&self, bases: &[BaseClustering]) -> bool {
        self.scores.are_of(bases)
    }

    /// Every row in the cluster to which its labels add most; ties go to the smaller number. `lines` has K numbers for each of ΣJ
    /// labels; clusters of base clustering `u` start at `offsets[u]` (M + 1 values).
    pub fn of_lines(offsets: &[usize], clusters: usize, lines: Vec<f64>) -> Self {
        Self {
            scores: Scores::of_lines(offsets, clusters, lines),
            taken: Vec::new(),
        }
    }

    /// The same but for these rows, which are in clusters of their own: stored labels, in order.
    #[must_use]
    pub fn but_for(self, mut rows: Vec<(RowKey, u32)>) -> Self {
        rows.sort_unstable();
        Self {
            taken: rows,
            ..self
        }
    }

    /// How often every label occurs in every cluster, where all rows have chosen: one pass.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read.
    pub fn count(&self, rows: &PassRunner<'_>) -> Result<Counts, PassError> {
        rows.run(&CountChosen {
            choice: self.clone(),
        })
    }

    /// Calls `take` with every row of a block, its cluster, and its weight.
    pub fn for_each<'a, R: Row<'a>>(
        &self,
        block: &RowBlock<'a, R>,
        mut take: impl FnMut(R, u32, f64),
    ) {
        let mut best = vec![0; block.len().min(ROWS)];
        for first in (0..block.len()).step_by(ROWS) {
            let piece = block.slice(first..(first + ROWS).min(block.len()));
            match piece.stored() {
                StoredRows::Bytes(labels) => self.choose(labels, block.bases, &mut best),
                StoredRows::Words(labels) => self.choose(labels, block.bases, &mut best),
                StoredRows::Shares(_) => {
                    for ((row, _), best) in piece.rows().zip(&mut best) {
                        *best = self.scores.best_of_shares(row);
                    }
                }
            }
            for ((row, weight), &k) in piece.rows().zip(&best) {
                let place = self
                    .taken
                    .binary_search_by(|(taken, _)| row.compare(taken).reverse());
                take(row, place.map_or(k, |at| self.taken[at].1), weight);
            }
        }
    }

    /// The best cluster of every row of labels.
    fn choose<L: Label>(&self, labels: &[L], bases: usize, best: &mut [u32]) {
        let mut limits = vec![0.0; best.len()];
        let rows = labels.chunks_exact(bases).zip(best).zip(&mut limits);
        self.scores
            .choose(rows.map(|((row, best), limit)| (row, best, limit)), 0.0);
    }

    /// A row goes to a cluster of its own, until another is told for it.
    fn take(&mut self, row: RowKey, cluster: u32) {
        match self.taken.binary_search_by(|(taken, _)| taken.cmp(&row)) {
            Ok(_) => {}
            Err(at) => self.taken.insert(at, (row, cluster)),
        }
    }

    /// Labels of a row that are there, as base clustering and place among all ΣJ clusters.
    pub fn places<'a, R: Row<'a>>(&self, row: R) -> impl Iterator<Item = (usize, usize)> {
        let entries = row.entries(self.scores.offsets());
        entries.map(|entry| (entry.base, entry.cluster))
    }

    fn places_of(&self, row: &RowKey) -> impl Iterator<Item = (usize, usize)> {
        let entries = row.label_entries(self.scores.offsets());
        entries.map(|entry| (entry.base, entry.cluster))
    }
}

/// Rounds over rows that are not held.
struct Passes<'a, 'r> {
    rows: &'a PassRunner<'r>,
    plan: &'a Plan<'a>,
    choice: LabelChoice,
    counts: Counts,
    /// Rounds that are done.
    round: u64,
    /// Choice and counts of the round before.
    before: Option<(LabelChoice, Counts)>,
}

impl Rounds for Passes<'_, '_> {
    type Error = PassError;

    fn step(&mut self) -> Result<(), PassError> {
        let mut choice = LabelChoice::by(
            &self.counts,
            self.choice.scores.offsets(),
            self.plan,
            self.round,
        );
        self.round += 1;
        let mut counts = choice.count(self.rows)?;
        // No cluster loses its last row to another, so that so many are enough, unless what other processes say is wrong.
        for _ in 0..choice.scores.clusters() {
            let Some(empty) = counts.first_empty() else {
                break;
            };
            let base_weights = self.plan.base_weights.to_vec();
            let pass = WorstFit {
                choice,
                counts,
                base_weights,
            };
            let worst = self.rows.run(&pass)?;
            WorstFit { choice, counts, .. } = pass;
            let Some(worst) = worst.0 else { break };
            counts.add(choice.places_of(&worst.row), worst.cluster, -worst.objects);
            counts.add(choice.places_of(&worst.row), empty, worst.objects);
            choice.take(worst.row, empty);
        }
        let last = (
            std::mem::replace(&mut self.choice, choice),
            std::mem::replace(&mut self.counts, counts),
        );
        self.before = Some(last);
        Ok(())
    }

    fn undo(&mut self) {
        if let Some(before) = self.before.take() {
            (self.choice, self.counts) = before;
        }
    }

    fn value(&self) -> f64 {
        self.plan.assignment.loss(
            &self.counts,
            self.choice.scores.offsets(),
            self.plan.base_weights,
        )
    }
}

/// Every row chooses, its labels are counted.
#[derive(Serialize, Deserialize)]
struct CountChosen {
    choice: LabelChoice,
}

impl RowPass for CountChosen {
    type Sum = Counts;
    const KIND: &'static str = "kmeans/count-chosen";
    const EXACT: bool = true;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.choice.is_of(bases)
    }

    fn zero(&self) -> Counts {
        Counts::new(self.choice.scores.offsets(), self.choice.scores.clusters())
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Counts) {
        self.choice.for_each(block, |row, k, weight| {
            sum.add(self.choice.places(row), k, weight as i64);
        });
    }
}

/// The label row that fits its cluster worst, with all objects that have it; of equals the one of smallest labels.
#[derive(Serialize, Deserialize)]
struct WorstFit {
    choice: LabelChoice,
    counts: Counts,
    base_weights: Vec<f64>,
}

#[derive(Serialize, Deserialize)]
struct Worst {
    misfit: f64,
    row: RowKey,
    cluster: u32,
    objects: i64,
}

/// None if every row fits perfectly.
#[derive(Serialize, Deserialize)]
struct WorstSoFar(Option<Worst>);

impl WorstSoFar {
    fn add(&mut self, other: Worst) {
        match &mut self.0 {
            Some(worst) if worst.row == other.row => worst.objects += other.objects,
            Some(worst) if (worst.misfit, &other.row) > (other.misfit, &worst.row) => {}
            worst => *worst = Some(other),
        }
    }
}

impl Mergeable for WorstSoFar {
    fn merge(&mut self, other: Self) {
        other.0.into_iter().for_each(|worst| self.add(worst));
    }
}

impl RowPass for WorstFit {
    type Sum = WorstSoFar;
    const KIND: &'static str = "kmeans/worst-fit";
    const EXACT: bool = true;

    fn zero(&self) -> WorstSoFar {
        WorstSoFar(None)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut WorstSoFar) {
        self.choice.for_each(block, |row, cluster, weight| {
            let misfit = self
                .counts
                .misfit(self.choice.places(row), cluster, &self.base_weights);
            if misfit > 0.0 && sum.0.as_ref().is_none_or(|worst| misfit >= worst.misfit) {
                sum.add(Worst {
                    misfit,
                    row: row.key(),
                    cluster,
                    objects: weight as i64,
                });
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use partita_core::{Ensemble, EnsembleRows, LabelRows, Silent, ndarray::Array2};
    use rand::RngExt;

    use super::super::Assignment;
    use super::super::held::HeldRows;
    use super::*;

    /// Sorted rows, so that equal ones are neighbours; some labels are missing.
    fn drawn(objects: usize, seed: Seed) -> Ensemble {
        let mut rng = seed.rng();
        let mut rows: Vec<Vec<u8>> = (0..objects)
            .map(|i| {
                let noisy = |u: usize| match rng.random_range(0..8) {
                    0 if u != i % 4 => u8::MAX,
                    1 | 2 => rng.random_range(0..4),
                    _ => ((i + u) % 4) as u8,
                };
                (0..4).map(noisy).collect()
            })
            .collect();
        rows.sort();
        let base = |u| {
            BaseClustering::new(
                format!("u{u}"),
                (0..4).map(|j: u32| j.to_string()).collect(),
            )
        };
        let labels = Array2::from_shape_vec((objects, 4), rows.concat()).unwrap();
        Ensemble::from_bytes(labels, (0..4).map(base).collect()).unwrap()
    }

    fn plan(assignment: Assignment<'static>, clusters: usize) -> Plan<'static> {
        let count = |number| NonZeroU32::new(number).unwrap();
        let base_weights = &[1.0, 2.0, 0.5, 1.0];
        Plan {
            clusters,
            base_weights,
            assignment,
            restarts: count(3),
            swaps: 8,
            rounds: count(50),
            tolerance: 0.0,
        }
    }

    #[test]
    fn from_one_start_rows_in_memory_and_passes_take_the_same_steps() {
        let (mut refilled, mut undone) = (0, 0);
        for seed in (0..60).map(Seed::new) {
            let ensemble = drawn(3000, seed);
            let assignment = if seed.number() % 2 == 0 {
                Assignment::Nearest
            } else {
                Assignment::Likeliest
            };
            let mut plan = plan(assignment, 2 + seed.number() as usize % 5);
            if seed.number() % 3 == 0 {
                plan.rounds = NonZeroU32::MIN;
            }
            let LabelRows::Bytes(cells) = ensemble.rows() else {
                panic!("four clusters fit a byte")
            };
            let held_rows = WeightedLabelRows::new(&ensemble, cells.as_slice().unwrap());
            let all: Vec<u32> = (0..held_rows.len() as u32).collect();
            // Clusters that start alike lose all their rows.
            let mut start = Counts::new(held_rows.offsets(), plan.clusters);
            for k in 0..plan.clusters {
                start.add(
                    held_rows.places((k / 2 * 31 + seed.number() as usize) % held_rows.len()),
                    k as u32,
                    1,
                );
            }
            let progress = Progress {
                monitor: &Silent,
                done: 0,
                total: 50,
            };
            let mut held = HeldRows::new(&held_rows, &all, &plan, start.clone());
            let Ok(expected) = climb(&mut held, &plan, progress);
            let (labels, counts) = held.into_parts();

            let source = EnsembleRows::new(&ensemble);
            let rows = PassRunner::new(&source, &Silent);
            let choice = LabelChoice::by(&start, held_rows.offsets(), &plan, 0);
            let mut passes = Passes {
                rows: &rows,
                plan: &plan,
                choice,
                counts: start,
                round: 0,
                before: None,
            };
            let found = climb(&mut passes, &plan, progress).unwrap();
            assert_eq!(
                (found, &passes.counts),
                (expected, &counts),
                "seed {}",
                seed.number()
            );
            refilled += usize::from(!passes.choice.taken.is_empty());
            undone += usize::from(passes.before.is_none());
            let mut chosen = Vec::new();
            let block = RowBlock::<&[u8]>::new(0, cells.as_slice().unwrap(), 4, None);
            passes.choice.for_each(&block, |_, k, _| chosen.push(k));
            assert_eq!(chosen, held_rows.expand(&labels));
        }
        assert!(
            undone > 0 && refilled > 0,
            "{undone} undone, {refilled} ended with a cluster that was empty"
        );
    }

    #[test]
    fn the_order_of_rows_changes_nothing() {
        let ensemble = drawn(30_000, Seed::new(9));
        let order: Vec<u32> = (0..30_000).map(|i| i * 7919 % 30_000).collect();
        let shuffled = ensemble.select(&order, &[0, 1, 2, 3]);
        let fit = |ensemble: &Ensemble| {
            let source = EnsembleRows::new(ensemble);
            let rows = PassRunner::new(&source, &Silent);
            let found =
                kmeans_over(&rows, &plan(Assignment::Nearest, 4), Seed::new(1), &Silent).unwrap();
            (found.counts, found.trace, found.starts)
        };
        assert_eq!(fit(&ensemble), fit(&shuffled));
    }
}
