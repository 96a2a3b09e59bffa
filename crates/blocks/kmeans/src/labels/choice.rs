//! Which cluster a row is in by its labels alone, and passes in which all rows choose.

use partita_core::{
    BaseClustering, Entry, Label, Mergeable, PassError, PassKind, PassRunner, Row, RowBlock,
    RowKey, RowPass, StoredRows,
};
use serde::{Deserialize, Serialize};

use super::counts::{Counts, Together};
use super::plan::Plan;
use super::scores::Scores;

/// Rows that choose their clusters at a time.
const ROWS: usize = 2048;

/// The passes of this crate.
pub const PASSES: &[PassKind] = &[
    PassKind::of::<Together>(),
    PassKind::of::<CountChosen>(),
    PassKind::of::<WorstFit>(),
];

/// Which cluster a row is in: the best by its labels, but for rows that are kept elsewhere.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct LabelChoice {
    scores: Scores,
    /// Rows that are in other clusters, in order.
    exceptions: Vec<(RowKey, u32)>,
}

impl LabelChoice {
    /// The choice of an iteration, counted from 0, by these counts.
    pub(super) fn by(counts: &Counts, offsets: &[usize], plan: &Plan<'_>, iteration: u64) -> Self {
        let assignment = plan.assignment.in_iteration(iteration);
        Self {
            scores: Scores::new(offsets, counts, plan.base_weights, assignment),
            exceptions: Vec::new(),
        }
    }

    /// Every row in the cluster to which its labels add most; ties go to the smaller number. `lines` has K numbers for each of ΣJ
    /// labels; clusters of base clustering `u` start at `offsets[u]` (M + 1 values).
    pub fn of_lines(offsets: &[usize], clusters: usize, lines: Vec<f64>) -> Self {
        Self {
            scores: Scores::of_lines(offsets, clusters, lines),
            exceptions: Vec::new(),
        }
    }

    /// Whether it is of rows with these base clusterings.
    pub fn is_of(&self, bases: &[BaseClustering]) -> bool {
        self.scores.are_of(bases)
    }

    /// K.
    pub(super) fn clusters(&self) -> usize {
        self.scores.clusters()
    }

    /// Where the clusters of each base clustering start: M + 1 values.
    pub(super) fn offsets(&self) -> &[usize] {
        self.scores.offsets()
    }

    /// The same but for the rows of a block that would choose another cluster than theirs in `labels`.
    #[must_use]
    pub fn as_found<'a, R: Row<'a>>(mut self, block: &RowBlock<'a, R>, labels: &[u32]) -> Self {
        let mut exceptions = Vec::new();
        let mut at = 0;
        self.for_each(block, |row, k, _| {
            if k != labels[at] {
                exceptions.push((row.key(), labels[at]));
            }
            at += 1;
        });
        exceptions.sort_unstable();
        self.exceptions = exceptions;
        self
    }

    /// How often every label occurs in every cluster, where all rows have chosen: one pass.
    ///
    /// # Errors
    /// [`PassError`] when rows cannot be read.
    pub fn count(&self, rows: &PassRunner<'_>) -> Result<Counts, PassError> {
        rows.run(&CountChosen {
            choice: self.clone(),
            shares: rows.source().are_shares(),
        })
    }

    /// The cluster of every row of a block.
    pub fn labels<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>) -> Vec<u32> {
        let mut labels = Vec::with_capacity(block.len());
        self.for_each(block, |_, k, _| labels.push(k));
        labels
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
                        *best = self.scores.lead(row).0;
                    }
                }
            }
            for ((row, weight), &k) in piece.rows().zip(&best) {
                let exception = self
                    .exceptions
                    .binary_search_by(|(kept, _)| row.compare(kept).reverse());
                take(row, exception.map_or(k, |at| self.exceptions[at].1), weight);
            }
        }
    }

    /// The best cluster of every row of labels.
    fn choose<L: Label>(&self, labels: &[L], bases: usize, best: &mut [u32]) {
        self.scores.choose(labels.chunks_exact(bases).zip(best));
    }

    /// A row goes to a cluster of its own, until another is told for it.
    pub(super) fn take(&mut self, row: RowKey, cluster: u32) {
        if let Err(at) = self.exceptions.binary_search_by(|(kept, _)| kept.cmp(&row)) {
            self.exceptions.insert(at, (row, cluster));
        }
    }

    /// What an object with this row has.
    pub fn entries<'a, R: Row<'a>>(&self, row: R) -> impl Iterator<Item = Entry> {
        row.entries(self.scores.offsets())
    }
}

/// Every row chooses, its labels are counted.
#[derive(Serialize, Deserialize)]
struct CountChosen {
    choice: LabelChoice,
    shares: bool,
}

impl RowPass for CountChosen {
    type Sum = Counts;
    const KIND: &'static str = "kmeans/count-chosen";
    const EXACT: bool = true;

    fn fits(&self, bases: &[BaseClustering]) -> bool {
        self.choice.is_of(bases)
    }

    fn zero(&self) -> Counts {
        Counts::new(self.choice.offsets(), self.choice.clusters(), self.shares)
    }

    fn add<'a, R: Row<'a>>(&self, block: &RowBlock<'a, R>, sum: &mut Counts) {
        self.choice.for_each(block, |row, k, weight| {
            sum.add(self.choice.entries(row), k, weight);
        });
    }
}

/// The row that fits its cluster worst, with all objects that have it; of equals the first in order.
#[derive(Serialize, Deserialize)]
pub(super) struct WorstFit {
    pub(super) choice: LabelChoice,
    pub(super) counts: Counts,
    pub(super) base_weights: Vec<f64>,
}

/// A row that does not fit its cluster.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Worst {
    misfit: f64,
    pub(super) row: RowKey,
    pub(super) shares: bool,
    pub(super) cluster: u32,
    pub(super) objects: f64,
}

/// None if every row fits perfectly.
#[derive(Serialize, Deserialize)]
pub(super) struct WorstSoFar(pub(super) Option<Worst>);

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
        if let Some(worst) = other.0 {
            self.add(worst);
        }
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
        let shares = matches!(block.stored(), StoredRows::Shares(_));
        self.choice.for_each(block, |row, cluster, weight| {
            let misfit = self
                .counts
                .misfit(self.choice.entries(row), cluster, &self.base_weights);
            if misfit > NOTHING && sum.0.as_ref().is_none_or(|worst| misfit >= worst.misfit) {
                sum.add(Worst {
                    misfit,
                    row: row.key(),
                    shares,
                    cluster,
                    objects: weight,
                });
            }
        });
    }
}

/// A misfit that is nothing but rounding.
const NOTHING: f64 = 1e-12;
