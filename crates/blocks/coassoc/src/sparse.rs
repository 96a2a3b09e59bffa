//! Sparse co-association: counts of some pairs, as sparse symmetric matrices.

use std::ops::Range;

use partita_core::{Flow, MemoryBudget, Monitor, Seed, WeightedEnsemble};
use sprs::CsMatI;

use crate::pairs::{Numbers, Rows};
use crate::whole_weights::{scale, whole_weights};
use crate::{CoassocError, Counts, most_that_fit, sample_pairs};

/// c and N of some pairs of objects: symmetric n × n matrices in compressed rows (those of `sprs`), both directions of every pair
/// stored, neighbours in ascending order. What is not stored is not known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SparseEvidence {
    pub(crate) base_clusterings: usize,
    /// N of a pair that all base clusterings label.
    pub(crate) unit: u32,
    /// Which pairs are stored, n × n; the counts stand beside in the same order.
    pattern: CsMatI<(), u32, usize>,
    together: Numbers,
    seen: Option<Numbers>,
}

impl SparseEvidence {
    /// Evidence of exactly `pairs` different pairs, drawn uniformly without replacement.
    ///
    /// # Errors
    /// [`CoassocError::TooManyPairs`] if there are fewer, [`CoassocError::Budget`] if [`bytes`](Self::bytes) exceeds
    /// the budget, [`CoassocError::TooManyBaseClusterings`] beyond 65,535, [`CoassocError::Interrupted`] if the
    /// monitor says so.
    ///
    /// # Cost
    /// O(m (M + log m)) time for m pairs; [`bytes`](Self::bytes) of memory.
    pub fn sample<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        pairs: u64,
        seed: Seed,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, CoassocError> {
        let source = source.into();
        Self::check(source, pairs, budget)?;
        let pairs = sample_pairs(source.ensemble.objects(), pairs, seed)?;
        Self::count(source, &pairs, monitor)
    }

    /// Evidence of the pairs given, in any order; twice the same pair is once.
    ///
    /// # Errors
    /// [`CoassocError::NoPair`] for the first that is not a pair of two objects, and as [`sample`](Self::sample).
    ///
    /// # Cost
    /// As [`sample`](Self::sample).
    pub fn of_pairs<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        pairs: &[(u32, u32)],
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, CoassocError> {
        let source = source.into();
        let objects = source.ensemble.objects();
        if let Some(&(left, right)) = pairs
            .iter()
            .find(|(i, j)| i == j || *i.max(j) as usize >= objects)
        {
            return Err(CoassocError::NoPair {
                left,
                right,
                objects,
            });
        }
        Self::check(source, pairs.len() as u64, budget)?;
        let mut pairs: Vec<(u32, u32)> = pairs.iter().map(|&(i, j)| (i.min(j), i.max(j))).collect();
        pairs.sort_unstable();
        pairs.dedup();
        Self::count(source, &pairs, monitor)
    }

    fn check(
        source: WeightedEnsemble<'_>,
        pairs: u64,
        budget: MemoryBudget,
    ) -> Result<(), CoassocError> {
        let ensemble = source.ensemble;
        CoassocError::check_bases(ensemble.bases().len())?;
        let (objects, bases, missing) = (
            ensemble.objects(),
            ensemble.bases().len(),
            ensemble.missing() > 0,
        );
        let wide = ensemble.memberships().is_some() || whole_weights(source)?.is_some();
        let bytes = |pairs: u64| {
            Self::bytes(objects, bases, pairs, missing) + if wide { 12 * pairs } else { 0 }
        };
        let remedy = format!("{} pairs would fit", most_that_fit(budget, pairs, bytes));
        Ok(budget.check("the sparse evidence", bytes(pairs), &remedy)?)
    }

    /// Counts sorted different pairs and stores both directions.
    pub(crate) fn count(
        source: WeightedEnsemble<'_>,
        pairs: &[(u32, u32)],
        monitor: &dyn Monitor,
    ) -> Result<Self, CoassocError> {
        let stop = |done: u64| monitor.tick(done, 3) == Flow::Stop;
        if stop(1) {
            return Err(CoassocError::Interrupted);
        }
        let (ensemble, rows) = (source.ensemble, Rows::new(source)?);
        let (c, n) = rows.count(pairs);
        if stop(2) {
            return Err(CoassocError::Interrupted);
        }
        let facts = (ensemble.objects(), ensemble.bases().len(), rows.unit());
        Ok(Self::laid_out(facts, pairs, &c, n.as_ref()))
    }

