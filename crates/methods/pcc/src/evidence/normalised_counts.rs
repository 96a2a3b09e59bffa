//! Normalised counts: evidence in which every pair that was seen counts the same.

use super::view::{Evenness, Evidence, LocalPairs, View};
use crate::memberships::{Layout, Memberships};
use crate::pair_counts::PairCounts;

/// Evidence with c/N in place of c and 1 in place of N: how often a pair was seen no longer matters.
#[derive(Clone, Debug)]
#[doc(alias = "shares")]
pub struct NormalisedCounts<E> {
    inner: E,
    weights: Vec<f64>,
}

impl<E: Evidence> NormalisedCounts<E> {
    /// Normalises some counts.
    pub fn new(inner: E) -> Self {
        let table = Memberships::zeros(inner.count(), 1, inner.layout());
        let mut near = LocalPairs::new(1);
        let seen = |i: usize, near: &mut LocalPairs| {
            inner
                .pairs_of(i, &table, near)
                .1
                .n
                .iter()
                .filter(|&&n| n > 0.0)
                .count()
        };
        let weights = (0..inner.count())
            .map(|i| seen(i, &mut near) as f64)
            .collect();
        Self { inner, weights }
    }
}

fn share(c: f64, n: f64) -> (f64, f64) {
    if n > 0.0 { (c / n, 1.0) } else { (0.0, 0.0) }
}

fn normalise(counts: &mut PairCounts) {
    for (c, n) in counts.c.iter_mut().zip(&mut counts.n) {
        (*c, *n) = share(*c, *n);
    }
}

impl<E: Evidence> View for NormalisedCounts<E> {
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
        normalise(counts);
        (others, counts)
    }

    fn partners_and_counts(&self, i: usize, counts: &mut PairCounts) -> Option<&[u32]> {
        let partners = self.inner.partners_and_counts(i, counts)?;
        normalise(counts);
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
        normalise(&mut near.counts);
        let others = if self.layout() == Layout::Rows {
            &near.table
        } else {
            table
        };
        (others, &near.counts, from)
    }

    fn pairs_within(&self, objects: &[usize], visit: &mut dyn FnMut(usize, usize, f64, f64)) {
        self.inner.pairs_within(objects, &mut |i, j, c, n| {
            let (c, n) = share(c, n);
            visit(i, j, c, n);
        });
    }

    fn condensed(&self) -> Option<Vec<f32>> {
        self.inner.condensed()
    }

    fn evenness(&self) -> Evenness {
        match self.inner.evenness() {
            Evenness::Uneven => Evenness::Uneven,
            _ => Evenness::Even(1.0),
        }
    }

    fn is_copy_of_previous(&self, i: usize) -> bool {
        self.inner.is_copy_of_previous(i)
    }

    fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }
}
