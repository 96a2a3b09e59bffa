//! Counts of some pairs in sparse rows. What is not stored is not known, and costs nothing.

use partita_coassoc::{Counts, SparseEvidence};
use partita_kernels::{LANES, dispatch, prefetch};

use super::widen::widen;
use crate::kernels::Gather;
use crate::memberships::Memberships;
use crate::pair_counts::PairCounts;

/// Membership tables of up to so many bytes stay in the caches of a processor, where prefetching costs more than it saves.
const CACHED: usize = 1 << 22;

#[derive(Clone, Debug)]
pub(super) struct Sparse {
    pub(super) pairs: SparseEvidence,
}

impl Sparse {
    /// `Σ_j N_ij` of every object.
    pub(super) fn sums(&self) -> Vec<f64> {
        let mut sums = Vec::with_capacity(self.pairs.objects());
        for i in 0..self.pairs.objects() {
            let sum: f64 = self.pairs.row(i).map(|(_, _, n)| f64::from(n)).sum();
            sums.push(sum * self.pairs.scale());
        }
        sums
    }

    /// The place of the first partner after object `i` itself.
    pub(super) fn after(&self, i: usize) -> usize {
        let partners = self.pairs.neighbours(i);
        partners.partition_point(|&j| j as usize <= i)
    }

    /// Counts of the partners of `i` from the one at `first` on.
    pub(super) fn counts_from(&self, i: usize, first: usize, counts: &mut PairCounts) {
        let objects = self.pairs.neighbours(i).len() - first;
        counts.c.resize(objects.next_multiple_of(LANES), 0.0);
        counts.n.resize(objects.next_multiple_of(LANES), 0.0);
        let (together, seen) = self.pairs.counts(i);
        self.widen(together, first, objects, &mut counts.c);
        match seen {
            Some(seen) => self.widen(seen, first, objects, &mut counts.n),
            None => counts.n.fill(self.pairs.base_clusterings() as f64),
        }
        counts.c[objects..].fill(0.0);
        counts.n[objects..].fill(0.0);
    }

    fn widen(&self, counts: Counts<'_>, first: usize, objects: usize, to: &mut [f64]) {
        widen(counts, first..first + objects, to);
        if matches!(counts, Counts::Wide(_)) {
            let scale = self.pairs.scale();
            to.iter_mut().for_each(|count| *count *= scale);
        }
    }

    /// The rows of the partners of `i` from the one at `first` on, as columns. What repeats the last row has no weight: its counts are 0.
    pub(super) fn gather(
        &self,
        i: usize,
        first: usize,
        table: &Memberships,
        columns: &mut Memberships,
    ) {
        let partners = &self.pairs.neighbours(i)[first..];
        columns.objects = partners.len();
        columns.stride = partners.len().next_multiple_of(LANES);
        columns.values.resize(columns.stride * table.clusters, 0.0);
        dispatch(Gather {
            rows: &table.values,
            chosen: partners,
            columns: &mut columns.values,
            clusters: table.clusters,
        });
    }

    pub(super) fn prefetch_partners(&self, i: usize, table: &Memberships) {
        if size_of_val(&table.values[..]) > CACHED {
            for &j in self.pairs.neighbours(i) {
                prefetch(&table.values[j as usize * table.clusters..][..table.clusters]);
            }
        }
    }

    /// Every pair among `objects`, which rise, once.
    pub(super) fn pairs_within(
        &self,
        objects: &[usize],
        visit: &mut dyn FnMut(usize, usize, f64, f64),
    ) {
        let Some(&last) = objects.last() else { return };
        let scale = self.pairs.scale();
        for (at, &i) in objects.iter().enumerate() {
            let after = self.after(i);
            let next = self.pairs.neighbours(i).get(after);
            if next.is_none_or(|&j| j as usize > last) {
                continue;
            }
            let partners = self.pairs.row(i).skip(after);
            for (j, c, n) in partners.take_while(|&(j, ..)| j as usize <= last) {
                if let Ok(other) = objects[at + 1..].binary_search(&(j as usize)) {
                    let other = at + 1 + other;
                    visit(at, other, f64::from(c) * scale, f64::from(n) * scale);
                }
            }
        }
    }
}