    /// Evidence of ascending different pairs with these counts, N at most 65,535.
    pub(crate) fn of_counts(objects: usize, pairs: &[(u32, u32)], counts: &[(u32, u32)]) -> Self {
        let most = counts.iter().map(|&(_, n)| n).max().unwrap_or(0);
        let [c, n] = [
            |pair: &(u32, u32)| pair.0 as u16,
            |pair: &(u32, u32)| pair.1 as u16,
        ]
        .map(|count| Numbers::Words(counts.iter().map(count).collect()));
        Self::laid_out((objects, most as usize, most), pairs, &c, Some(&n))
    }

    /// Counts of sorted different pairs in both directions, of so many objects, base clusterings and parts of these.
    pub(crate) fn laid_out(
        (objects, base_clusterings, unit): (usize, usize, u32),
        pairs: &[(u32, u32)],
        c: &Numbers,
        n: Option<&Numbers>,
    ) -> Self {
        let mut starts = vec![0; objects + 1];
        for &(i, j) in pairs {
            starts[i as usize + 1] += 1;
            starts[j as usize + 1] += 1;
        }
        (0..objects).for_each(|i| starts[i + 1] += starts[i]);
        let (neighbours, together, seen) = match n {
            None => {
                let (neighbours, together, _) = c.both_ways(pairs, &starts, &vec![(); pairs.len()]);
                (neighbours, together, None)
            }
            Some(Numbers::Words(n)) => {
                let (neighbours, together, seen) = c.both_ways(pairs, &starts, n);
                (neighbours, together, Some(Numbers::Words(seen)))
            }
            Some(Numbers::Wide(n)) => {
                let (neighbours, together, seen) = c.both_ways(pairs, &starts, n);
                (neighbours, together, Some(Numbers::Wide(seen)))
            }
        };
        let stored = vec![(); neighbours.len()];
        Self {
            base_clusterings,
            unit,
            pattern: CsMatI::new((objects, objects), starts, neighbours, stored),
            together,
            seen,
        }
    }

    /// Bytes held at once, at most, while so many pairs are counted.
    pub const fn bytes(objects: usize, base_clusterings: usize, pairs: u64, missing: bool) -> u64 {
        let counts = if missing { 4 } else { 2 };
        let labels = (base_clusterings as u64 + 32) * 2 + base_clusterings as u64 / 8;
        pairs
            .saturating_mul(16 + 8 + 3 * counts)
            .saturating_add((objects as u64).saturating_mul(16 + labels))
    }

    /// Number of objects, n.
    pub fn objects(&self) -> usize {
        self.pattern.rows()
    }

    /// Number of base clusterings, M.
    pub fn base_clusterings(&self) -> usize {
        self.base_clusterings
    }

    /// N of a pair that all base clusterings label: M, or the sum of the weights in whole numbers.
    pub fn unit(&self) -> u32 {
        self.unit
    }

    /// What a part of a count is worth where the mean weight is 1: M over [`unit`](Self::unit), 1 without weights.
    pub fn scale(&self) -> f64 {
        scale(self.unit, self.base_clusterings)
    }

    /// Number of pairs stored, each counted once.
    pub fn pairs(&self) -> usize {
        self.pattern.nnz() / 2
    }

    /// The objects that an object is stored with, ascending.
    ///
    /// # Panics
    /// If the object is out of range.
    pub fn neighbours(&self, object: usize) -> &[u32] {
        &self.pattern.indices()[self.range(object)]
    }

    /// The row of an object: (neighbour, c, N), neighbours ascending.
    ///
    /// # Panics
    /// If the object is out of range.
    pub fn row(
        &self,
        object: usize,
    ) -> impl ExactSizeIterator<Item = (u32, u32, u32)> + Clone + '_ {
        let neighbours = self.pattern.indices();
        self.range(object)
            .map(|at| (neighbours[at], self.together.at(at), self.seen_at(at)))
    }

    /// The counts of an object with its neighbours, in their order: how often together, and how many base clusterings saw both,
    /// none where all saw all.
    ///
    /// # Panics
    /// If the object is out of range.
    pub fn counts(&self, object: usize) -> (Counts<'_>, Option<Counts<'_>>) {
        let range = self.range(object);
        (
            self.together.part(range.clone()),
            self.seen.as_ref().map(|seen| seen.part(range)),
        )
    }

    /// Every pair once: (i, j, c, N) with i < j, in order.
    pub fn each_pair(&self) -> impl Iterator<Item = (u32, u32, u32, u32)> + Clone + '_ {
        (0..self.objects() as u32).flat_map(move |i| {
            let row = self.row(i as usize).skip_while(move |&(j, ..)| j <= i);
            row.map(move |(j, c, n)| (i, j, c, n))
        })
    }

    /// Where the pairs of an object stand.
    fn range(&self, object: usize) -> Range<usize> {
        self.pattern.indptr().outer_inds_sz(object)
    }

    fn seen_at(&self, at: usize) -> u32 {
        self.seen.as_ref().map_or(self.unit, |seen| seen.at(at))
    }
}
