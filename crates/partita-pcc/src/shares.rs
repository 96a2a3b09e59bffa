//! Evidence in which every pair that was seen counts the same.

use crate::evidence::{Evenness, Evidence, Near, View};
use crate::kernel::PairCounts;
use crate::table::{Layout, Table};

/// Evidence with c/N in place of c and 1 in place of N: how often a pair was seen no longer matters.
#[derive(Clone, Debug)]
pub struct Shares<E> {
    inner: E,
    weights: Vec<f64>,
}

impl<E: Evidence> Shares<E> {
    /// The shares of some counts.
    pub fn new(inner: E) -> Self {
        let table = Table::zeros(inner.count(), 1, inner.layout());
        let mut near = Near::new(1);
        let seen = |i: usize, near: &mut Near| inner.look(i, &table, near).1.n.iter().filter(|&&n| n > 0.0).count();
        let weights = (0..inner.count()).map(|i| seen(i, &mut near) as f64).collect();
        Self { inner, weights }
    }
}

fn share(c: f64, n: f64) -> (f64, f64) {
    if n > 0.0 { (c / n, 1.0) } else { (0.0, 0.0) }
}

impl<E: Evidence> View for Shares<E> {
    fn count(&self) -> usize {
        self.inner.count()
    }

    fn layout(&self) -> Layout {
        self.inner.layout()
    }

    fn look<'a>(&self, i: usize, table: &'a Table, near: &'a mut Near) -> (&'a Table, &'a mut PairCounts) {
        let (others, counts) = self.inner.look(i, table, near);
        for (c, n) in counts.c.iter_mut().zip(&mut counts.n) {
            (*c, *n) = share(*c, *n);
        }
        (others, counts)
    }

    fn reach(&self, i: usize) -> usize {
        self.inner.reach(i)
    }

    fn partners(&self, i: usize) -> Option<&[u32]> {
        self.inner.partners(i)
    }

    fn look_after<'a>(&self, i: usize, table: &'a Table, near: &'a mut Near) -> (&'a Table, &'a PairCounts, usize) {
        let (_, _, from) = self.inner.look_after(i, table, near);
        for (c, n) in near.counts.c.iter_mut().zip(&mut near.counts.n) {
            (*c, *n) = share(*c, *n);
        }
        let others = if self.layout() == Layout::Rows { &near.table } else { table };
        (others, &near.counts, from)
    }

    fn inside(&self, objects: &[usize], visit: &mut dyn FnMut(usize, usize, f64, f64)) {
        self.inner.inside(objects, &mut |i, j, c, n| {
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

    fn weight(&self, i: usize) -> f64 {
        self.weights[i]
    }
}
