//! Evidence of some pairs: counts in sparse rows.

use partita_coassoc::{Counts, SparseEvidence};
use partita_core::{MemoryBudget, Monitor, Seed, WeightedEnsemble};
use partita_kernels::{LANES, dispatch, prefetch};

use super::view::{LocalPairs, View};
use crate::error::PccError;
use crate::kernels::{Gather, Widen};
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::PairCounts;

/// Membership tables of up to so many bytes stay in the caches of a processor, where prefetching costs more than it saves.
const CACHED: usize = 1 << 22;

/// How often some pairs of objects are together and labelled. What is not stored is not known, and costs nothing.
#[derive(Clone, Debug)]
pub struct Sparse {
    pairs: SparseEvidence,
    weights: Vec<f64>,
}

impl Sparse {
    /// Counts pairs drawn uniformly without replacement, so that objects have `partners` partners on average.
    ///
    /// # Errors
    /// [`PccError::Evidence`] if they do not fit the budget or the monitor asks to stop.
    ///
    /// # Cost
    /// O(pairs · (M + log pairs)) time.
    pub fn sample<'a>(
        source: impl Into<WeightedEnsemble<'a>>,
        partners: u32,
        seed: Seed,
        budget: MemoryBudget,
        monitor: &dyn Monitor,
    ) -> Result<Self, PccError> {
        let source = source.into();
        let objects = source.ensemble.objects() as u64;
        let pairs = (objects * u64::from(partners))
            .div_ceil(2)
            .min(objects * objects.saturating_sub(1) / 2);
        Ok(Self::new(SparseEvidence::sample(
            source, pairs, seed, budget, monitor,
        )?))
    }

    /// The same counts for the solvers.
    pub fn new(pairs: SparseEvidence) -> Self {
        let scale = pairs.scale();
        let weight = |i: usize| pairs.row(i).map(|(_, _, n)| f64::from(n)).sum::<f64>() * scale;
        let weights = (0..pairs.objects()).map(weight).collect();
        Self { pairs, weights }
    }

    /// The counts.
    pub fn pairs(&self) -> &SparseEvidence {
        &self.pairs
    }
}

impl Sparse {
    /// Counts from the one at `from` on as numbers.
    fn widen(&self, counts: Counts<'_>, from: usize, to: &mut [f64]) {
        match counts {
            Counts::Bytes(counts) => dispatch(Widen {
                from: &counts[from..],
                to,
            }),
            Counts::Words(counts) => dispatch(Widen {
                from: &counts[from..],
                to,
            }),
            Counts::Wide(counts) => {
                dispatch(Widen {
                    from: &counts[from..],
                    to,
                });
                let scale = self.pairs.scale();
                to.iter_mut().for_each(|count| *count *= scale);
            }
        }
    }

    /// Counts of the neighbours of `i` from the one at `from` on.
    fn counts_from(&self, i: usize, from: usize, counts: &mut PairCounts) {
        let objects = self.pairs.neighbours(i).len() - from;
        counts.c.resize(objects.next_multiple_of(LANES), 0.0);
        counts.n.resize(objects.next_multiple_of(LANES), 0.0);
        let (together, seen) = self.pairs.counts(i);
        self.widen(together, from, &mut counts.c);
        match seen {
            Some(seen) => self.widen(seen, from, &mut counts.n),
            None => counts.n.fill(self.pairs.base_clusterings() as f64),
        }
        counts.c[objects..].fill(0.0);
        counts.n[objects..].fill(0.0);
    }

    /// The neighbours of `i` from the one at `from` on.
    fn pairs_from<'a>(
        &self,
        i: usize,
        from: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a mut PairCounts) {
        let LocalPairs {
            table: local,
            counts,
        } = near;
        let clusters = table.clusters;
        let neighbours = &self.pairs.neighbours(i)[from..];
        local.objects = neighbours.len();
        local.stride = local.objects.next_multiple_of(LANES);
        local.values.resize(local.stride * clusters, 0.0);
        dispatch(Gather {
            rows: &table.values,
            chosen: neighbours,
            columns: &mut local.values,
            clusters,
        });
        // What repeats the last row has no weight: its counts are 0.
        self.counts_from(i, from, counts);
        (local, counts)
    }
}

impl View for Sparse {
    fn count(&self) -> usize {
        self.pairs.objects()
    }

    fn layout(&self) -> Layout {
        Layout::Rows
    }

    fn pairs_of<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a mut PairCounts) {
        self.pairs_from(i, 0, table, near)
    }

    fn partners_and_counts(&self, i: usize, counts: &mut PairCounts) -> Option<&[u32]> {
        self.counts_from(i, 0, counts);
        Some(self.pairs.neighbours(i))
    }

    fn prefetch_partners(&self, i: usize, table: &Memberships) {
        if size_of_val(&table.values[..]) <= CACHED {
            return;
        }
        for &j in self.pairs.neighbours(i) {
            prefetch(&table.values[j as usize * table.clusters..][..table.clusters]);
        }
    }

    fn pairs_after<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a PairCounts, usize) {
        let after = self
            .pairs
            .neighbours(i)
            .partition_point(|&j| j as usize <= i);
        let (others, counts) = self.pairs_from(i, after, table, near);
        (others, counts, 0)
    }

    fn degree(&self, i: usize) -> usize {
        self.pairs.neighbours(i).len()
    }

    fn partners(&self, i: usize) -> Option<&[u32]> {
        Some(self.pairs.neighbours(i))
    }

    fn pairs_within(&self, objects: &[usize], visit: &mut dyn FnMut(usize, usize, f64, f64)) {
        let Some(&last) = objects.last() else { return };
        for (at, &i) in objects.iter().enumerate() {
            let neighbours = self.pairs.neighbours(i);
            let after = neighbours.partition_point(|&j| j as usize <= i);
            if neighbours.get(after).is_none_or(|&j| j as usize > last) {
                continue;
            }
            for (j, c, n) in self
                .pairs
                .row(i)
                .skip(after)
                .take_while(|&(j, ..)| j as usize <= last)
            {
                if let Ok(other) = objects[at + 1..].binary_search(&(j as usize)) {
                    let scale = self.pairs.scale();
                    visit(
                        at,
                        at + 1 + other,
                        f64::from(c) * scale,
                        f64::from(n) * scale,
                    );
                }
            }
        }
    }

    fn condensed(&self) -> Option<Vec<f32>> {
        None
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }
}
