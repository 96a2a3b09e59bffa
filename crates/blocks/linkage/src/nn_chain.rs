//! Nearest-neighbour chain: trees for linkages in which a merge brings no cluster nearer to another.

use partita_core::{Dendrogram, Monitor};

use crate::LinkageError;
use crate::cell::Cell;
use crate::lazy_matrix::{LazyMatrix, chain_limit};
use crate::merges::{Merged, in_order};
use crate::rows::report;

/// Where a search stands: every cluster on the path is the nearest of the one before.
struct Path {
    slots: Vec<u32>,
    on: Vec<bool>,
    merged: Vec<Merged>,
}

/// The tree, with cells of 32 bits while they hold all sums.
pub(crate) fn nn_chain(
    mut store: LazyMatrix<'_, u32>,
    weights: &[u32],
    monitor: &dyn Monitor,
) -> Result<Dendrogram, LinkageError> {
    let n = store.objects();
    let mut path = Path {
        slots: Vec::new(),
        on: vec![false; n],
        merged: Vec::with_capacity(n - 1),
    };
    let heaviest = weights.iter().copied().max().map_or(0.0, f64::from);
    if !store.fits(heaviest) || !path.follow(&mut store, monitor)? {
        path.follow(&mut store.widened(), monitor)?;
    }
    Ok(in_order(path.merged, weights))
}

impl Path {
    /// Goes on until one cluster is left (true) or a sum may not fit a cell (false).
    fn follow<T: Cell>(
        &mut self,
        store: &mut LazyMatrix<'_, T>,
        monitor: &dyn Monitor,
    ) -> Result<bool, LinkageError> {
        let limit = chain_limit(store.objects());
        while store.alive() > 1 {
            if self.slots.is_empty() {
                self.push(0);
            }
            let top = self.slots[self.slots.len() - 1];
            let (_, nearest) = store.nearest(top);
            if !self.on[nearest as usize] {
                self.push(nearest);
                self.shorten(limit, store);
                continue;
            }
            // The nearest is the one before. (Were it another by a rounding, the path would be a circle of ties.)
            let before = self.slots[self.slots.len() - 2];
            let (a, b) = (top.min(before), top.max(before));
            if !store.fits(store.size(a) + store.size(b)) {
                return Ok(false);
            }
            let height = store.merge(a, b);
            self.merged.push(Merged::new(a, b, height));
            self.pop();
            self.pop();
            report(monitor, self.merged.len(), store.objects() - 1)?;
        }
        Ok(true)
    }

    fn push(&mut self, slot: u32) {
        self.slots.push(slot);
        self.on[slot as usize] = true;
    }

    fn pop(&mut self) {
        let slot = self.slots.pop().expect("two clusters are on the path");
        self.on[slot as usize] = false;
    }

    /// Lets go of the start of a path that is too long: it can start anywhere.
    fn shorten<T: Cell>(&mut self, limit: usize, store: &mut LazyMatrix<'_, T>) {
        if self.slots.len() > limit {
            for slot in self.slots.drain(..limit / 2) {
                self.on[slot as usize] = false;
                store.forget(slot);
            }
        }
    }
}
