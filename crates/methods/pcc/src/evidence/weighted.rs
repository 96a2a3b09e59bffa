//! Weighted pairs: evidence in which a pair counts as often as its objects stand for others.

use super::view::{Evenness, Evidence, LocalPairs, View};
use crate::copy_pairs::CopyPairs;
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::PairCounts;

/// Evidence with counts times the weights of both objects: the pairs of all that they stand for. An object of weight w is w copies, which
/// have w (w − 1) ordered pairs among themselves; none where w is below 1.
#[derive(Clone, Debug)]
pub struct WeightedPairs<E> {
    inner: E,
    objects: Vec<f64>,
    among: Vec<CopyPairs>,
    sums: Vec<f64>,
}

impl<E: Evidence> WeightedPairs<E> {
    /// The counts of objects with these weights. `with_copy` is c and N of every object with a copy of itself (see
    /// [`copy_counts`](partita_coassoc::copy_counts)), in the measure of the evidence: c/N and 1 for normalised counts.
    ///
    /// # Panics
    /// If there is not one weight an object, and the counts with a copy.
    pub fn new(inner: E, objects: &[f64], with_copy: &[(f64, f64)]) -> Self {
        assert_eq!(objects.len(), inner.count(), "one weight an object");
        assert_eq!(
            with_copy.len(),
            inner.count(),
            "counts with a copy of every object"
        );
        let among = |(&weight, &(c, n)): (&f64, &(f64, f64))| {
            let pairs = (weight * (weight - 1.0)).max(0.0);
            CopyPairs {
                c: pairs * c,
                n: pairs * n,
            }
        };
        let among = objects.iter().zip(with_copy).map(among).collect();
        let table = Memberships::zeros(inner.count(), 1, inner.layout());
        let mut made = Self {
            inner,
            objects: objects.to_vec(),
            among,
            sums: Vec::new(),
        };
        let mut near = LocalPairs::new(1);
        let mut sum = |i: usize| {
            made.pairs_of(i, &table, &mut near).1.n.iter().sum::<f64>() + made.among[i].n
        };
        made.sums = (0..objects.len()).map(&mut sum).collect();
        made
    }

    /// Multiplies the counts of the partners of object `i` from the one at `from` on.
    fn weigh(&self, i: usize, from: usize, counts: &mut PairCounts) {
        let own = self.objects[i];
        let mut weigh = |place: usize, j: usize| {
            counts.c[place] *= own * self.objects[j];
            counts.n[place] *= own * self.objects[j];
        };
        match self.inner.partners(i) {
            Some(partners) => partners[from..]
                .iter()
                .enumerate()
                .for_each(|(place, &j)| weigh(place, j as usize)),
            None => (0..self.objects.len()).for_each(|j| weigh(j, j)),
        }
    }
}

impl<E: Evidence> View for WeightedPairs<E> {
    fn count(&self) -> usize {
        self.inner.count()
    }

    fn layout(&self) -> Layout {
        self.inner.layout()
    }

    fn pairs_of<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a mut PairCounts) {
        let (others, counts) = self.inner.pairs_of(i, table, near);
        self.weigh(i, 0, counts);
        (others, counts)
    }

    fn partners_and_counts(&self, i: usize, counts: &mut PairCounts) -> Option<&[u32]> {
        let partners = self.inner.partners_and_counts(i, counts)?;
        self.weigh(i, 0, counts);
        Some(partners)
    }

    fn prefetch_partners(&self, i: usize, table: &Memberships) {
        self.inner.prefetch_partners(i, table);
    }

    fn degree(&self, i: usize) -> usize {
        self.inner.degree(i)
    }

    fn partners(&self, i: usize) -> Option<&[u32]> {
        self.inner.partners(i)
    }

    fn pairs_after<'a>(
        &self,
        i: usize,
        table: &'a Memberships,
        near: &'a mut LocalPairs,
    ) -> (&'a Memberships, &'a PairCounts, usize) {
        let (_, _, from) = self.inner.pairs_after(i, table, near);
        let after = self
            .inner
            .partners(i)
            .map_or(0, |partners| partners.partition_point(|&j| j as usize <= i));
        self.weigh(i, after, &mut near.counts);
        let others = if self.layout() == Layout::Rows {
            &near.table
        } else {
            table
        };
        (others, &near.counts, from)
    }

    fn pairs_within(&self, objects: &[usize], visit: &mut dyn FnMut(usize, usize, f64, f64)) {
        self.inner.pairs_within(objects, &mut |i, j, c, n| {
            let weight = self.objects[objects[i]] * self.objects[objects[j]];
            visit(i, j, c * weight, n * weight);
        });
    }

    fn condensed(&self) -> Option<Vec<f32>> {
        self.inner.condensed()
    }

    fn evenness(&self) -> Evenness {
        Evenness::Uneven
    }

    fn copy_pairs(&self, i: usize) -> CopyPairs {
        self.among[i]
    }

    fn is_copy_of_previous(&self, i: usize) -> bool {
        self.inner.is_copy_of_previous(i)
    }

    fn multiplicities(&self) -> Option<&[f64]> {
        Some(&self.objects)
    }

    fn weight(&self, i: usize) -> f64 {
        self.sums[i]
    }
}
