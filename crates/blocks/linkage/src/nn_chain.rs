//! Nearest-neighbour chain: trees for linkages in which a merge brings no cluster nearer to another.

use partita_core::Monitor;

use crate::LinkageError;
use crate::merges::Merged;
use crate::rows::report;

/// Dissimilarities between clusters, which are known by their smallest object: their slot.
pub(crate) trait Clusters {
    /// Clusters that are left; the one with object 0 is among them.
    fn alive(&self) -> usize;

    /// The nearest other cluster. Of several the one `before` on the chain, or the smallest slot.
    fn nearest_slot(&mut self, slot: u32, before: Option<u32>) -> u32;

    /// Whether sums still fit after a merge of these two.
    fn can_merge(&self, _a: u32, _b: u32) -> bool {
        true
    }

    /// Merges two clusters, the smaller slot first, and says at which height.
    fn merge(&mut self, a: u32, b: u32) -> f64;

    /// Slots on a chain, at most.
    fn chain_limit(&self) -> usize {
        usize::MAX
    }

    /// Frees what is only needed while a slot is on the chain.
    fn forget(&mut self, _slot: u32) {}
}

/// A search: every cluster on the path is the nearest of the one before.
pub(crate) struct Chain {
    path: Vec<u32>,
    on_path: Vec<bool>,
    pub(crate) merged: Vec<Merged>,
}

impl Chain {
    pub(crate) fn new(objects: usize) -> Self {
        Self {
            path: Vec::new(),
            on_path: vec![false; objects],
            merged: Vec::with_capacity(objects.saturating_sub(1)),
        }
    }

    /// Goes on until one cluster is left (true) or a merge would not fit (false).
    pub(crate) fn follow(
        &mut self,
        clusters: &mut impl Clusters,
        monitor: &dyn Monitor,
    ) -> Result<bool, LinkageError> {
        let limit = clusters.chain_limit();
        let total = self.on_path.len().saturating_sub(1);
        while clusters.alive() > 1 {
            if self.path.is_empty() {
                self.push(0);
            }
            let top = self.path[self.path.len() - 1];
            let before = self.path.iter().rev().nth(1).copied();
            let nearest = clusters.nearest_slot(top, before);
            if !self.on_path[nearest as usize] {
                self.push(nearest);
                if self.path.len() > limit {
                    self.shorten(limit / 2, clusters);
                }
                continue;
            }
            // The nearest is the one before. (Were it another by a rounding, the path would be a circle of ties.)
            let before = before.expect("the nearest is on the path, and not the top itself");
            let a = top.min(before);
            let b = top.max(before);
            if !clusters.can_merge(a, b) {
                return Ok(false);
            }
            let height = clusters.merge(a, b);
            self.merged.push(Merged::new(a, b, height));
            for slot in self.path.drain(self.path.len() - 2..) {
                self.on_path[slot as usize] = false;
            }
            report(monitor, self.merged.len(), total)?;
        }
        Ok(true)
    }

    fn push(&mut self, slot: u32) {
        self.path.push(slot);
        self.on_path[slot as usize] = true;
    }

    /// Lets go of the start of a path that is too long: it can start anywhere.
    fn shorten(&mut self, by: usize, clusters: &mut impl Clusters) {
        for slot in self.path.drain(..by) {
            self.on_path[slot as usize] = false;
            clusters.forget(slot);
        }
    }
}
