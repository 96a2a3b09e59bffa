//! From merges of slots to the layout of SciPy.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use partita_core::{Dendrogram, Merge};

/// Two clusters, known by their smallest objects, become one, known by the left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Merged {
    pub(crate) left: u32,
    pub(crate) right: u32,
    pub(crate) height: f64,
    /// Of merges at the same height, those of an earlier stage come first.
    pub(crate) stage: u8,
}

impl Merged {
    pub(crate) fn new(a: u32, b: u32, height: f64) -> Self {
        Self {
            left: a.min(b),
            right: a.max(b),
            height,
            stage: 1,
        }
    }
}

/// The tree of merges that come in an order of their own.
pub(crate) fn as_they_come(merged: &[Merged], weights: &[u32]) -> Dendrogram {
    let n = weights.len();
    let mut node: Vec<u32> = (0..n as u32).collect();
    let mut sizes = weights.to_vec();
    let mut merges = Vec::with_capacity(merged.len());
    for (at, merged) in merged.iter().enumerate() {
        let left = merged.left as usize;
        let right = merged.right as usize;
        sizes[left] += sizes[right];
        merges.push(Merge {
            left: node[left].min(node[right]),
            right: node[left].max(node[right]),
            height: merged.height,
            size: sizes[left],
        });
        node[left] = (n + at) as u32;
    }
    Dendrogram::new(n, merges)
}

/// The tree of merges of which each comes after those of its parts, lowest first; ties in the order of the slots.
/// Where rounding would put a merge below one of its parts, it is raised to that.
pub(crate) fn in_order(mut merged: Vec<Merged>, weights: &[u32]) -> Dendrogram {
    const NONE: usize = usize::MAX;
    let mut last = vec![NONE; weights.len()];
    let mut parent = vec![NONE; merged.len()];
    let mut parts = vec![0u8; merged.len()];
    for at in 0..merged.len() {
        let left = merged[at].left as usize;
        for part in [last[left], last[merged[at].right as usize]] {
            if part != NONE {
                merged[at].height = merged[at].height.max(merged[part].height);
                parent[part] = at;
                parts[at] += 1;
            }
        }
        last[left] = at;
    }
    // Merges whose parts are there. Heights are not negative, so that their bits are in their order.
    let key = |at: usize| {
        let merge = &merged[at];
        let height = (merge.height + 0.0).to_bits();
        Reverse((height, merge.stage, merge.left, merge.right, at))
    };
    let leaves = (0..merged.len()).filter(|&at| parts[at] == 0);
    let mut ready: BinaryHeap<_> = leaves.map(key).collect();
    let mut sorted = Vec::with_capacity(merged.len());
    while let Some(Reverse((.., at))) = ready.pop() {
        sorted.push(merged[at]);
        let next = parent[at];
        if next != NONE {
            parts[next] -= 1;
            if parts[next] == 0 {
                ready.push(key(next));
            }
        }
    }
    as_they_come(&sorted, weights)
}

/// The tree over objects, from the tree over groups of identical ones: the objects of a group merge at height 0
/// before anything else does. `group` is the leaf of every object.
///
/// # Panics
/// If a leaf has no object, or an object no leaf.
pub fn unfold(tree: &Dendrogram, group: &[u32]) -> Dendrogram {
    tree.unfolded(group)
}

/// [`unfold`] when the objects of group `g` merge at `heights[g]`, which is not above the height at which the group
/// merges with another. Merges are in order of height; of equals those inside groups come first.
///
/// # Panics
/// As [`unfold`], and if there is not one height a leaf.
pub fn unfold_at(tree: &Dendrogram, group: &[u32], heights: &[f64]) -> Dendrogram {
    assert_eq!(heights.len(), tree.objects(), "one height a leaf");
    let mut slots = vec![u32::MAX; tree.objects()];
    let mut merged = Vec::with_capacity(group.len().saturating_sub(1));
    for (object, &group) in group.iter().enumerate() {
        let slot = &mut slots[group as usize];
        if *slot == u32::MAX {
            *slot = object as u32;
        } else {
            merged.push(Merged {
                stage: 0,
                ..Merged::new(*slot, object as u32, heights[group as usize])
            });
        }
    }
    assert!(
        !slots.contains(&u32::MAX),
        "every leaf stands for an object"
    );
    for merge in tree.merges() {
        let a = slots[merge.left as usize];
        let b = slots[merge.right as usize];
        merged.push(Merged::new(a, b, merge.height));
        slots.push(a.min(b));
    }
    in_order(merged, &vec![1; group.len()])
}
